"""Question for the summary of a trace or a run: a run has the numbers of its first rank, and findings of all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from torch_tb_profiler.analysis.question import Node, NoParameters, Question, RunSubject, Subject
from torch_tb_profiler.insights.listing import saving_share
from torch_tb_profiler.insights.run.facts import RunFinding, RunRank, run_rank
from torch_tb_profiler.insights.run.findings import RunDiagnosis, run_diagnosis
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, SummaryFinding, SummarySkipped, as_sent, summary
from torch_tb_profiler.ranks.reduction import reduce_run_with_clock, summary_of
from torch_tb_profiler.ranks.summary import RankSummary, summarize


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

    Findings of one rank are left out if a rule over ranks covers them: its cost of communication includes waiting for
    others. So does the cost of general findings and symptoms; these stay if ranks are missing, because nothing else
    shows the waiting for them. Causes in the rank's own program stay, with its name.
    """
    # a server that only passes answers on needs no rules
    from torch_tb_profiler.insights.rules import RULES  # noqa: PLC0415

    covered = {*run.checked, *(finding.id for finding in run.findings)}
    if run.loaded >= run.world:
        covered |= {rule.id for rule in RULES if rule.general or rule.symptom}
    own = [
        replace(finding, where=f"{first.trace.worker}: {finding.where or 'in its whole trace'}")
        for finding in first.findings
        if finding.id not in covered and not _is_of_one_rank(finding)
    ]
    together = [*(_finding(finding) for finding in run.findings), *own]
    return replace(
        first,
        bound=run.bound.kind,
        bound_sentence=run.bound.sentence,
        explained=run.bound.explained,
        findings=sorted(together, key=lambda finding: _place(finding, first.steps.mean_ns or 0.0)),
    )


def _place(found: SummaryFinding, step_ns: float) -> tuple[bool, float]:
    """Return the sort key of a finding: by its share of the step, saved or taken, and warnings last."""
    return found.saving is None, 0.0 if found.saving is None else -saving_share(found.saving, step_ns)


def _is_of_one_rank(found: SummaryFinding) -> bool:
    return found.saving is not None and found.saving.refused_id == "one_rank_communication"


def _finding(finding: RunFinding) -> SummaryFinding:
    return SummaryFinding(
        id=finding.id,
        key=finding.key,
        title=finding.title,
        detail=finding.detail,
        advice=finding.advice,
        where=", ".join(finding.workers) or None,
        saving=finding.saving,
        evidence=finding.instances,
    )


#: approximate size of a summary, bytes
_SUMMARY_BYTES = 100_000


class SummaryRank(Struct, frozen=True):
    """What is kept of a rank for the summary of its run."""

    summary: SummaryAnswer
    rank: RunRank

    @property
    def size(self) -> int:
        """Approximate size of the summary, bytes."""
        return _SUMMARY_BYTES + self.rank.size


def _summary(subject: Subject, _: NoParameters) -> SummaryAnswer:
    own = summary(subject)
    if subject.workers > 1:
        return as_sent(own)
    only = summarize(subject.model, subject.worker)
    return as_sent(replace(own, ranks=summary_of(*reduce_run_with_clock([only]))))


def _part(subject: Subject) -> SummaryRank:
    return SummaryRank(_summary(subject, NoParameters()), run_rank(subject.model, subject.worker))


SUMMARY_RANK = Node(name="summary_of_run", make=_part, keep="memory")


def _of_run(subject: Annotated[RunSubject[SummaryRank], SUMMARY_RANK], _: NoParameters) -> SummaryAnswer:
    skipped = [SummarySkipped(file=file, reason=why) for file, why in subject.skipped]
    first = replace(subject.parts[0].summary, skipped=skipped)
    if first.ranks is not None:
        return first
    failed = [SummarySkipped(file=file, reason=why) for file, why in zip(subject.failed, subject.reasons, strict=True)]
    ranks = [each.rank for each in subject.parts]
    diagnosis = run_diagnosis(ranks) if len(ranks) > 1 else None
    return of_run(first, [each.summary for each in ranks], diagnosis, failed, subject.loading)


SUMMARY = Question(
    name="summary",
    summary="A trace, or all ranks of a run, in a few stable numbers",
    compute=_summary,
    of_run=True,
    more="The same object that `torch-tb-profiler summary --json` prints: of a worker, or without `worker` of a run. "
    "`trace.summary()` and `run.summary()` return it in Python. Steps can be chosen for a worker only.",
    ranks=Question(
        name="summary",
        summary="All ranks of a run in a few stable numbers",
        compute=_of_run,
    ),
)
