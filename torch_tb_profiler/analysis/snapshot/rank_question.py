"""The question how the snapshots of a run differ."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from torch_tb_profiler.analysis.answer import Answer, TraceMeta
from torch_tb_profiler.analysis.question import Listed, NoParameters, Question, Scope, Subject, absent_traces, first_of
from torch_tb_profiler.analysis.snapshot.ranks import SnapshotFigures, rank_rows, snapshot_figures
from torch_tb_profiler.analysis.table import Table
from torch_tb_profiler.analysis.traces import TracesMeta, titles_of
from torch_tb_profiler.trace import Note, note


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


def _ranks(listed: Sequence[Listed], asked: Scope) -> Table[TracesMeta]:
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
    return Table(TracesMeta(of=asked.of, notes=_absent(listed)), table.columns, table.rows)


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
