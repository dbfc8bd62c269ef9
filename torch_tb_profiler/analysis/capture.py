"""What was recorded, and how: plain counts of the trace's own tables, and what its header says."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any, TypeVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Bytes
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category, EventPhase, Header

D = TypeVar("D", bound="DeviceProperties")
Scalar = str | int | float | bool

#: an origin this large (September 2001) counts from the epoch, though the file names no base
_EPOCH_NS = 10**18

#: header entries that are shown elsewhere or that say nothing about the recording
_KNOWN_ENTRIES = {"schemaVersion", "host_name", "displayTimeUnit", "baseTimeNanoseconds"}
_MOST_ENTRIES = 50
_MOST_TEXT = 500


class CategoryCount(msgspec.Struct, frozen=True):
    """How many events are of a category.

    category  name in small letters
    events    how many events are of it
    """

    category: str
    events: int


class DeviceProperties(msgspec.Struct, frozen=True):
    """A device that did some work; null if the trace does not contain it.

    id                  number of the device
    name                as its vendor calls it
    memory_bytes        memory of the device
    compute_capability  major.minor, as CUDA or HIP numbers it
    """

    id: int
    name: str | None
    memory_bytes: Bytes | None
    compute_capability: str | None

    @classmethod
    def of(cls: type[D], header: Header, number: int, **more: Any) -> D:
        """Look a device up. more: the fields of a subclass."""
        known = header.device(number) or {}
        major, minor = known.get("computeMajor"), known.get("computeMinor")
        return cls(
            id=number,
            name=_text(known.get("name")),
            memory_bytes=_number(known.get("totalGlobalMem")),
            compute_capability=None if major is None or minor is None else f"{major}.{minor}",
            **more,
        )


class RecordedDevice(DeviceProperties, frozen=True):
    """A device of the machine (`deviceProperties`) or one that did some work; null if the file does not contain it.

    used  whether it did some work
    """

    used: bool


class Distributed(msgspec.Struct, frozen=True):
    """`distributedInfo`; None is what it does not say.

    rank        number of the process among all
    world_size  how many processes there were
    backend     library of collectives, e.g. nccl
    groups      how many process groups are listed
    """

    rank: int | None
    world_size: int | None
    backend: str | None
    groups: int | None


class Capture(msgspec.Struct, frozen=True):
    """One recording.

    events       how many the file has
    text_bytes   of the uncompressed JSON
    tracks       how many lanes of events: host threads and device streams
    recorded_at  UTC, ISO 8601; None if the times of the file count from something unknown
    duration_ns  from the first event to the end of the last
    categories   most events first
    step_rule    by which the steps were found
    steps        how many there are
    options      what the header says of each profiler option; None if it does not name it
    found        per option that adds something to a trace, how many events have what it adds
    versions     of the format, drivers and libraries, as the header says
    metadata     other entries of the header, such as those of the program itself
    host_name    of the machine, None if the file does not contain it
    distributed  of a program of several processes, None without it in the header
    devices      those of the machine, and anything else that did some work
    """

    events: int
    text_bytes: int
    tracks: int
    recorded_at: str | None
    duration_ns: int
    categories: tuple[CategoryCount, ...]
    step_rule: str
    steps: int
    options: dict[str, bool | None]
    found: dict[str, int]
    versions: dict[str, Scalar]
    metadata: dict[str, Scalar]
    host_name: str | None
    distributed: Distributed | None
    devices: tuple[RecordedDevice, ...]


@cached
def capture(model: Model) -> Capture:
    trace = model.trace
    header, events = trace.header, trace.events
    counts = np.bincount(events.category, minlength=len(Category)).tolist()
    timed = events.phase != EventPhase.METADATA
    start = events.start[timed]
    scalars = {name: value for name, value in header.raw.items() if isinstance(value, Scalar)}
    versions = {name: value for name, value in scalars.items() if name.lower().endswith("version")}
    others = [name for name in scalars if name not in {*versions, *header.options, *_KNOWN_ENTRIES}]
    return Capture(
        events=len(events),
        text_bytes=trace.text_bytes,
        tracks=len(distinct(events.track[timed])),
        recorded_at=_recorded_at(model, int(start.min())) if len(start) else None,
        duration_ns=int(events.end[timed].max() - start.min()) if len(start) else 0,
        categories=tuple(
            CategoryCount(category.name.lower(), counts[category])
            for category in sorted(Category, key=lambda category: -counts[category])
            if counts[category]
        ),
        step_rule=model.steps.rule,
        steps=len(model.steps),
        options={name: None if header.raw.get(name) is None else on for name, on in header.options.items()},
        found={
            "record_shapes": int(np.count_nonzero(trace.operators.input_dims > 0)),
            "with_stack": len(trace.python_frames) + int(np.count_nonzero(trace.operators.call_stack > 0)),
            "profile_memory": len(trace.memory),
        },
        versions=versions,
        metadata={name: _shortened(scalars[name]) for name in others[:_MOST_ENTRIES]},
        host_name=_text(header.raw.get("host_name")),
        distributed=_distributed(header.distributed) if header.distributed else None,
        devices=_devices(model),
    )


def _recorded_at(model: Model, first: int) -> str | None:
    origin = model.trace.origin_ns
    if model.trace.header.base_time_ns is None and origin < _EPOCH_NS:
        return None
    try:
        moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(microseconds=(origin + first) // 1000)
    except OverflowError:
        return None
    return moment.isoformat(timespec="seconds")


def _distributed(info: dict[str, Any]) -> Distributed:
    groups = info.get("pg_config")
    return Distributed(
        rank=_number(info.get("rank")),
        world_size=_number(info.get("world_size")),
        backend=_text(info.get("backend")),
        groups=len(groups) if isinstance(groups, list) else _number(info.get("pg_count")),
    )


def _devices(model: Model) -> tuple[RecordedDevice, ...]:
    header, used = model.trace.header, set(model.used_devices)
    listed = [_number(properties.get("id")) for properties in header.devices]
    numbers = {place if number is None else number for place, number in enumerate(listed)} | used
    return tuple(RecordedDevice.of(header, number, used=number in used) for number in sorted(numbers))


def _number(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def _shortened(value: Scalar) -> Scalar:
    return value[:_MOST_TEXT] + "…" if isinstance(value, str) and len(value) > _MOST_TEXT else value
