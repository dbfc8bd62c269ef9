"""What is in use at a moment of a snapshot, by module, annotation or operator of the trace of the same process.

An allocation that both recorded is found in the trace by its address and time. Its module, annotation and operator are
those around the record in the trace: also in a backward pass, whose threads have no Python stacks.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, TraceMeta, plain
from torch_tb_profiler.analysis.memory.module_categories import record_modules
from torch_tb_profiler.analysis.memory.records import CPU, memory_records, operator_names
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.snapshot.alive import NO_ANNOTATION, NO_MODULE
from torch_tb_profiler.analysis.snapshot.history import History, Moment, device_history, moment_of
from torch_tb_profiler.analysis.snapshot.link import AddressEvents, SnapshotLink, link, match_events
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.schema import NO_TIME
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.words.sentences import because

LinkedBy = Literal["module", "annotation", "operator"]

NOT_LINKED = "(not in the trace)"
NO_OPERATOR = "(in no operator)"


class LinkedAliveRows(Result, group="snapshot"):
    """Allocations in use, a row for each module, annotation or operator of the trace, the most bytes first."""

    group: tuple[str, ...] = column(
        "Allocated in",
        "By module: the innermost function that nn.Module.__call__ called. By annotation: the range of the program "
        "that had begun last, on any thread.",
    )
    blocks: Int64 = column("Allocations", "How many allocations are in use.")
    bytes: Int64 = column("Requested", "Σ bytes that the program asked for.")

    linked_blocks: int = fact("of those that were found in the trace; the others are one row")
    linked_bytes: int = fact("of those")


class _Named(msgspec.Struct, frozen=True):
    of: Int64
    names: tuple[str, ...]


def linked_alive(
    trace: Model, snapshot: Model, history: History, link: SnapshotLink, position: int, by: LinkedBy
) -> LinkedAliveRows:
    """Return what is in use after a record; `link`: of this device."""
    lifetimes = history.lifetimes
    alive = np.flatnonzero(lifetimes.wanted(position) & (lifetimes.requested > 0))
    record = _records_of(trace, snapshot, history, link)[alive]
    is_linked = record >= 0
    named = _names(trace, by)
    texts = (*named.names, NOT_LINKED)
    code = np.where(is_linked, named.of[np.maximum(record, 0)] if len(named.of) else -1, len(texts) - 1)
    requested = lifetimes.requested[alive]
    groups = group([code])
    bytes_ = groups.sum(requested)
    order = descending(bytes_)
    return LinkedAliveRows(
        linked_blocks=int(np.count_nonzero(is_linked)),
        linked_bytes=int(requested[is_linked].sum()),
        group=tuple(texts[i] for i in code[groups.first[order]].tolist()),
        blocks=groups.count()[order],
        bytes=bytes_[order],
    )


def _records_of(trace: Model, snapshot: Model, history: History, link: SnapshotLink) -> Int64:
    """Return the trace's record of each lifetime's allocation, -1 where there is none."""
    lifetimes, device = history.lifetimes, history.device
    none = np.full(len(lifetimes), -1, np.int64)
    records = memory_records(trace)
    if link.offset_ns is None or link.device != device.number or not len(records):
        return none
    memory = trace.memory.take(records.entry)
    chosen = np.flatnonzero(
        (memory.device_type != CPU) & (memory.device == device.number) & (memory.address >= 0) & (records.bytes > 0)
    )
    born = np.flatnonzero(lifetimes.born >= 0)
    record = lifetimes.born[born]
    known = device.records.time[record] != NO_TIME
    born, record = born[known], record[known]
    if not len(chosen) or not len(born):
        return none
    ours = AddressEvents(
        records.time[chosen] + trace.trace.origin_ns, memory.address[chosen] * 2, records.bytes[chosen]
    )
    theirs = AddressEvents(
        device.records.time[record] + snapshot.trace.origin_ns,
        device.records.address[record] * 2,
        device.records.bytes[record],
    )
    met, differs, partner = match_events(ours, theirs, link.offset_ns)
    mine = np.flatnonzero(met)
    # of several records near one allocation the nearest is written last
    mine = mine[np.argsort(-np.abs(differs[mine]), kind="stable")]
    none[born[partner[mine]]] = chosen[mine]
    return none


def _names(model: Model, by: LinkedBy) -> _Named:
    """Return the module, annotation or operator of each of `memory_records`."""
    records = memory_records(model)
    if by == "module":
        modules = record_modules(model)
        return _Named(np.where(modules.of >= 0, modules.of, len(modules.names)), (*modules.names, NO_MODULE))
    if by == "operator":
        texts = [text or NO_OPERATOR for text in operator_names(model, records.node)[0]]
    else:
        tree = model.tree
        row = model.memory.row[records.entry]
        inner = model.innermost_node(model.trace.events.track[row], records.time)
        around = nearest(tree.parent, ~tree.is_operator, inner) if len(tree) else inner
        strings = model.trace.strings
        texts = [strings[int(tree.name[node])] if node >= 0 else NO_ANNOTATION for node in around.tolist()]
    number = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    return _Named(np.array([number[text] for text in texts], np.int64), tuple(number))


MOST_ROWS = 2000


class WhichLinked(msgspec.Struct, frozen=True):
    """A moment of the snapshot, and what makes a row."""

    at: Annotated[str, Meta(description="A moment, as `at` of what is alive.", max_length=40)] = "peak"
    by: Annotated[LinkedBy, Meta(description="What of the trace makes a row.")] = "module"


class LinkedRows(msgspec.Struct, frozen=True, kw_only=True):
    """Parallel lists, the most bytes first.

    group   the module, annotation or operator of the trace
    blocks  how many allocations
    bytes   requested
    """

    group: Sequence[str]
    blocks: Sequence[Count]
    bytes: Sequence[Bytes]


class LinkedAliveAnswer(Answer, frozen=True, kw_only=True):
    """What was alive in a snapshot, by module, annotation or operator of the trace.

    meta      of the trace
    link      whether they are of one process; without it there are no rows
    moment    the moment, null if they are not linked
    linked    which part of the bytes was found in the trace, null if they are not linked or nothing was alive
    rows      Σ bytes over all rows = the bytes requested at that moment
    left_out  how many more rows there are
    """

    meta: TraceMeta
    link: SnapshotLink
    moment: Moment | None
    linked: Fraction | None
    rows: LinkedRows
    left_out: Count


def _linked(trace: Subject, snapshot: Subject, params: WhichLinked) -> LinkedAliveAnswer:
    if is_snapshot(trace.model.trace) or not is_snapshot(snapshot.model.trace):
        raise NotFound(because("no_pair"))
    clocks = link(trace.model, snapshot.model)
    meta = TraceMeta(**trace.about("memory"))
    if clocks.offset_ns is None:
        nothing = LinkedRows(group=[], blocks=[], bytes=[])
        return LinkedAliveAnswer(meta=meta, link=clocks, moment=None, linked=None, rows=nothing, left_out=0)
    history = device_history(snapshot.model, clocks.device)
    at = moment_of(history, params.at)
    rows = linked_alive(trace.model, snapshot.model, history, clocks, at.position, params.by)
    total = int(rows.bytes.sum())
    return LinkedAliveAnswer(
        meta=meta,
        link=clocks,
        moment=at,
        linked=rows.linked_bytes / total if total else None,
        rows=LinkedRows(
            group=list(rows.group[:MOST_ROWS]),
            blocks=plain(rows.blocks[:MOST_ROWS]),
            bytes=plain(rows.bytes[:MOST_ROWS]),
        ),
        left_out=max(len(rows) - MOST_ROWS, 0),
    )


SNAPSHOT_LINKED_ALIVE = Question(
    name="snapshot/alive_in_trace",
    summary="What is in use in a memory snapshot, by module, annotation or operator of the trace of the same process",
    compute=_linked,
)
