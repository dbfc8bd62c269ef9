"""What all rules over ranks find in a run, and what it would save when the ranks are replayed together."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Count, MeanNs
from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.analysis.replay.savings import ReplayCache, greedy_order, saving_interval, worth_counting
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.bound import Bound
from torch_tb_profiler.insights.listing import in_order, keys, refused, severity
from torch_tb_profiler.insights.rule import FindingSaving
from torch_tb_profiler.insights.run.bound import run_bound
from torch_tb_profiler.insights.run.facts import RunFacts, RunFinding, RunFound, RunRank, RunRule
from torch_tb_profiler.insights.shared.device_words import as_said_for

#: joint replays that are spent on the order of remedies
_REPLAYS = 40


class RunDiagnosis(Answer, frozen=True, kw_only=True):
    """What is known of why the steps of all ranks take as long as they do.

    loaded       how many ranks were replayed together
    world        how many the run has, as far as the traces say. With fewer loaded, what communication costs includes
                 waiting for the others
    collectives  how many were found on several ranks
    bound        what bounds the steps of all ranks
    findings     causes, each the one that saves most beyond those before it; then what has no number, then warnings
    step_ns      the mean of the steps of all ranks; null without steps
    together_ns  what all findings with a saving save of it together; null without any
    checked      ids of the rules that were applied and found nothing
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
    """Apply all rules over ranks. With one rank only there are no findings: waiting cannot be measured."""
    # a server that only passes answers on needs no rules
    from torch_tb_profiler.insights.run.rules import RUN_RULES  # noqa: PLC0415

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


def _with_savings(facts: RunFacts, causes: Sequence[tuple[RunRule, RunFound]]) -> tuple[list[RunFinding], float | None]:
    """All that is worth showing in its order, and what it saves together, ns of a step."""
    why = [_why_not(facts, cause) for _, cause in causes]
    remedies = [
        (rule, cause) for (rule, cause), no in zip(causes, why, strict=True) if cause.remedy is not None and no is None
    ]
    timed = _savings(facts, [cause for _, cause in remedies])
    shown: list[tuple[RunRule, RunFound, FindingSaving | None]] = [
        (*remedies[place], saving) for place, saving in timed.items()
    ]
    shown += [(*one, refused(no)) for one, no in zip(causes, why, strict=True) if no is not None]
    shown += [
        (rule, cause, None)
        for (rule, cause), no in zip(causes, why, strict=True)
        if cause.remedy is None and no is None
    ]
    names = keys(rule.id for rule, _, _ in shown)
    listed = in_order([_finding(facts, *one, key) for key, one in zip(names, shown, strict=True)], facts.step_ns)
    return listed, sum(saving.after_others_ns or 0.0 for saving in timed.values()) if timed else None


def _savings(facts: RunFacts, causes: Sequence[RunFound]) -> dict[int, FindingSaving]:
    """By place among those found what removing each saves, in the order in which these add up; only what is enough to
    be shown.
    """
    if not causes:
        return {}
    remedies = [cause.remedy or () for cause in causes]
    before = np.concatenate(facts.before)
    ends = np.cumsum([len(steps) for steps in facts.before])[:-1]
    steps_after = ReplayCache(lambda places: np.concatenate(facts.steps_after([remedies[place] for place in places])))
    least = facts.limit("findings", "least_share") * int(before.sum())
    places = worth_counting(range(len(causes)), before, steps_after, dict.fromkeys(range(len(causes)), least))
    order, reached, alone = greedy_order(places, before, steps_after, _REPLAYS)
    n = facts.steps
    savings = {}
    now = before
    for place, then in zip(order, reached, strict=True):
        without_it = steps_after(other for other in places if other != place)
        low, high = _interval(np.split(now - then, ends), facts, causes[place].bound)
        # what is known of it alone has another owner: the parts of the replay are in proportion
        known = causes[place].alone_ns
        per = 1 / n if known is None or alone[place] <= 0 else known / alone[place]
        savings[place] = FindingSaving(
            alone_ns=alone[place] * per,
            after_others_ns=int((now - then).sum()) * per,
            last_in_ns=int((without_it - reached[-1]).sum()) * per,
            low_ns=None if low is None else low * per,
            high_ns=None if high is None else high * per,
            bound=causes[place].bound,
        )
        now = then
    step = int(before.sum()) / n if n else 0.0
    for place, cause in enumerate(causes):
        # the parts of the replay do not show what the reduction of the ranks knows
        known = cause.alone_ns
        if place not in savings and known is not None and known >= facts.limit("findings", "least_share") * step:
            savings[place] = FindingSaving(known, known, known, None, None, cause.bound)
    return dict(sorted(savings.items(), key=lambda one: -(one[1].after_others_ns or 0.0)))


def _why_not(facts: RunFacts, each: RunFound) -> ReplayRefusal | None:
    """Why no saving can be promised."""
    if each.refused is not None or each.remedy is None:
        return each.refused
    return facts.refusal(each.changes)


def _interval(saved: Sequence[Int64], facts: RunFacts, bound: bool) -> tuple[int | None, int | None]:
    """Of the sum over ranks, step by step; None if ranks have different steps."""
    names = {each.graph.steps.names for each in facts.ranks}
    if len(names) != 1:
        return None, None
    return saving_interval(np.sum(saved, axis=0), sum(int(each.sum()) for each in facts.before), bound)


def _finding(facts: RunFacts, rule: RunRule, cause: RunFound, saving: FindingSaving | None, key: str) -> RunFinding:
    return RunFinding(
        id=rule.id,
        key=key,
        severity=cause.severity if saving is None else severity(saving, facts.step_ns, facts.thresholds),
        workers=cause.workers,
        saving=saving,
        instances=cause.instances,
        count=len(cause.instances) if cause.count is None else cause.count,
        **as_said_for(facts.platform, cause.said(rule.words)),
    )
