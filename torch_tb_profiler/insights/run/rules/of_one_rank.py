"""What rules about the communication of one trace find, with the saving that only all ranks together show."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from torch_tb_profiler.analysis.replay.changes import is_bound
from torch_tb_profiler.insights.rules import RULES as OF_A_TRACE
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.insights.run.rule import RunFound, RunRule


def _find(facts: RunFacts, rule: str) -> Sequence[RunFound]:
    found = [[each for each in rank.found if each.rule == rule and each.found.changes] for rank in facts.ranks]
    having = [number for number, each in enumerate(found) if each]
    if not having:
        return ()
    said = max((each for of in found for each in of), key=lambda each: len(each.found.rows)).found
    changes = [change for of in found for each in of for change in each.found.changes]
    return (
        RunFound(
            values=said.values,
            workers=() if len(having) == facts.loaded else tuple(facts.ranks[k].rank.worker for k in having),
            remedy=tuple(tuple(effect for each in of for effect in each.effects) for of in found),
            changes=tuple(dict.fromkeys(changes)),
            bound=any(map(is_bound, changes)),
            count=sum(len(each.found.rows) for of in found for each in of),
            evidence=said.evidence,
            links=said.links,
            confidence=said.confidence,
        ),
    )


RULES = tuple(
    RunRule(rule.id, rule.number, rule.family, partial(_find, rule=rule.id)) for rule in OF_A_TRACE if rule.over_ranks
)
