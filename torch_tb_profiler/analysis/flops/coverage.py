"""How much of the time is known: FLOP, bytes, and why not."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.by_grid import moved_by_grid
from torch_tb_profiler.analysis.flops.calls import UNKNOWNS, counted
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model import Model


class Coverage(msgspec.Struct, frozen=True):
    """Parts of the time of compute kernels, copies and fills, 0…1; on the host of the time of operators by themselves.

    time_ns          all of it
    flops            of what matrix FLOP are known, also where there are none
    matrix           time with FLOP ÷ the same with that of which FLOP are not known; None if there is neither
    bytes            of what bytes are known by arguments, or recorded
    bytes_estimated  a further part, of which bytes are estimated by the grids of kernels
    unknown          parts whose FLOP or bytes are not known, by reason
    """

    time_ns: int
    flops: Fraction
    matrix: Fraction | None
    bytes: Fraction
    bytes_estimated: Fraction
    unknown: Mapping[str, Fraction]


class Known(msgspec.Struct, frozen=True):
    """Shape (pieces,): what is known of each piece.

    flops      FLOP are known, also where there are none
    multiplies its call has FLOP
    bytes      by arguments, or recorded
    """

    flops: Bool
    multiplies: Bool
    bytes: Bool


@cached
def known_pieces(model: Model) -> Known:
    """What is known of what took time."""
    found = counted(model)
    pieces, calls = found.pieces, found.calls
    per_call = {name: calls.numbers(name) for name in ("flops", "bytes")}
    flops, size = (
        take_known(values, pieces.call, missing=np.nan)  # type: ignore[arg-type]
        for values in per_call.values()
    )
    return Known(
        flops=~np.isnan(flops) | pieces.no_flops | (pieces.recorded >= 0),
        multiplies=np.nan_to_num(flops) > 0,
        bytes=~np.isnan(size) | (pieces.recorded >= 0),
    )


def coverage(model: Model, chosen: Bool) -> Coverage | None:
    """Of some pieces of the work, such as those of the steps; None if they took no time.

    chosen   shape (pieces,)
    """
    pieces, is_known = counted(model).pieces, known_pieces(model)
    duration = np.where(chosen, pieces.duration, 0)
    whole = int(duration.sum())
    if not whole:
        return None

    def part(some: Bool) -> float:
        return int(duration[some].sum()) / whole

    unclear = ~is_known.flops
    matrix = int(duration[is_known.multiplies].sum())
    missing = int(duration[unclear].sum())
    estimated = ~is_known.bytes & (moved_by_grid(model, pieces) >= 0)
    said = (unclear | ~is_known.bytes) & (pieces.why >= 0)
    return Coverage(
        time_ns=whole,
        flops=part(is_known.flops),
        matrix=matrix / (matrix + missing) if matrix + missing else None,
        bytes=part(is_known.bytes),
        bytes_estimated=part(estimated),
        unknown={
            why.value: part(said & (pieces.why == code))
            for code, why in enumerate(UNKNOWNS)
            if (said & chosen & (pieces.why == code)).any()
        },
    )
