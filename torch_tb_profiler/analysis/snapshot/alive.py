"""What is in use at a moment, by stack, line, size, module or annotation; compared with another moment or snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence
from functools import partial
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, InlineTable, TraceMeta
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.snapshot.frames import NO_STACK, StackNames, stack_names
from torch_tb_profiler.analysis.snapshot.history import (
    AtMoment,
    History,
    Moment,
    device_history,
    find_moment,
    moment_of,
)
from torch_tb_profiler.analysis.stacks.entries import EntryColumns, Labels, merged
from torch_tb_profiler.analysis.stacks.flame_graph import bottom_up, top_down
from torch_tb_profiler.analysis.stacks.stack_table import Direction, StackTable
from torch_tb_profiler.arrays.grouping import Groups, descending, group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.snapshot.schema import NO_TIME
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.sentences import because

AliveBy = Literal["line", "stack", "size", "stream", "module", "annotation"]
FramesShown = Literal["python", "own", "all"]

#: what was there before the recording and has no stack
BEFORE_RECORDING = "(before the recording)"
NO_MODULE = "(in no module)"
NO_ANNOTATION = "(in no annotation)"


class AliveRows(Result, group="snapshot"):
    """Allocations in use, a row for each stack, line, size, stream, module or annotation, the most bytes first."""

    line: tuple[str, ...] = column(
        "Allocated at",
        "Innermost frame of the user's own code in the stack of the allocation; if there is none, the innermost "
        "Python frame, otherwise the innermost frame.",
    )
    group: tuple[str, ...] = column(
        "Allocated in",
        "By module: the innermost function that nn.Module.__call__ called. By annotation: the range of the program "
        "that had begun last, on any thread.",
    )
    size: Int64 = column(
        "Size of each", "Requested bytes of each; empty if they differ.", unit="bytes", missing_below_zero=True
    )
    blocks: Int64 = column("Allocations", "How many allocations are in use.")
    bytes: Int64 = column("Requested", "Σ bytes that the program asked for.", total=True)
    block_bytes: Int64 = column("Blocks", "Σ bytes of their blocks: requested bytes, rounded up by the allocator.")
    difference: Int64 = column("Difference", "Requested bytes − those at the other moment.", unit="bytes")
    stack: Int64 = column(
        "Stack",
        "Row of stacks of the first of them, -1 where it has none.",
        unit=None,
        missing_below_zero=True,
        api_only=True,
    )
    born: Int64 = column(
        "Born", "Position of the first of their births, -1 before the recording.", unit=None, api_only=True
    )


def alive_rows(history: History, names: StackNames, position: int, by: AliveBy, since: int | None = None) -> AliveRows:
    """Return what is in use after a record; with `since` also what was in use then and is no longer, with 0 bytes."""
    lifetimes = history.lifetimes
    now = lifetimes.wanted(position)
    then = lifetimes.wanted(since) if since is not None else np.zeros(len(lifetimes), np.bool_)
    chosen = np.flatnonzero(now | then)
    own = group_names(history, names, chosen, by)
    groups = _groups(history, names, chosen, by) if own is None else group([own.of])
    is_now, was_then = now[chosen], then[chosen]
    requested = lifetimes.requested[chosen]
    bytes_ = groups.sum(np.where(is_now, requested, 0))
    before = groups.sum(np.where(was_then, requested, 0))
    difference = bytes_ - before if since is not None else np.zeros(len(groups), np.int64)
    order = descending(np.abs(difference)) if since is not None else descending(bytes_)
    first = chosen[groups.first[order]]
    least, most = groups.min(requested)[order], groups.max(requested)[order]
    stack = lifetimes.stack[first]
    return AliveRows(
        group=("",) * len(order)
        if own is None
        else tuple(own.names[own.of[row]] for row in groups.first[order].tolist()),
        stack=stack,
        line=tuple(map(partial(line_named, names), stack.tolist(), lifetimes.born[first].tolist())),
        size=np.where(least == most, least, -1),
        blocks=groups.sum(is_now)[order],
        bytes=bytes_[order],
        block_bytes=groups.sum(np.where(is_now, history.blocks.bytes[chosen], 0))[order],
        difference=difference[order],
        born=lifetimes.born[first],
    )


def line_named(names: StackNames, stack: int, born: int) -> str:
    """Name the line of an allocation by its stack and the record at which it was made."""
    return names.line_of(stack) if stack >= 0 else BEFORE_RECORDING if born < 0 else NO_STACK


class GroupNames(msgspec.Struct, frozen=True):
    """Names of some allocations. of: the code in `names` of each."""

    of: Int64
    names: tuple[str, ...]


def group_names(history: History, names: StackNames, chosen: Int64, by: AliveBy) -> GroupNames | None:
    """Return the module or annotation of some allocations; None if neither is requested."""
    if by not in ("module", "annotation"):
        return None
    born, stack = history.lifetimes.born[chosen], history.lifetimes.stack[chosen]
    if by == "module":
        texts = (*names.modules, NO_MODULE, NO_STACK, BEFORE_RECORDING)
        code = names.module[np.maximum(stack, 0)] if len(names.module) else np.full(len(stack), -1, np.int64)
        unknown = len(texts) - np.where(stack >= 0, 3, np.where(born < 0, 1, 2))
        return GroupNames(np.where((stack >= 0) & (code >= 0), code, unknown), texts)
    found = history.annotations
    time = history.device.records.time
    known = (born >= 0) & (time[np.maximum(born, 0)] != NO_TIME) if len(time) else born >= 0
    code = np.full(len(chosen), -1, np.int64)
    if known.any():
        code[known] = found.at(time[born[known]])
    texts = (*found.names, NO_ANNOTATION, BEFORE_RECORDING)
    return GroupNames(np.where(code >= 0, code, len(texts) - np.where(born < 0, 1, 2)), texts)


def _groups(history: History, names: StackNames, chosen: Int64, by: AliveBy) -> Groups:
    lifetimes = history.lifetimes
    stack = lifetimes.stack[chosen]
    if by == "size":
        return group([lifetimes.requested[chosen]])
    if by == "stream":
        return group([lifetimes.stream[chosen]])
    if by == "stack":
        return group([stack, np.minimum(lifetimes.born[chosen], 0)])
    return group([lines_of(names, stack), np.where(stack < 0, np.minimum(lifetimes.born[chosen], 0), 0)])


def lines_of(names: StackNames, stack: Int64) -> Int64:
    """Return the code of the line of each stack, -1 for none."""
    if not len(names.line):
        return np.full(len(stack), -1, np.int64)
    return np.where(stack >= 0, names.line[np.maximum(stack, 0)], -1)


class WhichTree(AtMoment, frozen=True):
    """A moment, and how stacks are seen."""

    direction: Annotated[Direction, Meta(description="From callers to called, or the other way.")] = "top_down"
    frames: Annotated[
        FramesShown,
        Meta(description="python leaves out frames of C++ where a stack has others; own those of libraries, too."),
    ] = "python"
    root: Annotated[int, Meta(description="The id of the only entry that is asked about.", ge=0, le=2**53)] = 0


def alive_stacks(
    history: History, names: StackNames, position: int, tree: WhichTree, smallest_share: float
) -> StackTable | None:
    """Return the bytes in use by call stack as a tree; None if there is no entry `tree.root`.

    All that is called ns in the result is bytes, and calls are blocks.
    """
    lifetimes = history.lifetimes
    chosen = np.flatnonzero(lifetimes.wanted(position) & (lifetimes.requested > 0))
    groups = group([lifetimes.stack[chosen], np.minimum(lifetimes.born[chosen], 0)])
    first = chosen[groups.first]
    weights, counts = groups.sum(lifetimes.requested[chosen]).tolist(), groups.count().tolist()
    labels = Labels()
    columns: list[list[int]] = [[], [], [], [], []]  # parent, label, blocks, first seen, bytes
    for stack, born, weight, count in zip(
        lifetimes.stack[first].tolist(), lifetimes.born[first].tolist(), weights, counts, strict=True
    ):
        above = -1
        chain = _chain(names, stack, tree.frames) or [line_named(names, stack, born)]
        for place, label in enumerate(chain):
            is_last = place == len(chain) - 1
            number = labels.number(label, "frame" if stack >= 0 else "other")
            row = (above, number, count if is_last else 0, born + 1, weight if is_last else 0)
            above = len(columns[0])
            for values, value in zip(columns, row, strict=True):
                values.append(value)
    parent, label_, blocks, seen, bytes_ = (np.array(column, np.int64) for column in columns)
    none = np.zeros(len(bytes_), np.int64)
    found = merged(EntryColumns(parent, label_, blocks, seen, bytes_, none), labels, 0, True)
    return (top_down if tree.direction == "top_down" else bottom_up)(found, "host", tree.root, smallest_share)


def _chain(names: StackNames, stack: int, shown: FramesShown) -> list[str]:
    """Return the frames of a stack from the outermost inwards."""
    if stack < 0:
        return []
    begin = int(names.start[stack])
    frames = names.frame[begin : begin + int(names.depth[stack])][::-1]
    kept: Sequence[int] = frames.tolist()
    if shown != "all":
        wanted = frames[(names.is_own if shown == "own" else names.is_python)[frames]]
        kept = wanted.tolist() or [int(names.line[stack])]
    return [names.labels[frame] for frame in kept]


#: streams are not among them: their ids are pointers
AgainstBy = Literal["line", "stack", "size", "module", "annotation"]


class AgainstRows(Result, group="snapshot.against"):
    """A row for each line, stack, size, module or annotation of either snapshot; what differs most is first."""

    name: tuple[str, ...] = column(
        "Allocated at", "The line, stack, module or annotation that the row is about, in both snapshots."
    )
    size: Int64 = column("Size of each", "Requested bytes of each.", unit="bytes", missing_below_zero=True)
    blocks_before: Int64 = column("Allocations before", "How many were in use in the other snapshot.")
    blocks: Int64 = column("Allocations", "How many are in use in this one.")
    bytes_before: Int64 = column("Requested before", "Requested bytes in use in the other snapshot.", unit="bytes")
    bytes: Int64 = column("Requested", "Requested bytes in use in this one.")
    difference: Int64 = column("Difference", "Requested bytes − those in the other snapshot.", unit="bytes")


Side = tuple[History, StackNames, int]
"""A device of a snapshot, the names of its stacks, and after which record."""


def against(before: Side, after: Side, by: AgainstBy) -> AgainstRows:
    """Match rows of both by name: numbers of stacks mean nothing in another file.

    A line that moved within its file is another one; functions of modules are not.
    """
    sums: defaultdict[Hashable, list[int]] = defaultdict(lambda: [0, 0, 0, 0])
    names: dict[Hashable, tuple[str, set[int]]] = {}
    for side, (history, stacks, position) in enumerate((before, after)):
        rows = alive_rows(history, stacks, position, by)
        for at, key in enumerate(_keys(rows, stacks, by)):
            row = sums[key]
            row[side] += int(rows.blocks[at])
            row[2 + side] += int(rows.bytes[at])
            name = rows.group[at] if by in ("module", "annotation") else rows.line[at]
            names.setdefault(key, (name, set()))[1].add(int(rows.size[at]))
    keys = sorted(sums, key=lambda key: (-abs(sums[key][3] - sums[key][2]), -sums[key][3]))
    columns = np.array([sums[key] for key in keys], np.int64).reshape(-1, 4)
    sizes = [names[key][1] for key in keys]
    return AgainstRows(
        name=tuple(names[key][0] for key in keys),
        size=np.array([next(iter(each)) if len(each) == 1 else -1 for each in sizes], np.int64),
        blocks_before=columns[:, 0],
        blocks=columns[:, 1],
        bytes_before=columns[:, 2],
        bytes=columns[:, 3],
        difference=columns[:, 3] - columns[:, 2],
    )


def _keys(rows: AliveRows, stacks: StackNames, by: AgainstBy) -> list[Hashable]:
    """Return the keys by which rows of both snapshots are matched."""
    if by == "size":
        return list(rows.size.tolist())
    if by in ("module", "annotation"):
        return list(rows.group)
    if by == "stack":
        ends = zip(rows.stack.tolist(), rows.line, strict=True)
        return [(line, *stacks.frames_of(stack)) for stack, line in ends]
    return list(rows.line)


MOST_ROWS = 2000

_At = Annotated[str, Meta(description="A moment of this side, as `at` of what is alive.", max_length=40)]
_Device = Annotated[int | None, Meta(description="Number of a device; without it that with most records.")]


class WhichTwo(msgspec.Struct, frozen=True):
    """A moment of each of two snapshots, and what makes a row."""

    at: _At = "peak"
    exp_at: _At = "peak"
    device: _Device = None
    exp_device: _Device = None
    by: Annotated[AgainstBy, Meta(description="What makes a row.")] = "line"


class AgainstAnswer(Answer, frozen=True, kw_only=True):
    """What is in use in a snapshot, the second of the two, and what was in another.

    meta      the snapshot that is looked at
    before    the moment of the other side: its peak if it has none of the requested kind
    moment    the moment
    rows      what differs most first; Σ difference over all rows = the difference of `requested` of the moments
    left_out  how many more there are
    """

    meta: TraceMeta
    before: Moment
    moment: Moment
    rows: InlineTable
    left_out: Count


def _against(other: Subject, own: Subject, params: WhichTwo) -> AgainstAnswer:
    if not is_snapshot(other.model.trace) or not is_snapshot(own.model.trace):
        raise NotFound(because("no_snapshot"))
    theirs, ours = device_history(other.model, params.device), device_history(own.model, params.exp_device)
    # a program that ran out of memory is compared with one that did not
    before = find_moment(theirs, params.at) or moment_of(theirs, "peak")
    at = moment_of(ours, params.exp_at)
    found = against(
        (theirs, stack_names(other.model), before.position), (ours, stack_names(own.model), at.position), params.by
    )
    return AgainstAnswer(
        meta=TraceMeta(**own.about("snapshot")),
        before=before,
        moment=at,
        rows=found.as_columns(without=() if params.by == "size" else ("size",), most=MOST_ROWS),
        left_out=max(len(found) - MOST_ROWS, 0),
    )


SNAPSHOT_AGAINST_ANOTHER = Question(
    name="snapshot/against",
    summary="Memory in use in a memory snapshot, but not in another",
    compute=_against,
)
