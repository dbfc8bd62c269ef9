"""`torch-tb-profiler mcp`; the list of commands in `cli` has its import path."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from types import FrameType

from torch_tb_profiler.defaults import declare_cache_dir
from torch_tb_profiler.ending import ended_by_signals

#: seconds of --time-limit
_LONGEST = 3600


class McpCommand:
    """Answer an agent's questions about the traces below a directory, over the Model Context Protocol.

    It reads requests from the standard input and answers on the standard output until the input ends; an agent's
    program starts it. It reads only files below ROOT, and writes only its cache.
    """

    name = "mcp"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("root", metavar="ROOT", nargs="?", help="a log directory, a run's directory, or a trace")
        parser.add_argument(
            "--skill",
            action="store_true",
            help="print instructions for agents that use this command line instead, and exit",
        )
        parser.add_argument(
            "--sql",
            action="store_true",
            help="also answer SQL queries, in a process that can read nothing else",
        )
        parser.add_argument(
            "--time-limit", type=float, default=60.0, metavar="S", help="seconds for one answer (default: %(default)g)"
        )
        declare_cache_dir(parser)
        parser.epilog = "Example of the command that an agent's program runs:\n  torch-tb-profiler mcp LOGDIR"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.mcp.catalog import TraceCatalog
        from torch_tb_profiler.mcp.resources import SKILL
        from torch_tb_profiler.mcp.tools import TOOLS
        from torch_tb_profiler.mcp.tools.tables import SqlTool
        from torch_tb_profiler.reason import ErrorWithReason
        from torch_tb_profiler.tables.sql.connection import INSTALL
        from torch_tb_profiler.workspace import process

        if arguments.skill:
            sys.stdout.write(SKILL)
            return
        if arguments.root is None:
            raise ErrorWithReason("ROOT is missing: the directory whose traces an agent may ask about")
        if not 0 < arguments.time_limit <= _LONGEST:
            raise ErrorWithReason(f"--time-limit must be above 0 and at most {_LONGEST}")
        try:
            from torch_tb_profiler.mcp.server import CallLimits, serve
        except ModuleNotFoundError as error:
            if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
                raise
            raise ErrorWithReason("mcp needs a package: pip install 'torch-tb-profiler[mcp]'") from None
        process.configure_logging()
        catalog = TraceCatalog(arguments.root, arguments.cache_dir)
        if arguments.sql and find_spec("duckdb") is None:
            raise ErrorWithReason(INSTALL)

        def end(number: int, _: FrameType | None) -> None:
            # a thread waits for the next line of stdin, and cannot be interrupted
            catalog.abandon()
            os._exit(128 + number)

        limits = CallLimits(seconds=arguments.time_limit)
        with ended_by_signals(end, with_ctrl_c=True):
            if not arguments.sql:
                serve(catalog, limits)
                return
            queries = SqlTool()
            try:
                serve(catalog, limits, (*TOOLS, queries.tool()))
            finally:
                queries.close()
