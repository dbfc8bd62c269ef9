"""FLOP, bytes and rates of device activities, and how much of them is known.

Where arguments were not recorded, names and grids of PyTorch's kernels give an estimate of the bytes: elements are
known to within one block, and types by the functor; inputs beyond those and the result are not.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from math import prod

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import UNKNOWNS, Activities, WorkCounts, work_counts
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import Groups, group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model


class ActivityWork(msgspec.Struct, frozen=True):
    """The work of each activity, parallel to `Activities`, shape (activities,); NaN: unknown.

    flops  matrix FLOP: the activities of a call share its FLOP by their durations
    bytes  the least that it moves, its share; of copies what the trace says
    """

    flops: Float64
    bytes: Float64


@cached
def activity_work(model: Model) -> ActivityWork:
    """Return what each activity computes and moves."""
    counts = work_counts(model)
    activities, calls = counts.activities, counts.calls
    flops, size = (whole_share_of_call(counts, calls.numbers(name)) for name in ("flops", "bytes"))
    flops[activities.no_flops & np.isnan(flops)] = 0.0
    return ActivityWork(flops, np.where(activities.recorded >= 0, activities.recorded, size))


def share_of_call(counts: WorkCounts, values: Float64) -> Float64:
    """Return the share of a number of its call by time, shape (activities,); NaN: unknown.

    values  shape (calls,)
    """
    activities, calls = counts.activities, counts.calls
    call = np.where(activities.recorded >= 0, -1, activities.call)
    duration = np.maximum(take_known(calls.duration, call), 1)
    return np.where(call >= 0, activities.duration / duration * take_known(values, call), np.nan)


def whole_share_of_call(counts: WorkCounts, values: Float64) -> Float64:
    """Share a count of each call out to its activities in whole numbers that add up to it.

    Each activity has what the activities up to it have, rounded, less what those before it have.
    """
    activities = counts.activities
    call = np.where(activities.recorded >= 0, -1, activities.call)
    order = stable_order(call)
    order = order[np.searchsorted(call[order], 0) :]
    of = call[order]
    ended: Int64 = np.cumsum(activities.duration[order])
    first = begins_run(of)
    before = np.maximum.accumulate(np.where(first, ended - activities.duration[order], 0))
    part = (ended - before) / np.maximum(counts.calls.duration[of], 1)
    until = np.rint(part * values[of])
    share = np.full(len(activities), np.nan)
    share[order] = until - np.where(first, 0.0, np.concatenate([[0.0], until[:-1]]))
    return share


class RateSums(msgspec.Struct, frozen=True):
    """Sums over device activities, for rates. Parallel.

    flops, flops_ns   of activities that have FLOP, and their time in ns
    bytes, bytes_ns   of activities whose bytes are known, and their time in ns
    """

    flops: Float64
    flops_ns: Int64
    bytes: Float64
    bytes_ns: Int64

    @property
    def flop_rate(self) -> Float64:
        """FLOP/s; NaN without FLOP."""
        return _ratio(self.flops, self.flops_ns)

    @property
    def byte_rate(self) -> Float64:
        """Bytes/s; NaN where they are unknown."""
        return _ratio(self.bytes, self.bytes_ns)


def rate_sums(model: Model, chosen: Int64, groups: Groups) -> RateSums:
    """Sum some activities by group. chosen: shape (rows,), indices into `Activities`."""
    work, duration = activity_work(model), work_counts(model).activities.duration[chosen]
    flops, size = work.flops[chosen], work.bytes[chosen]
    multiplies, moves = np.nan_to_num(flops) > 0, ~np.isnan(size)
    return RateSums(
        flops=groups.sum_of_floats(np.where(multiplies, flops, 0.0)),
        flops_ns=groups.sum(np.where(multiplies, duration, 0)),
        bytes=groups.sum_of_floats(np.where(moves, size, 0.0)),
        bytes_ns=groups.sum(np.where(moves, duration, 0)),
    )


def _ratio(amount: Float64, ns: Int64) -> Float64:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(ns > 0, 1e9 * amount / ns, np.nan)


_VECTORIZED = lazy_pattern(r"\b(?:vectorized|unrolled)_elementwise_kernel<(\d{1,9})?")
_ELEMENTWISE = lazy_pattern(r"\belementwise_kernel(?:_manual_unroll)?<(\d{1,9}), ?(\d{1,9})")
_GATHER = lazy_pattern(r"\bvectorized_gather_kernel<(\d{1,9})")
_TYPE = r"(?:float|double|c10::BFloat16|c10::Half|unsigned char|signed char|bool|long|int)"
_FUNCTOR = lazy_pattern(rf"(?:Functor\w{{0,100}}|\w_op|\wOp|_impl|_kernel_cuda)<({_TYPE}(?:, ?{_TYPE})*)[,>]")
_OPERANDS = lazy_pattern(r"[Aa]rray<char ?\*, ?(\d)")
_BYTES = {"float": 4, "double": 8, "c10::BFloat16": 2, "c10::Half": 2, "long": 8, "int": 4}


def bytes_by_grid(model: Model, activities: Activities) -> Int64:
    """Return bytes, -1 where unknown, shape (activities,). Vectorised kernels of ROCm differ by version."""
    moved_bytes = np.full(len(activities), -1, np.int64)
    if not model.has_device_work:
        return moved_bytes
    work, strings = model.device_work, model.trace.strings
    chosen = np.flatnonzero(
        (activities.recorded < 0) & (work.grid[activities.place] > 0) & (work.block[activities.place] > 0)
    )
    place = activities.place[chosen]
    groups = group(
        [model.trace.events.name[activities.row[chosen]], work.grid[place], work.block[place], work.device[place]]
    )
    if not len(groups):
        return moved_bytes
    moved = [
        _moved(
            strings[int(model.trace.events.name[activities.row[chosen[first]]])],
            strings[int(work.grid[place[first]])],
            strings[int(work.block[place[first]])],
            (model.trace.header.device(int(work.device[place[first]])) or {}).get("warpSize") == 64,
        )
        for first in groups.first.tolist()
    ]
    moved_bytes[chosen] = np.array(moved, np.int64)[groups.inverse]
    return moved_bytes


def _moved(kernel: str, grid: str, block: str, is_rocm: bool) -> int:
    blocks, threads = _size(grid), _size(block)
    if not blocks or not threads:
        return -1
    gather = _GATHER.search(kernel)
    if gather:
        return 2 * blocks * threads * int(gather[1])
    types = _types(kernel)
    if not types:
        return -1
    vectorized, plain = _VECTORIZED.search(kernel), _ELEMENTWISE.search(kernel)
    if vectorized and not is_rocm:
        return blocks * threads * max(4, int(vectorized[1] or 4)) * types
    return blocks * int(plain[1]) * int(plain[2]) * types if plain else -1


def _size(text: str) -> int:
    """Return x · y · z of `[x, y, z]`; 0 for none."""
    try:
        sizes = json.loads(text)
        return prod(each for each in sizes if type(each) is int and 0 < each < 2**31)
    except (ValueError, TypeError):
        return 0


def _types(kernel: str) -> int:
    """Return the bytes of the inputs and of the result of one element, by the functor; 0 where its name does not tell.

    One type stands for all operands, whose number the kernel is a template of, as in `CUDAFunctor_add<float>`.
    """
    functor = _FUNCTOR.search(kernel)
    sizes = [_BYTES.get(each.strip(), 1) for each in functor[1].split(",")] if functor else []
    operands = _OPERANDS.search(kernel)
    if len(sizes) > 1 or not sizes:
        return sum(sizes)
    return sizes[0] * (int(operands[1]) if operands else 3)


class WorkCoverage(msgspec.Struct, frozen=True):
    """Parts of the time of compute kernels, copies and fills, 0…1; on the host of the time of operators by themselves.

    time_ns          all of it
    flops            of what matrix FLOP are known, also where there are none
    matrix           time with FLOP ÷ the same with that of unknown FLOP; None if there is neither
    bytes            of what bytes are known by arguments, or recorded
    bytes_estimated  a further part, of which bytes are estimated by the grids of kernels
    unknown          parts whose FLOP or bytes are unknown, by reason
    """

    time_ns: int
    flops: Fraction
    matrix: Fraction | None
    bytes: Fraction
    bytes_estimated: Fraction
    unknown: Mapping[str, Fraction]


class KnownWork(msgspec.Struct, frozen=True):
    """Which FLOP and bytes are known, shape (activities,).

    flops      FLOP are known, also where there are none
    multiplies its call has FLOP
    bytes      by arguments, or recorded
    """

    flops: Bool
    multiplies: Bool
    bytes: Bool


@cached
def known_work(model: Model) -> KnownWork:
    """Return what is known of each activity."""
    counts = work_counts(model)
    activities, calls = counts.activities, counts.calls
    per_call = {name: calls.numbers(name) for name in ("flops", "bytes")}
    flops, size = (
        take_known(values, activities.call, missing=np.nan)  # type: ignore[arg-type]
        for values in per_call.values()
    )
    return KnownWork(
        flops=~np.isnan(flops) | activities.no_flops | (activities.recorded >= 0),
        multiplies=np.nan_to_num(flops) > 0,
        bytes=~np.isnan(size) | (activities.recorded >= 0),
    )


def work_coverage(model: Model, chosen: Bool) -> WorkCoverage | None:
    """Return how much is known of some activities, such as those of the steps; None if they took no time.

    chosen   shape (activities,)
    """
    activities, is_known = work_counts(model).activities, known_work(model)
    duration = np.where(chosen, activities.duration, 0)
    whole = int(duration.sum())
    if not whole:
        return None

    def part(some: Bool) -> float:
        return int(duration[some].sum()) / whole

    unclear = ~is_known.flops
    matrix = int(duration[is_known.multiplies].sum())
    missing = int(duration[unclear].sum())
    estimated = ~is_known.bytes & (bytes_by_grid(model, activities) >= 0)
    explained = (unclear | ~is_known.bytes) & (activities.why >= 0)
    return WorkCoverage(
        time_ns=whole,
        flops=part(is_known.flops),
        matrix=matrix / (matrix + missing) if matrix + missing else None,
        bytes=part(is_known.bytes),
        bytes_estimated=part(estimated),
        unknown={
            why.value: part(explained & (activities.why == code))
            for code, why in enumerate(UNKNOWNS)
            if (explained & chosen & (activities.why == code)).any()
        },
    )
