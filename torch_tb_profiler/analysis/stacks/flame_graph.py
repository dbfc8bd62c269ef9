"""Where the time goes by call stack, from callers to called or the other way, and the question about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, get_args

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, InlineTable, Ns, Rows, TraceMeta
from torch_tb_profiler.analysis.health.rules import no_stacks
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.shared.backward_links import backward_links
from torch_tb_profiler.analysis.slices import track_name
from torch_tb_profiler.analysis.stacks.entries import (
    EntryKind,
    EntryRole,
    StackEntries,
    Weight,
    by_level,
    ids,
    only_files,
    onwards,
)
from torch_tb_profiler.analysis.stacks.recorded import StackThreads, all_stacks, stack_threads
from torch_tb_profiler.analysis.stacks.stack_table import (
    Callers,
    Direction,
    ShownEntries,
    StackTable,
    StackTableBuilder,
)
from torch_tb_profiler.arrays.lookup import places_of
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.words.sentences import because

#: the share of the whole below which entries are folded together, unless asked otherwise
SMALLEST_SHARE = 0.0002


def stack_weights(model: Model) -> tuple[Weight, ...]:
    """Return what the stacks of this trace can be weighted by, the most important first."""
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
    """Return time by call stack; None if there is no entry `root`.

    direction       top_down: from what was called first to what it called; bottom_up: from what took the time to
                    its callers
    files           words: a frame's file must contain one of them, and none of the words after a -; other frames are
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
    """Return each entry's own time and that of all below."""
    total = own.copy()
    for level in reversed(levels[1:]):
        np.add.at(total, found.parent[level], total[level])
    return total


def top_down(entries: StackEntries, weight: Weight, root: int, smallest_share: float) -> StackTable | None:
    own = entries.self_ns(weight)
    levels = by_level(entries.parent)
    total, state, hashes = _totals(entries, own, levels), np.zeros(len(entries) + 1, np.uint64), entries.labels.hashes()
    for level in levels:
        state[level] = onwards(state[entries.parent[level]], hashes[entries.label[level]])
    none = np.empty(0, np.int64)
    everything = ShownEntries(
        entries.label, entries.parent, ids(state[:-1]), own, total, entries.calls, entries.first, none, none, none
    )
    whole = StackTableBuilder(entries, weight, "top_down", int(own.sum()), int(np.count_nonzero(total)))
    shown, whole_ns, above = total > 0, whole.all_ns, None
    if root:
        is_root = shown & (everything.id == root)
        if not is_root.any():
            return None
        shown &= nearest(entries.parent.astype(np.int32), is_root, np.arange(len(entries), dtype=np.int32)) >= 0
        whole_ns, above = int(total[is_root][0]), whole.chain(everything, everything.chain_to(root))
    limit = _limit(whole_ns, smallest_share)
    kept, small = np.flatnonzero(shown & (total >= limit)), np.flatnonzero(shown & (total < limit))
    place = places_of(kept, len(entries) + 1)
    # below what is folded is folded, too
    small = small[(place[entries.parent[small]] >= 0) | (entries.parent[small] < 0)]
    part = ShownEntries(
        label=entries.label[kept],
        parent=place[entries.parent[kept]],
        id=everything.id[kept],
        self_ns=own[kept],
        total_ns=total[kept],
        calls=entries.calls[kept],
        first=entries.first[kept],
        small_parent=place[entries.parent[small]],
        small_ns=total[small],
        small_calls=entries.calls[small],
    )
    return whole.table(part, whole_ns, limit, above)


def bottom_up(recorded: StackEntries, weight: Weight, root: int, smallest_share: float) -> StackTable | None:
    callers, above = Callers(recorded, weight), None
    entries = int(np.count_nonzero(_totals(recorded, recorded.self_ns(weight), by_level(recorded.parent))))
    whole = StackTableBuilder(recorded, weight, "bottom_up", callers.whole_ns, entries)
    limit = callers.limit(_limit(whole.all_ns, smallest_share))
    if root:
        reached = callers.part(root, limit)
        if reached is None:
            return None
        shown, part = reached
        above = whole.chain(shown, shown.chain_to(root))
        callers = Callers(recorded, weight, part)
        limit = callers.limit(_limit(callers.whole_ns, smallest_share))
    return whole.table(callers.shown(limit), callers.whole_ns, limit, above)


def _limit(whole_ns: int, smallest_share: float) -> int:
    return max(1, int(np.ceil(whole_ns * smallest_share)))


#: of file filters: longer ones are no words that anybody typed
LONGEST_FILTER = 1000


#: where autograd nodes stand
Backward = Literal["as_run", "with_forward"]


class WhichStacks(msgspec.Struct, frozen=True):
    """Which stacks, and how they are seen."""

    weight: Annotated[Weight | None, Meta(description="Which time; by default the first one available.")] = None
    direction: Annotated[Direction, Meta(description="From callers to called, or the other way.")] = "top_down"
    files: Annotated[
        str,
        Meta(
            description="Words of which the path of a frame must have one, and none after a minus; of longer texts "
            f"the first {LONGEST_FILTER} characters count."
        ),
    ] = ""
    root: Annotated[int, Meta(description="The id of the only entry that is asked about.", ge=0, le=2**53)] = 0
    smallest_share: Annotated[
        float, Meta(description="Entries with less of the whole are folded into one.", ge=0, le=1)
    ] = SMALLEST_SHARE
    backward: Annotated[
        Backward,
        Meta(description="Autograd nodes are placed where they ran, or below the operator whose backward they are."),
    ] = "as_run"
    thread: Annotated[
        int,
        Meta(description="The only thread whose stacks are shown: an `id` of `threads`; -1 for all.", ge=-1, le=2**31),
    ] = -1


