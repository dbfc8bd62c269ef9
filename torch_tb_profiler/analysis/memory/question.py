"""Questions about memory: in use over time, allocations, what operators allocated, blocks in use at a time.

What is in use in a step was allocated before it, so a choice of steps is a time window here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Annotated, TypeVar

import msgspec
from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import asdict

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, InlineTable, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.memory.blocks import NO_BLOCKS, alive, block_table, memory_events, missing_blocks
from torch_tb_profiler.analysis.memory.operators import MemoryChange, MemoryOperators, memory_operators
from torch_tb_profiler.analysis.memory.records import (
    MemoryAt,
    MemoryCurve,
    Missing,
    devices_of,
    memory_bins,
    memory_curves,
    memory_records,
    missing,
)
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.tabular import Table, TableMeta
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import steps_in_range
from torch_tb_profiler.words.sentences import because

MOST_BINS = 2000
#: blocks of one answer, unless asked otherwise
PAGE = 1000
LARGEST_PAGE = 10_000

_Start = Annotated[int | None, Meta(description="Where the window begins; ns since the start of the trace.")]
_End = Annotated[int | None, Meta(description="Where the window ends, included; ns since the start of the trace.")]
_Device = Annotated[
    str | None, Meta(description="A device, as in meta.devices; without it the first, of memory/events all.")
]


class CurveWindow(msgspec.Struct, frozen=True):
    """A window of time, and how exactly it is drawn."""

    start_ns: _Start = None
    end_ns: _End = None
    bins: Annotated[int, Meta(description="Pieces at most.", ge=1, le=MOST_BINS)] = MOST_BINS


class OnDevice(msgspec.Struct, frozen=True):
    """A window of time, and a device."""

    start_ns: _Start = None
    end_ns: _End = None
    device: _Device = None


class AliveAt(msgspec.Struct, frozen=True):
    """A time, and a device."""

    device: _Device = None
    at_ns: Annotated[int | None, Meta(description="ns since the start of the trace; without it the peak.")] = None
    limit: Annotated[int, Meta(description="Rows of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class MemoryHeld(msgspec.Struct, frozen=True, kw_only=True):
    """How much memory is in use and reserved.

    allocated  in use by tensors
    reserved   memory that the caching allocator has reserved on the device, in use or not
    """

    allocated: Bytes
    reserved: Bytes


class MemoryInUse(MemoryHeld, frozen=True, kw_only=True):
    """How much memory is in use and reserved at a time.

    time_ns  since the start of the trace
    """

    time_ns: Ns


class DeviceMemory(msgspec.Struct, frozen=True, kw_only=True):
    """The memory of one device in a window of time, in pieces: parallel lists, each piece holds until the next begins.

    device         name of the device
    records        how many allocations and releases the whole trace has
    peak           when most was in use in the whole trace
    peak_in_range  when most was in use in the window
    before         the values until the first piece
    device_bytes   memory of the device; null if the file does not contain it, and for the CPU
    baseline       in use before the first record
    unrecorded     what changed without a record
    time_ns        where each piece begins
    allocated_min  least in use in each piece
    allocated_max  most in use in each piece
    allocated      in use at the end of each piece
    reserved_max   most reserved in each piece
    reserved       reserved at the end of each piece
    """

    device: str
    records: Count
    peak: MemoryInUse
    peak_in_range: MemoryInUse
    before: MemoryHeld
    device_bytes: Bytes | None
    baseline: Bytes
    unrecorded: Bytes
    time_ns: Sequence[Ns]
    allocated_min: Sequence[Bytes]
    allocated_max: Sequence[Bytes]
    allocated: Sequence[Bytes]
    reserved_max: Sequence[Bytes]
    reserved: Sequence[Bytes]


class MemoryMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside an answer about memory.

    devices  whose memory was recorded: accelerators, then the CPU
    """

    devices: Sequence[str]


class MemoryCurveAnswer(Answer, frozen=True, kw_only=True):
    """Memory in use over time.

    meta      which trace
    start_ns  where the window begins
    end_ns    where it ends
    devices   of each device whose memory in use was recorded
    """

    meta: MemoryMeta
    start_ns: Ns
    end_ns: Ns
    devices: Sequence[DeviceMemory]


