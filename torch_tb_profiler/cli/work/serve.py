"""What `torch-tb-profiler serve` does."""

from __future__ import annotations

import argparse
import contextlib
import faulthandler
import io
import os
import sys
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from torch_tb_profiler.cli.ending import END_SECONDS, ended_by_signals
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.saying import drop
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE, LONGEST_ANSWER_SECONDS
from torch_tb_profiler.discovery import named_roots
from torch_tb_profiler.storage import is_local, shown, storage_for
from torch_tb_profiler.tables.sql import QueryError
from torch_tb_profiler.tables.sql.connection import connect
from torch_tb_profiler.web.ahead import QUESTIONS
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.web.drops import Drops, takes_none
from torch_tb_profiler.web.hosts import is_loopback, only_for, only_from_here
from torch_tb_profiler.web.queries import PATH, Queries
from torch_tb_profiler.web.server import serve
from torch_tb_profiler.web.time_limit import TimeLimit
from torch_tb_profiler.workspace import logs, open_workspace
from torch_tb_profiler.workspace.give_back import keep_little
from torch_tb_profiler.workspace.local_workspace import find_traces
from torch_tb_profiler.workspace.places import is_shared, place_at


def run(arguments: argparse.Namespace) -> None:
    if arguments.workers is not None and arguments.workers < 1:
        raise UserError("--workers must be 1 or more")
    if arguments.max_expansion is not None and arguments.max_expansion < 1:
        raise UserError("--max-expansion must be 1 or more")
    if not 0 < arguments.time_limit <= LONGEST_ANSWER_SECONDS:
        raise UserError(f"--time-limit must be above 0 and at most {LONGEST_ANSWER_SECONDS:g}")
    queries = _queries(arguments) if arguments.sql else None
    logs.configure()
    with _real_stderr():
        faulthandler.enable()  # a library that ends the process leaves a word of where that was
    with ended_by_signals(_stop):
        _serve(arguments, queries)


def _serve(arguments: argparse.Namespace, queries: Queries | None) -> None:
    shared = _shared_place(arguments.cache_dir)
    paths = arguments.paths or ([shared] if shared else [])
    if not paths:
        message = "PATH is missing; it can be omitted only with a shared place (--cache-dir)"
        raise UserError(message)
    for path in paths:
        storage_for(path).require(path)
    here = [Path(storage_for(path).resolve(path)) for path in paths if is_local(path)]
    if shared is None:  # what was read into a shared place is shown without its files
        _require(here)
    roots = named_roots(paths)
    # directories are listed again and again; where files are named, what is there now is all there is
    found = find_traces(*paths) if any(path.is_file() for path in here) else None
    keep_little()
    workspace = open_workspace(
        roots,
        arguments.cache_dir,
        arguments.workers,
        questions=QUESTIONS,
        max_expansion=arguments.max_expansion,
        found=found,
        is_alone=True,
    )
    drops = Drops(workspace)
    try:
        routes = queries.routes() if queries else {}
        app = create_app(workspace, TimeLimit(arguments.time_limit), routes)
        app = drops.around(app) if _is_for_this_machine(arguments) else takes_none(app)
        app = only_for(only_from_here(app, PATH), arguments.host, arguments.allow_host)
        serve(app, arguments.host, arguments.port, _announce_and_open if arguments.open else _announce)
    except (OSError, OverflowError, UnicodeError) as error:
        raise UserError(f"cannot listen on {arguments.host}:{arguments.port}: {error}") from None
    finally:
        if queries:
            queries.close()
        workspace.close()
        drops.close()


def _queries(arguments: argparse.Namespace) -> Queries:
    """Raises UserError: not only this machine would reach them, or DuckDB is not installed."""
    if not _is_for_this_machine(arguments):
        raise UserError("--sql needs a server that only this machine reaches: omit --host and --allow-host")
    try:
        connect().close()
    except QueryError as error:
        raise UserError(str(error)) from None
    return Queries()


def _is_for_this_machine(arguments: argparse.Namespace) -> bool:
    """Whether nobody else reaches the server, not through a proxy either."""
    return is_loopback(arguments.host) and not arguments.allow_host


def _shared_place(cache_dir: str | None) -> str | None:
    """The address of the shared place that the command or the environment names: all that was read into it."""
    address = cache_dir or os.environ.get(DIRECTORY_VARIABLE, "")
    return place_at(address).url if address and is_shared(address) else None


def _require(paths: Sequence[Path]) -> None:
    """Raises UserError where there is nothing."""
    for path in paths:
        if not path.exists():
            raise UserError(f"{shown(str(path))}: there is no such file or directory")


def _announce(url: str) -> None:
    try:
        print(f"PyTorch profiles at {url}  (Ctrl-C stops)", flush=True)
    except OSError:  # stdout is closed or full: the page is there all the same
        drop(sys.stdout)


def _announce_and_open(url: str) -> None:
    _announce(url)
    # a browser in the terminal returns only when it is left
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _stop(_: int, __: FrameType | None) -> None:
    """End in order. If that takes too long, or something swallows the exception, tell where each thread is, and end."""
    with _real_stderr():
        faulthandler.dump_traceback_later(END_SECONDS, exit=True)
    sys.exit(0)


def _real_stderr() -> contextlib.AbstractContextManager[None]:
    """Around what needs a file: stderr may be none."""
    return contextlib.suppress(io.UnsupportedOperation, AttributeError, RuntimeError, ValueError)
