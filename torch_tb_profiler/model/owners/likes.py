"""Work that was launched before the recording, and the same work of a later step whose launch is in it.

A program that repeats itself runs the same kernels in the same order. The work at the begin of a stream that has no
launch is compared with all that follows on the stream, shifted by each distance at which its last piece occurs again;
the distance at which most pieces agree, backwards from the first launch and onwards from it, is that of a repetition.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, distinct_places
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.trace import Trace

#: so many pieces in a row must be the same: a few kernels are alike by chance
LEAST_ALIKE = 16
#: how many distances are compared in full
_MOST_COMPARED = 64
#: how far the pieces around the first launch choose between distances
_SEED = 256
#: how far onwards from the first launch is compared
_FURTHEST = 4096


def likes_of(trace: Trace, launch: Int32, asked: Bool, owner: Int32) -> Int32:
    """The like of each piece of device work that is asked for, -1 for none and for all others.

    launch   shape (device work,): -1 for those that have none
    asked    shape (device work,): which are launched before the recording
    owner    shape (device work,): the row that owns it, -1; where several likes fit equally well their owners must have
             one name
    Returns shape (device work,): an index into it.
    """
    work, events = trace.device_work, trace.events
    like = np.full(len(work), -1, np.int32)
    if not asked.any():
        return like
    start, name = events.start[work.row], events.name[work.row]
    owner_name = take_known(events.name, owner)
    for device, stream in {(int(d), int(s)) for d, s in zip(work.device[asked], work.stream[asked], strict=True)}:
        on = np.flatnonzero((work.device == device) & (work.stream == stream) & (asked | (launch >= 0)))
        on = on[np.argsort(start[on], kind="stable")]
        count = int(np.count_nonzero(launch[on] < 0))
        if (launch[on[:count]] >= 0).any():
            continue
        exact = _code(name[on], work.grid[on], work.block[on])
        for what in (exact, name[on].astype(np.int64)):
            found = _repeated(what, count, owner_name[on])
            if (found >= 0).any():
                known = np.flatnonzero(found >= 0)
                like[on[known]] = on[found[known]]
                break
    return like


def _code(*columns: Int32) -> Int64:
    """One number per different row."""
    code = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        known, place = distinct_places(values)
        code = distinct_places(code * len(known) + place)[1]
    return code


def _repeated(what: Int64, count: int, owner: Int32) -> Int64:
    """Of the first `count` pieces of a sequence which later one each is like, -1 for none. Returns shape (count,)."""
    none = np.full(count, -1, np.int64)
    shifts = _shifts(what, count)
    if not len(shifts):
        return none
    alike = np.array([_agreeing(what, count, shift) for shift in shifts.tolist()], np.int64)
    best = np.lexsort((-alike[:, 1], -alike[:, 0]))[0]
    back, onwards = alike[best].tolist()
    if back + onwards < LEAST_ALIKE:
        return none
    place = np.arange(count - back, count)
    equal = shifts[(alike == alike[best]).all(axis=1)]
    # a step that is shorter than what is missing is taken several times
    target = place + -(-(count - place) // equal[:, None]) * equal[:, None]
    inside = target < len(what)
    names = np.where(inside, owner[np.minimum(target, len(what) - 1)], -1)
    agreed = (names == names[0]).all(axis=0) & (names[0] >= 0)
    none[place[agreed]] = target[0][agreed]
    return none


def _shifts(what: Int64, count: int) -> Int64:
    """The distances at which the last missing piece occurs again, and most of what is around it, too."""
    last = count - 1
    found = np.flatnonzero(what[count:] == what[last]) + 1
    for step in range(1, _SEED):
        if len(found) <= _MOST_COMPARED:
            break
        for at in (last - step, last + step):
            if at >= 0:
                there = np.flatnonzero(at + found < len(what))
                fits = there[what[at + found[there]] == what[at]]
                if len(fits):
                    found = found[fits]
    return distinct(found)[:_MOST_COMPARED]


def _agreeing(what: Int64, count: int, shift: int) -> tuple[int, int]:
    """How many pieces agree at a distance: backwards from the last missing one, and onwards from the first launch."""
    most = min(count, len(what) - shift)
    differ = np.flatnonzero(what[:most] != what[shift : shift + most])
    back = count - 1 - int(differ[-1]) if len(differ) else count
    after = min(len(what) - shift, count + _FURTHEST)
    differ = np.flatnonzero(what[count:after] != what[count + shift : after + shift][: max(after - count, 0)])
    return back, int(differ[0]) if len(differ) else max(after - count, 0)
