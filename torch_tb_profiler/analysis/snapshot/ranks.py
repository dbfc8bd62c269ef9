"""Several snapshots side by side, ranks of a job or moments of one: which has more in use, and where."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, TraceMeta
from torch_tb_profiler.analysis.question import Listed, NoParameters, Question, Scope, Subject, absent_traces, first_of
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.snapshot.alive import alive_rows
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.history import device_history
from torch_tb_profiler.analysis.snapshot.oom import has_history
from torch_tb_profiler.analysis.snapshot.summary import memory_snapshot
from torch_tb_profiler.analysis.tabular import Table
from torch_tb_profiler.analysis.traces import TracesMeta, titles_of
from torch_tb_profiler.arrays.grouping import descending
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note, note

#: that are kept of each snapshot to be compared
MOST_LINES = 300


class SnapshotFigures(msgspec.Struct, frozen=True):
    """What is compared of a snapshot, of its device with most records.

    device          number of the device
    peak_requested  most that was requested and not released; None without a history
    peak_reserved   most bytes of segments; None without a history
    requested       in use at the end
    ooms            how many allocations failed, on all devices
    lines           where what was in use at the peak, or without a history at the end, was allocated, most bytes first
    bytes           of each line, requested
    """

    device: int
    peak_requested: Bytes | None
    peak_reserved: Bytes | None
    requested: Bytes
    ooms: Count
    lines: Sequence[str]
    bytes: Sequence[Bytes]


class RankRows(Result, group="snapshot.ranks"):
    """One row per snapshot, what is furthest from the median first; its names are known where it has any."""

    trace: Sequence[str] | None = column("Snapshot", "What distinguishes it from the others.")
    run: Sequence[str] | None = column("Run", "Name of the run.")
    worker: Sequence[str] | None = column("Worker", "Name of the worker.")
    span: Sequence[str] | None = column("Moment", "Which snapshot of the worker.")
    peak_requested: Int64 = column(
        "Peak requested",
        "The most memory that was requested and not released; empty without a history.",
        unit="bytes",
        missing_below_zero=True,
    )
    difference: Int64 = column(
        "To the median",
        "Peak requested - that of the median snapshot in the table; where a snapshot has no history, the same of what "
        "was in use at the end.",
        unit="bytes",
    )
    peak_reserved: Int64 = column(
        "Peak reserved", "Most bytes of segments; empty without a history.", unit="bytes", missing_below_zero=True
    )
    requested: Int64 = column("At the end", "Requested bytes in use at the end.", unit="bytes")
    ooms: Int64 = column("Out of memory", "Failed allocations.")
    line: tuple[str, ...] = column(
        "Differs most at",
        "Line of the program whose bytes at the peak differ most from those in the median snapshot; empty if there is "
        "none.",
    )
    line_bytes: Int64 = column("By", "Requested bytes of that line - those in the median snapshot.")
    place: Int64 = column("Place", "Of the snapshot in those that were given.", unit=None, api_only=True)


NAMELESS = {"trace": None, "run": None, "worker": None, "span": None}


def snapshot_figures(model: Model) -> SnapshotFigures:
    """Return the figures of one snapshot. Raises NotFound if it is empty."""
    history, curves = device_history(model, None), device_history(model, None).curves
    rows = alive_rows(history, stack_names(model), curves.peak(curves.requested), "line")
    number, is_told = history.device.number, has_history(history.device)
    return SnapshotFigures(
        device=number,
        peak_requested=int(curves.requested.max()) if is_told else None,
        peak_reserved=int(curves.reserved.max()) if is_told else None,
        requested=int(curves.requested[-1]),
        ooms=len(memory_snapshot(model).ooms),
        lines=rows.line[:MOST_LINES],
        bytes=rows.bytes[:MOST_LINES].tolist(),
    )


def rank_rows(figures: Sequence[SnapshotFigures]) -> RankRows:
    """Compare snapshots; where one has more lines than are kept, a line that only the other kept is left out."""
    if not figures:
        none = np.empty(0, np.int64)
        return RankRows(
            **NAMELESS,
            place=none,
            peak_requested=none,
            difference=none,
            peak_reserved=none,
            requested=none,
            ooms=none,
            line=(),
            line_bytes=none,
        )
    # a peak is compared with peaks alone
    at_peak = all(each.peak_requested is not None for each in figures)
    held = np.array([each.peak_requested if at_peak else each.requested for each in figures], np.int64)
    median = int(np.argsort(held, kind="stable")[(len(held) - 1) // 2])
    difference = held - held[median]
    order = descending(np.abs(difference))
    furthest = [_furthest(figures[median], figures[place]) for place in order.tolist()]

    def figure(name: str) -> Int64:
        values = [getattr(each, name) for each in figures]
        return np.array([-1 if value is None else value for value in values], np.int64)[order]

    return RankRows(
        **NAMELESS,
        place=order,
        peak_requested=figure("peak_requested"),
        difference=difference[order],
        peak_reserved=figure("peak_reserved"),
        requested=figure("requested"),
        ooms=figure("ooms"),
        line=tuple(line for line, _ in furthest),
        line_bytes=np.array([bytes_ for _, bytes_ in furthest], np.int64),
    )


def _furthest(median: SnapshotFigures, own: SnapshotFigures) -> tuple[str, int]:
    before, after = (dict(zip(each.lines, each.bytes, strict=True)) for each in (median, own))
    whole_before, whole_after = (len(each.lines) < MOST_LINES for each in (median, own))
    names = [
        name for name in {**after, **before} if (name in before or whole_before) and (name in after or whole_after)
    ]
    found = max(names, key=lambda name: abs(after.get(name, 0) - before.get(name, 0)), default="")
    bytes_ = after.get(found, 0) - before.get(found, 0)
    return (found, bytes_) if bytes_ else ("", 0)


class SnapshotFiguresAnswer(Answer, frozen=True, kw_only=True):
    """What is compared of a snapshot.

    meta     which snapshot
    figures  its numbers
    """

    meta: TraceMeta
    figures: SnapshotFigures


def _figures(subject: Subject, _: NoParameters) -> SnapshotFiguresAnswer:
    return SnapshotFiguresAnswer(meta=TraceMeta(**subject.about("snapshot")), figures=snapshot_figures(subject.model))


SNAPSHOT_FIGURES = Question(
    name="snapshot/figures",
    summary="What is compared of several memory snapshots",
    compute=_figures,
    tag="memory snapshots",
    about="snapshot",
    of_steps=False,
)


def _of_each(_: Scope) -> Mapping[str, tuple[Question, msgspec.Struct]]:
    return {"figures": (SNAPSHOT_FIGURES, NoParameters())}


def _ranks(listed: Sequence[Listed], params: Scope) -> Table[TracesMeta]:
    found = [(each, each.answers["figures"].figures) for each in listed if each.answers]
    rows = rank_rows([figures for _, figures in found])
    named = [found[place][0] for place in rows.place.tolist()]
    names = {
        "trace": titles_of([(each.run, each.worker, each.span) for each in named]),
        "run": [each.run for each in named],
        "worker": [each.worker for each in named],
        "span": [each.span for each in named],
    }
    table = rows.replace(**names).as_columns()
    return Table(TracesMeta(of=params.of, notes=_absent(listed)), table.columns, table.rows)


def _absent(listed: Sequence[Listed]) -> list[Note]:
    notes = list(
        absent_traces(
            "snapshot",
            "snapshots",
            loading=[each.file for each in listed if each.state in ("queued", "loading")],
            failed=[each.file for each in listed if each.state == "failed"],
        )
    )
    empty = [each.file for each in listed if each.state == "ready" and not each.answers]
    if empty:
        notes.append(note("empty_snapshots", "info", len(empty), ("snapshot",), values={"files": first_of(empty)}))
    return notes


SNAPSHOT_BY_RANK = Question(
    name="snapshot/ranks",
    summary="Memory snapshots side by side: ranks of a job, or moments",
    each=_of_each,
    kind="snapshot",
    compute=_ranks,
)
