"""`torch-tb-profiler memory`."""

from __future__ import annotations

import argparse


class Memory:
    """Summarize a memory snapshot: peaks, what was in use, and why memory ran out."""

    name = "memory"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument(
            "path", metavar="PATH", nargs="?", help="a memory snapshot, a trace, or a directory with one"
        )
        parser.add_argument(
            "--error", metavar="FILE", help="a file with the text of an OutOfMemoryError to explain; - reads stdin"
        )
        parser.add_argument("--run", help="which run of a log directory")
        parser.add_argument("--worker", help="which snapshot of the run (default: the first)")
        parser.add_argument("--span", help="which moment of the worker")
        parser.add_argument(
            "--device",
            type=int,
            help="number of the device (default: the one that ran out of memory, else the one with most records)",
        )
        parser.add_argument(
            "--at", metavar="MOMENT", help="list what is in use: start, peak, reserved_peak, oom, end, or a record"
        )
        parser.add_argument("--since", metavar="MOMENT", help="with --at: how much more is in use than at this moment")
        parser.add_argument("--against", metavar="PATH", help="another snapshot: how much more is in use than in it")
        parser.add_argument(
            "--by", choices=("line", "stack", "size", "module", "annotation"), default="line", help="what makes a row"
        )
        parser.add_argument("--ranks", action="store_true", help="compare all snapshots of the run side by side")
        parser.add_argument("--json", action="store_true", help="as JSON, described in docs/views/snapshot.md")
        parser.add_argument("--cache-dir", metavar="DIR", help="where snapshots are cached once they have been read")
        parser.epilog = (
            "Examples:\n  torch-tb-profiler memory snapshot.pickle --at peak\n"
            "  torch-tb-profiler memory snapshot.pickle --at end --since start --by module\n"
            "  torch-tb-profiler memory after.pickle --against before.pickle\n"
            "  torch-tb-profiler memory --error error.txt"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import memory

        memory.run(arguments)
