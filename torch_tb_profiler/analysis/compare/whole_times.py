"""The time of a whole program: of its parts, of work launched before the recording, and of the rest."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.compare.diff import Side, Times


class WholeTimes(msgspec.Struct, frozen=True):
    """A trace as a sum, ns: `whole` is Σ of `parts`, `before` and `rest`, field by field and exactly.

    whole    the steps (without any the main thread) on the host, all work on devices
    parts    Σ of the parts that the comparison begins with
    before   work launched before the recording, which is of no step and of no part
    rest     what is in none of these. On devices what was launched elsewhere: outside the steps, by other threads.
             On the host the time of the steps between their parts; negative when parts ran at the same time on several
             threads
    """

    whole: Times
    parts: Times
    before: Times
    rest: Times


def whole_times(beginning: Side) -> WholeTimes:
    """Of the whole trace. beginning: see `Comparison.beginning`."""
    program = beginning.program
    tree, model = program.timed.tree, program.model
    steps = program.steps
    ran = np.maximum(model.trace.events.duration[model.device_work.row], 0)
    host = int(tree.duration[steps if len(steps) else program.start()].sum())
    device = int(ran[model.is_work].sum())
    parts = beginning.times
    earlier = int(ran[model.launched_before].sum())
    before = Times(0, earlier, earlier)
    rest_host, rest_device = host - parts.duration_ns, device - parts.device_ns - earlier
    rest = Times(rest_host, rest_device, rest_device if rest_device > 0 else max(rest_host, 0))
    return WholeTimes(Times(host, device, parts.total_ns + earlier + rest.total_ns), parts, before, rest)