class MemoryEventsMeta(TableMeta, frozen=True, kw_only=True):
    """Beside a table of allocations.

    devices   whose memory was recorded: accelerators, then the CPU
    group_by  always null: a row is one allocation
    """

    devices: Sequence[str]
    group_by: None = None


class MemoryOperatorsMeta(TableMeta, frozen=True, kw_only=True):
    """Beside a table of operators that changed the memory of a device.

    devices       whose memory was recorded: accelerators, then the CPU
    group_by      what makes a row: always name
    device        which the table is about, null if no memory was recorded
    unattributed  what happened outside operators; not there where no memory was recorded
    all           everything that happened on the device; not there where no memory was recorded
    """

    devices: Sequence[str]
    group_by: str = "name"
    device: str | None
    unattributed: MemoryChange | UnsetType = UNSET
    all: MemoryChange | UnsetType = UNSET


class MemoryAliveMeta(MemoryMeta, frozen=True, kw_only=True):
    """Beside the blocks in use at a time; the last three fields are not there where no memory was recorded.

    device         which the answer is about, null if no memory was recorded
    total          how many blocks are in use; the rows are the largest
    group_by       always null: a row is one block
    at             the time, and what was in use then
    known_bytes    of the blocks whose allocations were recorded
    unknown_bytes  of what was allocated before the recording began
    """

    device: str | None
    total: Count
    group_by: None = None
    at: MemoryInUse | UnsetType = UNSET
    known_bytes: Bytes | UnsetType = UNSET
    unknown_bytes: Bytes | UnsetType = UNSET


class MemoryAliveAnswer(InlineTable, frozen=True, kw_only=True):
    """Blocks in use at a time, the largest first.

    meta  which trace, device and time
    """

    meta: MemoryAliveMeta


def _curve(subject: Subject, params: CurveWindow) -> MemoryCurveAnswer:
    curves = memory_curves(subject.model)
    start_ns, end_ns = _window(subject, params)
    begins = [int(curve.time_ns[0]) for curve in curves.curves]
    ends = [int(curve.time_ns[-1]) for curve in curves.curves]
    start = min(begins, default=0) if start_ns is None else start_ns
    end = max(max(ends, default=0) if end_ns is None else end_ns, start)
    return MemoryCurveAnswer(
        meta=_about(subject, curves.missing),
        start_ns=start,
        end_ns=end,
        devices=[_of_device(curve, start, end, params.bins) for curve in curves.curves],
    )


def _of_device(curve: MemoryCurve, start: int, end: int, bins: int) -> DeviceMemory:
    binned = memory_bins(curve, start, end, bins)
    return DeviceMemory(
        device=curve.device.name,
        records=len(curve),
        peak=_in_use(curve.peak),
        peak_in_range=_in_use(binned.peak),
        before=MemoryHeld(allocated=binned.before.allocated, reserved=binned.before.reserved),
        device_bytes=curve.device_bytes,
        baseline=curve.baseline,
        unrecorded=curve.unrecorded,
        time_ns=plain(binned.time_ns),
        allocated_min=plain(binned.allocated_min),
        allocated_max=plain(binned.allocated_max),
        allocated=plain(binned.allocated_last),
        reserved_max=plain(binned.reserved_max),
        reserved=plain(binned.reserved_last),
    )


def _events(subject: Subject, params: OnDevice) -> Table[MemoryEventsMeta]:
    window = _window(subject, params)
    if params.device is not None:
        _device_index(subject.model, params.device)
    found = memory_events(subject.model, *window, params.device)
    meta = MemoryEventsMeta(**asdict(_about(subject, missing_blocks(subject.model))))
    # a row for each allocation, not for each of a few hundred names: hardly anybody goes through them all
    return found.table(meta, whole=PAGE)


