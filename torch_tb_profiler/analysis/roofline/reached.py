"""What a trace itself reaches: a least of what its devices really can, below the peaks of data sheets.

Bandwidth by large elementwise kernels, FLOP/s of an element type by long products; of either the 95th percentile.
"""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
import numpy as np

from torch_tb_profiler.analysis.flops.calls import counted
from torch_tb_profiler.analysis.flops.elementwise import ELEMENTWISE
from torch_tb_profiler.analysis.flops.products import ELEMENTS
from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.roofline.pieces import ABOVE, FLOOR_NS, call_roofs
from torch_tb_profiler.analysis.roofline.roofs import roofs
from torch_tb_profiler.arrays.order import percentile
from torch_tb_profiler.arrays.types import Float64
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


@remembered
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
    best = {}
    for each in roofs(model):
        here = of_calls.device == each.device
        of_element = {
            name: _best(computed[here & multiplies & (of_calls.element == code)], _LEAST_PRODUCTS)
            for code, name in enumerate(ELEMENTS)
        }
        best[each.device] = Reached(
            _best(moved[here & moves], _LEAST_MOVES),
            {name: rate for name, rate in of_element.items() if rate is not None},
        )
    return best


def _best(rates: Float64, least: int) -> float | None:
    return percentile(rates, _PERCENT) if len(rates) >= least else None


def reached_ns(model: Model) -> Float64:
    """Shape (calls,): the least time of each by what is reached, else by the peaks, ns; NaN: not known."""
    found, of_calls = counted(model), call_roofs(model)
    calls = found.calls
    flops, size = calls.numbers("flops"), calls.numbers("bytes")
    least = of_calls.roof_ns.copy()
    for device, best in reached(model).items():
        here = of_calls.device == device
        if best.bandwidth is not None:
            moving = here & (size > 0)
            least[moving] = np.maximum(least, 1e9 * size / best.bandwidth)[moving]
        for code, name in enumerate(ELEMENTS):
            computing = here & (of_calls.element == code) & (flops > 0)
            if name in best.flops:
                least[computing] = np.maximum(least, 1e9 * flops / best.flops[name])[computing]
    short = least < FLOOR_NS
    least[short] = np.minimum(calls.duration, FLOOR_NS)[short]
    return least
