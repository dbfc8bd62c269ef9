"""Work that was launched before the recording, and the same work of a later step whose launch is in it.

A program that repeats itself runs the same kernels in the same order. The work at the start of a stream that has no
launch is compared with all that follows on the stream, shifted by each distance at which its last piece occurs again;
the distance at which most pieces agree, backwards from the first launch and onwards from it, is that of a repetition.
"""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.distinct import distinct, distinct_places, isin
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.trace import Trace

#: this many pieces in a row must be the same: a few kernels are alike by chance
LEAST_ALIKE = 16
#: how many distances are looked at, the nearest ones
_MOST_LOOKED_AT = 16384
#: how many distances are compared in full
_MOST_COMPARED = 64
#: how many pieces without a like end the search
_MOST_MISSES = 32
#: how far the pieces around the first launch choose between distances
_SEED = 256
#: how far backwards and onwards is compared at once
_FURTHEST = 4096
#: bounds the time that is spent on a stream
_MOST_STRETCHES = 256


def match_iterations(trace: Trace, launch: Int32, wanted: Bool, owner: Int32) -> Int32:
    """Match each piece of wanted device work with the same work of another iteration; -1 for none and for all others.

    launch   shape (device work,): -1 for none
    wanted   shape (device work,): which are launched before the recording
    owner    shape (device work,): the row that owns it, -1; where several likes fit equally well their owners must have
             one name
    Returns shape (device work,): an index into it.
    """
    work, events = trace.device_work, trace.events
    like = np.full(len(work), -1, np.int32)
    if not wanted.any():
        return like
    start, name = events.start[work.row], events.name[work.row]
    owner_name = take_known(events.name, owner)
    for device, stream in {(int(d), int(s)) for d, s in zip(work.device[wanted], work.stream[wanted], strict=True)}:
        on = np.flatnonzero((work.device == device) & (work.stream == stream) & (wanted | (launch >= 0)))
        on = on[np.argsort(start[on], kind="stable")]
        count = int(np.count_nonzero(launch[on] < 0))
        if (launch[on[:count]] >= 0).any():
            continue
        exact = _repeated(_code(name[on], work.grid[on], work.block[on]), count, owner_name[on])
        by_name = _repeated(name[on].astype(np.int64), count, owner_name[on])
        likest = np.where(exact >= 0, exact, by_name)
        known = np.flatnonzero(likest >= 0)
        like[on[known]] = on[likest[known]]
    return like


def _code(*columns: Int32) -> Int64:
    """One number per different row."""
    code = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        known, place = distinct_places(values)
        code = distinct_places(code * len(known) + place)[1]
    return code


def _repeated(what: Int64, count: int, owner: Int32) -> Int64:
    """Match each of the first `count` pieces with a later one, -1 for none. Returns shape (count,).

    From the last one backwards, run by run: each is as long as all of it agrees with what is at one distance.
    """
    like = np.full(count, -1, np.int64)
    # what never occurs again, such as what only the first step does, is passed over
    again = np.flatnonzero(isin(what[:count], what[count:])) + 1
    misses = 0
    for _ in range(_MOST_STRETCHES):
        if not len(again) or misses == _MOST_MISSES:
            break
        upto = int(again[-1])
        back = _agreeing_run(what, upto, like, owner)
        misses += not back
        again = again[: np.searchsorted(again, upto - max(back, 1), side="right")]
    return like


def _agreeing_run(what: Int64, upto: int, like: Int64, owner: Int32) -> int:
    """Find the likes of the pieces up to one, as far back as they agree; how many, 0 for too few."""
    count = len(like)
    shifts = _shifts(what, upto, count)
    back, onwards, ended = np.array([_agreeing(what, upto, shift) for shift in shifts.tolist()], np.int64).T
    likely = back + onwards >= LEAST_ALIKE
    if not likely.any():
        return 0
    # to agree up to the end of the recording is as good as any number
    onwards = np.where(ended, _FURTHEST, onwards)
    best = np.lexsort((-onwards, -back, ~likely))[0]
    place = np.arange(upto - back[best], upto)
    equal = shifts[likely & (back == back[best]) & (onwards == onwards[best])]
    # a step that is shorter than what is missing is taken several times
    target = place + -(-(upto - place) // equal[:, None]) * equal[:, None]
    target = np.where(target < len(what), target, -1)
    missing = (target >= 0) & (target < count)
    target[missing] = like[target[missing]]
    names = np.where(target >= 0, owner[target], -1)
    agreed = (names == names[0]).all(axis=0) & (names[0] >= 0)
    like[place[agreed]] = target[0][agreed]
    return len(place)


def _shifts(what: Int64, upto: int, count: int) -> Int64:
    """List the distances at which the piece before `upto` recurs from `count` on, with most of what is around it."""
    last = upto - 1
    distances = np.flatnonzero(what[count:] == what[last])[:_MOST_LOOKED_AT] + count - last
    for step in range(1, _SEED):
        if len(distances) <= _MOST_COMPARED:
            break
        for at in (last - step, last + step):
            if at >= 0:
                there = np.flatnonzero(at + distances < len(what))
                fits = there[what[at + distances[there]] == what[at]]
                if len(fits):
                    distances = distances[fits]
    return distinct(distances)[:_MOST_COMPARED]


def _agreeing(what: Int64, upto: int, shift: int) -> tuple[int, int, bool]:
    """Count the pieces that agree at a distance: backwards from the one before `upto`, and onwards from it.

    And whether those onwards end with the sequence, not with one that differs.
    """
    first = max(upto - _FURTHEST, 0)
    differ = np.flatnonzero(what[first:upto] != what[first + shift : shift + upto])
    back = upto - first - 1 - int(differ[-1]) if len(differ) else upto - first
    length = min(len(what) - shift - upto, _FURTHEST)
    differ = np.flatnonzero(what[upto : upto + length] != what[upto + shift : upto + shift + length])
    return back, int(differ[0]) if len(differ) else length, not len(differ)
