"""`torch-tb-profiler findings`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.parsers import declare_trace


class FindingsCommand:
    """List what costs time, how much, what to do about it, and where it can be seen.

    Of a run of several ranks these are the findings over all ranks, unless --worker chooses one.
    """

    name = "findings"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("--json", action="store_true", help="as JSON: the findings of summary --json")
        parser.epilog = "Example:\n  torch-tb-profiler findings LOGDIR/RUN"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.arrays.types import dumps_indented
        from torch_tb_profiler.cli.messages import tell
        from torch_tb_profiler.cli.work.summaries import summary_of
        from torch_tb_profiler.insights.summary.text import findings_text

        answer = summary_of(arguments)
        for file in answer.skipped:
            tell(f"skipped: {file.file} {file.reason}")
        print(dumps_indented(answer.findings) if arguments.json else findings_text(answer))
