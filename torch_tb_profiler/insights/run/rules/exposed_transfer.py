"""Transfers of collectives that no computation hides, without the waiting for late ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.refusals import Refusal
from torch_tb_profiler.insights.rule import Evidence
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.insights.run.lateness import steps_of_ranks
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.shared.transfer_advice import ADVICE, LINKS, most_sent
from torch_tb_profiler.insights.shared.wording import ms

_UNMATCHED = Refusal(
    "unmatched",
    "savings",
    "Most of the communication could not be matched with that of another rank, so that its time may be waiting.",
)


def _find(facts: RunFacts) -> Sequence[RunFound]:
    changes = facts.relief_changes("communication")
    if not changes or not facts.joint.collectives or facts.refusal(changes) is not None:
        return ()
    remedy = facts.relief("communication")
    after = sum(int(each.sum()) for each in facts.steps_after([remedy])) / facts.steps
    share = 1 - after / facts.step_ns
    if share <= facts.limit("exposed_transfer", "least_share"):
        return ()
    of = steps_of_ranks(facts)
    partial = ""
    if facts.is_partial:
        partial = f" This includes waiting for ranks that are not loaded: {facts.loaded} of {facts.world} are."
    communications = [each.rank.communications for each in facts.ranks]
    transfers = zip(communications, facts.distributed.matching.transfer, strict=True)
    holds = Counter(each.held for each in facts.ranks)
    sent = most_sent(transfers, any(each.is_training for each in facts.ranks), holds.most_common(1)[0][0])
    known = of.transfer_ns[of.transfer_ns >= 0]
    transfer = float(known.mean()) if len(known) else 0.0
    unmatched = float(of.unmatched_ns.mean())
    return (
        RunFound(
            title="Steps wait for transfers of collectives",
            detail=(
                f"With transfers that take no time, a step of the {facts.loaded} ranks together would take "
                f"{ms(after)} instead of {ms(facts.step_ns)}; waiting for late ranks is not part of that.{partial}"
            ),
            advice=ADVICE[sent],
            values={
                "loaded": facts.loaded,
                "world": facts.world,
                "before_ns": facts.step_ns,
                "after_ns": after,
                "sent": sent,
            },
            remedy=remedy,
            changes=changes,
            refused=_UNMATCHED if unmatched > transfer else None,
            confidence="medium" if facts.is_partial else "high",
            evidence=(
                Evidence("transfer_per_step", "Transfer, average per step", transfer, "ns", "distributed"),
                Evidence(
                    "collectives_matched",
                    "Collectives found on several ranks",
                    facts.joint.collectives,
                    "count",
                    "distributed",
                ),
            ),
            links=LINKS[sent],
        ),
    )


RULE = RunRule("exposed_transfer", "R43", _find)
