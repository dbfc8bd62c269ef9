"""`torch-tb-profiler report`."""

from __future__ import annotations

import argparse
from pathlib import Path

from torch_tb_profiler.cli.cache_dir import declare_cache_dir
from torch_tb_profiler.defaults import MOST_REPORTED


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
            help=f"a worker of the run; may be given several times (default: the first {MOST_REPORTED} traces)",
        )
        parser.add_argument("--span", help="which recording of the workers")
        parser.add_argument(
            "--compare",
            metavar="BASE",
            help="include a baseline for the Diff view: a trace, a run's directory, or LOGDIR/RUN~WORKER~SPAN",
        )
        declare_cache_dir(parser)
        parser.epilog = (
            "Examples:\n"
            "  torch-tb-profiler report LOGDIR/RUN -o report.html\n"
            "  torch-tb-profiler report new/ --compare base/ -o report.html"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import report

        report.run(arguments)
