"""Calls of the steps that get memory from the driver or give it back."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.host_time import ALLOCATOR
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.shared.loading import outermost
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import SYNCHRONIZE

#: memory pools of the driver: their calls are queued like kernels, and are meant to be called often
_QUEUED = lazy_pattern(r"Async")
_RELEASES = lazy_pattern(r"Free|Unmap|Unregister|Release")
_OF_HOST = lazy_pattern(r"Host|Register")
#: between a wait of the allocator and what it gives back then, ns
SOON_NS = 50_000


class Allocations(msgspec.Struct, frozen=True):
    """Outermost calls, by thread and start. Parallel, shape (n,).

    row           the call
    operator      string: the innermost operator around it, -1 for none
    releases      it gives memory back
    retries       it gives memory back in an operator that asks for some after it: the cache had no room
    on_host       of pinned memory of the host
    asking_share  of the calls of those operators that ever got memory from the driver, the part in which they did, 0…1
    """

    row: Int32
    operator: Int64
    releases: Bool
    retries: Bool
    on_host: Bool
    asking_share: float

    def __len__(self) -> int:
        return len(self.row)

    def take(self, chosen: Bool | Int64) -> Allocations:
        """Select some of them."""
        columns = {name: getattr(self, name) for name in self.__struct_fields__}
        share = columns.pop("asking_share")
        return Allocations(**{name: column[chosen] for name, column in columns.items()}, asking_share=share)

    def of_device(self) -> Allocations:
        """Select the allocations of device memory."""
        return self.take(~self.on_host)

    def of_host(self) -> Allocations:
        """Select the allocations of pinned host memory."""
        return self.take(self.on_host)


def allocations_of(facts: Facts) -> Allocations:
    """Return the allocations that begin in a step."""
    found = _allocations(facts.model)
    return found.take(facts.step_of(found.row) >= 0)


def in_steady_state(facts: Facts, allocations: Allocations, released: bool = True) -> bool:
    """Tell whether most steps of the second half allocate memory, and release it (`released`); false for one or two.

    A program that warms up only allocates, in its first steps.
    """
    n = facts.steps
    if n < 3:
        return False
    late = np.arange(n) >= n // 2

    def is_usual(chosen: Bool) -> bool:
        calls = np.bincount(facts.step_of(allocations.row[chosen]), minlength=n)
        return 2 * int(np.count_nonzero(late & (calls > 0))) > int(np.count_nonzero(late))

    return is_usual(~allocations.releases) and (not released or is_usual(allocations.releases))


@cached
def freeing_waits(model: Model) -> Int32:
    """Return calls that wait for the device and are followed by one that gives its memory back: the allocator may do so
    only when nothing uses it any more.
    """
    events, strings = model.trace.events, model.trace.strings
    calls = outermost(model, model.launches.row)
    name = events.name[calls]
    wait, free, host = (strings.where(each.search, name)[name] for each in (SYNCHRONIZE, _RELEASES, _OF_HOST))
    free &= strings.where(ALLOCATOR.search, name)[name] & ~host & ~strings.where(_QUEUED.search, name)[name]
    track, start, end = events.track[calls], events.start[calls], events.end[calls]
    follows = free[1:] & (track[1:] == track[:-1]) & (start[1:] - end[:-1] <= SOON_NS)
    found: Int32 = calls[:-1][wait[:-1] & follows]
    return found


@cached
def _allocations(model: Model) -> Allocations:
    events, strings = model.trace.events, model.trace.strings
    calls = model.launches.row
    name = events.name[calls]
    chosen = strings.where(ALLOCATOR.search, name)[name] & ~strings.where(_QUEUED.search, name)[name]
    rows = outermost(model, calls[chosen])
    name = events.name[rows]
    tree, nesting = model.structure.tree, model.structure.nesting
    node = np.full(len(rows), -1, np.int64)
    if len(tree):
        inner = nesting.innermost(events.track[rows], events.start[rows])
        node = nearest(tree.parent, tree.is_operator, inner).astype(np.int64)
    releases = strings.where(_RELEASES.search, name)[name]
    on_host = strings.where(_OF_HOST.search, name)[name]
    asks = (node >= 0) & ~releases & ~on_host
    asking = distinct(node[asks])
    last = np.full(len(tree) + 1, -1, np.int64)
    np.maximum.at(last, node[asks], np.flatnonzero(asks))
    codes = np.zeros(len(strings), np.bool_)
    codes[tree.name[asking]] = True
    all_of_them = int(np.count_nonzero(codes[tree.name] & tree.is_operator)) if len(tree) else 0
    return Allocations(
        row=rows,
        operator=take_known(tree.name, node).astype(np.int64),
        releases=releases,
        retries=releases & ~on_host & (last[node] > np.arange(len(rows))),
        on_host=on_host,
        asking_share=len(asking) / all_of_them if all_of_them else 0.0,
    )
