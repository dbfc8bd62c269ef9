"""Devices of a rank."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.model import Model


class Device(msgspec.Struct, frozen=True):
    """A device that did some work; what `deviceProperties` does not say is None."""

    id: int
    name: str | None
    memory_bytes: int | None
    compute_capability: str | None
    has_properties: bool


def devices_of(model: Model) -> tuple[Device, ...]:
    return tuple(_device(model, number) for number in model.used_devices)


def _device(model: Model, number: int) -> Device:
    properties = model.trace.header.device(number)
    known = properties or {}
    name, memory = known.get("name"), known.get("totalGlobalMem")
    major, minor = known.get("computeMajor"), known.get("computeMinor")
    return Device(
        id=number,
        name=name if isinstance(name, str) else None,
        memory_bytes=memory if isinstance(memory, int) else None,
        compute_capability=None if major is None or minor is None else f"{major}.{minor}",
        has_properties=properties is not None,
    )
