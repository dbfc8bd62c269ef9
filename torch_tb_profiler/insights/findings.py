"""Findings of all rules in a trace, their savings, and the rules that could not be evaluated."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.cached import cached_on_disk
from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import (
    Change,
    Fused,
    Pinned,
    ScaleHost,
    ScaleWork,
    WithoutWaits,
    is_bound,
)
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.quality import Quality
from torch_tb_profiler.analysis.replay.savings import Saving, saving_interval, savings, settled_steps
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.analysis.waterfall import average, waterfall
from torch_tb_profiler.analysis.waterfall.waterfall import unknown_time
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.bound import Bound, bound_of
from torch_tb_profiler.insights.facts import TORCH, Facts
from torch_tb_profiler.insights.listing import in_order, keys, not_looked_at, refused, saving_share, severity
from torch_tb_profiler.insights.places import common_place
from torch_tb_profiler.insights.resources import BoundKind
from torch_tb_profiler.insights.rule import Finding, FindingSaving, Found, Instance, Rule
from torch_tb_profiler.insights.shared.device_words import as_said_for, platform
from torch_tb_profiler.insights.shared.launch_bound import is_launch_bound
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace.schema import DeviceWork, Events, Launches

#: tables that the graph is made of
_IN_GRAPH = (Events, Launches, DeviceWork)
#: instances that a finding lists; `Finding.count` says how many there are
LISTED = 20


class NotEvaluated(msgspec.Struct, frozen=True):
    """A rule that could not be applied.

    id     of the rule
    needs  what is missing
    text   the same in words
    """

    id: str
    needs: str
    text: str


class Diagnosis(msgspec.Struct, frozen=True):
    """What is known of why the steps take as long as they do.

    bound          the resource that bounds the steps
    findings       causes in the order in which what they save adds up, each the one that saves most beyond those before
                   it; what has no number comes first where it explains the bound, else by the part of the step that it
                   takes; then warnings
    step_ns        the mean of the steps; null without steps
    together_ns    what all findings together save of it, by replay; null without any that has a saving
    not_looked_at  causes of the parts of the waterfall of 5 % of the step and more that no finding is about
    checked        ids of the rules that found nothing
    not_evaluated  rules that need something that was not recorded
    muted          ids of rules that are not shown, by the file of thresholds
    """

    bound: Bound
    findings: tuple[Finding, ...]
    step_ns: float | None
    together_ns: float | None
    not_looked_at: tuple[str, ...]
    checked: tuple[str, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    muted: tuple[str, ...]


def findings(model: Model) -> tuple[Finding, ...]:
    """Return the findings of a trace."""
    return diagnosis(model).findings


@cached_on_disk("diagnosis", Diagnosis)
def diagnosis(model: Model) -> Diagnosis:
    """Apply all rules, and replay what each finding would save."""
    # many modules, which a server that gives prepared answers does not need
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    limits = thresholds()
    # most rules need the same
    is_held = cache(lambda need: need.held(model))
    missing = {rule.id: next((need for need in (TORCH, *rule.needs) if not is_held(need)), None) for rule in RULES}
    evaluated = [rule for rule in RULES if rule.id not in limits.mute and missing[rule.id] is None]
    # the rules' inputs take as much memory as the graph: most of them are freed before the graph is built, with columns
    # that can be read again, and the rest before the replay of the findings
    facts = Facts(model.fork(), limits)
    by_rule = {rule.id: rule.find(facts) for rule in evaluated if not rule.replay}
    facts.model.answers.clear()
    model.trace.forget(but=_IN_GRAPH)
    graph_of(model)
    facts = Facts(model.fork(), limits)
    by_rule |= {rule.id: rule.find(facts) for rule in evaluated if rule.replay}
    causes = [(rule, cause) for rule in evaluated for cause in by_rule[rule.id]]
    present = {rule.id for rule, _ in causes}
    replaced = {id_ for rule, _ in causes for id_ in rule.replaces if rule.id in present}
    causes = [(rule, cause) for rule, cause in causes if rule.id not in replaced]
    launch_bound, unknown = is_launch_bound(facts), unknown_time(facts.model)
    facts.model.answers.clear()
    facts = Facts(model, limits)
    quality = recorded_quality(model)
    steps = _in_graph(facts)
    bound = bound_of(
        facts,
        steps,
        quality,
        launch_bound,
        unknown,
        compiling=_changes_of("recompiles", causes),
        loading=_changes_of("input_annotation", causes),
        cold=[change for _, cause in causes if cause.once and cause.refused is None for change in cause.changes],
    )
    listed, together = _with_savings(facts, steps, quality, causes, bound)
    shown = {finding.id for finding in listed}
    return Diagnosis(
        bound=bound,
        findings=tuple(listed),
        step_ns=facts.step_ns if facts.steps else None,
        together_ns=together,
        not_looked_at=not_looked_at(
            average(waterfall(model)), facts.step_ns, [rule.family for rule in RULES if rule.id in shown]
        ),
        checked=tuple(rule.id for rule in evaluated if rule.id not in shown),
        not_evaluated=tuple(
            NotEvaluated(id_, need.id, f"needs {need.text}") for id_, need in missing.items() if need is not None
        ),
        muted=tuple(rule.id for rule in RULES if rule.id in limits.mute),
    )


def _changes_of(id_: str, found: Sequence[tuple[Rule, Found]]) -> list[Change]:
    """Collect what removes the causes that one rule found."""
    return [change for rule, each in found if rule.id == id_ and each.refused is None for change in each.changes]


def _in_graph(facts: Facts) -> list[int]:
    """Return the chosen steps as indices of the steps of the graph, which has all."""
    whole = facts.graph.steps
    place = np.searchsorted(whole.start, facts.model.steps.start)
    return [int(at) for at in place if at < len(whole)]


def _with_savings(
    facts: Facts, steps: Sequence[int], quality: Quality, causes: Sequence[tuple[Rule, Found]], bound: Bound
) -> tuple[list[Finding], float | None]:
    """Return the findings worth showing, in order, and their saving together, ns per step."""
    changing = [(rule, cause) for rule, cause in causes if cause.changes and cause.refused is None]
    first, last = _split_general(facts, steps, quality, changing)
    timed = _first_savings(facts, steps, first)
    for rule, cause in last:
        before = [other for _, other, saving in timed if saving.refused is None]
        saving = _of_the_rest(facts, steps, quality, before, cause)
        if saving.refused is not None or _is_worth_showing(facts, rule, cause, saving):
            timed.append((rule, cause, saving))
    causes_first = sorted(causes, key=lambda one: one[0].symptom or one[0].general)
    shown: list[tuple[Rule, Found, FindingSaving | None]] = [
        *timed,
        *((rule, cause, refused(cause.refused)) for rule, cause in causes_first if cause.refused is not None),
        *((rule, cause, None) for rule, cause in causes if not cause.changes and cause.refused is None),
    ]
    names = keys(rule.id for rule, _, _ in shown)
    shown = [(rule, cause, _as_shown(facts, rule, cause, saving, bound)) for rule, cause, saving in shown]
    # a general finding without a number is shown only if nothing weightier is
    least = facts.limit("findings", "medium_share")
    if any(saving is not None and saving_share(saving, facts.step_ns) >= least for _, _, saving in shown):
        shown = [one for one in shown if not (one[0].general and one[2] is None and one[1].severity == "low")]
        names = keys(rule.id for rule, _, _ in shown)
    listed = in_order([_finding(facts, *one, key) for key, one in zip(names, shown, strict=True)], facts.step_ns)
    numbers = [saving.after_others_ns for _, _, saving in shown if saving and saving.after_others_ns is not None]
    return listed, sum(numbers) if numbers else None


def _first_savings(
    facts: Facts, steps: Sequence[int], found: Sequence[tuple[Rule, Found]]
) -> list[tuple[Rule, Found, FindingSaving]]:
    """Replay the saving of each finding, in the order in which savings add up; leave out those that save too little."""
    counted = list(found)
    while counted:
        least = [_least_share(facts, cause) * facts.total_ns for _, cause in counted]
        known = savings(facts.model, [cause.changes for _, cause in counted], steps, least)
        n = max(facts.steps, 1)
        timed = [(*counted[one.place], _as_remedy(counted[one.place][1], _per_step(one, n))) for one in known.changes]
        hidden = {
            one.place
            for one, (rule, cause, saving) in zip(known.changes, timed, strict=True)
            if (one.only_first and _is_in_most_steps(facts, cause))
            or (rule.general and not _is_worth_showing(facts, rule, cause, saving))
        }
        if not hidden:
            return timed
        counted = [one for place, one in enumerate(counted) if place not in hidden]
    return []


#: a general finding, or a symptom, that saves more than this multiple of all causes together is ranked among them
DOMINATES = 2.0


def _split_general(
    facts: Facts, steps: Sequence[int], quality: Quality, found: Sequence[tuple[Rule, Found]]
) -> tuple[list[tuple[Rule, Found]], list[tuple[Rule, Found]]]:
    """Split findings into those ranked by saving, and those that get the remaining saving.

    General findings and symptoms are in the second list, unless they save far more than all causes together. A general
    finding stays there if a cause of some weight exists.
    """
    first = [(rule, cause) for rule, cause in found if not rule.general and not rule.symptom]
    behind = [(rule, cause) for rule, cause in found if rule.general or rule.symptom]
    causes = [cause.changes for _, cause in first if all(quality.of(change) is None for change in cause.changes)]
    if not behind or not causes:
        return first + behind, []
    chosen = np.array(steps, np.int64)

    def after(changes: Sequence[Change]) -> int:
        return int(apply_changes(facts.trace, facts.graph, changes).settled_ns[chosen].sum())

    base = int(unchanged(facts.graph).settled_ns[chosen].sum())
    weight = facts.limit("findings", "general_share") * base
    together = base - after([change for cause in causes for change in cause])
    last: list[tuple[Rule, Found]] = []
    for rule, cause in behind:
        allowed = all(quality.of(change) is None for change in cause.changes)
        then = after(cause.changes) if allowed else base
        dominates = base - then > DOMINATES * max(together, 0)
        if dominates and rule.general:
            # the cost of a cause on a slow host shows best with a quicker host
            dominates = not any(max(base - after(x), then - after([*cause.changes, *x])) >= weight for x in causes)
        (first if dominates else last).append((rule, cause))
    return first, last


def _is_in_most_steps(facts: Facts, found: Found) -> bool:
    """Tell whether the cause is in more than half of the steps after the first.

    A saving in the first step alone is hidden in the others.
    """
    step = np.searchsorted(facts.model.steps.host_start, facts.trace.events.start[found.rows], side="right") - 1
    return len(distinct(step[step > 0])) > (facts.steps - 1) / 2


def _per_step(saving: Saving, n: int) -> FindingSaving:
    if saving.refused is not None:
        return refused(saving.refused)

    def mean(ns: int | None) -> float | None:
        return None if ns is None else ns / n

    return FindingSaving(
        alone_ns=mean(saving.alone),
        after_others_ns=mean(saving.after_others),
        last_in_ns=mean(saving.last_in),
        low_ns=mean(saving.low),
        high_ns=mean(saving.high),
        bound=saving.bound,
    )


def _of_the_rest(
    facts: Facts, steps: Sequence[int], quality: Quality, others: Sequence[Found], cause: Found
) -> FindingSaving:
    """Replay the saving of a finding after all others."""
    refusal = next((why for change in cause.changes if (why := quality.of(change)) is not None), None)
    if refusal is not None:
        return refused(refusal)
    graph, trace = facts.graph, facts.trace
    chosen = np.array(steps, np.int64)
    before = [change for other in others for change in other.changes]
    base = unchanged(graph).settled_ns[chosen]
    alone = base - apply_changes(trace, graph, cause.changes).settled_ns[chosen]
    rest = (
        apply_changes(trace, graph, before).settled_ns[chosen]
        - apply_changes(trace, graph, [*before, *cause.changes]).settled_ns[chosen]
    )
    bound = any(map(is_bound, cause.changes))
    low, high = saving_interval(rest, int(base.sum()), bound, settled_steps(graph)[chosen])
    n = max(len(chosen), 1)
    mean = float(rest.sum()) / n
    saving = FindingSaving(
        alone_ns=float(alone.sum()) / n,
        after_others_ns=mean,
        last_in_ns=mean,
        low_ns=None if low is None else low / n,
        high_ns=None if high is None else high / n,
        bound=bound,
    )
    return _as_remedy(cause, saving)


#: saving of a remedy ÷ saving by replay, range of nine in ten simulated programs (findings-checked.md): for estimated
#: times, and for calls that the replay only keeps from waiting, while a remedy removes them
_ESTIMATED, _KEPT_FROM_WAITING = (0.85, 1.4), (0.85, 2.0)


def _as_remedy(cause: Found, saving: FindingSaving) -> FindingSaving:
    """Widen a saving to the range that a remedy may save, less or more than the replay."""
    after = saving.after_others_ns
    if any(isinstance(change, WithoutWaits | Pinned) for change in cause.changes):
        least, most = _KEPT_FROM_WAITING
    elif any(
        isinstance(change, Fused) or (isinstance(change, ScaleHost | ScaleWork) and change.factor != 0)
        for change in cause.changes
    ):
        least, most = _ESTIMATED
    elif cause.seen < 1:
        least, most = 1.0, 1 / cause.seen
    else:
        return saving
    if after is None:
        return saving
    low, high = saving.low_ns, saving.high_ns
    return replace(
        saving,
        low_ns=None if low is None else min(low, least * after),
        high_ns=None if high is None else max(high, most * after),
        bound=False,
    )


#: the families of rules whose findings explain what bounds the steps
_EXPLAINED_BY: Mapping[BoundKind, tuple[str, ...]] = {
    "input": ("data_loading",),
    "sync": ("synchronization",),
    "communication": ("communication", "parallel"),
    "memory": ("copies",),
    "launch": ("launch",),
    "host": ("launch", "loops", "python", "compilation"),
    "compute": ("fusion", "kernels", "matmuls"),
}


def _as_shown(
    facts: Facts, rule: Rule, cause: Found, saving: FindingSaving | None, bound: Bound
) -> FindingSaving | None:
    """Return a saving as shown: a refused one gets the finding's share of the step, and the bound that it explains.

    A finding about idle devices saves no more than their idle time, whatever is done before it.
    """
    if saving is None:
        return None
    if saving.refused is None:
        return _within_idle_time(facts, saving) if rule.general or rule.symptom else saving
    spans = facts.span(cause.rows) if cause.spans is None else cause.spans
    took = min(facts.share(int((spans[:, 1] - spans[:, 0]).sum())), 1.0) if len(spans) else cause.values.get("idle")
    share = next((one.value for one in cause.evidence if one.key == "share_of_step"), took)
    explains = bound.share is not None and rule.family in _EXPLAINED_BY.get(bound.kind, ())
    return replace(
        saving,
        share_of_step=share if isinstance(share, float) else None,
        at_most_ns=(bound.share or 0.0) * facts.step_ns if explains else None,
    )


def _within_idle_time(facts: Facts, saving: FindingSaving) -> FindingSaving:
    most = max((1 - each.busy for each in device_use(facts.model) if each.busy is not None), default=1.0)

    def limited(ns: float | None) -> float | None:
        return None if ns is None else min(ns, most * facts.step_ns)

    names = ("alone_ns", "after_others_ns", "last_in_ns", "low_ns", "high_ns")
    return replace(saving, **{name: limited(getattr(saving, name)) for name in names})


def _least_share(facts: Facts, each: Found) -> float:
    """Return the share of the step that a cause must cost to be shown."""
    return facts.limit("findings", "least_share") if each.least_share is None else each.least_share


def _is_worth_showing(facts: Facts, rule: Rule, cause: Found, saving: FindingSaving) -> bool:
    if saving.refused is not None:
        return True
    alone, after, last_in = (
        (x or 0.0) / facts.step_ns for x in (saving.alone_ns, saving.after_others_ns, saving.last_in_ns)
    )
    if rule.general and after < max(alone / 2, facts.limit("findings", "general_share")):
        return False  # more specific findings explain most of it
    if rule.symptom and after < min(alone, facts.limit("findings", "general_share")):
        return False
    return max(alone, last_in) >= _least_share(facts, cause)


def _finding(facts: Facts, rule: Rule, cause: Found, saving: FindingSaving | None, key: str) -> Finding:
    model = facts.model
    rows = cause.rows[:LISTED]
    events, strings = facts.trace.events, facts.trace.strings
    spans = facts.span(rows) if cause.spans is None else cause.spans[:LISTED]
    step_index = facts.step_with_most(spans, facts.on_device(rows) | (cause.spans is not None))
    instances = tuple(
        Instance(
            row=int(row),
            name=str(strings[events.name[row]]),
            start_ns=start,
            duration_ns=end - start,
            step=model.steps.names[step] if step >= 0 else None,
        )
        for row, (start, end), step in zip(rows.tolist(), spans.tolist(), step_index.tolist(), strict=True)
    )
    return Finding(
        id=rule.id,
        key=key,
        severity=cause.severity if saving is None else severity(saving, facts.step_ns, facts.thresholds),
        where=common_place(model, cause.rows if cause.place_rows is None else cause.place_rows, cause.place_ns),
        saving=saving,
        instances=instances,
        count=len(cause.rows),
        **as_said_for(platform(model), cause.said(rule.words)),
    )
