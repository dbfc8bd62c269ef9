"""`torch-tb-profiler summary`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.messages import tell
from torch_tb_profiler.cli.parsers import declare_trace


class SummaryCommand:
    """Say what bounds a trace or all ranks of a run, what would save how much, and what to do.

    `torch-tb-profiler PATH` is the same.
    """

    name = "summary"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("--json", action="store_true", help="as JSON, the same as /api/summary")
        parser.epilog = (
            "Examples:\n  torch-tb-profiler summary LOGDIR/RUN\n  zcat trace.json.gz | torch-tb-profiler summary -"
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.arrays.types import dumps_indented
        from torch_tb_profiler.cli.work.summaries import summary_of
        from torch_tb_profiler.insights.summary.text import as_text

        answer = summary_of(arguments)
        if not arguments.json:
            print(as_text(answer))
            return
        for file in answer.skipped:
            tell(f"skipped: {file.file} {file.reason}")
        print(dumps_indented(answer))
