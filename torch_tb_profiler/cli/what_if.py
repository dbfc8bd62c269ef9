"""`torch-tb-profiler what-if`."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import safe
from torch_tb_profiler.cli.parsers import declare_trace

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.replay.resources import WhatIfAnswer


class WhatIfCommand:
    """Say how long the steps of a trace would take after some changes, by replay.

    A change is a kind of time with a factor, such as data:0 (batches take no time), kernels:0.8 or
    operator.aten::mm:0.5, or what is removed, such as sync (no call waits for the device). Several are joined by
    commas and made together. A change of an unknown kind is refused with the list of kinds.
    """

    name = "what-if"

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser)
        parser.add_argument("changes", metavar="CHANGES", help="such as data:0 or kernels:0.8,sync")
        parser.add_argument("--json", action="store_true", help="as JSON: the answer of /api/what_if")
        parser.epilog = "Example:\n  torch-tb-profiler what-if LOGDIR/RUN data:0"

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.analysis.critical_path import WHAT_IF, WhatIfParams
        from torch_tb_profiler.arrays.types import dumps_indented
        from torch_tb_profiler.cli.work.traces import chosen
        from torch_tb_profiler.workspace import process

        process.configure_logging()
        with chosen(arguments) as traces:
            answer: WhatIfAnswer = traces.answer(WHAT_IF, WhatIfParams(changes=arguments.changes))
        print(dumps_indented(answer) if arguments.json else as_text(answer))


def as_text(answer: WhatIfAnswer) -> str:
    """Return the mean step before and after, or why there is no answer."""
    from torch_tb_profiler.analysis.text_format import with_unit

    steps = len(answer.names)
    lines = [*answer.notes]
    lines += [f"left out: nothing in the trace is called {each.name}" for each in answer.changes if each.found == 0]
    refused = {each.id: each.text for each in answer.meta.refused}
    saved = answer.saved
    if not steps:
        lines.append("No steps were found in this trace.")
    elif answer.after_ns is None or saved.saved_ns is None:
        lines.append(refused.get(saved.refused or "", saved.refused or ""))
    elif not saved.saved_ns:
        lines.append(f"A step would take {with_unit(answer.before_ns / steps, 'ns')}, as it does.")
    else:
        before, after = answer.before_ns / steps, answer.after_ns / steps
        least = "at least " if saved.bound else ""
        share = saved.saved_ns / answer.before_ns
        change = "longer" if share < 0 else "less"
        lines.append(
            f"A step would take {least}{with_unit(after, 'ns')} instead of {with_unit(before, 'ns')}"
            f" ({100 * abs(share):.0f} % {change})."
        )
    return "\n".join(map(safe, lines))
