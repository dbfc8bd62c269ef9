"""The copies of the steps, as the rules about copies look at them."""

from __future__ import annotations

from enum import IntEnum
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Direction as PinnedDirection
from torch_tb_profiler.analysis.replay.graph import Edge
from torch_tb_profiler.analysis.replay.transformations import READS_AT_ONCE, best_pinned_rate
from torch_tb_profiler.analysis.shared.device_roles import Role, device_roles, spans_by_role, work_by_device
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.intervals import Coverage
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.places import places_of
from torch_tb_profiler.insights.shared.recurring import by_place, recurring
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category


class Direction(IntEnum):
    """From where to where."""

    OTHER = 0
    TO_DEVICE = 1
    TO_HOST = 2
    ON_DEVICE = 3


class HostMemory(IntEnum):
    """What the memory of the host is, as far as the name of the copy says."""

    UNKNOWN = 0
    PAGEABLE = 1
    PINNED = 2


_DIRECTIONS = (
    (Direction.TO_DEVICE, ("HtoD", "HostToDevice")),
    (Direction.TO_HOST, ("DtoH", "DeviceToHost")),
    (Direction.ON_DEVICE, ("DtoD", "DeviceToDevice")),
)
_MEMORY = ((HostMemory.PAGEABLE, ("Pageable",)), (HostMemory.PINNED, ("Pinned",)))


class StepCopies(msgspec.Struct, frozen=True):
    """Copies, by start. Parallel, shape (copies,).

    row          the event on the device
    call         the event of the call that started it, -1 where unknown
    device       its number
    bytes        -1 where unknown
    duration_ns  on the device
    call_ns      of the call; 0 where unknown
    exposed_ns   while no kernel runs on the same device
    direction    a Direction
    memory       a HostMemory
    blocks       the call returned only when the copy was done
    reads        it reads a number at once, as `.item()` does: the program has to wait for it
    """

    row: Int32
    call: Int32
    device: Int64
    bytes: Int64
    duration_ns: Int64
    call_ns: Int64
    exposed_ns: Int64
    direction: Int8
    memory: Int8
    blocks: Bool
    reads: Bool

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: Bool | Int64) -> StepCopies:
        """Select some of them."""
        return StepCopies(**{name: getattr(self, name)[chosen] for name in self.__struct_fields__})


def copies_of(facts: Facts) -> StepCopies:
    """Return the copies that begin in a step."""
    found = _copies(facts.model)
    return found.take(facts.step_of(found.row) >= 0)


def heavy_places(facts: Facts, found: StepCopies, what: Literal["row", "call"], least_share: float) -> list[StepCopies]:
    """Recurring copies, those of one place in the code together.

    what         whose place and time count: of the copies themselves, or of their calls
    least_share  of the steps, below which a place is left out
    """
    found = found.take(recurring(facts, getattr(found, what)))
    ns = "duration_ns" if what == "row" else "call_ns"
    each = [found.take(at) for at in by_place(facts, getattr(found, what), getattr(found, ns))]
    return [of for of in each if facts.share(float(getattr(of, ns).sum())) >= least_share]


@cached
def _copies(model: Model) -> StepCopies:
    trace, work, events = model.trace, model.device_work, model.trace.events
    index = np.flatnonzero(model.device_category == Category.MEMCPY)
    index = index[np.argsort(events.start[work.row[index]], kind="stable")]
    row, code = work.row[index], events.name[work.row[index]]
    direction = np.full(len(row), Direction.OTHER, np.int8)
    memory = np.full(len(row), HostMemory.UNKNOWN, np.int8)
    for column, meanings in ((direction, _DIRECTIONS), (memory, _MEMORY)):
        for meaning, words in meanings:
            column[_with(model, code, words)] = meaning
    call = take_known(model.launches.row, model.device_links.launch[index]).astype(np.int32)
    graph = graph_of(model)
    waited = distinct(graph.items.row[graph.item[graph.edge == Edge.BLOCKING_COPY]])
    operator = places_of(model, row).operator
    return StepCopies(
        row=row,
        call=call,
        device=work.device[index].astype(np.int64),
        bytes=work.bytes[index],
        duration_ns=np.maximum(events.duration[row], 0),
        call_ns=np.where(call >= 0, np.maximum(events.duration[call], 0), 0),
        exposed_ns=_exposed(model, index),
        direction=direction,
        memory=memory,
        blocks=isin(row, waited),
        reads=operator == trace.strings.code(READS_AT_ONCE),
    )


def _with(model: Model, code: Int32, words: tuple[str, ...]) -> Bool:
    """Mark names that contain one of some words."""
    found: Bool = model.trace.strings.where(lambda name: any(word in name for word in words), code)[code]
    return found


def _exposed(model: Model, index: Int64) -> Int64:
    """Shape (n,), ns: of some device work the time in which no kernel runs on its device."""
    events, work, role = model.trace.events, model.device_work, device_roles(model)
    exposed = np.zeros(len(index), np.int64)
    of_device = work_by_device(model)
    for device, mine in each_value(work.device[index]):
        on = of_device[device]
        spans = spans_by_role(events.start[work.row[on]], events.end[work.row[on]], role[on])
        kernels = Coverage(intervals.union_of([spans[Role.COMPUTE], spans[Role.COMMUNICATION]]))
        row = work.row[index[mine]]
        start, end = events.start[row], events.end[row]
        exposed[mine] = end - start - kernels.between(start, end)
    return exposed


def large_reads(facts: Facts) -> StepCopies:
    """Return copies to pageable memory of the host that are large and hold the host up: what rule R8 is about.

    Waiting for a few bytes is a synchronization, and reading one number has to wait.
    """
    found = copies_of(facts)
    large = found.bytes >= facts.limit("pageable_output", "large_bytes")
    chosen = (found.direction == Direction.TO_HOST) & (found.memory == HostMemory.PAGEABLE) & large
    return found.take(chosen & found.blocks & ~found.reads & (found.call >= 0))


def unseen_rate(facts: Facts, direction: PinnedDirection) -> float | None:
    """Return the rate to expect of pinned memory, bytes per ns; None where the trace has a pinned copy."""
    known = best_pinned_rate(facts.trace, facts.graph, direction)
    return facts.limit("pageable_output", "pinned_bytes_per_ns") if known is None else None
