"""Why the steps of a trace take as long as they do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Count, Fraction, Ms, digits
from torch_tb_profiler.analysis.overview import KindFigures
from torch_tb_profiler.analysis.waterfall.question import WaterfallAnswer
from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.insights.question import OverviewAnswer
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.insights.rules import RULES
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import (
    Next,
    Tool,
    ToolAnswer,
    ToolParams,
    TraceId,
    brief,
    milliseconds,
    name_of,
    named,
    sentence,
)
from torch_tb_profiler.trace import Note

#: a step is slow when it takes this many times the median
SLOW_STEP = 1.5
_MOST_PARTS, _MOST_FINDINGS, _MOST_SLOW = 8, 5, 3
#: a part of the average step below this is not listed
_LEAST_SHARE = 0.005
#: what a finding alone keeps a trace from being called healthy
_MATTERS = ("medium", "high")
#: rules that say what no other explains: a step that is unlike the others says more
_GENERAL = frozenset(rule.id for rule in RULES if rule.general)
_ONE_RANK = "one_rank_communication"

VerdictKind = Literal["cause", "slow_steps", "cannot_tell", "nothing_found"]


class OneTrace(ToolParams, frozen=True, kw_only=True):
    """Which trace."""

    trace: TraceId


class StepKindBrief(msgspec.Struct, frozen=True, kw_only=True):
    """Steps that run one program, where others run another one.

    kind       what is known of the program
    label      what marks the steps; null where marks do not tell kinds apart
    count      how many
    mean_ms    of their times
    from_step  the first, where no others are between them; null otherwise
    to_step    the last, likewise
    """

    kind: str
    label: str | None
    count: Count
    mean_ms: Ms | None
    from_step: str | None
    to_step: str | None


class StepsBrief(msgspec.Struct, frozen=True, kw_only=True):
    """The steps.

    rule         by which they were found
    count        how many
    median_ms    of their times
    least_ms     the shortest
    largest_ms   the longest
    kinds        of steps that run unlike programs: numbers of all steps are over all kinds; empty where they run one
    """

    rule: str
    count: Count
    median_ms: Ms | None
    least_ms: Ms | None
    largest_ms: Ms | None
    kinds: Sequence[StepKindBrief]


class StepPartBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the average step; parts do not overlap.

    cause  why the time passed; the tool definitions says what each means
    ms     of the average step
    share  of it, 0…1
    """

    cause: str
    ms: Ms | None
    share: Fraction | None


class FindingBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A cause of lost time, or a warning.

    id         for the tool explain
    severity   high from 10 % of the step on, medium from 3 %, else low
    title      in a few words; `{key}` stands for a name in `names`
    names      those that the title speaks of
    saving_ms  what a step would save without it, beyond findings before; null of warnings and where it is unknown
    """

    id: str
    severity: str
    title: str
    names: Mapping[str, str]
    saving_ms: Ms | None


class TraceFindingBrief(FindingBrief, frozen=True, kw_only=True):
    """What a trace loses time to, or a warning.

    where  in the program; null if unknown
    """

    where: str | None


class SlowStep(msgspec.Struct, frozen=True, kw_only=True):
    """One of the longest steps, beside the median step.

    step     its name, for the tool step
    ms       how long it takes
    cause    the part of the step that grew most
    more_ms  how much more
    """

    step: str
    ms: Ms | None
    cause: str | None
    more_ms: Ms | None


class HealthNote(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with the recording.

    severity  error: something is lost or wrong; warning: numbers are probably wrong; info: good to know
    text      a sentence; `{key}` stands for a name in `names`
    names     those that the text speaks of
    remedy    code that would record it right
    """

    severity: str
    text: str
    names: Mapping[str, str]
    remedy: str | None


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
    """What it comes to.

    kind     cause: the first finding; slow_steps: some steps take more than 1.5 × the median; cannot_tell: there are no
             steps, or waiting for other ranks is unknown, which `next` shows; nothing_found: no finding from 3 % of
             the step on, no slow step
    finding  id of the finding; null without one
    next     what to call for the details; null if there is no more to ask
    """

    kind: VerdictKind
    finding: str | None
    next: Next | None


