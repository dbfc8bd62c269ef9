"""The gate: applies rules to two sides of recordings, combines the verdicts, lists parts and names that moved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.answer import Answer, Count, NsMean
from torch_tb_profiler.analysis.change.figures import RecordingDifference, RecordingFigures, differences
from torch_tb_profiler.analysis.change.judge import JudgedRule, judge
from torch_tb_profiler.analysis.change.metrics import GateRule, metric_of, slow_steps
from torch_tb_profiler.analysis.change.name_lists import MovedName, mean, moved_names

#: version of `CheckAnswer` in JSON
SCHEMA = 1

MOST_PARTS, MOST_MOVED = 8, 10

Outcome = Literal["passed", "failed", "cannot_be_judged"]


class GateSide(msgspec.Struct, frozen=True, kw_only=True):
    """One side.

    recordings   how many
    runs         names of their runs
    sha256       of the trace files of each recording, by worker; nothing of remote files
    ranks        of each recording, together
    steps        that are compared
    dropped      first steps that are not
    cut_off      steps that their recording does not hold to their end
    slow         steps that are compared and last more than 1.5 × the median of their recording
    compiling    steps that are compared and in which something was compiled
    collecting   steps that are compared and in which a device, or the main thread, waited for garbage collection
    damaged      lines of a history that cannot be read
    """

    recordings: Count
    runs: list[str]
    sha256: list[list[str]]
    ranks: Count
    steps: Count
    dropped: Count
    cut_off: Count
    slow: Count
    compiling: Count
    collecting: Count
    damaged: Count = 0


class MovedPart(msgspec.Struct, frozen=True, kw_only=True):
    """A cause of the waterfall, mean of the steps that are compared.

    cause      why the time passed
    base_ns    in the baseline
    new_ns     in the new recordings
    change_ns  new − base; of all causes they add up to the change of the mean step (of ranks: of their mean)
    """

    cause: str
    base_ns: NsMean
    new_ns: NsMean
    change_ns: NsMean


class CheckAnswer(Answer, frozen=True, kw_only=True):
    """Whether new recordings are slower than a baseline.

    schema       which version of this type it is
    outcome      failed: a rule that fails was broken; cannot_be_judged: none was, and one cannot be judged
    exit_code    of `torch-tb-profiler check`: 0 passed, 1 failed, 3 cannot be judged
    rules        those that fail first, then those that warn, in the order in which they were given
    base         the baseline
    new          the new recordings
    differences  what is not alike on both sides
    parts        of the waterfall, by change, the largest first; at most 8; empty if devices were recorded on one
                 side only
    moved        kernels and operators that changed, the largest change first; at most 10 of each
    """

    schema: int = SCHEMA
    outcome: Outcome
    exit_code: Literal[0, 1, 3]
    rules: list[JudgedRule]
    base: GateSide
    new: GateSide
    differences: list[RecordingDifference]
    parts: list[MovedPart]
    moved: list[MovedName]


def check(
    base: Sequence[RecordingFigures],
    new: Sequence[RecordingFigures],
    rules: Sequence[GateRule],
    across_devices: bool = False,
    strict: bool = False,
    damaged: tuple[int, int] = (0, 0),
) -> CheckAnswer:
    """Judge two sides of one or more recordings each; several ranks are first combined by `together`.

    across_devices  other devices and numbers of processes forbid no verdict
    strict          a rule that fails and is inconclusive cannot be judged
    damaged         `GateSide.damaged` of each side
    """
    unlike = differences(base, new)
    forbidding = [each for each in unlike if not (each.forbids == "across" and across_devices)]
    judged = [judge(rule, (base, new), forbidding) for rule in sorted(rules, key=lambda rule: rule.severity)]
    judged = [each for each in judged if not (each.rule.is_default and _is_missing(each.rule, [*base, *new]))]
    failing = [each for each in judged if each.rule.severity == "fail"]
    is_damaged = any(each.verdict == "unknown" and each.rule.metric == "notes.error" for each in failing)
    outcome: Outcome = "passed"
    if any(each.verdict == "regressed" for each in failing) and not is_damaged:
        outcome = "failed"
    elif not failing or any(_cannot_tell(each, strict) for each in failing):
        outcome = "cannot_be_judged"
    codes: dict[Outcome, Literal[0, 1, 3]] = {"passed": 0, "failed": 1, "cannot_be_judged": 3}
    alike = base[0].basis == new[0].basis
    return CheckAnswer(
        outcome=outcome,
        exit_code=codes[outcome],
        rules=judged,
        base=_side(base, damaged[0]),
        new=_side(new, damaged[1]),
        differences=unlike,
        parts=changed_parts(base, new)[:MOST_PARTS] if alike else [],
        moved=[*moved_names("kernel", base, new)[:MOST_MOVED], *moved_names("operator", base, new)[:MOST_MOVED]],
    )


def _is_missing(rule: GateRule, recordings: Sequence[RecordingFigures]) -> bool:
    """Return whether a rule has no values on a side; it is then left out unless it was asked for."""
    metric = metric_of(rule.metric)
    assert metric is not None  # the rule was parsed
    values = [metric.values(each) for each in recordings]
    return None in values or (metric.kind == "part" and not any(any(each) for each in values if each))


def _cannot_tell(judged: JudgedRule, strict: bool) -> bool:
    return judged.verdict == "unknown" or (strict and judged.verdict == "inconclusive")


def _side(side: Sequence[RecordingFigures], damaged: int) -> GateSide:
    return GateSide(
        recordings=len(side),
        runs=[recording.run for recording in side],
        sha256=[recording.sha256 for recording in side],
        ranks=side[0].ranks,
        steps=sum(len(recording.steps[recording.kept]) for recording in side),
        dropped=sum(recording.first_kept for recording in side),
        cut_off=sum(recording.cut_off for recording in side),
        slow=sum(map(slow_steps, side)),
        compiling=sum(sum(map(bool, recording.compilations[recording.kept])) for recording in side),
        collecting=sum(
            sum(bool(ns) for cause in ("idle.host.gc", "host.gc") for ns in recording.cause(cause)[recording.kept])
            for recording in side
        ),
        damaged=damaged,
    )


def changed_parts(base: Sequence[RecordingFigures], new: Sequence[RecordingFigures]) -> list[MovedPart]:
    """Return the parts that changed, the largest change first; together they are the change of the mean step."""
    causes = sorted({cause for side in (base, new) for recording in side for cause in recording.causes})
    found = []
    for cause in causes:
        before, after = (
            mean([ns / recording.lanes for recording in side for ns in recording.cause_alone(cause)[recording.kept]])
            for side in (base, new)
        )
        found.append(MovedPart(cause=cause, base_ns=before, new_ns=after, change_ns=after - before))
    found.sort(key=lambda part: (-abs(part.change_ns), part.cause))
    return [part for part in found if part.change_ns]
