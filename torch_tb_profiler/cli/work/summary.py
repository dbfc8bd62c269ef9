"""What `torch-tb-profiler summary` does."""

from __future__ import annotations

import argparse
from contextlib import suppress
from functools import partial

import msgspec

from torch_tb_profiler.analysis.question import NoParameters
from torch_tb_profiler.cli.saying import tell
from torch_tb_profiler.cli.work.one_trace import Chosen, chosen
from torch_tb_profiler.insights.run.facts import RunRank, run_rank
from torch_tb_profiler.insights.run.findings import run_diagnosis
from torch_tb_profiler.insights.summary.of_run import of_run
from torch_tb_profiler.insights.summary.question import SUMMARY
from torch_tb_profiler.insights.summary.summary import SummaryAnswer
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.ranks.reduction import reduce_with_clock, summary_of
from torch_tb_profiler.ranks.run_summary import RanksSummary
from torch_tb_profiler.ranks.summary import RankSummary, summarize
from torch_tb_profiler.web.http import dumps
from torch_tb_profiler.workspace import Unavailable, logs
from torch_tb_profiler.workspace.reading_order import packed_bytes


def run(arguments: argparse.Namespace) -> None:
    logs.configure()
    with chosen(arguments) as traces:
        found = traces.answer(SUMMARY, NoParameters())
        if arguments.json and arguments.worker is None:
            found = msgspec.structs.replace(_with_run_findings(found, traces), ranks=_ranks(traces))
    print(msgspec.json.format(dumps(found)).decode() if arguments.json else as_text(found))


#: ranks that are replayed together at most, and packed bytes of their files (some 2.5 million events): each graph takes
#: as much memory and time as its trace has work
_MOST_TOGETHER, _MOST_BYTES = 64, 60 * 1000**2


def _with_run_findings(found: SummaryAnswer, traces: Chosen) -> SummaryAnswer:
    """The findings of all ranks of the span; of many only those of one, which is told."""
    chosen_ones = [
        each for each in zip(traces.files, traces.traces, strict=True) if each[0].span == traces.files[0].span
    ]
    if len(chosen_ones) < 2:
        return found
    if len(chosen_ones) > _MOST_TOGETHER or sum(packed_bytes(file.entry) for file, _ in chosen_ones) > _MOST_BYTES:
        most = f"more than {_MOST_TOGETHER} ranks, or {_MOST_BYTES // 10**6} MB of packed files,"
        tell(f"findings are about {found.trace.worker}: {most} are not replayed together here")
        return found
    ranks: list[RunRank] = []
    for file, trace in chosen_ones:
        with suppress(Unavailable):  # which is told where all ranks are read
            ranks.append(trace.ask(partial(run_rank, worker=file.worker)))
    return of_run(found, run_diagnosis(ranks)) if len(ranks) > 1 else found


def _ranks(traces: Chosen) -> RanksSummary:
    """All ranks of a span. A trace that cannot be read is told and left out."""
    found: list[RankSummary] = []
    failed: list[str] = []
    for file, trace in zip(traces.files, traces.traces, strict=True):
        if file.span != traces.files[0].span:
            continue
        try:
            found.append(trace.ask(partial(summarize, worker=file.worker)))
        except Unavailable as error:
            tell(str(error))
            failed.append(file.entry.path)
    return summary_of(*reduce_with_clock(found, failed))
