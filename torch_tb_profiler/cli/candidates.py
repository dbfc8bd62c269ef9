"""`torch-tb-profiler candidates`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import safe
from torch_tb_profiler.cli.parsers import declare_trace

if TYPE_CHECKING:
    from torch_tb_profiler.insights.candidates.answer import Candidate, CandidatesAnswer

_KINDS = ("operator", "kernel", "copy", "collective", "fusion", "host")
_LONGEST_NAME = 44


class CandidatesCommand:
    """List what is worth optimizing: work with its shapes, its roof, and what a step saves.

    The saving is replayed: work that nothing waits for saves nothing, however slow it is. The exit code is 0 also where
    the trace cannot answer; the answer then says why, and what to record.
    """

    name = "candidates"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("--json", action="store_true", help="as JSON, candidates/1.0")
        parser.add_argument("--top", type=int, default=20, metavar="N", help="how many at most to 50 (default: 20)")
        parser.add_argument("--kind", choices=_KINDS, help="those of one kind alone")
        parser.add_argument("--finding", metavar="KEY", help="those that a finding names alone")
        parser.epilog = "Example:\n  torch-tb-profiler candidates LOGDIR/RUN --json"

    def run(self, arguments: argparse.Namespace) -> None:
        import msgspec

        from torch_tb_profiler.arrays.types import dumps
        from torch_tb_profiler.cli.messages import UserError
        from torch_tb_profiler.cli.work.traces import chosen
        from torch_tb_profiler.codec import convert
        from torch_tb_profiler.insights.candidates.question import CANDIDATES, CandidateFilter

        wanted = {"top": arguments.top, "kind": arguments.kind, "finding": arguments.finding}
        try:
            params = convert(wanted, CandidateFilter)
        except msgspec.ValidationError:
            raise UserError(f"--top is a number from 1 to 50, not {arguments.top}") from None
        with chosen(arguments) as traces:
            answer = traces.answer(CANDIDATES, params)
        print(dumps(answer).decode() if arguments.json else as_text(answer))


def as_text(answer: CandidatesAnswer) -> str:
    """Return a line for each candidate, and why there are none, or only some."""
    lines = []
    if answer.why is not None:
        lines.append(answer.why.text)
    if answer.how is not None:
        lines.append(f"Record with: {answer.how}")
    if answer.candidates:
        lines.append(f"{answer.trace.steps} settled steps of {answer.trace.step_ms} ms; times are ms per step")
        lines.append(f"{'saves':>8} {'takes':>8} {'roof':>8} {'calls':>7}  {'bound':8} what")
    lines += [_line(one) for one in answer.candidates]
    if answer.left_out.count:
        lines.append(f"{answer.left_out.count:,} more take {answer.left_out.time_ms} ms")
    return "\n".join(map(safe, lines))


def _line(one: Candidate) -> str:
    shapes = " ".join("×".join(map(str, tensor.dims)) for tensor in one.inputs or () if tensor.dims)
    name = one.name if len(one.name) <= _LONGEST_NAME else f"{one.name[: _LONGEST_NAME - 1]}…"
    saves = _number(one.saving_ms.after_others)
    if one.headroom_ms is not None and one.saving_ms.alone is None:
        saves = f"≤{_number(one.headroom_ms[1])}"
    numbers = f"{saves:>8} {_number(one.time_ms):>8} {_number(one.roof_ms):>8}"
    where = " · ".join(filter(None, (shapes, one.module, one.line, one.finding)))
    return f"{numbers} {one.per_step:>7g}  {one.bound:8} {one.kind} {name}{'  ' + where if where else ''}"


def _number(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.4g}"
