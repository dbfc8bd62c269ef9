"""`torch-tb-profiler report`."""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path

from torch_tb_profiler.cli.cache_dir import declare_cache_dir
from torch_tb_profiler.cli.chosen import chosen_run, chosen_traces
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.discovery import Found, Root
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.web.ahead import QUESTIONS
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.report import MOST_TRACES, report
from torch_tb_profiler.workspace import Unavailable, Workspace, logs, open_workspace

_LOOK_SECONDS = 0.1


class Report:
    """Write a trace, or a run, with all views into one HTML file that needs no server."""

    name = "report"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", metavar="PATH", help="a trace file, a run's directory, or a log directory")
        parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE", help="the file to write")
        parser.add_argument("--run", help="which run of a log directory")
        parser.add_argument(
            "--worker",
            action="append",
            default=[],
            help=f"a worker of the run; may be given several times (default: the first {MOST_TRACES} traces)",
        )
        parser.add_argument("--span", help="which recording of the workers")
        declare_cache_dir(parser)

    def run(self, arguments: argparse.Namespace) -> None:
        logs.configure()
        run = chosen_run(arguments.path, arguments.run)
        files = chosen_traces(run, arguments.worker, arguments.span)[: None if arguments.worker else MOST_TRACES]
        if not arguments.worker and len(files) < len(run.traces):
            print(f"the first {len(files)} of {len(run.traces)} traces; --worker and --span choose others")
        chosen = Found((replace(run, traces=tuple(files)),), ())
        try:
            workspace = open_workspace([Root(arguments.path)], arguments.cache_dir, questions=QUESTIONS, found=chosen)
        except StorageError as error:
            raise UserError(str(error)) from None
        try:
            page = _report(workspace, run.name)
        finally:
            workspace.close()
        try:
            arguments.output.write_bytes(page)
        except OSError as error:
            raise UserError(f"cannot write {arguments.output}: {error.strerror}") from None
        print(f"{arguments.output}: {len(page) / 1000**2:.1f} MB")


def _report(workspace: Workspace, run: str) -> bytes:
    while workspace.status().loading:
        time.sleep(_LOOK_SECONDS)
    traces = workspace.run(run).traces
    for trace in traces:
        if trace.state == "failed":
            print(f"left out: {trace.file} {trace.reason}", file=sys.stderr)
    ready = [(trace.worker, trace.span) for trace in traces if trace.state == "ready"]
    if not ready:
        raise UserError(f"{traces[0].file} {traces[0].reason}")
    try:
        return report(workspace, run, ready)
    except (HttpError, Unavailable) as error:
        raise UserError(str(error)) from None