class SummaryBrief(ToolAnswer, frozen=True, kw_only=True):
    """A trace on one page.

    verdict     what it comes to
    bound       the resource that bounds the steps, by replay
    sentence    the same in words
    devices     names of the devices that worked
    steps       how long they take
    parts       where the time of the average step went, the largest first
    findings    first what explains the bound, then the one that saves most
    slow_steps  the longest, where they take more than 1.1 × the median
    health      what is wrong with the recording, the worst first
    """

    verdict: Verdict
    bound: str
    sentence: str
    devices: Sequence[str]
    steps: StepsBrief
    parts: Sequence[StepPartBrief]
    findings: Sequence[TraceFindingBrief]
    slow_steps: Sequence[SlowStep]
    health: Sequence[HealthNote]


def next_of_rank(catalog: TraceCatalog, traces: Sequence[str]) -> Next | None:
    """Return what shows the cause that the first readable one of a run's traces has of its own; None without any.

    It is never `ranks`, who asks this.
    """
    for shown in traces:
        trace = catalog.trace(shown)
        try:
            overview, parts = trace.answer("overview"), trace.answer("waterfall")
        except ProfileError:
            continue
        following = _verdict(catalog, shown, overview, parts, slow_steps(parts)).next
        return None if following is None or following.tool == _RANKS else following
    return None


def _summary(catalog: TraceCatalog, params: OneTrace) -> SummaryBrief:
    trace = catalog.trace(params.trace)
    overview: OverviewAnswer = trace.answer("overview")
    parts: WaterfallAnswer = trace.answer("waterfall")
    findings = overview.findings
    slow = slow_steps(parts)
    health = [_health(note) for note in sorted(trace.notes, key=lambda note: _SEVERITY.index(note.severity))]
    notes = []
    if len(catalog.run(params.trace).workers) > 1:
        notes.append("This is one rank of several: the tool ranks says who is slow, and what waiting costs.")
    if any(note.severity == "error" for note in health):
        notes.append("The recording is damaged: see health before trusting numbers.")
    return SummaryBrief(
        verdict=_verdict(catalog, params.trace, overview, parts, slow),
        bound=overview.bound.kind,
        sentence=sentence(overview.bound.sentence, overview.bound.values),
        devices=sorted({name_of(device.name) or "unnamed" for device in overview.devices}),
        steps=_steps(overview, parts),
        parts=_parts(overview),
        findings=[finding_brief(finding) for finding in findings[:_MOST_FINDINGS]],
        slow_steps=slow,
        health=health,
        notes=notes,
        more={"findings": left} if (left := len(overview.findings) - _MOST_FINDINGS) > 0 else {},
    )


#: the finding to report where no time is lost
_LEAK = "memory_growth"
#: the tool for what one rank does not show; that one asks this module for what one rank does show
_RANKS = "ranks"
_SEVERITY = ("error", "warning", "info")


def _verdict(
    catalog: TraceCatalog, shown: str, overview: OverviewAnswer, parts: WaterfallAnswer, slow: Sequence[SlowStep]
) -> Verdict:
    findings = overview.findings
    if not overview.steps.names:
        return Verdict(kind="cannot_tell", finding=None, next=None)
    # one rank alone does not show which part of its communication is waiting for others
    of_ranks = None
    if len(catalog.run(shown).workers) > 1:
        of_ranks = Next(tool=_RANKS, arguments={"run": catalog.id_of_run(catalog.trace(shown))})
    waits = {finding.key for finding in findings if finding.saving and finding.saving.refused_id == _ONE_RANK}
    first = next((finding for finding in findings if finding.severity in _MATTERS and finding.saving is not None), None)
    if first is not None and first.key in waits and of_ranks is not None:
        return Verdict(kind="cannot_tell", finding=first.key, next=of_ranks)
    excess_ns = _excess_of_slow_steps(parts)
    if first is not None and not (first.id in _GENERAL and _mostly(excess_ns, first)):
        arguments = {"trace": shown, "what": "finding", "name": first.key}
        return Verdict(kind="cause", finding=first.key, next=Next(tool="explain", arguments=arguments))
    if excess_ns:
        arguments = {"trace": shown, "step": slow[0].step}
        return Verdict(kind="slow_steps", finding=None, next=Next(tool="step", arguments=arguments))
    # it costs no time, and ends the run
    leak = next((finding for finding in findings if finding.id == _LEAK), None)
    if leak is not None:
        arguments = {"trace": shown, "what": "finding", "name": leak.key}
        return Verdict(kind="cause", finding=leak.key, next=Next(tool="explain", arguments=arguments))
    return Verdict(kind="nothing_found", finding=None, next=of_ranks if waits else None)


