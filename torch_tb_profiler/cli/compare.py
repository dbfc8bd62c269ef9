"""`torch-tb-profiler compare`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.options import declare_color
from torch_tb_profiler.cli.sides import declare_sides
from torch_tb_profiler.defaults import declare_cache_dir


class Compare:
    """Show what changed between recordings: by how much, how certain that is, and in which kernels and operators.

    The change of the mean step is split up exactly: by cause, and by what happened to each kernel and operator. The
    exit code is 0 whatever changed; use `check` for a command that fails.
    """

    name = "compare"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_sides(parser, "RUN~WORKER~SPAN, a log directory, a glob, a baseline of `check --save`, or a history")
        parser.add_argument(
            "--each",
            action="store_true",
            help="follow step time and busy time over any number of recordings, all ranks of each together: against "
            "the first and the one before, the last three against those before them, and where the level changed",
        )
        parser.add_argument(
            "--across-devices",
            action="store_true",
            help="with --each: give verdicts even if the devices or the number of processes differ",
        )
        parser.add_argument("--worker", help="which worker of each run (default: the first)")
        parser.add_argument("--step-rule", metavar="RULE", help="find steps by this rule (docs/views/steps.md)")
        parser.add_argument(
            "--step-pattern",
            metavar="REGEX",
            help="find steps by annotations whose names match this regular expression",
        )
        parser.add_argument(
            "--limit", type=int, default=10, metavar="N", help="rows per table (default: 10; 200 in JSON)"
        )
        parser.add_argument(
            "--json",
            action="store_true",
            help="as JSON, exact: that of /api/compare/change, with --each that of /api/compare/trends",
        )
        declare_color(parser)
        declare_cache_dir(parser)
        parser.epilog = (
            "Examples:\n"
            "  torch-tb-profiler compare before/ after/\n"
            "  torch-tb-profiler compare --base a1 --base a2 b1 b2 --json\n"
            "  torch-tb-profiler compare main/ branch1/ branch2/ --each\n"
            "  torch-tb-profiler compare history.jsonl --each"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import compare

        compare.run(arguments)
