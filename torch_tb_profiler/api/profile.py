"""What was opened: its runs, and the traces in them."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from torch_tb_profiler import discovery
from torch_tb_profiler.analysis.question import Node, NoParameters, RunSubject
from torch_tb_profiler.analysis.replay.changes import Change
from torch_tb_profiler.analysis.run_metrics import FigureTable, figures
from torch_tb_profiler.analysis.snapshot.ranks import RankRows, rank_rows, snapshot_figures
from torch_tb_profiler.api.errors import ProfileError, check_changes, profile_errors
from torch_tb_profiler.api.notebook import InNotebook, NotebookPage
from torch_tb_profiler.api.notebook_cards import RunRow, profile_card, profile_text
from torch_tb_profiler.api.queries import Queried
from torch_tb_profiler.api.results import Rows
from torch_tb_profiler.api.snapshot import SnapshotProfile
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.discovery import Skipped
from torch_tb_profiler.insights.run.facts import RunFinding, run_rank
from torch_tb_profiler.insights.run.findings import RunDiagnosis, run_diagnosis
from torch_tb_profiler.insights.summary.question import SUMMARY
from torch_tb_profiler.insights.summary.summary import SummaryAnswer
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks import DistributedRanks, distributed, rank_of
from torch_tb_profiler.ranks.distributed import OperationTable, operation_table
from torch_tb_profiler.ranks.ranges import RangeRankTable, RankRangeTable, range_of_ranks, ranges_of_ranks
from torch_tb_profiler.ranks.reduction import RunResult, reduce_run
from torch_tb_profiler.ranks.run.answers import RunRanks, Straggler
from torch_tb_profiler.ranks.run.group_answers import CollectiveRow
from torch_tb_profiler.ranks.summary import RankSummary, summarize
from torch_tb_profiler.ranks.what_if import JointWhatIf, joint_what_if, replay_rank
from torch_tb_profiler.storage import shown
from torch_tb_profiler.workspace.answering.answerer import trace_of
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace, find_traces, without_traces


class Run(InNotebook, Queried):
    """The traces of one directory.

    snapshots  memory snapshots of the same directory, by worker and moment
    skipped    files of it that look like traces and were not taken, and why
    """

    def __init__(self, workspace: LocalWorkspace, run: discovery.RunFiles) -> None:
        self.name = run.name
        self._found = (workspace, run)
        self.traces = tuple(
            TraceProfile(LocalTrace(workspace, f), trace_of(run, f)) for f in run.traces if f.kind == "trace"
        )
        self.snapshots: Rows[SnapshotProfile] = Rows(
            tuple(SnapshotProfile(LocalTrace(workspace, f), run.name) for f in run.traces if f.kind == "snapshot")
        )
        self.skipped: Rows[Skipped] = Rows(run.skipped)
        self._reduced: dict[str, RunResult] = {}
        self._summarized: dict[str, list[RankSummary]] = {}

    def __repr__(self) -> str:
        return f"<run {self.name!r}: {len(self.traces)} traces>"

    def __iter__(self) -> Iterator[TraceProfile]:
        return iter(self.traces)

    def as_row(self) -> RunRow:
        """Return the row of this run in the card of what was opened."""
        size = sum(file.entry.size for file in self._found[1].traces)
        return RunRow(self.name, len(self.traces), len(self.workers), len(self.snapshots), size)

    def _page(self) -> NotebookPage:
        workspace, run = self._found
        return NotebookPage(workspace, self.name, (run,), {"r": self.name})

    def _repr_html_(self) -> str:
        return profile_card(self.name, [self.as_row()])

    def _as_markdown(self) -> str:
        return profile_text(self.name, [self.as_row()])

    def _named_traces(self) -> Sequence[tuple[str, LocalTrace]]:
        return [(trace.run, trace.source) for trace in self]

    @property
    def workers(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(trace.worker for trace in self.traces))

    def spans(self, worker: str | None = None) -> tuple[str, ...]:
        """List the spans of a worker, or of all."""
        return tuple(dict.fromkeys(t.span for t in self.traces if worker in (None, t.worker)))

    def trace(self, worker: str | None = None, span: str | int | None = None) -> TraceProfile:
        """Return the trace of these names; a name may be left out where there is one."""
        name = _one("worker", worker, self.workers, f"run {self.name!r}")
        span = _one("span", None if span is None else str(span), self.spans(name), f"worker {name!r}")
        return next(t for t in self.traces if (t.worker, t.span) == (name, span))

    def figures(self) -> FigureTable:
        """Return the figures of all traces of this run, a row each."""
        return _figures(self.traces)

    def distributed(self, span: str | int | None = None) -> DistributedRanks:
        """Match the ranks of a span: groups, overlap per step, waiting."""
        name = _one("span", None if span is None else str(span), self.spans(), f"run {self.name!r}")
        return distributed([t.ask(partial(rank_of, worker=t.worker)) for t in self.traces if t.span == name])

    def reduced(self, span: str | int | None = None) -> RunResult:
        """Reduce all ranks of a span: who is slow and why, what it costs, collectives, heat maps, layout."""
        name = _one("span", None if span is None else str(span), self.spans(), f"run {self.name!r}")
        if name not in self._reduced:
            self._reduced[name] = reduce_run(self._summaries(name))
        return self._reduced[name]

    def _summaries(self, span: str | int | None) -> list[RankSummary]:
        name = _one("span", None if span is None else str(span), self.spans(), f"run {self.name!r}")
        if name not in self._summarized:
            traces = [t for t in self.traces if t.span == name]
            self._summarized[name] = [t.ask(partial(summarize, worker=t.worker)) for t in traces]
        return self._summarized[name]

    def ranges(self, span: str | int | None = None, step: str | None = None) -> RankRangeTable:
        """Return the ranges that the program names, over the ranks of a span: medians over the steps, or one step."""
        return ranges_of_ranks(self._summaries(span), step)

    def range(self, name: str, span: str | int | None = None, step: str | None = None) -> RangeRankTable:
        """Return one of these ranges on each rank."""
        return range_of_ranks(self._summaries(span), name, step)

    @property
    def ranks(self) -> RunRanks:
        """A row for each rank of the run's only span, as parallel lists; `.to_pandas()` makes a data frame of them."""
        return self.reduced().overview.ranks

    @property
    def stragglers(self) -> Rows[Straggler]:
        """Ranks of the run's only span that work longer than their peers; those that are `named` surely do."""
        return Rows(self.reduced().overview.stragglers)

    @property
    def collectives(self) -> Rows[CollectiveRow]:
        """Collectives of the run's only span, matched across the ranks, most waiting first."""
        return Rows(self.reduced().collectives)

    def communication(self, span: str | int | None = None, by_group: bool = True) -> OperationTable:
        """Return the communication operations of every rank."""
        return operation_table(self.distributed(span), by_group)

    def what_if(
        self, *changes: Change, span: str | int | None = None, workers: Sequence[str] | None = None
    ) -> JointWhatIf:
        """Replay the steps of each rank after all of some changes, on all ranks or those of some workers.

        Ranks are replayed together: a collective begins when the last of them is there (docs/replay.md).
        """
        name = _one("span", None if span is None else str(span), self.spans(), f"run {self.name!r}")
        for worker in workers or ():
            _one("worker", worker, self.workers, f"run {self.name!r}")
        check_changes(changes)
        ranks = [t.ask(partial(replay_rank, worker=t.worker)) for t in self.traces if t.span == name]
        return joint_what_if(ranks, changes, workers)

    def diagnosis(self, span: str | int | None = None) -> RunDiagnosis:
        """Return what bounds the steps of the ranks of a span, and what the rules over ranks find (docs/findings.md).

        All ranks are replayed together, so that savings hold what they wait for one another.
        """
        name = _one("span", None if span is None else str(span), self.spans(), f"run {self.name!r}")
        return run_diagnosis([t.ask(partial(run_rank, worker=t.worker)) for t in self.traces if t.span == name])

    def summary(self, span: str | int | None = None) -> SummaryAnswer:
        """Summarize the ranks of a span in a few stable numbers: what `torch-tb-profiler summary RUN --json` prints."""
        name = _one("span", None if span is None else str(span), self.spans(), f"run {self.name!r}")
        ranks = SUMMARY.ranks
        assert ranks is not None
        parts, failed, errors = [], [], []
        for trace in (t for t in self.traces if t.span == name):
            try:
                parts.append(trace.ask(partial(_part_of, ranks.node, trace)))
            except ProfileError as error:
                failed.append(trace.file)
                errors.append(error)
        if not parts:
            raise errors[0]
        reasons = [str(error).removeprefix(f"{file} ") for file, error in zip(failed, errors, strict=True)]
        files = [file.rpartition("/")[2] for file in failed]
        skipped = [(each.file, str(each.reason)) for each in self.skipped]
        subject = RunSubject(self.name, name, parts, (), files, reasons, skipped)
        summary: SummaryAnswer = ranks.compute(subject, NoParameters())
        return summary

    def findings(self, span: str | int | None = None) -> Rows[RunFinding]:
        """Return the findings of `diagnosis`."""
        return Rows(self.diagnosis(span).findings)


