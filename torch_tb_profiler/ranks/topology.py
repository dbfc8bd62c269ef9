"""Nodes, processes and devices of a run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from torch_tb_profiler.model import Model

if TYPE_CHECKING:
    from torch_tb_profiler.ranks.rank import Rank

#: `node1_0`, as tensorboard_trace_handler names workers by default: host, process
_NODE_AND_PROCESS = re.compile(r"(.*)_(\d+)")


@dataclass(frozen=True)
class Device:
    """A device that did some work; what `deviceProperties` does not say is None."""

    id: int
    name: str | None
    memory_bytes: int | None
    compute_capability: str | None
    has_properties: bool


@dataclass(frozen=True)
class HostProcess:
    """Where a rank ran."""

    node: str
    process: str


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


def places(ranks: Sequence[Rank]) -> list[HostProcess]:
    """Node and process of each rank: from `host_name` and rank, else from the worker's name, else counted."""
    found = []
    for index, rank in enumerate(ranks):
        named = _NODE_AND_PROCESS.match(rank.worker)
        node = rank.host_name or (named[1] if named else rank.worker)
        if named:
            process = named[2]
        else:
            process = str(index if rank.rank is None else rank.rank)
        found.append(HostProcess(node, process))
    return found
