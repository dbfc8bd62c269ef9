"""The part of one trace that questions about waiting keep: identity of the rank, steps and communication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.capture import DeviceProperties
from torch_tb_profiler.analysis.device_time import (
    Exposure,
    StepOverlap,
    exposure,
    overview_overlap,
    step_of_operations,
    step_overlap,
)
from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.arrays.types import Bool, Float64, Int32
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import KINDS, POINT_TO_POINT, Communications, ProcessGroup
from torch_tb_profiler.ranks.matching.operations import TimedOperations, timed_operations
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Header, Note, note


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
    def called(self) -> TimedOperations:
        """Communication of the rank, for matching."""
        return timed_operations(self.communications, self.rank, self.overlap.names, self.step.astype(np.int64))

    @property
    def size(self) -> int:
        """Approximate size, bytes."""
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
    """Tell whether a trace communicated, or is marked as one of several ranks."""
    return len(model.communications) > 0 or (_number(model.trace.header.distributed.get("world_size")) or 0) > 1


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


#: `node1_0`, as tensorboard_trace_handler names workers by default: host, process
_NODE_AND_PROCESS = lazy_pattern(r"(.*)_(\d+)")


class Location(msgspec.Struct, frozen=True):
    """Where a rank ran."""

    node: str
    process: str


def locations(ranks: Sequence[Rank]) -> list[Location]:
    """Return node and process of each rank: from `host_name` and rank, else from the worker's name, else counted."""
    places = []
    for index, rank in enumerate(ranks):
        named = _NODE_AND_PROCESS.match(rank.worker)
        node = rank.host_name or (named[1] if named else rank.worker)
        if named:
            process = named[2]
        else:
            process = str(index if rank.rank is None else rank.rank)
        places.append(Location(node, process))
    return places


_TOUCHES = ("distributed",)
#: most workers named in a sentence
MOST_WORKERS_NAMED = 4


def missing_notes(
    ranks: Sequence[Rank], groups: Sequence[tuple[ProcessGroup, int]], is_known: Sequence[Bool]
) -> Iterator[Note]:
    """Say why an answer about several ranks is partial or empty.

    groups     with the number of loaded ranks in each
    is_known   per rank, shape (operations,), as matched
    """
    silent = [rank.worker for rank in ranks if not len(rank.communications)]
    if silent:
        yield note(
            "no_communication",
            "info",
            len(silent),
            _TOUCHES,
            values={
                "workers": ", ".join(silent[:MOST_WORKERS_NAMED]),
                "more": max(len(silent) - MOST_WORKERS_NAMED, 0),
            },
        )
    if len(silent) == len(ranks):
        return
    if all(group.size == 1 for group, _ in groups):
        # no other rank to wait for
        pass
    elif len(ranks) == 1:
        yield note("one_rank", "info", touches=_TOUCHES)
    elif missing := [(group, here) for group, here in groups if group.size > here]:
        parts: list[Mapping[str, Value]] = [
            {"group": group.description or group.name or "", "here": here, "size": group.size}
            for group, here in missing
        ]
        yield note(
            "missing_ranks",
            "warning",
            len(missing),
            _TOUCHES,
            values={"groups": "; ".join(f"{each['group'] or '*'}: {each['here']}/{each['size']}" for each in parts)},
            listed={"groups": parts},
        )
    yield from _about_operations(ranks, is_known)
    if any(not group.name and not group.ranks for group, _ in groups):
        yield note("unknown_groups", "info", touches=_TOUCHES)


def _about_operations(ranks: Sequence[Rank], is_known: Sequence[Bool]) -> Iterator[Note]:
    pairs = [KINDS.index(kind) for kind in POINT_TO_POINT]
    between_two = sum(
        int((np.isin(rank.communications.operations.kind, pairs) & ~known).sum())
        for rank, known in zip(ranks, is_known, strict=True)
    )
    if between_two:
        yield note("point_to_point", "info", between_two, _TOUCHES)
    unsized = sum(int((rank.communications.operations.in_bytes < 0).sum()) for rank in ranks)
    if unsized:
        yield note("unknown_sizes", "info", unsized, _TOUCHES)
    untimed = sum(int((rank.communications.duration < 0).sum()) for rank in ranks)
    if untimed:
        yield note("no_kernel", "info", untimed, _TOUCHES)
