"""What `torch-tb-profiler summary` does."""

from __future__ import annotations

import argparse
from functools import partial

import msgspec

from torch_tb_profiler.analysis.question import NoParameters
from torch_tb_profiler.cli.saying import tell
from torch_tb_profiler.cli.work.one_trace import Chosen, chosen
from torch_tb_profiler.insights.summary.question import SUMMARY
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.ranks.reduction import reduce_with_clock, summary_of
from torch_tb_profiler.ranks.run_summary import RanksSummary
from torch_tb_profiler.ranks.summary import RankSummary, summarize
from torch_tb_profiler.web.http import dumps
from torch_tb_profiler.workspace import Unavailable, logs


def run(arguments: argparse.Namespace) -> None:
    logs.configure()
    with chosen(arguments) as traces:
        found = traces.answer(SUMMARY, NoParameters())
        if arguments.json and arguments.worker is None:
            found = msgspec.structs.replace(found, ranks=_ranks(traces))
    print(msgspec.json.format(dumps(found)).decode() if arguments.json else as_text(found))


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
