"""`torch-tb-profiler export`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.options import declare_trace
from torch_tb_profiler.tables.listing import COMMANDS as TABLES


class Export:
    """Write a part of a trace, call stacks for other programs, or a table to a file.

    The extension of the file selects the contents: .pt.trace.json.gz (or .json) is a trace with only some steps or
    times, which this program and Perfetto open; .speedscope.json is for speedscope; .folded has stacks for
    flamegraph.pl and inferno; .csv, .json, .jsonl and .parquet hold the table that --table names. With a directory,
    the cut trace of every chosen rank is written into it. Files are written as a whole or not at all.
    """

    name = "export"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("-o", "--output", required=True, metavar="FILE", help="the file to write, or a directory")
        parser.add_argument(
            "--format",
            choices=("trace", "speedscope", "folded"),
            help="needed if the file name extension does not determine the format",
        )
        parser.add_argument("--from", dest="start", type=float, metavar="MS", help="a cut trace begins here")
        parser.add_argument("--to", dest="end", type=float, metavar="MS", help="a cut trace ends here")
        parser.add_argument("--ranks", metavar="LIST", help="only these, such as 0,2-4 (into a directory)")
        parser.add_argument(
            "--weight",
            choices=("device", "host"),
            help="weight of folded stacks (default: device time if there is any)",
        )
        parser.add_argument("--table", choices=tuple(TABLES), metavar="NAME", help="a table: `steps`, `operators`, …")
        parser.epilog = (
            "Examples:\n  torch-tb-profiler export LOGDIR/RUN --steps 3:4 -o two_steps.pt.trace.json.gz\n"
            "  torch-tb-profiler export LOGDIR/RUN -o stacks.speedscope.json\n"
            "  torch-tb-profiler export LOGDIR/RUN --table kernels -o kernels.parquet"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import export

        export.run(arguments)
