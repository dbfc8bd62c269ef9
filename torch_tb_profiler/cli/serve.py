"""`torch-tb-profiler serve`."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import webbrowser
from collections.abc import Sequence
from pathlib import Path
from types import FrameType

from torch_tb_profiler.cli.cache_dir import declare_cache_dir
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.discovery import named_roots
from torch_tb_profiler.storage import StorageError, is_local, shown, storage_for
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.web.ahead import QUESTIONS
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.web.hosts import only_for
from torch_tb_profiler.web.server import serve
from torch_tb_profiler.web.time_limit import LONGEST, SECONDS, TimeLimit
from torch_tb_profiler.workspace import logs, open_workspace
from torch_tb_profiler.workspace.cache import DIRECTORY_VARIABLE, EXPANSION_VARIABLE
from torch_tb_profiler.workspace.give_back import keep_little
from torch_tb_profiler.workspace.local_workspace import find_traces
from torch_tb_profiler.workspace.places import is_shared, place_at


class Serve:
    """Show the profiles below a directory in a browser, without TensorBoard."""

    name = "serve"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "paths",
            metavar="PATH",
            nargs="*",
            help="directories with traces or memory snapshots, or such files; without one all that is in the shared"
            " place of --cache-dir",
        )
        parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: %(default)s)")
        parser.add_argument(
            "--allow-host",
            action="append",
            default=[],
            metavar="NAME",
            help="a further name under which browsers reach this server, such as that of a proxy; may be repeated "
            "(always: localhost, addresses, and what --host says)",
        )
        parser.add_argument(
            "--port", type=int, default=6007, help="port to listen on, 0 for any (default: %(default)s)"
        )
        parser.add_argument("--open", action="store_true", help="open the page in a browser")
        declare_cache_dir(parser)
        parser.add_argument(
            "--workers", type=int, help="how many processes read traces (default: one per CPU, 4 at most)"
        )

        parser.add_argument(
            "--time-limit",
            type=float,
            default=SECONDS,
            metavar="S",
            help="seconds for computing one answer; what takes longer is answered 503 (default: %(default)g)",
        )
        parser.add_argument(
            "--max-expansion",
            type=int,
            metavar="N",
            help="a packed trace is not read beyond N times its size, if that is more than 256 MB "
            f"(default: {EXPANSION_VARIABLE}, else {Limits.expansion})",
        )

    def run(self, arguments: argparse.Namespace) -> None:
        if arguments.workers is not None and arguments.workers < 1:
            raise UserError("--workers must be 1 or more", exit_code=2)
        if arguments.max_expansion is not None and arguments.max_expansion < 1:
            raise UserError("--max-expansion must be 1 or more", exit_code=2)
        if not 0 < arguments.time_limit <= LONGEST:
            raise UserError(f"--time-limit must be above 0 and at most {LONGEST:g}", exit_code=2)
        logs.configure()
        signal.signal(signal.SIGTERM, _stop)
        try:
            shared = _shared_place(arguments.cache_dir)
            paths = arguments.paths or ([shared] if shared else [])
            if not paths:
                message = "PATH is missing; only a shared place (--cache-dir) can be shown without one"
                raise UserError(message, exit_code=2)
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
            )
        except StorageError as error:
            raise UserError(str(error)) from None
        try:
            app = only_for(create_app(workspace, TimeLimit(arguments.time_limit)), arguments.host, arguments.allow_host)
            serve(app, arguments.host, arguments.port, _announce_and_open if arguments.open else _announce)
        except (OSError, OverflowError) as error:
            raise UserError(f"cannot listen on {arguments.host}:{arguments.port}: {error}") from None
        finally:
            workspace.close()


def _shared_place(cache_dir: str | None) -> str | None:
    """The address of the shared place that the command or the environment names: all that was read into it."""
    address = cache_dir or os.environ.get(DIRECTORY_VARIABLE, "")
    return place_at(address).url if address and is_shared(address) else None


def _require(paths: Sequence[Path]) -> None:
    """Raises UserError where there is nothing."""
    for path in paths:
        if not path.exists():
            raise UserError(f"{shown(str(path))}: there is no such file or directory", exit_code=2)


def _announce(url: str) -> None:
    print(f"PyTorch profiles at {url}  (Ctrl-C stops)", flush=True)


def _announce_and_open(url: str) -> None:
    _announce(url)
    # a browser in the terminal returns only when it is left
    threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()


def _stop(_: int, __: FrameType | None) -> None:
    sys.exit(0)
