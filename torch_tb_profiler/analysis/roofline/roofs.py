"""The roofs of the devices of a trace: what they multiply by element type, and what their memory and links move."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.shared.peaks import (
    SPREAD,
    ElementType,
    Source,
    architecture_flops,
    peaks_of,
    rate_of,
)
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