class Profile(InNotebook, Queried):
    """A log directory, a run's directory or a single file.

    path       as it was given, without a signature or password
    skipped    what lies outside all runs and looks like a trace, and why it was not taken
    """

    def __init__(self, path: str, workspace: LocalWorkspace, found: discovery.RunListing) -> None:
        self.path = path
        self._found = (workspace, found)
        self.runs = tuple(Run(workspace, run) for run in found.runs)
        self.skipped: Rows[Skipped] = Rows(found.skipped)

    def __repr__(self) -> str:
        return f"<profile {self.path!r}: {len(self.runs)} runs, {sum(1 for _ in self)} traces>"

    def __iter__(self) -> Iterator[TraceProfile]:
        """Yield all traces."""
        return (trace for run in self.runs for trace in run)

    def _page(self) -> NotebookPage:
        workspace, found = self._found
        return NotebookPage(workspace, self.path, found.runs, {})

    def _repr_html_(self) -> str:
        return profile_card(self.path, [run.as_row() for run in self.runs])

    def _as_markdown(self) -> str:
        return profile_text(self.path, [run.as_row() for run in self.runs])

    def _named_traces(self) -> Sequence[tuple[str, LocalTrace]]:
        return [(trace.run, trace.source) for trace in self]

    @property
    def snapshots(self) -> Rows[SnapshotProfile]:
        """The memory snapshots of all runs."""
        return Rows(tuple(snapshot for run in self.runs for snapshot in run.snapshots))

    @property
    def memory_snapshot(self) -> SnapshotProfile:
        """The memory snapshot, where there is one. Raises ProfileError."""
        found = tuple(self.snapshots)
        if len(found) != 1:
            listed = ", ".join(snapshot.file for snapshot in found[:20])
            raise ProfileError(
                f"{self.path!r} has {len(found)} memory snapshots; `snapshots` lists them: {listed}"
                if found
                else f"{self.path!r} has no memory snapshot"
            )
        return found[0]

    def compare_snapshots(self) -> RankRows:
        """Compare the memory snapshots; `place` is the position in `snapshots`. Raises ProfileError."""
        return rank_rows([each.ask(snapshot_figures) for each in self.snapshots])

    def figures(self) -> FigureTable:
        """Return the figures of all traces, a row each: any number of runs and workers side by side."""
        return _figures(tuple(self))

    def run(self, name: str | None = None) -> Run:
        """Return the run called so, or captures; the name may be left out where there is one run."""
        workspace, found = self._found
        for captures in found.captures:
            if captures.name == name:
                return Run(workspace, captures)
        known = tuple(run.name for run in self.runs)
        return self.runs[known.index(_one("run", name, known, repr(self.path)))]

    def trace(self, run: str | None = None, worker: str | None = None, span: str | int | None = None) -> TraceProfile:
        """Return the trace of these names; a name may be left out where there is one."""
        return self.run(run).trace(worker, span)


