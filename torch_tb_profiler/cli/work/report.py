"""What `torch-tb-profiler report` does."""

from __future__ import annotations

import argparse
import time
from dataclasses import replace

from torch_tb_profiler.cli.chosen import chosen_run, chosen_traces
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.saying import safe, tell
from torch_tb_profiler.defaults import MOST_REPORTED
from torch_tb_profiler.discovery import Found, Root
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.web.ahead import QUESTIONS
from torch_tb_profiler.web.http import HttpError
from torch_tb_profiler.web.report import report
from torch_tb_profiler.workspace import Unavailable, Workspace, logs, open_workspace

_LOOK_SECONDS = 0.1


def run(arguments: argparse.Namespace) -> None:
    logs.configure()
    run = chosen_run(arguments.path, arguments.run)
    files = chosen_traces(run, arguments.worker, arguments.span)[: None if arguments.worker else MOST_REPORTED]
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
    print(f"{safe(str(arguments.output))}: {len(page) / 1000**2:.1f} MB")


def _report(workspace: Workspace, run: str) -> bytes:
    while workspace.status().loading:
        time.sleep(_LOOK_SECONDS)
    traces = workspace.run(run).traces
    for trace in traces:
        if trace.state == "failed":
            tell(f"left out: {trace.file} {trace.reason}")
    ready = [(trace.worker, trace.span) for trace in traces if trace.state == "ready"]
    if not ready:
        raise UserError(f"{traces[0].file} {traces[0].reason}")
    try:
        return report(workspace, run, ready)
    except (HttpError, Unavailable) as error:
        raise UserError(str(error)) from None
