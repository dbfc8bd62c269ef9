"""Compare ranks with their peers: steps side by side, work by name, and statistics that single outliers do not move."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Sequence

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Bool, Float32, Float64, Int8, Int32, Int64
from torch_tb_profiler.model.communication import KINDS
from torch_tb_profiler.ranks.matching.numbering import SharedCodes
from torch_tb_profiler.ranks.summary import RankSummary

#: median absolute deviation ÷ standard deviation of a normal distribution
MAD_OF_NORMAL = 0.6745
#: a rank's lateness is the value that it reaches in this share of its steps
REACHED = 0.7

Real = npt.NDArray[np.floating]
#: some ranks are late together: at least this share of all, with at least so many others
TOGETHER_SHARE, TOGETHER_OTHERS = 0.25, 4
#: and the gap between late ranks and others is this multiple of the spread of the others, and of the lower half of the
#: late ones
TOGETHER_GAP = 3.0
#: most ranks that are copied for sorting at one time
_AT_ONCE = 64


def peer_median(values: Real) -> Real:
    """Shape (ranks, …) → (…): the median over the ranks that are known; of two ranks the lower. NaN where none is."""
    if len(values) == 2:
        found: Real = np.fmin(values[0], values[1])
    elif np.isnan(values).any():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of nothing but NaN
            found = np.nanmedian(values, axis=0)
    else:
        found = np.median(values, axis=0)
    return found


def reached(values: Real, part: float = REACHED) -> Real:
    """Shape (ranks, steps, …) → (ranks, …): the value that is reached in a part of the known steps; NaN without any.

    >>> reached(np.array([[5.0, 1.0, 4.0, 3.0]])).tolist()
    [3.0]
    """
    steps = values.shape[1]
    if not np.isnan(values).any():
        at = steps - int(np.ceil(part * steps - 1e-9))
        pieces = [values[first : first + _AT_ONCE] for first in range(0, len(values), _AT_ONCE)]
        return np.concatenate([np.partition(piece, at, axis=1)[:, at] for piece in pieces or [values]])
    known = ~np.isnan(values)
    ordered = np.sort(values, axis=1)  # NaN last
    count = known.sum(axis=1, keepdims=True)
    place = count - np.ceil(part * count - 1e-9).astype(np.int64)
    return np.take_along_axis(ordered, np.minimum(place, steps - 1), axis=1)[:, 0]


def is_like_most(excess: Real, least: float) -> Bool:
    """Mark the ranks to compare with, shape (ranks,): all, unless up to half of them are late together.

    The median of all ranks then lies between the two parts, or near the late one, and does not show who is late.

    least   least gap between the two parts

    >>> is_like_most(np.array([1.0, 20.0, 2.0, 21.0, 1.5, 20.5, 1.2, 20.2]), 3.0).tolist()
    [True, False, True, False, True, False, True, False]
    >>> is_like_most(np.array([1.0, 20.0, 2.0, 3.0, 1.5, 2.5, 1.2, 4.0]), 3.0).all()
    np.True_

    Late ranks far apart from each other are not late together.

    >>> is_like_most(np.array([0.0, 0.2, 0.1, 0.3, 1.5, 2.0, 2.4, 5.4]), 1.1).all()
    np.True_
    """
    size = len(excess)
    ordered = np.sort(excess)
    first, last = max(-(-size // 2), TOGETHER_OTHERS), int(size * (1 - TOGETHER_SHARE))
    if first > last or np.isnan(excess).any():
        return np.ones(size, np.bool_)
    cut = first + int(np.argmax(np.diff(ordered)[first - 1 : last]))
    between = ordered[cut] - ordered[cut - 1]
    late = ordered[cut:]
    if between < max(least, TOGETHER_GAP * max(ordered[cut - 1] - ordered[0], float(np.median(late)) - late[0])):
        return np.ones(size, np.bool_)
    found: Bool = excess < ordered[cut]
    return found


def deviations(excess: Real, floor: float | Real, among: Bool | Int64 | slice = slice(None)) -> Float64:
    """Return the excess of each rank ÷ the robust deviation of the ranks `among`, which is set to `floor` at least.

    Shape as given.
    """
    some = excess[among]
    apart = peer_median(np.abs(some - peer_median(some))) if len(some) > 2 else np.zeros(excess.shape[1:])
    found: Float64 = MAD_OF_NORMAL * excess / np.maximum(np.nan_to_num(apart), np.maximum(floor, 1e-9))
    return found


class StepGrid(msgspec.Struct, frozen=True):
    """The steps of all ranks side by side: their names in order, and the column of each step of each rank."""

    names: tuple[str, ...]
    place: tuple[Int64, ...]

    @classmethod
    def of(cls, steps: Sequence[Sequence[str]]) -> StepGrid:
        """Order the steps of all ranks by name, numbers numerically. steps: names of the steps, by rank."""
        known = list(dict.fromkeys(name for names in steps for name in names))
        if all(name.isdecimal() and len(name) < 19 for name in known):
            known.sort(key=int)
        column = {name: at for at, name in enumerate(known)}
        return cls(tuple(known), tuple(np.array([column[name] for name in names], np.int64) for names in steps))

    def whole(self, values: Sequence[npt.NDArray[np.integer]]) -> Int64:
        """Shape (ranks, steps): -1 where a rank lacks a step."""
        found = np.full((len(self.place), len(self.names)), -1, np.int64)
        for rank, (place, of) in enumerate(zip(self.place, values, strict=True)):
            found[rank, place] = of
        return found

    def real(self, values: Sequence[npt.NDArray[np.number]]) -> Float64:
        """Shape (ranks, steps): NaN where a rank lacks a step."""
        found = np.full((len(self.place), len(self.names)), np.nan)
        for rank, (place, of) in enumerate(zip(self.place, values, strict=True)):
            found[rank, place] = of
        return found


#: share of the steps in which a kernel must take longer; less often is chance
STEADY_SHARE = 0.9


class WorkOfRank(msgspec.Struct, frozen=True):
    """Shape (names,): what is reached in 90 % of the steps of the rank; `rate`: in half of them.

    code        of (name, on the device): the same number on all ranks
    on_device   1 for kernels, 0 for operators on the host
    ns          of a step
    spread      how much more of it is reached in half of the steps
    calls       of a step
    blocks      of a step: Σ of the grids
    rate        ns of a block, of a call where blocks were not recorded; NaN without any
    exchanged   bytes that it sends or receives, whichever is more, in a mean all-to-all; NaN without any
    """

    code: Int32
    on_device: Int8
    ns: Float32
    spread: Float32
    calls: Float32
    blocks: Float32
    rate: Float32
    exchanged: float


def work_of_rank(summary: RankSummary, codes: SharedCodes, operators: dict[int, str]) -> WorkOfRank:
    """Sum up the work of a rank. Extends `codes` (of names) and `operators` (that launch a kernel, by its code)."""
    work, steps = summary.work, len(summary.steps)
    key = work.name.astype(np.int64) * 2 + work.on_device
    kept = np.flatnonzero(work.name > 0)
    known, first, place = np.unique(key[kept], return_index=True, return_inverse=True)
    table = np.zeros((3, len(known), max(steps, 1)), np.float32)
    for at, values in enumerate((work.ns, work.calls, work.blocks)):
        table[at, place.reshape(-1), work.step[kept]] = values[kept]
    ns, calls, blocks = (reached(values, STEADY_SHARE) for values in table)
    spread = (reached(table[0], 0.5) - ns).astype(np.float32)
    rate = _rate(*table)
    names = summary.head.work_names
    texts = [(names[int(each) // 2], int(each) % 2) for each in known]
    code = codes.all(texts)[:-1].astype(np.int32)
    for each, row in zip(code.tolist(), kept[first].tolist(), strict=True):
        if each not in operators:
            operators[each] = names[work.operator[row]]
    return WorkOfRank(code, (known % 2).astype(np.int8), ns, spread, calls, blocks, rate, _exchanged(summary))


def _rate(ns: Float32, calls: Float32, blocks: Float32) -> Float32:
    """Shape (names, steps) → (names,)."""
    units = np.where((blocks > 0).any(axis=1, keepdims=True), blocks, calls)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(units > 0, ns / units, np.nan)
    return reached(each, 0.5) if len(ns) else np.empty(0, np.float32)


def _exchanged(summary: RankSummary) -> float:
    of = summary.calls
    rows = np.flatnonzero(of.kind == KINDS.index("all_to_all"))
    if not len(rows):
        return float("nan")
    return max(float(of.in_bytes[rows].mean()), float(of.out_bytes[rows].mean()))


MOST_REPRESENTATIVES = 16
#: ranks at most this far from a chosen one are like it, in deviations
MOST_DISTANCE = 1.0


def representatives(features: Float64, named: Collection[int]) -> tuple[Int64, Int64]:
    """Choose ranks that are far from each other, and count the ranks nearest to each chosen one.

    features   shape (ranks, n): NaN where unknown
    named      ranks that have to be chosen
    """
    if not len(features):
        return np.empty(0, np.int64), np.empty(0, np.int64)
    centre = np.nan_to_num(np.nanmedian(np.where(np.isnan(features), 0, features), axis=0))
    apart = np.abs(np.nan_to_num(features) - centre)
    scale = np.maximum(np.median(apart, axis=0) / MAD_OF_NORMAL, 0.005 * np.abs(centre) + 1)
    scaled = (np.nan_to_num(features) - centre) / scale
    first = int(np.argmin(np.square(scaled).sum(axis=1)))
    chosen = list(dict.fromkeys([first, *named]))[: MOST_REPRESENTATIVES + len(named)]
    distance = np.min([np.square(scaled - scaled[at]).sum(axis=1) for at in chosen], axis=0)
    while len(chosen) < MOST_REPRESENTATIVES:
        farthest = int(np.argmax(distance))
        if distance[farthest] <= MOST_DISTANCE:
            break
        chosen.append(farthest)
        distance = np.minimum(distance, np.square(scaled - scaled[farthest]).sum(axis=1))
    nearest = np.argmin([np.square(scaled - scaled[at]).sum(axis=1) for at in chosen], axis=0)
    return np.array(chosen, np.int64), np.bincount(nearest, minlength=len(chosen))