def _figures(traces: Sequence[TraceProfile]) -> FigureTable:
    return FigureTable(
        trace=None,
        run=tuple(trace.run for trace in traces),
        worker=tuple(trace.worker for trace in traces),
        span=tuple(trace.span for trace in traces),
        figures=tuple(trace.ask(figures) for trace in traces),
    )


def open(  # noqa: A001
    path: str | os.PathLike[str], *, workers: int = 0, cache_dir: str | Path | None = None
) -> Profile:
    """Open a trace file, a run's directory or a log directory. Raises ProfileError.

    Traces are read when they are first asked for, in this process; with `workers`, all are read now by so many
    processes. What was read is kept in `cache_dir`, by default the cache that the server uses.
    """
    url = os.fspath(path)
    with profile_errors():
        workspace = LocalWorkspace(cache_dir)
        found = find_traces(url)
    if not found.runs:
        raise ProfileError(without_traces(url, found))
    if workers:
        workspace.read_ahead([file for run in found.runs for file in run.traces], workers)
    return Profile(shown(url), workspace, found)


def _one(what: str, wanted: str | None, known: Sequence[str], where: str) -> str:
    if wanted is None and len(known) == 1:
        return known[0]
    listed = ", ".join(repr(name) for name in known[:20])
    if wanted is None:
        raise ProfileError(f"{where} has {len(known)} {what}s, one must be named: {listed}")
    if wanted not in known:
        raise ProfileError(f"{where} has no {what} {wanted!r}, only {listed}")
    return wanted


def _part_of(node: Node, trace: TraceProfile, model: Model) -> Any:
    return node.make(trace.subject(model))
