"""The rules over several ranks, a file for each family, and their list: see `insights/rules`."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from torch_tb_profiler.analysis.replay.changes import is_bound
from torch_tb_profiler.insights.rules import RULES
from torch_tb_profiler.insights.run.facts import RunFacts, RunFound, RunRule
from torch_tb_profiler.insights.run.rules import communication, ranks


def _join_ranks(facts: RunFacts, rule: str) -> Sequence[RunFound]:
    """Join what a rule about one trace finds on each rank: only all ranks together show what that saves."""
    by_rank = [[cause for cause in rank.found if cause.rule == rule and cause.found.changes] for rank in facts.ranks]
    causes = [cause for of_rank in by_rank for cause in of_rank]
    if not causes:
        return ()
    largest = max(causes, key=lambda cause: len(cause.found.rows)).found
    changes = [change for cause in causes for change in cause.found.changes]
    having = [rank.rank.worker for rank, of_rank in zip(facts.ranks, by_rank, strict=True) if of_rank]
    return (
        RunFound(
            values=largest.values,
            workers=() if len(having) == facts.loaded else tuple(having),
            remedy=tuple(tuple(effect for cause in of_rank for effect in cause.effects) for of_rank in by_rank),
            changes=tuple(dict.fromkeys(changes)),
            bound=any(map(is_bound, changes)),
            count=sum(len(cause.found.rows) for cause in causes),
            evidence=largest.evidence,
            links=largest.links,
            confidence=largest.confidence,
        ),
    )


#: in the order in which they are applied
RUN_RULES: tuple[RunRule, ...] = (
    *(rule for family in (ranks, communication) for rule in vars(family).values() if isinstance(rule, RunRule)),
    *(
        RunRule(rule.id, rule.number, rule.family, partial(_join_ranks, rule=rule.id))
        for rule in RULES
        if rule.over_ranks
    ),
)
