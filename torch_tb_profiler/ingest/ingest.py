"""All ranks of a log directory, read into a place, and what they say together."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.defaults import EXPANSION, EXPANSION_VARIABLE
from torch_tb_profiler.discovery import RunFiles, RunListing, Skipped, TraceFile, natural_key
from torch_tb_profiler.ingest.reading import LocalRunner, judge
from torch_tb_profiler.ingest.results import RankUnusable, RunOutcome, outcome_of
from torch_tb_profiler.ingest.runner import (
    IngestProgress,
    IngestRefused,
    IngestTarget,
    Outcome,
    RankKept,
    RankLost,
    Runner,
    Task,
    WorkerProbe,
    WorkLost,
)
from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.storage import StorageError, storable, storage_for
from torch_tb_profiler.workspace.cache.identity import FileNames, answers_version
from torch_tb_profiler.workspace.cache.shared_cache import (
    VERSION,
    CatalogFailed,
    CatalogFile,
    CatalogRun,
    CatalogSkipped,
    CatalogTrace,
    LogdirCatalog,
    write_catalog,
)
from torch_tb_profiler.workspace.cache.stores import FolderStore, RemoteStore, store_at
from torch_tb_profiler.workspace.cache.trace_cache import default_directory
from torch_tb_profiler.workspace.local_workspace import find_traces, without_traces
from torch_tb_profiler.workspace.process import int_from_environment
from torch_tb_profiler.workspace.reading.reading_order import in_reading_order, processes_for


class Readers(msgspec.Struct, frozen=True):
    """Who reads the ranks.

    connect: to a cluster; None for this machine
    processes: of this machine; None for as many as processors and memory allow
    stop_when_lost: when the cluster is gone the rest is not read here
    seed: of the order in which ranks are read, for tests
    """

    connect: Callable[[], Runner] | None = None
    processes: int | None = None
    stop_when_lost: bool = False
    seed: int | None = None


class Reporter(Protocol):
    """Takes what a person should know, from several threads."""

    def show(self, progress: IngestProgress) -> None:
        """Show how far it is."""

    def say(self, text: str) -> None:
        """Show a sentence."""


class _Silent:
    def show(self, progress: IngestProgress) -> None:
        pass

    def say(self, text: str) -> None:
        pass


class Ingested(msgspec.Struct, frozen=True):
    """What became of a log directory.

    place: where its ranks are now
    ranks, there: how many could be read, and how many of them somebody had read before
    failed: how many could not
    runs: what the ranks of each run and span say together
    skipped: files outside of all runs that are no traces
    """

    place: str
    ranks: int
    there: int
    failed: int
    runs: tuple[RunOutcome, ...]
    skipped: tuple[CatalogSkipped, ...]


class _Work(msgspec.Struct):
    """The files, and what became of each; a task has the number of its file."""

    files: list[TraceFile]
    target: IngestTarget
    outcomes: dict[int, Outcome] = msgspec.field(default_factory=dict)

    def task(self, number: int) -> Task:
        return Task.of(number, self.files[number], self.target)

    def lost(self) -> list[int]:
        return sorted(number for number, outcome in self.outcomes.items() if isinstance(outcome, RankLost))


def ingest(
    logdir: str,
    cache_dir: str = "",
    readers: Readers | None = None,
    reporter: Reporter | None = None,
    with_clock: bool = False,
) -> Ingested:
    """Read every rank that is not there yet, and reduce each run.

    cache_dir: a folder or address for all; empty for the user's own cache
    with_clock: clocks will be asked for: `RunOutcome.summary`

    Raises IngestRefused.
    """
    readers, reporter = readers or Readers(), reporter or _Silent()
    traces = _ranks_of(logdir, _found(logdir))
    place = _prepared(cache_dir)
    part = f"ingest-{secrets.token_hex(6)}-"
    expansion = int_from_environment(EXPANSION_VARIABLE, EXPANSION, least=1)
    target = IngestTarget(storable(place.url), _is_private(place), part, expansion, answers_version())
    work = _Work([file for run in traces.runs for file in run.traces], target)
    runner: Runner | None = None
    try:
        runner = readers.connect() if readers.connect else LocalRunner(processes_for(work.files, readers.processes))
        check = WorkerProbe(
            **WorkerProbe.fields_of(work.files[0].entry), nonce=f"{target.part}probe.part", target=target
        )
        judge(runner.probe(check), check)
        _read_all(work, runner, readers, reporter)
        runs = _reduced(traces, work, with_clock)
        if not target.is_private:
            _write_catalog(logdir, traces, work)
    except (StorageError, OSError) as error:
        raise IngestRefused(str(error)) from error
    finally:
        if runner is not None:
            runner.close()
        _sweep(target)
    kept = [outcome for outcome in work.outcomes.values() if isinstance(outcome, RankKept)]
    return Ingested(
        place.url,
        len(kept),
        sum(outcome.was_there for outcome in kept),
        len(work.lost()),
        runs,
        tuple(CatalogSkipped.of(s.file, s.reason) for s in traces.skipped),
    )


def _found(logdir: str) -> RunListing:
    try:
        found = find_traces(logdir)
    except StorageError as error:
        raise IngestRefused(str(error)) from None
    if not found.runs:
        raise IngestRefused(without_traces(logdir, found))
    return found


def _ranks_of(logdir: str, traces: RunListing) -> RunListing:
    """Leave out what is no trace of a rank. Raises IngestRefused when nothing is left."""
    other = Reason(OTHER, "is a memory snapshot: it is read when it is opened")
    runs = []
    for run in traces.runs:
        ranks = tuple(file for file in run.traces if file.kind == "trace")
        left = [Skipped(file.entry.path.rpartition("/")[2], other) for file in run.traces if file.kind != "trace"]
        if ranks:
            runs.append(replace(run, traces=ranks, skipped=(*run.skipped, *left)))
    if not runs:
        raise IngestRefused(without_traces(logdir, traces))
    return replace(traces, runs=tuple(runs))


def _prepared(cache_dir: str) -> FolderStore | RemoteStore:
    """Return the place, which can be written as far as that can be known here."""
    try:
        place = store_at(cache_dir) if cache_dir else FolderStore(default_directory(), is_private=True)
        place.prepare()
    except StorageError as error:
        raise IngestRefused(str(error)) from None
    except OSError as error:
        where = cache_dir or error.filename
        raise IngestRefused(
            f"{where} cannot be written: {error.strerror or error}; --cache-dir names another"
        ) from None
    return place


def _is_private(place: FolderStore | RemoteStore) -> bool:
    return isinstance(place, FolderStore) and place.is_private


def _sweep(target: IngestTarget) -> None:
    """Workers that were killed may have left what they had begun."""
    try:
        target.open().sweep()
    except (StorageError, OSError):
        return  # it is swept like all that dead processes leave


# reading --------------------------------------------------------------------------------------------------


def _read_all(work: _Work, runner: Runner, readers: Readers, reporter: Reporter) -> None:
    """Read every file once, and try those that failed a second time."""
    number_of = {id(file): number for number, file in enumerate(work.files)}
    order = in_reading_order(work.files, secrets.randbits(32) if readers.seed is None else readers.seed)
    meter = _Meter(work, reporter)
    local: LocalRunner | None = None
    try:
        todo = [number_of[id(file)] for file in order]
        for is_again in (False, True):
            try:
                _read(work, local or runner, todo, meter)
            except WorkLost as lost:
                if readers.stop_when_lost:
                    text = f"{lost}: {len(lost.left)} of {len(work.files)} ranks are not read; those that were are kept"
                    raise IngestRefused(text) from None
                reporter.say(f"{lost}; the remaining {len(lost.left)} ranks are read on this machine")
                local = LocalRunner(processes_for(work.files, readers.processes))
                _read(work, local, [task.number for task in lost.left], meter)
            todo = [] if is_again else work.lost()
    finally:
        if local is not None:
            local.close()


def _read(work: _Work, runner: Runner, numbers: Sequence[int], meter: _Meter) -> None:
    for outcome in runner.run((work.task(number) for number in numbers), meter.reading):
        work.outcomes[outcome.number] = outcome
        meter.done(outcome)


class _Meter:
    """Adds up how far it is."""

    def __init__(self, work: _Work, reporter: Reporter) -> None:
        self._work, self._reporter = work, reporter
        self._began = time.monotonic()
        self._all = sum(file.entry.size for file in work.files)
        self._done = 0
        self._reading: dict[int, int] = {}
        self._counted: set[int] = set()
        self._lost: set[int] = set()

    def reading(self, number: int, bytes_done: int) -> None:
        if number not in self._counted:
            self._reading[number] = bytes_done
        self._tell()

    def done(self, outcome: Outcome) -> None:
        number = outcome.number
        self._reading.pop(number, None)
        (self._lost.add if isinstance(outcome, RankLost) else self._lost.discard)(number)
        if number not in self._counted:
            self._counted.add(number)
            self._done += self._work.files[number].entry.size
        self._tell()

    def _tell(self) -> None:
        self._reporter.show(
            IngestProgress(
                len(self._counted),
                len(self._work.files),
                len(self._lost),
                min(self._done + sum(list(self._reading.values())), self._all),
                self._all,
                time.monotonic() - self._began,
            )
        )


# what comes of it -----------------------------------------------------------------------------------------


def _reduced(found: RunListing, work: _Work, with_clock: bool) -> tuple[RunOutcome, ...]:
    """Reduce each run and span; a rank whose summary turns out damaged is read again once, here."""
    number_of = {id(file): number for number, file in enumerate(work.files)}
    read_again: set[int] = set()
    reduced: list[RunOutcome] = []
    for run in found.runs:
        for span in sorted({file.span for file in run.traces}, key=natural_key):
            files = [file for file in run.traces if file.span == span]
            while True:
                of = [(file, work.outcomes[number_of[id(file)]]) for file in files]
                try:
                    reduced.append(outcome_of(run, span, of, work.target, with_clock))
                    break
                except RankUnusable as unusable:
                    _mend(work, unusable.kept, read_again)
    return tuple(reduced)


def _mend(work: _Work, kept: RankKept, read_again: set[int]) -> None:
    """Have a rank made again whose summary in the place is damaged, or that somebody has made of other columns."""
    number = kept.number
    if number in read_again:
        work.outcomes[number] = RankLost.of(
            number, Reason(OTHER, "cannot be cached: its summary was damaged repeatedly")
        )
        return
    read_again.add(number)
    place, names = work.target.open(), FileNames(work.target.expansion).shared(kept.key)
    for name in (names.summary, names.rank, names.columns):
        place.remove(name)
    runner = LocalRunner(1)
    try:
        for outcome in runner.run([work.task(number)], lambda *_: None):
            work.outcomes[number] = outcome
    finally:
        runner.close()


def _write_catalog(logdir: str, found: RunListing, work: _Work) -> None:
    address = storable(storage_for(logdir).resolve(logdir))
    outcomes = iter(work.outcomes[number] for number in range(len(work.files)))
    runs = tuple(_catalog_run(run, outcomes) for run in found.runs)
    skipped = tuple(CatalogSkipped.of(s.file, s.reason) for s in found.skipped)
    code = FileNames(work.target.expansion).version
    write_catalog(work.target.open(), LogdirCatalog(VERSION, address, code, runs, skipped))


def _catalog_run(run: RunFiles, outcomes: Iterable[Outcome]) -> CatalogRun:
    traces: list[CatalogTrace] = []
    failed: list[CatalogFailed] = []
    for file, outcome in zip(run.traces, outcomes, strict=False):
        if isinstance(outcome, RankLost):
            why = CatalogSkipped.of(file.entry.path.rpartition("/")[2], outcome.reason)
            failed.append(CatalogFailed(CatalogFile.of(file), why))
        else:
            traces.append(CatalogTrace(CatalogFile.of(file), outcome.key, outcome.summary))
    skipped = tuple(CatalogSkipped.of(s.file, s.reason) for s in run.skipped)
    return CatalogRun(run.name, tuple(traces), tuple(failed), skipped)