def _operators(subject: Subject, params: OnDevice) -> Table[MemoryOperatorsMeta]:
    window = _window(subject, params)
    if not len(memory_records(subject.model)):
        about = MemoryOperatorsMeta(**asdict(_about(subject, "no_memory")), device=None)
        return Table(about, list(MemoryOperators.columns.values()), dict.fromkeys(MemoryOperators.columns, ()))
    index = _device_index(subject.model, params.device)
    found = memory_operators(subject.model, *window)[index]
    meta = MemoryOperatorsMeta(
        **asdict(_about(subject)), device=found.device.name, unattributed=found.unattributed, all=found.all
    )
    totals = {"self_allocation_size": found.all.allocation_size, "self_allocation_count": found.all.allocation_count}
    return found.table(meta, totals=totals)


def _alive(subject: Subject, params: AliveAt) -> MemoryAliveAnswer:
    records = memory_records(subject.model)
    if not len(records):
        meta = MemoryAliveMeta(**asdict(_about(subject, "no_memory")), device=None, total=0)
        none = block_table(subject.model, NO_BLOCKS, 0).as_columns()
        return MemoryAliveAnswer(meta=meta, columns=none.columns, rows=none.rows)
    device = records.devices[_device_index(subject.model, params.device)].name
    table = alive(subject.model, device, params.at_ns, params.limit)
    meta = MemoryAliveMeta(
        **asdict(_about(subject, missing_blocks(subject.model))),
        device=device,
        total=table.blocks.total,
        at=_in_use(table.at),
        known_bytes=table.known_bytes,
        unknown_bytes=table.unknown_bytes,
    )
    blocks = table.blocks.as_columns()
    return MemoryAliveAnswer(meta=meta, columns=blocks.columns, rows=blocks.rows)


def _about(subject: Subject, lacks: Missing | None = None) -> MemoryMeta:
    notes = [] if lacks is None else [missing(lacks)]
    devices = [device.name for device in memory_records(subject.model).devices]
    return MemoryMeta(**subject.about("memory", *notes), devices=devices)


def _in_use(at: MemoryAt) -> MemoryInUse:
    return MemoryInUse(time_ns=at.time_ns, allocated=at.allocated, reserved=at.reserved)


def _device_index(model: Model, device: str | None) -> int:
    """Return the index of a device; by default the first, an accelerator if there is one."""
    index = 0 if device is None else memory_records(model).device_index(device)
    if index is None:
        raise NotFound(because("no_memory_of", {"device": device or ""}))
    return index


def _window(subject: Subject, params: CurveWindow | OnDevice) -> tuple[int | None, int | None]:
    """Return a time window; missing ends are those of the chosen steps, or of the trace."""
    if subject.steps is None:
        return params.start_ns, params.end_ns
    steps = subject.model.steps
    chosen = steps_in_range(steps, subject.steps)
    start, end = int(steps.start[chosen][0]), int(steps.end[chosen][-1])
    return start if params.start_ns is None else params.start_ns, end if params.end_ns is None else params.end_ns


P = TypeVar("P", OnDevice, AliveAt)


def _of_first_device(make_params: Callable[[str | None], P]) -> Callable[[Model], Sequence[P]]:
    """Make parameters for the first device: the page names it, and others who ask without a name mean it."""

    def first(model: Model) -> Sequence[P]:
        devices, _ = devices_of(model.memory.device_type, model.memory.device)
        return [make_params(devices[0].name), make_params(None)] if devices else []

    return first


MEMORY_CURVE = Question(
    name="memory/curve",
    summary="Memory in use over time",
    tag="memory",
    compute=_curve,
    of_steps=False,
    bundle="memory",
    precompute=(CurveWindow(),),
    report=({},),
)

MEMORY_ALIVE = Question(
    name="memory/alive",
    summary="Blocks in use at a time",
    tag="memory",
    compute=_alive,
    of_steps=False,
    bundle="memory",
    precompute=_of_first_device(lambda device: AliveAt(device, limit=LARGEST_PAGE) if device else AliveAt()),
)

MEMORY_OPERATORS = Question(
    name="memory/operators",
    summary="What operators allocated",
    tag="memory",
    compute=_operators,
    of_steps=False,
    bundle="memory",
    precompute=_of_first_device(lambda device: OnDevice(device=device)),
)

MEMORY_EVENTS = Question(
    name="memory/events",
    summary="Allocations with their releases",
    tag="memory",
    compute=_events,
    of_steps=False,
    bundle="memory",
    precompute=_of_first_device(lambda device: OnDevice(device=device)),
)
