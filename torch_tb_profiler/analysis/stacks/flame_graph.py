"""Where the time goes by call stack: stacks of the same names are one entry, seen from the top or from the bottom."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.stacks.entries import StackEntries, Weight, by_level, ids, only_files, onwards
from torch_tb_profiler.analysis.stacks.recorded import all_stacks
from torch_tb_profiler.analysis.stacks.stack_table import Callers, Direction, Shown, StackTable, Whole
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model

#: the share of the whole below which entries are folded together, unless asked otherwise
SMALLEST_SHARE = 0.0002


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
    with_forward: bool = False,
    thread: int = -1,
) -> StackTable | None:
    """Time by call stack; None if there is no entry `root`.

    direction       top_down: from what was called first to what it called; bottom_up: from what took the time to
                    its callers
    files           words, of which a frame's file must contain one, and none of those after a -; other frames are
                    left out and their time is that of what is around them
    root            the `id` of an entry: only it and what is below
    smallest_share  entries with less than this share of what is asked for are folded together
    with_forward    autograd nodes stand below the operator that they are the backward of
    thread          the only one whose stacks are looked at, an index into `Trace.tracks`; -1 for all
    """
    found = all_stacks(model, with_forward, thread)
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
        state[level] = onwards(state[found.parent[level]], hashes[found.label[level]])
    none = np.empty(0, np.int64)
    everything = Shown(
        found.label, found.parent, ids(state[:-1]), own, total, found.calls, found.first, none, none, none
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


def bottom_up(found: StackEntries, weight: Weight, root: int, smallest_share: float) -> StackTable | None:
    callers, above = Callers(found, weight), None
    entries = int(np.count_nonzero(_totals(found, found.self_ns(weight), by_level(found.parent))))
    whole = Whole(found, weight, "bottom_up", callers.whole_ns, entries)
    limit = callers.limit(_limit(whole.all_ns, smallest_share))
    if root:
        reached = callers.part(root, limit)
        if reached is None:
            return None
        shown, part = reached
        above = whole.chain(shown, shown.chain_to(root))
        callers = Callers(found, weight, part)
        limit = callers.limit(_limit(callers.whole_ns, smallest_share))
    return whole.table(callers.shown(limit), callers.whole_ns, limit, above)


def _limit(whole_ns: int, smallest_share: float) -> int:
    return max(1, int(np.ceil(whole_ns * smallest_share)))
