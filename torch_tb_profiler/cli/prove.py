"""`torch-tb-profiler prove`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UserError, safe
from torch_tb_profiler.cli.parsers import declare_sides, declare_step_choice
from torch_tb_profiler.defaults import declare_cache_dir

if TYPE_CHECKING:
    from torch_tb_profiler.insights.proof.answer import ChangedQuantity, ProofAnswer

_VERDICTS = ("gone", "reduced")
_NOT_MET = 3


class ProveCommand:
    """Say whether a change removed the cause that a finding names, and gained what was predicted.

    Three recordings or more on each side, made in turn (before, after, before, after …), are compared in pairs. The
    exit code is 0 for any verdict; with --require it is 3 unless the cause is gone, or at least reduced.
    """

    name = "prove"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_sides(parser, "RUN~WORKER~SPAN, a log directory, or a glob")
        parser.add_argument(
            "--finding",
            metavar="KEY",
            required=True,
            help="the finding: its key or the id of its rule, as `summary --json` has it",
        )
        parser.add_argument("--require", choices=_VERDICTS, help="exit with 3 if the verdict is less than this")
        parser.add_argument("--across-devices", action="store_true", help="compare even if the devices differ")
        parser.add_argument(
            "--work-changed", action="store_true", help="compare times per FLOP: the steps do another amount of work"
        )
        parser.add_argument("--worker", help="which worker of each run (default: the first)")
        declare_step_choice(parser)
        parser.add_argument("--json", action="store_true", help="as JSON, prove/1.0")
        declare_cache_dir(parser)
        parser.epilog = (
            "Examples:\n"
            "  torch-tb-profiler prove before/ after/ --finding dataloader\n"
            "  torch-tb-profiler prove --base a1 --base a2 --base a3 b1 b2 b3 --finding sync_points"
        )

    def run(self, arguments: argparse.Namespace) -> int:
        from torch_tb_profiler.arrays.types import dumps
        from torch_tb_profiler.cli.work.traces import step_choice
        from torch_tb_profiler.workspace import process
        from torch_tb_profiler.workspace.local_workspace import LocalWorkspace
        from torch_tb_profiler.workspace.proofs import proof_of, traces_of
        from torch_tb_profiler.workspace.recordings import RecordingError

        process.configure_logging()
        first = [] if arguments.base else arguments.paths[:1]
        after = arguments.paths[len(first) :]
        if not after:
            raise UserError("recordings before and after are needed: prove BEFORE AFTER, or --base BEFORE and AFTER")
        choice = step_choice(arguments)
        workspace = LocalWorkspace(arguments.cache_dir, is_alone=True)
        try:
            sides = [
                traces_of(side, workspace, choice, arguments.worker) for side in ([*first, *arguments.base], after)
            ]
            answer = proof_of(sides[0], sides[1], arguments.finding, arguments.across_devices, arguments.work_changed)
        except RecordingError as error:
            raise UserError(str(error)) from None
        print(dumps(answer).decode() if arguments.json else as_text(answer))
        verdict = None if answer.measure is None else answer.measure.verdict
        met = ("gone",) if arguments.require == "gone" else _VERDICTS
        return _NOT_MET if arguments.require is not None and verdict not in met else 0


def as_text(answer: ProofAnswer) -> str:
    """Return the sentence, the numbers behind it, and what else changed."""
    lines = [answer.sentence]
    if answer.measure is not None:
        lines.append(f"  {' + '.join(answer.measure.metrics)}: {_change(answer.measure, answer.measure.unit)}")
    if answer.step is not None:
        lines.append(f"  step: {_change(answer.step, 'ms')}")
    lines += [f"  {part.cause}: {-part.less:+g} ms" for part in answer.others]
    if answer.more is not None:
        lines.append(f"  {answer.more} pairs of recordings would decide, if the change stays what it seems")
    lines += [f"  {text}" for text in answer.unlike]
    return "\n".join(map(safe, lines))


def _change(of: ChangedQuantity, unit: str) -> str:
    interval = "" if of.low is None or of.high is None else f" [{-of.high:+g}, {-of.low:+g}]"
    return f"{of.before:g} → {of.after:g} {unit}{interval}"
