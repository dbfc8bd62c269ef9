"""Times that cannot be right, and steps that are not like the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from torch_tb_profiler.analysis.step_kinds import step_kinds, warm_up_ratio
from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Category, EventPhase, Note, note

DAY_NS = 24 * 3600 * 10**9

_TOUCHES = ("overview", "operators", "kernels")
#: kinds of steps in a sentence
_MOST_KINDS = 5


def _far_off(model: Model) -> Iterator[Note]:
    events = model.trace.events
    start = events.start[events.phase == EventPhase.COMPLETE]
    if not len(start):
        return
    middle = np.partition(start, len(start) // 2)[len(start) // 2]
    far = int(np.count_nonzero(np.abs(start - middle) > DAY_NS))
    if far:
        yield note("far_timestamps", "error", far, _TOUCHES)


def _huge_durations(model: Model) -> Iterator[Note]:
    huge = int(np.count_nonzero(model.trace.events.duration > DAY_NS))
    if huge:
        yield note("huge_durations", "warning", huge, _TOUCHES)


def _without_ends(model: Model) -> Iterator[Note]:
    pairs, asynchronous = model.trace.pairs, model.trace.events.phase == EventPhase.ASYNC
    left = len(pairs.unended) + len(pairs.unbegun) + int(np.count_nonzero(asynchronous))
    if left:
        yield note("begin_and_end", "warning", left, _TOUCHES)


def _empty_kernels(model: Model) -> Iterator[Note]:
    rows = model.device_work.row[model.device_category == Category.KERNEL]
    empty = int(np.count_nonzero(model.trace.events.duration[rows] == 0))
    if not empty:
        return
    if _in_whole_microseconds(model):
        yield note("rounded_kernels", "info", empty, ("kernels",))
    else:
        yield note("empty_kernels", "warning", empty, _TOUCHES)


def _warm_up(model: Model) -> Iterator[Note]:
    ratio = warm_up_ratio(model.steps, step_kinds(model).of)
    if ratio is None:
        return
    yield note("slow_first_step", "info", touches=("overview",), values={"ratio": ratio})


def _unlike_steps(model: Model) -> Iterator[Note]:
    kinds, steps = step_kinds(model), model.steps
    if not kinds.are_several:
        return
    parts: list[dict[str, Value]] = []
    for number, kind in enumerate(kinds.kinds[:_MOST_KINDS]):
        at = np.flatnonzero(kinds.of == number)
        mean = float((steps.end - steps.start)[at].mean())
        part = {**kind.values, "count": len(at), "mean_ns": mean}
        if kinds.is_range(number):
            part |= {"from": steps.names[at[0]], "to": steps.names[at[-1]]}
        parts.append(part)
    yield note(
        "unlike_steps",
        "info",
        touches=("overview", "program", "roofline"),
        listed={"parts": parts},
        values={
            **{f"{key}_{number}": value for number, part in enumerate(parts, 1) for key, value in part.items()},
            "kinds": len(kinds.kinds),
            "more": len(kinds.kinds) - len(parts),
            "ranges": any("from" in part for part in parts),
        },
    )


def _in_whole_microseconds(model: Model) -> bool:
    events = model.trace.events
    chosen = events.phase == EventPhase.COMPLETE
    return not ((events.duration[chosen] % 1000).any() or (np.diff(events.start[chosen]) % 1000).any())


RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (
    _far_off,
    _huge_durations,
    _without_ends,
    _empty_kernels,
    _warm_up,
    _unlike_steps,
)
