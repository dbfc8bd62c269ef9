"""The summary of a run: that of its first rank with all ranks together, and their findings."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace

from torch_tb_profiler.insights.listing import saving_share
from torch_tb_profiler.insights.run.findings import RunDiagnosis
from torch_tb_profiler.insights.run.rule import RunFinding
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, SummaryFinding, SummarySkipped, as_sent
from torch_tb_profiler.ranks.reduction import reduce_run_with_clock, summary_of
from torch_tb_profiler.ranks.summary import RankSummary


def of_run(
    first: SummaryAnswer,
    ranks: Sequence[RankSummary],
    run: RunDiagnosis | None,
    failed: Sequence[SummarySkipped],
    loading: Sequence[str] = (),
) -> SummaryAnswer:
    """Extend the summary of the first rank to all ranks of its span.

    run     None leaves bound and findings those of the first rank, where the ranks are not replayed together
    failed  traces of the span that could not be read
    """
    result, fitted = reduce_run_with_clock(ranks, [each.file for each in failed], loading)
    first = replace(
        first,
        notes=[*first.notes, *result.overview.notes],
        ranks=summary_of(result, fitted),
        skipped=[*failed, *first.skipped],
    )
    return as_sent(first if run is None else _with_findings(first, run))


def _with_findings(first: SummaryAnswer, run: RunDiagnosis) -> SummaryAnswer:
    """Replace bound and findings by those of all ranks.

    What rules over ranks look at is said by them alone: what communication costs one rank holds waiting for others, and
    so does what is general, unless ranks are missing: then waiting for them is seen on no other rank. Of the rank are
    causes in its own program, with its name.
    """
    # a server that only passes answers on needs no rules
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    covered = {*run.checked, *(each.id for each in run.findings)}
    if run.loaded >= run.world:
        covered |= {rule.id for rule in RULES if rule.general or rule.symptom}
    own = [
        replace(each, where=f"{first.trace.worker}: {each.where or 'in its whole trace'}")
        for each in first.findings
        if each.id not in covered and not _is_of_one_rank(each)
    ]
    together = [*(_finding(each) for each in run.findings), *own]
    return replace(
        first,
        bound=run.bound.kind,
        bound_sentence=run.bound.sentence,
        explained=run.bound.explained,
        findings=sorted(together, key=lambda each: _place(each, first.steps.mean_ns or 0.0)),
    )


def _place(found: SummaryFinding, step_ns: float) -> tuple[bool, float]:
    """What findings are sorted by: what they save, or take, of the step, and warnings last."""
    return found.saving is None, 0.0 if found.saving is None else -saving_share(found.saving, step_ns)


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
