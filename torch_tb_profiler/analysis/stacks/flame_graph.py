"""Where the time goes by call stack: stacks of the same names are one entry, seen from the top or from the bottom."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from torch_tb_profiler.analysis.stacks.entries import NEVER_SEEN, Hash, StackEntries, Weight, by_level
from torch_tb_profiler.analysis.stacks.file_filter import only_files
from torch_tb_profiler.analysis.stacks.recorded import all_stacks
from torch_tb_profiler.analysis.stacks.stack_table import Direction, Shown, StackTable, Whole
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model

#: the share of the whole below which entries are folded together, unless asked otherwise
SMALLEST_SHARE = 0.0002

_MULTIPLIER = np.uint64(6364136223846793005)
#: ids are read by JavaScript, whose whole numbers end at 2**53
_UNUSED_BITS = np.uint64(12)


def stack_weights(model: Model) -> tuple[Weight, ...]:
    """What stacks of this trace can be weighted by; the first is what matters most."""
    return ("device", "host") if model.has_device_work else ("host",)


def stacks(
    model: Model,
    weight: Weight | None = None,
    direction: Direction = "top_down",
    files: str = "",
    root: int = 0,
    smallest_share: float = SMALLEST_SHARE,
) -> StackTable | None:
    """Time by call stack; None when there is no entry `root`.

    direction       top_down: from what was called first to what it called; bottom_up: from what took the time to
                    its callers
    files           words, of which a frame's file must contain one, and none of those after a -; other frames are
                    left out and their time is that of what is around them
    root            the `id` of an entry: only it and what is below
    smallest_share  entries with less than this share of what is asked for are folded together
    """
    found = all_stacks(model)
    if files.strip():
        found = only_files(found, files)
    chosen = weight or stack_weights(model)[0]
    build = top_down if direction == "top_down" else bottom_up
    return build(found, chosen, root, smallest_share)


def _totals(found: StackEntries, own: Int64, levels: list[Int64]) -> Int64:
    """Of each entry: its own time and that of all below."""
    total = own.copy()
    for level in reversed(levels[1:]):
        np.add.at(total, found.parent[level], total[level])
    return total


def top_down(found: StackEntries, weight: Weight, root: int, smallest_share: float) -> StackTable | None:
    own = found.self_ns(weight)
    levels = by_level(found.parent)
    total, state, hashes = _totals(found, own, levels), np.zeros(len(found) + 1, np.uint64), found.labels.hashes()
    for level in levels:
        state[level] = state[found.parent[level]] * _MULTIPLIER + hashes[found.label[level]]
    none = np.empty(0, np.int64)
    everything = Shown(
        found.label, found.parent, _ids(state[:-1]), own, total, found.calls, found.first, none, none, none
    )
    whole = Whole(found, weight, "top_down", int(own.sum()), int(np.count_nonzero(total)))
    shown, whole_ns, above = total > 0, whole.all_ns, None
    if root:
        is_root = shown & (everything.id == root)
        if not is_root.any():
            return None
        shown &= nearest(found.parent.astype(np.int32), is_root, np.arange(len(found), dtype=np.int32)) >= 0
        whole_ns, above = int(total[is_root][0]), whole.chain(everything, everything.chain_to(root))
    limit = _limit(whole_ns, smallest_share)
    kept, small = np.flatnonzero(shown & (total >= limit)), np.flatnonzero(shown & (total < limit))
    place = places_of(kept, len(found) + 1)
    # below what is folded is folded, too
    small = small[(place[found.parent[small]] >= 0) | (found.parent[small] < 0)]
    part = Shown(
        label=found.label[kept],
        parent=place[found.parent[kept]],
        id=everything.id[kept],
        self_ns=own[kept],
        total_ns=total[kept],
        calls=found.calls[kept],
        first=found.first[kept],
        small_parent=place[found.parent[small]],
        small_ns=total[small],
        small_calls=found.calls[small],
    )
    return whole.table(part, whole_ns, limit, above)


@dataclass(frozen=True)
class _Ends:
    """Entries in which time was spent; on the way from them to the top `at` is how far it has come."""

    at: Int64
    self_ns: Int64
    calls: Int64
    first: Int64

    def take(self, chosen: Int64 | Bool) -> _Ends:
        return _Ends(self.at[chosen], self.self_ns[chosen], self.calls[chosen], self.first[chosen])


def bottom_up(found: StackEntries, weight: Weight, root: int, smallest_share: float) -> StackTable | None:
    own = found.self_ns(weight)
    at = np.flatnonzero(own > 0)
    ends, state, above = _Ends(at, own[at], found.calls[at], found.first[at]), np.uint64(0), None
    entries = int(np.count_nonzero(_totals(found, own, by_level(found.parent))))
    whole = Whole(found, weight, "bottom_up", int(own.sum()), entries)
    hashes = found.labels.hashes()
    limit = _limit(whole.all_ns, smallest_share)
    while root:
        # what an id stands for is known when that place was walked to
        shown, reached = _callers(found, hashes, ends, state, limit, root)
        if reached is not None:
            above = whole.chain(shown, shown.chain_to(root))
            ends, state = reached
            limit = _limit(int(ends.self_ns.sum()), smallest_share)
            break
        if limit == 1:
            return None
        limit = max(1, limit // 16)
    shown, _ = _callers(found, hashes, ends, state, limit, 0)
    return whole.table(shown, int(ends.self_ns.sum()), limit, above)


def _callers(
    found: StackEntries, hashes: Hash, ends: _Ends, state: np.uint64, limit: int, wanted: int
) -> tuple[Shown, tuple[_Ends, np.uint64] | None]:
    """What the time was spent in, who called that, who called those, …, as far as it is worth `limit`.

    Stops at the entry of the id `wanted` (0: none), and gives the ends that lead there and the state before it.
    """
    labels = len(found.labels)
    columns: list[list[Int64]] = []
    folds: list[list[Int64]] = []
    states = np.empty(0, np.uint64)
    group = np.full(len(ends.at), -1, np.int64)
    reached = None
    while len(ends.at):
        different, place = distinct_places((group + 1) * labels + found.label[ends.at])
        parent, label, n = different // labels - 1, different % labels, len(different)
        total, calls = sums_at(place, ends.self_ns, n), sums_at(place, ends.calls, n)
        first = np.full(n, NEVER_SEEN)
        np.minimum.at(first, place, ends.first)
        before = np.append(states, state)[parent]
        after = before * _MULTIPLIER + hashes[label]
        big = total >= limit
        folds.append([parent[~big], total[~big], calls[~big]])
        number = np.where(big, len(states) + np.cumsum(big) - 1, -1)
        states = np.append(states, after[big])
        at_top = found.parent[ends.at] < 0
        own = sums_at(place[at_top], ends.self_ns[at_top], n)
        columns.append([c[big] for c in (label, parent, _ids(after), own, total, calls, first)])
        is_wanted = np.flatnonzero(big & (_ids(after) == wanted))
        if len(is_wanted):
            reached = ends.take(place == is_wanted[0]), before[is_wanted[0]]
            break
        group = number[place]
        onwards = (group >= 0) & ~at_top
        group, ends = group[onwards], ends.take(onwards)
        ends = replace(ends, at=found.parent[ends.at])
    joined = [
        np.concatenate([np.empty(0, np.int64), *(level[column] for level in levels)])
        for levels, width in ((columns, 7), (folds, 3))
        for column in range(width)
    ]
    return Shown(*joined), reached


def _limit(whole_ns: int, smallest_share: float) -> int:
    return max(1, int(np.ceil(whole_ns * smallest_share)))


def _ids(state: Hash) -> Int64:
    """Never 0, which stands for everything."""
    return np.maximum((state >> _UNUSED_BITS).astype(np.int64), 1)
