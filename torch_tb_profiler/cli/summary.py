"""`torch-tb-profiler summary`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial

import msgspec

from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.cli.cache_dir import declare_cache_dir
from torch_tb_profiler.cli.chosen import chosen_run, chosen_traces, listed_traces
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.insights.summary.summary import summary
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.ranks.reduction import clock, reduce, summary_of
from torch_tb_profiler.ranks.run_answers import RanksSummary
from torch_tb_profiler.ranks.summary import RankSummary, summarize
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.web.http import dumps
from torch_tb_profiler.workspace import Unavailable, logs
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace


class Summary:
    """Print a trace in a few numbers: step time, device use, owners of device work, notes."""

    name = "summary"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", help="a trace file, a run's directory, or a log directory")
        parser.add_argument("--run", help="which run of a log directory")
        parser.add_argument("--worker", help="which worker of the run (default: the first)")
        parser.add_argument("--span", help="which recording of the worker")
        parser.add_argument("--json", action="store_true", help="as JSON; docs/api.md has its schema")
        declare_cache_dir(parser)

    def run(self, arguments: argparse.Namespace) -> None:
        logs.configure()
        run = chosen_run(arguments.path, arguments.run)
        files = chosen_traces(run, [arguments.worker] if arguments.worker is not None else [], arguments.span)
        file = files[0]
        if len(files) > 1:
            told = f"the first of {len(files)} traces; --worker and --span choose others: {listed_traces(files)}"
            print(told, file=sys.stderr)
        workers = len({each.worker for each in run.traces})
        try:
            trace = LocalTrace(LocalWorkspace(arguments.cache_dir), file)
            found = trace.ask(
                lambda model: summary(
                    Subject(model, run.name, file.worker, file.span, file.entry.size, workers, troubles)
                )
            )
        except (StorageError, Unavailable) as error:
            raise UserError(str(error)) from None
        if arguments.json and arguments.worker is None:
            found = msgspec.structs.replace(found, ranks=_ranks(trace.workspace, files, file.span))
        print(msgspec.json.format(dumps(found)).decode() if arguments.json else as_text(found))


def _ranks(workspace: LocalWorkspace, files: Sequence[TraceFile], span: str) -> RanksSummary:
    """All ranks of a span. A trace that cannot be read is told and left out."""
    found: list[RankSummary] = []
    failed: list[str] = []
    for file in files:
        if file.span != span:
            continue
        try:
            found.append(LocalTrace(workspace, file).ask(partial(summarize, worker=file.worker)))
        except Unavailable as error:
            print(error, file=sys.stderr)
            failed.append(file.entry.path)
    return summary_of(reduce(found, failed=failed), clock(found))