def _excess_of_slow_steps(parts: WaterfallAnswer) -> float:
    """Return how much of the mean step is due to slow steps being longer than the median, ns; 0 without any."""
    if not parts.step_ns:
        return 0.0
    times = np.array(parts.step_ns)
    usual = median(times)
    slow = times[times > SLOW_STEP * usual]
    return float((slow - usual).sum()) / len(times)


def _mostly(excess_ns: float, found: Finding) -> bool:
    """Return whether a few slow steps are at least half of what a finding would save."""
    saving = found.saving.after_others_ns if found.saving else None
    return saving is not None and excess_ns >= saving / 2


def slow_steps(parts: WaterfallAnswer, least: float = 1.1) -> list[SlowStep]:
    """Return the longest steps that take `least` times the median, and what each has more of than the median step."""
    if not parts.step_ns:
        return []
    times = np.array(parts.step_ns)
    middle = int(np.argsort(times, kind="stable")[(len(times) - 1) // 2])
    longest = []
    for at in np.argsort(-times, kind="stable")[:_MOST_SLOW].tolist():
        if times[at] <= least * times[middle]:
            continue
        more = {cause: ns[at] - ns[middle] for cause, ns in parts.step_parts.items()}
        cause = max(more, key=lambda each: more[each], default=None)
        name = name_of(parts.steps[at]) or ""
        most = None if cause is None else milliseconds(more[cause])
        longest.append(SlowStep(step=name, ms=milliseconds(int(times[at])), cause=cause, more_ms=most))
    return longest


def finding_brief(finding: Finding) -> TraceFindingBrief:
    """Describe a finding in a few words; the tool explain has the rest."""
    title = sentence(finding.title, finding.values)
    return brief(
        TraceFindingBrief,
        finding,
        id=finding.key,
        title=title,
        names={key: name for key, name in named(finding.values).items() if f"{{{key}}}" in title},
        where=None if finding.where is None else name_of(finding.where.text),
        saving_ms=None if finding.saving is None else milliseconds(finding.saving.after_others_ns),
    )


def _health(note: Note) -> HealthNote:
    return HealthNote(
        severity=note.severity,
        text=sentence(note.text, note.values),
        names=named(note.values),
        remedy=None if note.remedy is None else sentence(note.remedy, note.values),
    )


def _steps(overview: OverviewAnswer, parts: WaterfallAnswer) -> StepsBrief:
    times = parts.step_ns
    return StepsBrief(
        rule=overview.steps.rule,
        count=len(times),
        median_ms=milliseconds(median(np.array(times))) if times else None,
        least_ms=milliseconds(min(times, default=None)),
        largest_ms=milliseconds(max(times, default=None)),
        kinds=[_kind(each) for each in overview.steps.kinds],
    )


def _kind(kind: KindFigures) -> StepKindBrief:
    return brief(StepKindBrief, kind, kind=kind.id if kind.number is None else f"{kind.id} {kind.number}")


def _parts(overview: OverviewAnswer) -> list[StepPartBrief]:
    whole = sum(part.ns for part in overview.waterfall)
    found = sorted(overview.waterfall, key=lambda part: -part.ns)[:_MOST_PARTS]
    return [
        StepPartBrief(cause=part.cause, ms=milliseconds(part.ns), share=digits(part.ns / whole))
        for part in found
        if part.ns > _LEAST_SHARE * whole
    ]


SUMMARY = Tool(
    name="summary",
    title="Summary of a trace",
    summary=(
        "Say why the steps of a trace take as long as they do: verdict, parts of the average step, findings with what "
        "each would save, the slowest steps, and what is wrong with the recording. Then call verdict.next."
    ),
    arguments=OneTrace,
    answer=SummaryBrief,
    compute=_summary,
    budget=2_500,
    shrinks=("findings", "health", "parts", "slow_steps", "devices"),
    untrusted=(
        "verdict.next.arguments",
        "devices",
        "findings[].names",
        "findings[].where",
        "slow_steps[].step",
        "steps.kinds[].label",
        "steps.kinds[].from_step",
        "steps.kinds[].to_step",
        "health[].names",
    ),
)
