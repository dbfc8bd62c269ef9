"""`torch-tb-profiler mcp`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.cache_dir import declare_cache_dir


class Mcp:
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
        from torch_tb_profiler.cli.work import mcp

        mcp.run(arguments)
