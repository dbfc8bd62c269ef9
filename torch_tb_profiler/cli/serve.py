"""`torch-tb-profiler serve`."""

from __future__ import annotations

import argparse
import contextlib
import errno
import faulthandler
import io
import os
import sys
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UserError, drop
from torch_tb_profiler.defaults import (
    ANSWER_SECONDS,
    DIRECTORY_VARIABLE,
    EXPANSION,
    EXPANSION_VARIABLE,
    LONGEST_ANSWER_SECONDS,
    declare_cache_dir,
)
from torch_tb_profiler.ending import END_SECONDS, ended_by_signals

if TYPE_CHECKING:
    from torch_tb_profiler.workspace import Workspace


class ServeCommand:
    """Show the profiles below a directory in a browser, without TensorBoard."""

    name = "serve"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            help="directories with traces or memory snapshots, or single files; without any, everything in the "
            "shared --cache-dir is shown",
        )
        declare_server(parser)
        parser.epilog = (
            "Examples:\n  torch-tb-profiler serve LOGDIR --open\n  torch-tb-profiler serve trace.json.gz --port 0"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.serving.servers import ServerAddress, serve_alone
        from torch_tb_profiler.workspace import process

        if arguments.workers is not None and arguments.workers < 1:
            raise UserError("--workers must be 1 or more")
        if arguments.max_expansion is not None and arguments.max_expansion < 1:
            raise UserError("--max-expansion must be 1 or more")
        if not 0 < arguments.time_limit <= LONGEST_ANSWER_SECONDS:
            raise UserError(f"--time-limit must be above 0 and at most {LONGEST_ANSWER_SECONDS:g}")
        address = ServerAddress(arguments.host, arguments.port, arguments.allow_host)
        if arguments.sql:
            from torch_tb_profiler.tables.sql.connection import connect

            if not address.is_for_this_machine:
                raise UserError("--sql needs a server that only this machine reaches: omit --host and --allow-host")
            connect().close()
        process.configure_logging("INFO" if arguments.verbose else "WARNING")
        with _real_stderr():
            faulthandler.enable()  # a library that ends the process leaves a word of where that was
        with ended_by_signals(_stop):
            workspace = _opened(arguments)
            announce = _announce_and_open if arguments.open else _announce
            try:
                serve_alone(workspace, address, arguments.time_limit, arguments.sql, announce)
            except (OSError, OverflowError, UnicodeError) as error:
                if isinstance(error, OSError) and error.errno == errno.EADDRINUSE:
                    why = "another program listens there; --port 0 takes any free port"
                else:
                    why = str(error)
                raise UserError(f"cannot listen on {address.host}:{address.port}: {why}") from None


def declare_server(parser: argparse.ArgumentParser) -> None:
    """Declare what a server has besides the paths that it shows."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
    parser.add_argument(
        "--allow-host",
        action="append",
        default=[],
        metavar="NAME",
        help="another host name under which browsers reach this server, such as that of a proxy; may be "
        "repeated (always allowed: localhost, IP addresses and the name given as --host)",
    )
    parser.add_argument("--port", type=int, default=6007, help="port to listen on, 0 for any (default: %(default)s)")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="print a line on stderr for each trace that is read"
    )
    parser.add_argument("--open", action="store_true", help="open the page in a browser")
    declare_cache_dir(parser)
    parser.add_argument("--workers", type=int, help="how many processes read traces (default: one per CPU, 4 at most)")

    parser.add_argument(
        "--time-limit",
        type=float,
        default=ANSWER_SECONDS,
        metavar="S",
        help="seconds for computing one answer; a request that takes longer is answered 503 (default: %(default)g)",
    )
    parser.add_argument(
        "--max-expansion",
        type=int,
        metavar="N",
        help="a packed trace is not read beyond N times its size, if that is more than 256 MiB "
        f"(default: {EXPANSION_VARIABLE}, else {EXPANSION})",
    )
    parser.add_argument(
        "--sql",
        action="store_true",
        help="add a page for SQL queries; only if no other machine can reach the server",
    )


def _opened(arguments: argparse.Namespace) -> Workspace:
    """Open what the paths name, else the shared place. Raises UserError and StorageError."""
    from torch_tb_profiler.discovery import named_roots
    from torch_tb_profiler.serving import open_for_page
    from torch_tb_profiler.storage import is_local, shown, storage_for
    from torch_tb_profiler.workspace.cache.stores import is_shared, store_at
    from torch_tb_profiler.workspace.local_workspace import find_traces
    from torch_tb_profiler.workspace.process import tune_malloc

    # of the command or the environment: all that was read into it is shown
    address = arguments.cache_dir or os.environ.get(DIRECTORY_VARIABLE, "")
    shared = store_at(address).url if address and is_shared(address) else None
    paths = arguments.paths or ([shared] if shared else [])
    if not paths:
        raise UserError("PATH is missing; it can be omitted only with a shared place (--cache-dir)")
    for path in paths:
        storage_for(path).require(path)
    here = [Path(storage_for(path).resolve(path)) for path in paths if is_local(path)]
    missing = next((path for path in here if not path.exists()), None)
    if shared is None and missing is not None:  # what was read into a shared place is shown without its files
        raise UserError(f"{shown(str(missing))}: there is no such file or directory")
    roots = named_roots(paths)
    # directories are listed again and again; where files are named, what is there now is all there is
    found = find_traces(*paths) if any(path.is_file() for path in here) else None
    tune_malloc()
    return open_for_page(
        roots,
        arguments.cache_dir,
        arguments.workers,
        max_expansion=arguments.max_expansion,
        listing=found,
        is_alone=True,
    )


def _announce(url: str) -> None:
    try:
        print(f"PyTorch profiles at {url}  (Ctrl-C stops)", flush=True)
    except OSError:  # stdout is closed or full: the page is there all the same
        drop(sys.stdout)


def _announce_and_open(url: str) -> None:
    import threading
    import webbrowser

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