class StackThread(msgspec.Struct, frozen=True, kw_only=True):
    """A thread that has stacks.

    id         position of the thread among the tracks of this trace
    name       the name in the trace, otherwise its number
    host_ns    in which any frame, operator or annotation ran on it
    device_ns  of the device work that it launched
    idle       whether operators, annotations and calls of it took less than 1 % of those of the busiest thread
    """

    id: int
    name: str
    host_ns: Ns
    device_ns: Ns
    idle: bool


class StacksMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside call stacks.

    weight       whose time the stacks are weighted by
    weights      by whose time stacks of this trace can be weighted, the one that matters most first
    direction    top_down: callers above what they call; bottom_up: the reverse
    files        words by which frames were chosen
    root         id of the only entry that is shown, with everything below it; 0 for everything
    whole_ns     time of what is shown
    all_ns       time of all stacks
    no_stack_ns  of the device time what was launched outside all frames, operators and annotations
    entries      how many different stacks have time of this weight, shown or not
    kinds        that the entries shown have
    roles        that the entries shown have
    limit_ns     entries with less are folded together
    has_frames   whether Python frames were recorded
    has_backward  whether the operator whose backward they are is known for some autograd nodes
    backward     as_run: these are placed where they ran; with_forward: below that operator
    thread       id of the only thread that is shown, -1 for all
    threads      that have stacks: by time of this weight, idle ones last
    above        the entries around `root`, from the top down; null if everything is shown
    """

    weight: Weight
    weights: Sequence[Weight]
    direction: Direction
    files: str
    root: int
    whole_ns: Ns
    all_ns: Ns
    no_stack_ns: Ns
    entries: Count
    kinds: Sequence[EntryKind]
    roles: Sequence[EntryRole]
    limit_ns: Ns
    has_frames: bool
    has_backward: bool
    backward: Backward
    thread: int
    threads: Sequence[StackThread]
    above: Rows | None


class StacksAnswer(InlineTable, frozen=True, kw_only=True):
    """Call stacks as a tree in a table: `parent` is a row, -1 at the top.

    meta  which trace, and how its stacks were put together
    """

    meta: StacksMeta


def _stacks(subject: Subject, params: WhichStacks) -> StacksAnswer:
    model, files, with_forward = subject.model, params.files.strip()[:LONGEST_FILTER], params.backward == "with_forward"
    threads = stack_threads(model)
    thread = params.thread if params.thread in threads.track else -1
    shown_table = stacks(
        model, params.weight, params.direction, files, params.root, params.smallest_share, with_forward, thread
    )
    if shown_table is None:
        raise NotFound(because("no_such_stack", {"root": params.root}))
    has_frames = all_stacks(model, with_forward).has_frames
    around = [shown_table] if shown_table.above is None else [shown_table, shown_table.above]
    shown_kinds = {kind for part in around for kind in part.kind}
    shown_roles = {role for part in around for role in part.role}
    meta = StacksMeta(
        **subject.about("stacks", *([] if has_frames else [no_stacks()])),
        weight=shown_table.weight,
        weights=stack_weights(model),
        direction=shown_table.direction,
        files=files,
        root=params.root,
        whole_ns=shown_table.whole_ns,
        all_ns=shown_table.all_ns,
        no_stack_ns=shown_table.no_stack_ns,
        entries=shown_table.entries,
        kinds=[kind for kind in get_args(EntryKind) if kind in shown_kinds],
        roles=[role for role in get_args(EntryRole) if role in shown_roles],
        limit_ns=shown_table.limit_ns,
        has_frames=has_frames,
        backward=params.backward,
        has_backward=bool((backward_links(model).forward >= 0).any()),
        thread=thread,
        threads=_threads(model, threads, shown_table.weight),
        above=None if shown_table.above is None else shown_table.above.as_columns(nulls=False).rows,
    )
    table = shown_table.as_columns(nulls=False)
    return StacksAnswer(meta=meta, columns=table.columns, rows=table.rows)


def _threads(model: Model, threads: StackThreads, weight: Weight) -> list[StackThread]:
    time = threads.device_ns if weight == "device" else threads.host_ns
    return [
        StackThread(
            id=int(threads.track[at]),
            name=track_name(model.trace.tracks[threads.track[at]]),
            host_ns=int(threads.host_ns[at]),
            device_ns=int(threads.device_ns[at]),
            idle=bool(threads.idle[at]),
        )
        for at in np.lexsort((threads.track, -time, threads.idle)).tolist()
    ]


STACKS = Question(
    name="stacks",
    summary="Time by call stack as a tree in a table",
    compute=_stacks,
    # the most memory for a moment, so when what was computed for the others is gone
    bundle="stacks",
    precompute=(WhichStacks(),),
    report=tuple(
        {"direction": direction, **weight}
        for weight in ({}, {"weight": "host"}, {"weight": "device"})
        for direction in ("top_down", "bottom_up")
    ),
)
