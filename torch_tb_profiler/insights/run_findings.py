"""What all rules over ranks find in a run, and what it would save when the ranks are replayed together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from torch_tb_profiler.analysis.answer import Count, MeanNs
from torch_tb_profiler.analysis.replay.savings import greedy, interval
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.bound import Bound
from torch_tb_profiler.insights.rule import FindingSaving, FindingSeverity
from torch_tb_profiler.insights.run_bound import run_bound
from torch_tb_profiler.insights.run_facts import RunFacts, RunRank
from torch_tb_profiler.insights.run_rule import RunFinding, RunFound, RunRule
from torch_tb_profiler.insights.thresholds import thresholds

_SEVERITIES: tuple[FindingSeverity, ...] = ("high", "medium", "low")
#: joint replays that are spent on the order of remedies
_REPLAYS = 40


@dataclass(frozen=True)
class RunDiagnosis:
    """What is known of why the steps of all ranks take as long as they do.

    loaded        how many ranks were replayed together
    world         how many the run has, as far as the traces say
    collectives   how many were found on several ranks
    bound         the resource that bounds the steps
    findings      causes by what they save after those before them, then what has no number, then warnings
    step_ns       the mean of the steps of all ranks; null without steps
    together_ns   what all findings together save of it; null without any that has a saving
    checked       ids of the rules that found nothing
    """

    loaded: Count
    world: Count
    collectives: Count
    bound: Bound
    findings: tuple[RunFinding, ...]
    step_ns: MeanNs | None
    together_ns: MeanNs | None
    checked: tuple[str, ...]


def run_diagnosis(ranks: Sequence[RunRank]) -> RunDiagnosis:
    """Apply all rules over ranks. With one rank only there are no findings: it does not show who waits for whom."""
    # a server that only passes answers on needs no rules
    from torch_tb_profiler.insights.run_rules import RUN_RULES  # noqa: PLC0415

    facts = RunFacts(tuple(ranks), thresholds())
    found: list[tuple[RunRule, RunFound]] = []
    rules = [rule for rule in RUN_RULES if rule.id not in facts.thresholds.mute] if facts.loaded > 1 else []
    for rule in rules:
        found += [(rule, each) for each in (rule.find(facts) if facts.step_ns else ())]
    present = {rule.id for rule, _ in found}
    replaced = {id_ for rule, _ in found for id_ in rule.replaces if rule.id in present}
    listed, together = _with_savings(facts, [each for each in found if each[0].id not in replaced])
    shown = {each.id for each in listed}
    return RunDiagnosis(
        loaded=facts.loaded,
        world=facts.world,
        collectives=facts.joint.collectives,
        bound=run_bound(facts),
        findings=tuple(listed),
        step_ns=facts.step_ns or None,
        together_ns=together,
        checked=tuple(rule.id for rule in rules if rule.id not in shown),
    )


def _with_savings(facts: RunFacts, found: Sequence[tuple[RunRule, RunFound]]) -> tuple[list[RunFinding], float | None]:
    changing = [(rule, each) for rule, each in found if each.remedy is not None and _why_not(facts, each) is None]
    remedies = [each.remedy or () for _, each in changing]
    ends = np.cumsum([len(each) for each in facts.before])[:-1]

    def steps_after(places: Sequence[int]) -> Int64:
        return np.concatenate(facts.steps_after([remedies[place] for place in places]))

    kept: list[tuple[RunRule, RunFound, FindingSaving | None]] = []
    together = 0.0
    if changing:
        now = np.concatenate(facts.before)
        order, reached, alone = greedy(range(len(changing)), now, steps_after, _REPLAYS)
        n = facts.steps
        for place, then in zip(order, reached, strict=True):
            rule, each = changing[place]
            rest = now if place == order[-1] else steps_after([other for other in order if other != place])
            last_in = int((rest - reached[-1]).sum())
            saved = now - then
            low, high = _interval(np.split(saved, ends), facts, each.bound)
            saving = FindingSaving(
                alone_ns=alone[place] / n,
                after_others_ns=int(saved.sum()) / n,
                last_in_ns=last_in / n,
                low_ns=None if low is None else low / n,
                high_ns=None if high is None else high / n,
                bound=each.bound,
                refused=None,
            )
            now = then
            together += saving.after_others_ns or 0.0
            least = facts.limit("findings", "least_share") * facts.step_ns
            if max(saving.alone_ns or 0, saving.after_others_ns or 0, saving.last_in_ns or 0) >= least:
                kept.append((rule, each, saving))
    has_number = bool(kept)
    for rule, each in found:
        why = _why_not(facts, each)
        if why is not None:
            kept.append((rule, each, FindingSaving(None, None, None, None, None, True, why)))
        elif each.remedy is None:
            kept.append((rule, each, None))
    numbers: dict[str, int] = {}
    listed = []
    for rule, each, known in kept:
        numbers[rule.id] = numbers.get(rule.id, 0) + 1
        key = rule.id if numbers[rule.id] == 1 else f"{rule.id}-{numbers[rule.id]}"
        listed.append(_finding(facts, rule, each, known, key))
    listed.sort(key=_order)  # stable: savings stay in the order in which they add up
    return listed, together if has_number else None


def _why_not(facts: RunFacts, each: RunFound) -> str | None:
    """Why no saving can be promised."""
    if each.refused is not None or each.remedy is None:
        return each.refused
    refusal = facts.refusal(each.changes)
    return None if refusal is None else refusal.text


def _interval(saved: Sequence[Int64], facts: RunFacts, bound: bool) -> tuple[int | None, int | None]:
    """Of the sum over ranks, step by step; None where ranks have different steps."""
    names = {each.graph.steps.names for each in facts.ranks}
    if len(names) != 1:
        return None, None
    return interval(np.sum(saved, axis=0), sum(int(each.sum()) for each in facts.before), bound)


def _finding(facts: RunFacts, rule: RunRule, each: RunFound, saving: FindingSaving | None, key: str) -> RunFinding:
    severity = each.severity
    if saving is not None:
        share = (saving.after_others_ns or 0.0) / facts.step_ns
        high, medium = facts.limit("findings", "high_share"), facts.limit("findings", "medium_share")
        severity = "high" if share >= high else "medium" if share >= medium else "low"
    return RunFinding(
        id=rule.id,
        key=key,
        severity=severity,
        confidence=each.confidence,
        title=each.title,
        detail=each.detail,
        advice=each.advice,
        workers=each.workers,
        saving=saving,
        evidence=each.evidence,
        instances=each.instances,
        count=len(each.instances) if each.count is None else each.count,
        links=each.links,
        values=each.values,
    )


def _order(finding: RunFinding) -> tuple[int, int]:
    if finding.saving is None:
        return 2, _SEVERITIES.index(finding.severity)
    return int(finding.saving.refused is not None), 0
