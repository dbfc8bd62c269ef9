"""The findings of a run in the summary of one of its ranks: those over ranks, and causes that are the rank's own."""

from __future__ import annotations

from msgspec.structs import replace

from torch_tb_profiler.insights.run.findings import RunDiagnosis
from torch_tb_profiler.insights.run.rule import RunFinding
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, SummaryFinding, saved


def of_run(found: SummaryAnswer, run: RunDiagnosis) -> SummaryAnswer:
    """A summary whose bound and findings are of all ranks.

    What rules over ranks look at is said by them alone: what communication costs one rank holds waiting for others, and
    so does what is general. Of the rank are causes in its own program, with its name.
    """
    # a server that only passes answers on needs no rules
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    told = {*run.checked, *(each.id for each in run.findings)}
    told |= {rule.id for rule in RULES if rule.general or rule.symptom}
    own = [
        replace(each, where=f"{found.trace.worker}: {each.where or 'in its whole trace'}")
        for each in found.findings
        if each.id not in told and not _is_of_one_rank(each)
    ]
    together = [*(_finding(each) for each in run.findings), *own]
    return replace(
        found,
        bound=run.bound.kind,
        bound_sentence=run.bound.sentence,
        explained=run.bound.explained,
        findings=sorted(together, key=lambda each: saved(each.saving), reverse=True),
    )


def _is_of_one_rank(found: SummaryFinding) -> bool:
    return found.saving is not None and found.saving.refused_id == "one_rank_communication"


def _finding(found: RunFinding) -> SummaryFinding:
    return SummaryFinding(
        id=found.id,
        title=found.title,
        detail=found.detail,
        advice=found.advice,
        where=", ".join(found.workers) or None,
        saving=found.saving,
        evidence=found.instances,
    )
