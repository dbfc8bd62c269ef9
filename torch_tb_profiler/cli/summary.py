"""`torch-tb-profiler summary`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.options import declare_trace


class Summary:
    """Print a trace in a few numbers: step time, device use, owners of device work, notes."""

    name = "summary"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("--json", action="store_true", help="as JSON; docs/api.md has its schema")
        parser.epilog = (
            "Examples:\n  torch-tb-profiler summary LOGDIR/RUN\n  zcat trace.json.gz | torch-tb-profiler summary -"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import summary

        summary.run(arguments)
