"""FLOP and bytes of each piece of device work, and how fast groups of them compute and move."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import Counted, counted
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import Groups
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.model import Model


class PieceWork(msgspec.Struct, frozen=True):
    """Parallel to `Pieces`, shape (pieces,); NaN: not known.

    flops  matrix FLOP: the pieces of a call share its FLOP by their durations
    bytes  the least that it moves, its share; of copies what the trace says
    """

    flops: Float64
    bytes: Float64


@cached
def piece_work(model: Model) -> PieceWork:
    """What each piece computes and moves."""
    found = counted(model)
    pieces, calls = found.pieces, found.calls
    flops, size = (shared_whole(found, calls.numbers(name)) for name in ("flops", "bytes"))
    flops[pieces.no_flops & np.isnan(flops)] = 0.0
    return PieceWork(flops, np.where(pieces.recorded >= 0, pieces.recorded, size))


def shared(found: Counted, values: Float64) -> Float64:
    """Shape (pieces,): what each piece has of a number of its call, by its part of the call's time; NaN: not known.

    values  shape (calls,)
    """
    pieces, calls = found.pieces, found.calls
    call = np.where(pieces.recorded >= 0, -1, pieces.call)
    duration = np.maximum(take_known(calls.duration, call), 1)
    return np.where(call >= 0, pieces.duration / duration * take_known(values, call), np.nan)


def shared_whole(found: Counted, values: Float64) -> Float64:
    """The same of a count: whole numbers, which of the pieces of each call add up to its own.

    Each piece has what the pieces up to it have, rounded, less what those before it have.
    """
    pieces = found.pieces
    call = np.where(pieces.recorded >= 0, -1, pieces.call)
    order = stable_order(call)
    order = order[np.searchsorted(call[order], 0) :]
    of = call[order]
    ended: Int64 = np.cumsum(pieces.duration[order])
    first = begins_run(of)
    before = np.maximum.accumulate(np.where(first, ended - pieces.duration[order], 0))
    part = (ended - before) / np.maximum(found.calls.duration[of], 1)
    until = np.rint(part * values[of])
    share = np.full(len(pieces), np.nan)
    share[order] = until - np.where(first, 0.0, np.concatenate([[0.0], until[:-1]]))
    return share


class Sums(msgspec.Struct, frozen=True):
    """Sums over pieces of device work, from which rates are made. Parallel.

    flops, flops_ns   of pieces that have FLOP, and their time in ns
    bytes, bytes_ns   of pieces whose bytes are known, and their time in ns
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
        """Bytes/s; NaN where they are not known."""
        return _ratio(self.bytes, self.bytes_ns)


def sums_of(model: Model, chosen: Int64, groups: Groups) -> Sums:
    """Of some pieces, grouped. chosen: shape (rows,), indices into `Pieces`."""
    work, duration = piece_work(model), counted(model).pieces.duration[chosen]
    flops, size = work.flops[chosen], work.bytes[chosen]
    multiplies, moves = np.nan_to_num(flops) > 0, ~np.isnan(size)
    return Sums(
        flops=groups.sum_of_floats(np.where(multiplies, flops, 0.0)),
        flops_ns=groups.sum(np.where(multiplies, duration, 0)),
        bytes=groups.sum_of_floats(np.where(moves, size, 0.0)),
        bytes_ns=groups.sum(np.where(moves, duration, 0)),
    )


def _ratio(amount: Float64, ns: Int64) -> Float64:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(ns > 0, 1e9 * amount / ns, np.nan)
