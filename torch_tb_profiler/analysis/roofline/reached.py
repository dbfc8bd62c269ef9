"""What a trace itself reaches: a least of what its devices really can, below the peaks of data sheets.

Bandwidth by large elementwise kernels, FLOP/s of an element type by long products; of either the 95th percentile.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import counted
from torch_tb_profiler.analysis.flops.elementwise import ELEMENTWISE
from torch_tb_profiler.analysis.flops.products import ELEMENTS
from torch_tb_profiler.analysis.roofline.pieces import ABOVE, FLOOR_NS, call_roofs
from torch_tb_profiler.analysis.roofline.roofs import roof_table, roofs
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.order import percentile
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.model import Model

#: bytes that no cache holds, and how long a product must take, ns
_LARGE, _LONG_NS = 64e6, 50_000
#: fewer calls say nothing, of elementwise kernels and of products
_LEAST_MOVES, _LEAST_PRODUCTS = 10, 3
_PERCENT = 95


class Reached(msgspec.Struct, frozen=True):
    """Of one device.

    bandwidth  bytes/s of elementwise kernels that move more than 64 MB; None for fewer than 10
    flops      FLOP/s by element type, of products that take longer than 50 µs; no entry for fewer than 3
    """

    bandwidth: float | None
    flops: Mapping[str, float]


@cached
def reached(model: Model) -> Mapping[int, Reached]:
    """By number of the device."""
    found, of_calls = counted(model), call_roofs(model)
    calls = found.calls
    if found.on_host or not len(calls):
        return {each.device: Reached(None, {}) for each in roofs(model)}
    flops, size = calls.numbers("flops"), calls.numbers("bytes")
    is_product = np.array([work.product is not None for work in calls.works], np.bool_)
    strings = model.trace.strings
    moves = strings.where(ELEMENTWISE.__contains__, calls.name)[calls.name] & (size > _LARGE) & (calls.duration > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved, computed = 1e9 * size / calls.duration, 1e9 * flops / calls.duration
        # what is above the peak multiplies less than it counts for
        multiplies = (
            is_product[calls.work] & (flops > 0) & (calls.duration > _LONG_NS) & (computed <= ABOVE * of_calls.rate)
        )
    devices = roofs(model)
    place = roof_table(model).places(of_calls.device)
    moves &= place >= 0
    multiplies &= (place >= 0) & (of_calls.element >= 0)
    bandwidth = _best(place[moves], moved[moves], _LEAST_MOVES)
    product = len(ELEMENTS) * place + of_calls.element
    flops_of: list[dict[str, float]] = [{} for _ in devices]
    for number, rate in _best(product[multiplies], computed[multiplies], _LEAST_PRODUCTS).items():
        of_device, element = divmod(number, len(ELEMENTS))
        flops_of[of_device][ELEMENTS[element]] = rate
    return {each.device: Reached(bandwidth.get(at), flops_of[at]) for at, each in enumerate(devices)}


def _best(number: Int64, rates: Float64, least: int) -> dict[int, float]:
    """By number, of those that occur so often."""
    chosen = np.flatnonzero(np.bincount(number)[number] >= least)
    of_number = each_value(number[chosen])
    return {value: percentile(rates[chosen[at]], _PERCENT) for value, at in of_number}


def reached_ns(model: Model) -> Float64:
    """Shape (calls,): the least time of each by what is reached, else by the peaks, ns; NaN: not known."""
    found, of_calls = counted(model), call_roofs(model)
    calls = found.calls
    flops, size = calls.numbers("flops"), calls.numbers("bytes")
    least = of_calls.roof_ns.copy()
    bandwidth, rate = _as_columns(reached(model))
    place = roof_table(model).places(of_calls.device)
    moving = (size > 0) & ~np.isnan(bandwidth[place])
    least[moving] = np.maximum(least, 1e9 * size / bandwidth[place])[moving]
    rate_here = rate[place, of_calls.element]
    computing = (of_calls.element >= 0) & (flops > 0) & ~np.isnan(rate_here)
    least[computing] = np.maximum(least, 1e9 * flops / rate_here)[computing]
    short = least < FLOOR_NS
    least[short] = np.minimum(calls.duration, FLOOR_NS)[short]
    return least


def _as_columns(best: Mapping[int, Reached]) -> tuple[Float64, Float64]:
    """Bandwidth, shape (devices + 1,), and FLOP/s, shape (devices + 1, elements), as `RoofTable`; NaN: not known."""
    bandwidth, rate = np.full(len(best) + 1, np.nan), np.full((len(best) + 1, len(ELEMENTS)), np.nan)
    for place, each in enumerate(best.values()):
        if each.bandwidth is not None:
            bandwidth[place] = each.bandwidth
        for name, flops in each.flops.items():
            rate[place, ELEMENTS.index(name)] = flops
    return bandwidth, rate
