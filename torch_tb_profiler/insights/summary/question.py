"""The question for a trace in a few stable numbers."""

from __future__ import annotations

from torch_tb_profiler.analysis.question import NoParameters, Subject, TraceQuestion
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, summary


def _summary(subject: Subject, _: NoParameters) -> SummaryAnswer:
    return summary(subject)


SUMMARY = TraceQuestion(
    name="summary",
    summary="A trace in a few stable numbers",
    answer=SummaryAnswer,
    compute=_summary,
    more="The same object that `torch-tb-profiler summary --json` prints and `trace.summary()` returns.",
)
