"""What all rules find in a trace, what it would save, and what could not be looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.replay.changes import Change
from torch_tb_profiler.analysis.replay.recorded import recorded_quality
from torch_tb_profiler.analysis.replay.refusals import Quality
from torch_tb_profiler.analysis.replay.savings import Saving, savings
from torch_tb_profiler.analysis.replay.scenario import changed, unchanged
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.insights.bound import Bound, bound_of
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.launch_bound import is_launch_bound
from torch_tb_profiler.insights.places import common_place
from torch_tb_profiler.insights.rule import Finding, FindingSaving, FindingSeverity, Found, Instance, Rule
from torch_tb_profiler.insights.thresholds import thresholds
from torch_tb_profiler.model import Model

#: instances that a finding lists; `Finding.count` says how many there are
LISTED = 20
_SEVERITIES: tuple[FindingSeverity, ...] = ("high", "medium", "low")


@dataclass(frozen=True)
class NotEvaluated:
    """A rule that could not be applied.

    id     of the rule
    needs  what is missing
    text   the same in words
    """

    id: str
    needs: str
    text: str


@dataclass(frozen=True)
class Diagnosis:
    """What is known of why the steps take as long as they do.

    bound          the resource that bounds the steps
    findings       causes by what they save after those before them, then what has no number, then warnings
    step_ns        the mean of the steps; null without steps
    together_ns    what all findings together save of it, by replay; null without any that has a saving
    checked        ids of the rules that found nothing
    not_evaluated  rules that need something that was not recorded
    muted          ids of rules that are not shown, by the file of thresholds
    """

    bound: Bound
    findings: tuple[Finding, ...]
    step_ns: float | None
    together_ns: float | None
    checked: tuple[str, ...]
    not_evaluated: tuple[NotEvaluated, ...]
    muted: tuple[str, ...]


def findings(model: Model) -> tuple[Finding, ...]:
    """The findings of a trace."""
    return diagnosis(model).findings


@remembered
def diagnosis(model: Model) -> Diagnosis:
    """Apply all rules, and replay what each finding would save."""
    # many modules, which a server that gives prepared answers does not need
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    facts = Facts(model, thresholds())
    mute = facts.thresholds.mute
    missing = {rule.id: next((need for need in rule.needs if not need.held(model)), None) for rule in RULES}
    found: list[tuple[Rule, Found]] = []
    for rule in RULES:
        if rule.id not in mute and missing[rule.id] is None:
            found += [(rule, each) for each in rule.find(facts)]
    present = {rule.id for rule, _ in found}
    replaced = {id_ for rule, _ in found for id_ in rule.replaces if rule.id in present}
    found = [(rule, each) for rule, each in found if rule.id not in replaced]
    steps = _in_graph(facts)
    quality = recorded_quality(model)
    listed, together = _with_savings(facts, steps, quality, found)
    evaluated = [rule for rule in RULES if rule.id not in mute and missing[rule.id] is None]
    shown = {each.id for each in listed}
    return Diagnosis(
        bound=bound_of(facts, steps, quality, is_launch_bound(facts), _changes_of("recompiles", found)),
        findings=tuple(listed),
        step_ns=facts.step_ns if facts.steps else None,
        together_ns=together,
        checked=tuple(rule.id for rule in evaluated if rule.id not in shown),
        not_evaluated=tuple(
            NotEvaluated(id_, need.id, f"needs {need.text}") for id_, need in missing.items() if need is not None
        ),
        muted=tuple(rule.id for rule in RULES if rule.id in mute),
    )


def _changes_of(id_: str, found: Sequence[tuple[Rule, Found]]) -> list[Change]:
    """What removes the causes that one rule found."""
    return [change for rule, each in found if rule.id == id_ and each.refused is None for change in each.changes]


def _in_graph(facts: Facts) -> list[int]:
    """The steps that were chosen, as indices of the steps of the graph, which has all."""
    whole = facts.graph.steps
    place = np.searchsorted(whole.start, facts.model.steps.start)
    return [int(at) for at in place if at < len(whole)]


def _with_savings(
    facts: Facts, steps: Sequence[int], quality: Quality, found: Sequence[tuple[Rule, Found]]
) -> tuple[list[Finding], float | None]:
    """All that is worth showing in its order, and what it saves together, ns of a step."""
    refused = [(rule, each, _refused(each.refused)) for rule, each in found if each.refused is not None]
    changing = [(rule, each) for rule, each in found if each.changes and each.refused is None]
    first, last = _general_last(facts, steps, quality, changing)
    timed: list[tuple[Rule, Found, FindingSaving]] = []
    together = 0.0
    if first or last:
        of_first = savings(facts.model, [each.changes for _, each in first], steps)
        n = max(facts.steps, 1)
        together = of_first.together_ns / n
        timed += [
            (*first[one.place], _per_step(one, n))
            for one in of_first.changes
            if not (one.only_first and _is_in_most_steps(facts, first[one.place][1]))
        ]
        before = [each for _, each in first]
        for rule, each in last:
            saving = _of_the_rest(facts, steps, quality, before, each)
            if saving.refused is not None or _is_worth_showing(facts, rule, each, saving):
                timed.append((rule, each, saving))
                before.append(each)
                together += saving.after_others_ns or 0.0
    kept = [(rule, each, saving) for rule, each, saving in timed if _is_worth_showing(facts, rule, each, saving)]
    warnings = [(rule, each, None) for rule, each in found if not each.changes and each.refused is None]
    numbers: dict[str, int] = {}
    listed: list[Finding] = []
    shown: list[tuple[Rule, Found, FindingSaving | None]] = [*kept, *refused, *warnings]
    for rule, each, known in shown:
        numbers[rule.id] = numbers.get(rule.id, 0) + 1
        key = rule.id if numbers[rule.id] == 1 else f"{rule.id}-{numbers[rule.id]}"
        listed.append(_finding(facts, rule, each, known, key))
    listed.sort(key=_order)  # stable: savings stay in the order in which they add up
    return listed, together if kept else None


#: a general finding that alone saves so much more than all others together comes in its place among them
DOMINATES = 2.0


def _general_last(
    facts: Facts, steps: Sequence[int], quality: Quality, found: Sequence[tuple[Rule, Found]]
) -> tuple[list[tuple[Rule, Found]], list[tuple[Rule, Found]]]:
    """Findings whose savings are compared with one another, and general ones, which get what these leave."""
    first = [(rule, each) for rule, each in found if not rule.general]
    general = [(rule, each) for rule, each in found if rule.general]
    others = [change for _, each in first for change in each.changes if quality.of(change) is None]
    if not general or not others:
        return first, general
    graph, trace = facts.graph, facts.trace
    chosen = np.array(steps, np.int64)
    base = int(unchanged(graph).step_ns[chosen].sum())
    together = base - int(changed(trace, graph, others).step_ns[chosen].sum())
    last: list[tuple[Rule, Found]] = []
    for rule, each in general:
        allowed = all(quality.of(change) is None for change in each.changes)
        alone = base - int(changed(trace, graph, each.changes).step_ns[chosen].sum()) if allowed else 0
        (first if alone > DOMINATES * max(together, 0) else last).append((rule, each))
    return first, last


def _is_in_most_steps(facts: Facts, found: Found) -> bool:
    """Whether the cause is in more than half of the steps after the first: what saves time in that one alone is hidden
    in them.
    """
    step = np.searchsorted(facts.model.steps.host_start, facts.trace.events.start[found.rows], side="right") - 1
    return len(distinct(step[step > 0])) > (facts.steps - 1) / 2


def _refused(why: str | None) -> FindingSaving:
    return FindingSaving(None, None, None, None, None, True, why)


def _per_step(saving: Saving, n: int) -> FindingSaving:
    def mean(ns: int | None) -> float | None:
        return None if ns is None else ns / n

    return FindingSaving(
        alone_ns=mean(saving.alone),
        after_others_ns=mean(saving.after_others),
        last_in_ns=mean(saving.last_in),
        low_ns=mean(saving.low),
        high_ns=mean(saving.high),
        bound=saving.bound,
        refused=None if saving.refused is None else saving.refused.text,
    )


def _of_the_rest(
    facts: Facts, steps: Sequence[int], quality: Quality, others: Sequence[Found], each: Found
) -> FindingSaving:
    """The saving of a finding that comes after all others."""
    refusal = next((why for change in each.changes if (why := quality.of(change)) is not None), None)
    if refusal is not None:
        return _refused(refusal.text)
    graph, trace = facts.graph, facts.trace
    chosen = np.array(steps, np.int64)
    before = [change for other in others for change in other.changes if quality.of(change) is None]
    base = unchanged(graph).step_ns[chosen]
    alone = base - changed(trace, graph, each.changes).step_ns[chosen]
    rest = (
        changed(trace, graph, before).step_ns[chosen] - changed(trace, graph, [*before, *each.changes]).step_ns[chosen]
    )
    n = max(len(chosen), 1)
    mean = float(rest.sum()) / n
    return FindingSaving(float(alone.sum()) / n, mean, mean, float(rest.min()), float(rest.max()), True, None)


def _is_worth_showing(facts: Facts, rule: Rule, each: Found, saving: FindingSaving) -> bool:
    if saving.refused is not None:
        return True
    least = facts.limit("findings", "least_share") if each.least_share is None else each.least_share
    alone, after, last_in = (
        (x or 0.0) / facts.step_ns for x in (saving.alone_ns, saving.after_others_ns, saving.last_in_ns)
    )
    if rule.general and after < max(alone / 2, facts.limit("findings", "general_share")):
        return False  # what is more specific explains most of it
    return max(alone, after, last_in) >= least


def _finding(facts: Facts, rule: Rule, each: Found, saving: FindingSaving | None, key: str) -> Finding:
    model = facts.model
    rows = each.rows[:LISTED]
    events, strings = facts.trace.events, facts.trace.strings
    at = facts.step_of(rows)
    instances = tuple(
        Instance(
            row=int(row),
            name=str(strings[events.name[row]]),
            start_ns=int(events.start[row]),
            duration_ns=max(int(events.duration[row]), 0),
            step=model.steps.names[step] if step >= 0 else None,
        )
        for row, step in zip(rows.tolist(), at.tolist(), strict=True)
    )
    return Finding(
        id=rule.id,
        key=key,
        severity=each.severity if saving is None else _severity(facts, saving),
        confidence=each.confidence,
        title=each.title,
        detail=each.detail,
        advice=each.advice,
        where=common_place(model, each.rows if each.place_rows is None else each.place_rows),
        saving=saving,
        evidence=each.evidence,
        instances=instances,
        count=len(each.rows),
        links=each.links,
        values=each.values,
    )


def _severity(facts: Facts, saving: FindingSaving) -> FindingSeverity:
    share = (saving.after_others_ns or 0.0) / facts.step_ns if facts.step_ns else 0.0
    if share >= facts.limit("findings", "high_share"):
        return "high"
    return "medium" if share >= facts.limit("findings", "medium_share") else "low"


def _order(finding: Finding) -> tuple[int, int]:
    if finding.saving is None:
        return 2, _SEVERITIES.index(finding.severity)
    return int(finding.saving.refused is not None), 0


def without_muted(found: Diagnosis, mute: Sequence[str]) -> Diagnosis:
    """The same without the findings of some rules."""
    kept = tuple(each for each in found.findings if each.id not in mute)
    return replace(found, findings=kept, muted=tuple(dict.fromkeys([*found.muted, *mute])))
