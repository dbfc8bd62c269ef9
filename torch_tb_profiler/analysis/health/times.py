"""Times that cannot be right, and steps that are not like the others."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from torch_tb_profiler.analysis.step_kinds import step_kinds, warm_up_ratio
from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Category, Note, Phase
from torch_tb_profiler.words.numbers import ms

DAY_NS = 24 * 3600 * 10**9

_TOUCHES = ("overview", "operators", "kernels")
#: kinds of steps in a sentence
_MOST_KINDS = 5


def _far_off(model: Model) -> Iterator[Note]:
    events = model.trace.events
    start = events.start[events.phase == Phase.COMPLETE]
    if not len(start):
        return
    middle = np.partition(start, len(start) // 2)[len(start) // 2]
    far = int(np.count_nonzero(np.abs(start - middle) > DAY_NS))
    if far:
        yield Note(
            "far_timestamps",
            "error",
            "Events lie more than a day away from the others, as those with a timestamp of zero do: the length of the "
            "trace is wrong, and so is what is computed from it.",
            count=far,
            touches=_TOUCHES,
        )


def _huge_durations(model: Model) -> Iterator[Note]:
    huge = int(np.count_nonzero(model.trace.events.duration > DAY_NS))
    if huge:
        yield Note(
            "huge_durations",
            "warning",
            "Events are longer than a day: their ends were not recorded correctly, and they hide all others.",
            count=huge,
            touches=_TOUCHES,
        )


def _without_ends(model: Model) -> Iterator[Note]:
    pairs, asynchronous = model.trace.pairs, model.trace.events.phase == Phase.ASYNC
    left = len(pairs.unended) + len(pairs.unbegun) + int(np.count_nonzero(asynchronous))
    if left:
        yield Note(
            "begin_and_end",
            "warning",
            "Events are written as two, one where they begin and one where they end, and one of these is missing, or "
            "nothing says which belong together (ph b and e): their durations are not known, they count in no time.",
            count=left,
            touches=_TOUCHES,
        )


def _empty_kernels(model: Model) -> Iterator[Note]:
    rows = model.device_work.row[model.device_category == Category.KERNEL]
    empty = int(np.count_nonzero(model.trace.events.duration[rows] == 0))
    if not empty:
        return
    if _in_whole_microseconds(model):
        yield Note(
            "rounded_kernels",
            "info",
            "The file gives times in whole microseconds, so kernels shorter than one count as 0 long.",
            count=empty,
            touches=("kernels",),
            remedy="PyTorch 2.4 or newer writes nanoseconds",
        )
    else:
        yield Note(
            "empty_kernels",
            "warning",
            "Kernels that begin and end at the same time: their times were not recorded, so device time is too short.",
            count=empty,
            touches=_TOUCHES,
        )


def _warm_up(model: Model) -> Iterator[Note]:
    ratio = warm_up_ratio(model.steps, step_kinds(model).of)
    if ratio is None:
        return
    yield Note(
        "slow_first_step",
        "info",
        f"The first step is {_times(ratio)} times as long as the median of "
        "the others: it was still warming up, and averages over all steps are too high.",
        touches=("overview",),
        remedy="schedule(wait=1, warmup=1, active=3)",
        values={"ratio": ratio},
    )


def _unlike_steps(model: Model) -> Iterator[Note]:
    kinds, steps = step_kinds(model), model.steps
    if not kinds.are_several:
        return
    texts, ranges = [], False
    values: dict[str, Value] = {}
    for number, kind in enumerate(kinds.kinds[:_MOST_KINDS]):
        at = np.flatnonzero(kinds.of == number)
        mean = float((steps.end - steps.start)[at].mean())
        mine: dict[str, Value] = {"id": kind.id, "count": len(at), "mean_ns": mean}
        if kind.label is not None:
            mine["label"] = kind.label
        if kind.number is not None:
            mine["number"] = kind.number
        where = ""
        if kinds.is_range(number):
            ranges = True
            mine["from"], mine["to"] = steps.names[at[0]], steps.names[at[-1]]
            where = f" ({mine['from']} to {mine['to']})" if len(at) > 1 else f" ({mine['from']})"
        values |= {f"{key}_{number + 1}": value for key, value in mine.items()}
        texts.append(f"{kind.title}, {len(at)} step{'s' if len(at) > 1 else ''}{where}, {ms(mean)} on average")
    more = len(kinds.kinds) - len(texts)
    rest = f"; {more} more" if more else ""
    alone = " A kind whose steps follow each other can be shown alone, by its range of steps." if ranges else ""
    yield Note(
        "unlike_steps",
        "info",
        f"Steps are of {len(kinds.kinds)} kinds, which run different programs, and means over all steps mix them: "
        f"{'; '.join(texts)}{rest}.{alone}",
        touches=("overview", "program", "roofline"),
        values={**values, "kinds": len(kinds.kinds), "more": more, "ranges": ranges},
    )


def _times(ratio: float) -> str:
    """How many times: one decimal where it tells anything.

    >>> _times(2.74), _times(44555.5)
    ('2.7', '44,556')
    """
    return f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


def _in_whole_microseconds(model: Model) -> bool:
    events = model.trace.events
    chosen = events.phase == Phase.COMPLETE
    return not ((events.duration[chosen] % 1000).any() or (np.diff(events.start[chosen]) % 1000).any())


RULES: tuple[Callable[[Model], Iterator[Note]], ...] = (
    _far_off,
    _huge_durations,
    _without_ends,
    _empty_kernels,
    _warm_up,
    _unlike_steps,
)
