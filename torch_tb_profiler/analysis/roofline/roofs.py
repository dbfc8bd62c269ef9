"""The roofs of a trace's devices: FLOP/s by element type, bandwidth of memory and links, and the least time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.work import Matmul
from torch_tb_profiler.analysis.shared.peaks import (
    SPREAD,
    ElementType,
    Peaks,
    Source,
    architecture_flops,
    peaks_of,
    rate_of,
)
from torch_tb_profiler.arrays.lookup import find
from torch_tb_profiler.arrays.types import Float64, Int64, Ints
from torch_tb_profiler.model import Model


class DeviceRoofs(msgspec.Struct, frozen=True, kw_only=True):
    """What a device can do at most.

    device        number of the device
    name          as recorded; empty if it was not recorded
    flops         FLOP/s by element type; empty if nothing is known
    bandwidth     of its memory, bytes/s; null if unknown
    link          to another device, bytes/s in each direction; null if unknown
    host          to the host, bytes/s in each direction; null if unknown
    tensor_cores  whether it has some
    reached_flops       FLOP/s by element type that long products of this trace reach; without those of fewer than 3
    reached_bandwidth   bytes/s that its large elementwise kernels reach; null with fewer than 10
    spread        how far `flops` may be off either way: of a device that is not listed they are an estimate
    source        where the values are from; null if nothing is known
    """

    device: int
    name: str
    flops: Mapping[ElementType, float]
    bandwidth: float | None = None
    link: float | None = None
    host: float | None = None
    tensor_cores: bool
    reached_flops: Mapping[str, float] = {}
    reached_bandwidth: float | None = None
    spread: Fraction = 0.0
    source: Source | None

    def rate(self, element: str) -> float | None:
        """Return the FLOP/s of an element type; None if unknown."""
        return rate_of(self.flops, element)


@cached
def roofs(model: Model) -> Sequence[DeviceRoofs]:
    """Return the roofs of the devices that did some work, by number. For what the trace reaches see `device_roofs`."""
    return tuple(_of(model, number) for number in model.used_devices)


class RoofTable(msgspec.Struct, frozen=True):
    """The roofs of all devices as columns, with a last place for what is on none of them; NaN: unknown.

    number                             shape (devices,), ascending
    bandwidth, link, host, cache       shape (devices + 1,)
    """

    number: Int64
    bandwidth: Float64
    link: Float64
    host: Float64
    cache: Float64
    flops: tuple[Mapping[ElementType, float], ...]

    def places(self, device: Ints) -> Int64:
        """Return where each device is in the columns."""
        return find(self.number, device)

    def rates(self, elements: Sequence[str]) -> Float64:
        """Return the FLOP/s of element types, shape (devices + 1, elements)."""
        known: dict[tuple[tuple[ElementType, float], ...], list[float]] = {}
        rows = []
        for flops in self.flops:
            same = tuple(flops.items())
            if same not in known:
                known[same] = [_or_nan(rate_of(flops, element)) for element in elements]
            rows.append(known[same])
        return np.array(rows, np.float64)


@cached
def roof_table(model: Model) -> RoofTable:
    """Return the roofs of the devices that did some work as columns."""
    found = roofs(model)

    def column(name: str, of: Sequence[Any] = found) -> Float64:
        return np.array([*(_or_nan(getattr(each, name, None)) for each in of), np.nan])

    number = np.array([each.device for each in found], np.int64)
    flops = (*(each.flops for each in found), {})
    cache = column("cache", [peaks_of(model.trace.header.device(each.device)) for each in found])
    return RoofTable(number, column("bandwidth"), column("link"), column("host"), cache, flops)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def _of(model: Model, number: int) -> DeviceRoofs:
    device = model.trace.header.device(number)
    name = device.get("name") if device else None
    shown = name if isinstance(name, str) else ""
    peaks = peaks_of(device)
    if peaks is not None:
        return DeviceRoofs(
            device=number,
            name=shown,
            flops=dict(peaks.flops),
            bandwidth=peaks.bandwidth,
            link=peaks.link,
            host=peaks.host,
            tensor_cores=_has_tensor_cores(peaks.flops),
            source=peaks.source,
        )
    estimated = architecture_flops(device) or {}
    return DeviceRoofs(
        device=number,
        name=shown,
        flops=dict(estimated),
        tensor_cores=_has_tensor_cores(estimated),
        spread=SPREAD if estimated else 0.0,
        source="architecture" if estimated else None,
    )


def _has_tensor_cores(flops: Mapping[ElementType, float]) -> bool:
    plain = flops.get("fp32", 0.0)
    return any(rate > 2 * plain for kind, rate in flops.items() if kind != "fp64")


def minimal_ns(product: Matmul, peaks: Peaks, multiplied: ElementType, size: int | None = None) -> float | None:
    """Return the longer of the times to multiply and to move a product, ns. None if the device has no such units.

    multiplied   the element type that it would multiply
    size         bytes that an element would have; by default as it is
    """
    rate = peaks.flops.get(multiplied)
    if rate is None:
        return None
    moved = product.bytes if size is None else size * (product.elements + product.weights)
    return 1e9 * max(product.flops / rate, moved / peaks.bandwidth)
