"""The question for a trace, or a run, in a few stable numbers."""

from __future__ import annotations

from typing import Annotated

from msgspec import Struct
from msgspec.structs import replace

from torch_tb_profiler.analysis.question import Node, NoParameters, Question, RunSubject, Subject
from torch_tb_profiler.insights.run.facts import RunRank, run_rank
from torch_tb_profiler.insights.run.findings import run_diagnosis
from torch_tb_profiler.insights.summary.of_run import of_run
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, SummarySkipped, as_sent, summary
from torch_tb_profiler.ranks.reduction import reduce_run_with_clock, summary_of
from torch_tb_profiler.ranks.summary import summarize

#: about how many bytes a summary takes
_SUMMARY_BYTES = 100_000


class SummaryRank(Struct, frozen=True):
    """What is kept of a rank for the summary of its run."""

    summary: SummaryAnswer
    rank: RunRank

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
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
