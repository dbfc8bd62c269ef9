"""`torch-tb-profiler hang`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import safe

if TYPE_CHECKING:
    from torch_tb_profiler.hangs.diagnose import HangReport

#: ranks of the table that are printed; with --json all are there
_MOST_RANKS = 64


class HangCommand:
    """Say which ranks stopped a distributed job, from its flight recorder dumps.

    Reads the dumps that torch.distributed writes when a collective times out, one for each rank. The
    exit code is 0 whenever it could look, also where the dumps do not show who it is.
    """

    name = "hang"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("path", metavar="DIR", help="the folder with the dumps, pickles or JSON")
        parser.add_argument("--json", action="store_true", help="as JSON")
        parser.epilog = "Example:\n  torch-tb-profiler hang /tmp/dumps"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.arrays.types import dumps_indented
        from torch_tb_profiler.workspace.reading.hang_reports import hang_report

        report = hang_report(arguments.path)
        print(dumps_indented(report) if arguments.json else as_text(report))


def as_text(report: HangReport) -> str:
    """Return the sentence, why each rank is named, who waits for whom, and which files say nothing."""
    lines = [report.sentence]
    if report.dumps:
        lines.append(f"{report.dumps} of {report.ranks} ranks left a dump that could be read.")
    lines += [f"  rank {rank.rank}  {rank.kind.replace('_', ' ')}: {rank.evidence}" for rank in report.named]
    if report.waits:
        lines += ["", "Waiting ranks:"]
    for wait in report.waits[:_MOST_RANKS]:
        others = f"for {_some(wait.on)}" if wait.on else "for nobody that the dumps show"
        at = f", at {wait.line}" if wait.line else ""
        lines.append(f"  rank {wait.rank}  in {wait.call} of {wait.group} {others}{at}")
    if len(report.waits) > _MOST_RANKS:
        lines.append(f"  … and {len(report.waits) - _MOST_RANKS:,} more: --json lists all")
    if report.left_out:
        lines += ["", "Left out:", *(f"  {dump.file} {dump.reason}" for dump in report.left_out)]
    return "\n".join(map(safe, lines))


def _some(ranks: list[int]) -> str:
    from torch_tb_profiler.hangs.diagnose import ranks_text

    return f"{'rank' if len(ranks) == 1 else 'ranks'} {ranks_text(ranks)}"
