"""The roofs of the devices of a trace: what they multiply by element type, and what their memory and links move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.shared.peaks import (
    SPREAD,
    ElementType,
    Source,
    architecture_flops,
    peaks_of,
    rate_of,
)
from torch_tb_profiler.arrays.lookup import find
from torch_tb_profiler.arrays.types import Float64, Int64, Ints
from torch_tb_profiler.model import Model


class Roofs(msgspec.Struct, frozen=True):
    """Of one device. FLOP/s and bytes/s.

    device        its number
    name          as the trace has it
    flops         FLOP/s by element type; empty: not known
    bandwidth     of its memory, bytes/s; None: not known
    link          to another device, bytes/s, each direction; None: not known
    host          to the host, bytes/s, each direction; None: not known
    cache         bytes of the last level; None: not known
    tensor_cores  it multiplies some type at least twice as fast as the plain cores multiply 32 bits
    spread        how far `flops` may be off either way, 0…1: those of a device that is not listed are an estimate
    source        where the values are from; None: nothing is known
    """

    device: int
    name: str
    flops: Mapping[ElementType, float]
    bandwidth: float | None
    link: float | None
    host: float | None
    cache: float | None
    tensor_cores: bool
    spread: float
    source: Source | None

    def rate(self, element: str) -> float | None:
        """FLOP/s of an element type; None if it is not known."""
        return rate_of(self.flops, element)


@remembered
def roofs(model: Model) -> Sequence[Roofs]:
    """Of the devices that did some work, by number."""
    return tuple(_of(model, number) for number in model.used_devices)


class RoofTable(msgspec.Struct, frozen=True):
    """The same of all devices, and a last place for what is on none of them; NaN: not known.

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
        """Where each device is in the columns."""
        return find(self.number, device)

    def rates(self, elements: Sequence[str]) -> Float64:
        """FLOP/s of element types; shape (devices + 1, elements)."""
        known: dict[tuple[tuple[ElementType, float], ...], list[float]] = {}
        rows = []
        for flops in self.flops:
            same = tuple(flops.items())
            if same not in known:
                known[same] = [_or_nan(rate_of(flops, element)) for element in elements]
            rows.append(known[same])
        return np.array(rows, np.float64)


@remembered
def roof_table(model: Model) -> RoofTable:
    """Of the devices that did some work."""
    found = roofs(model)

    def column(name: str) -> Float64:
        return np.array([*(_or_nan(getattr(each, name)) for each in found), np.nan])

    number = np.array([each.device for each in found], np.int64)
    flops = (*(each.flops for each in found), {})
    return RoofTable(number, column("bandwidth"), column("link"), column("host"), column("cache"), flops)


def _or_nan(value: float | None) -> float:
    return np.nan if value is None else value


def _of(model: Model, number: int) -> Roofs:
    device = model.trace.header.device(number)
    name = device.get("name") if device else None
    shown = name if isinstance(name, str) else ""
    peaks = peaks_of(device)
    if peaks is not None:
        return Roofs(
            device=number,
            name=shown,
            flops=peaks.flops,
            bandwidth=peaks.bandwidth,
            link=peaks.link,
            host=peaks.host,
            cache=peaks.cache,
            tensor_cores=_has_tensor_cores(peaks.flops),
            spread=0.0,
            source=peaks.source,
        )
    estimated = architecture_flops(device) or {}
    return Roofs(
        device=number,
        name=shown,
        flops=estimated,
        bandwidth=None,
        link=None,
        host=None,
        cache=None,
        tensor_cores=_has_tensor_cores(estimated),
        spread=SPREAD if estimated else 0.0,
        source="architecture" if estimated else None,
    )


def _has_tensor_cores(flops: Mapping[ElementType, float]) -> bool:
    plain = flops.get("fp32", 0.0)
    return any(rate > 2 * plain for kind, rate in flops.items() if kind != "fp64")
