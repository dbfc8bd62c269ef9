"""What is kept of one trace for the questions about all of them."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.capture import DeviceProperties
from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.analysis.exposed_communication import Exposure, exposure
from torch_tb_profiler.analysis.overlap import StepOverlap, overview_overlap, step_of_operations, step_overlap
from torch_tb_profiler.arrays.types import Float64, Int32
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.ranks.called import Timed, called
from torch_tb_profiler.trace import Header


class Rank(msgspec.Struct, frozen=True):
    """One rank: who it is, what it runs on, how its steps were spent, and its communication.

    rank, world_size: None if the trace does not contain it
    host_name, backend: empty if the trace does not contain it
    exposed_communication_ns: of each step, see `analysis.device_use.StepUse`
    step: per operation of `communications` the index into `overlap.names`, -1 outside of all steps
    """

    worker: str
    rank: int | None
    world_size: int | None
    host_name: str
    backend: str
    devices: tuple[DeviceProperties, ...]
    has_device_properties: bool
    overlap: StepOverlap
    overview_overlap: StepOverlap
    exposed_communication_ns: Float64 | None
    communications: Communications
    step: Int32
    exposure: Exposure

    @property
    def called(self) -> Timed:
        """Its communication, to be matched."""
        return called(self.communications, self.rank, self.overlap.names, self.step.astype(np.int64))

    @property
    def size(self) -> int:
        """About how many bytes it takes."""
        columns = self.communications.operations.columns() | self.communications.ranges.columns()
        return (
            4000
            + 60 * len(self.overlap.names)
            + 18 * len(self.step)
            + sum(values.nbytes for values in columns.values())
        )


class RankIdentity(msgspec.Struct, frozen=True):
    """Where a trace was recorded: None and empty if it does not say."""

    rank: int | None
    world_size: int | None
    host_name: str


def identity_of(header: Header) -> RankIdentity:
    host_name = header.raw.get("host_name")
    return RankIdentity(
        _number(header.distributed.get("rank")),
        _number(header.distributed.get("world_size")),
        host_name if isinstance(host_name, str) else "",
    )


def rank_of(model: Model, worker: str) -> Rank:
    header = model.trace.header
    identity, backend = identity_of(header), header.distributed.get("backend")
    use = step_use(model)
    return Rank(
        worker=worker,
        rank=identity.rank,
        world_size=identity.world_size,
        host_name=identity.host_name,
        backend=backend if isinstance(backend, str) else "",
        devices=tuple(DeviceProperties.of(header, number) for number in model.used_devices),
        has_device_properties=bool(header.devices),
        overlap=step_overlap(model),
        overview_overlap=overview_overlap(model),
        exposed_communication_ns=None if use is None else use.exposed_communication_ns,
        communications=model.communications,
        step=step_of_operations(model),
        exposure=exposure(model),
    )


def is_distributed(model: Model) -> bool:
    """Whether a trace communicated, or says that it is one of several ranks."""
    return len(model.communications) > 0 or (_number(model.trace.header.distributed.get("world_size")) or 0) > 1


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
