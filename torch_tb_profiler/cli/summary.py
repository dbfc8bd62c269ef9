"""`torch-tb-profiler summary`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import msgspec

from torch_tb_profiler.analysis.health import troubles
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.cli.chosen import chosen_run, chosen_traces, listed_traces
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.insights.summary.summary import as_text, summary
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
        parser.add_argument("--cache-dir", type=Path, help="where traces that were read once are kept")

    def run(self, arguments: argparse.Namespace) -> None:
        logs.configure()
        run = chosen_run(arguments.path, arguments.run)
        files = chosen_traces(run, [arguments.worker] if arguments.worker is not None else [], arguments.span)
        file = files[0]
        if len(files) > 1:
            told = f"the first of {len(files)} traces; --worker and --span choose others: {listed_traces(files)}"
            print(told, file=sys.stderr)
        workers = len({each.worker for each in run.traces})
        trace = LocalTrace(LocalWorkspace(arguments.cache_dir), file)
        try:
            found = trace.ask(
                lambda model: summary(
                    Subject(model, run.name, file.worker, file.span, file.entry.size, workers, troubles)
                )
            )
        except Unavailable as error:
            raise UserError(str(error)) from None
        print(msgspec.json.format(dumps(found)).decode() if arguments.json else as_text(found))
