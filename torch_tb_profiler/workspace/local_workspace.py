"""Traces for a program: read when first asked for, in this process, with the same cache as the server's."""

from __future__ import annotations

import itertools
import logging
import os
import re
import shlex
import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler import spill
from torch_tb_profiler.discovery import (
    DEFAULT_SPAN,
    Content,
    Root,
    RunFiles,
    RunListing,
    Skipped,
    TraceFile,
    discover,
    named_roots,
)
from torch_tb_profiler.discovery.names import base_name, is_candidate
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.other_formats import KINDS, other_by_name
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry, StorageError, shown, storage_for, without_slash
from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.workspace.answering.open_traces import Models, OpenModel, locked
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder, Packed, pack
from torch_tb_profiler.workspace.cache.checksummed import is_broken, remove_parts
from torch_tb_profiler.workspace.cache.identity import content_key
from torch_tb_profiler.workspace.cache.trace_cache import open_cache
from torch_tb_profiler.workspace.listing.scanner import list_runs
from torch_tb_profiler.workspace.listing.sniff import sniff
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import Done, Failed, Job, Message
from torch_tb_profiler.workspace.reading.reading_order import helpers_for, memory_budget, memory_for, processors
from torch_tb_profiler.workspace.reading.worker import perform
from torch_tb_profiler.workspace.status import TraceSummary, Unavailable

log = logging.getLogger(__name__)

T = TypeVar("T")

#: events of all models that are kept open together
OPEN_EVENTS = 8_000_000


class LocalWorkspace:
    """The traces that a program has asked for. Thread-safe."""

    def __init__(
        self,
        cache_dir: str | Path | None = None,
        on_progress: Callable[[TraceFile, Message], None] = lambda *_: None,
        is_alone: bool = False,
    ) -> None:
        """Open the cache. Raises StorageError.

        cache_dir    see `open_cache`
        on_progress  called while a file is read in this process, with how far that is; its outcome is the last
        is_alone     whether the process does nothing else, so that large arrays may be spilled
        """
        self._on_progress = on_progress
        self.cache_dir = cache_dir
        self._cache = open_cache(cache_dir)
        if is_alone:
            spill.use(self._cache.directory)
        if self._cache.shared:
            self._cache.shared.refresh()
        # a directory that cannot be written is replaced by a temporary one
        weakref.finalize(self, self._cache.close)
        self._ids = itertools.count(1)
        self._keys: dict[TraceFile, str] = {}
        #: keys of the traces that were read in this process
        self._made: set[str] = set()
        self._models = Models(self._cache, OPEN_EVENTS)
        self._helped = threading.Lock()  # one thread at a time reads with helpers

    def read_ahead(self, files: Sequence[TraceFile], workers: int) -> None:
        """Read the files that are not in the cache, in worker processes. Errors are raised when a file is used."""
        missing = [file for file in files if self._is_missing(file)]
        if not missing:
            return
        left = threading.Semaphore(0)

        def on_message(job: Job, message: Message | None) -> None:
            try:
                if isinstance(message, Done):
                    self._cache.add(keys[job.id], message.summary)
            finally:
                if isinstance(message, Done | Failed):
                    left.release()

        jobs = [self._job(file) for file in missing]
        keys = {job.id: self._key(file) for job, file in zip(jobs, missing, strict=True)}
        pool = Pool(min(workers, len(jobs)), on_message, processors=workers)
        try:
            for job in jobs:
                pool.submit(job)
            for _ in jobs:
                left.acquire()
        finally:
            pool.close()
        self._cache.sweep_if_due()

    def abandon(self) -> None:
        """Remove unfinished files of this process from the cache: it ends, and waits for none of its threads."""
        remove_parts([self._cache.directory], "", os.getpid())
        self._cache.close()

    def known(self, file: TraceFile) -> TraceSummary | None:
        """Return the summary of a file that any process has read before, else None."""
        try:
            return self._cache.find(self._key(file))
        except Unavailable:
            return None

    def _is_missing(self, file: TraceFile) -> bool:
        try:
            return self._cache.find(self._key(file)) is None
        except Unavailable:
            return False

    def open(self, file: TraceFile, choice: StepChoice | None = None) -> OpenModel:
        """Return the model of a trace, with steps as `choice` says.

        Raises Unavailable, and ColumnFileError when the columns in the cache cannot be used.
        """
        key = self._key(file)
        return self._models.open(key, choice, make_columns=lambda: self._make_columns(file, key))

    def columns(self, file: TraceFile) -> Path:
        """Return the column file of a trace; read the trace if there is none. Raises Unavailable."""
        key = self._key(file)
        self._make_columns(file, key)
        return self._cache.columns_here(key)

    def remember(self, file: TraceFile, name: str, make: Callable[[], bytes]) -> bytes:
        """Return the answer stored under a name beside the columns of a trace; make and store it if there is none.

        Raises Unavailable, and the errors of `make`.

        name    see `answer_store.answer_name`
        """
        key = self._key(file)
        folder = AnswerFolder(self._cache.answers(key))
        known = folder.get(name)
        if isinstance(known, Packed):
            self._cache.touch(key)
            return known.plain()
        made = make()
        self._cache.added(folder.put(name, pack(made)))
        self._cache.sweep_if_due()
        return made

    def forget_columns(self, file: TraceFile, error: Exception) -> bool:
        """Remove the columns of a trace if an error is about them; return whether it is.

        An error that names no file is about them, unless this process has read the columns: see `is_broken`.
        """
        key = self._key(file)
        is_about = (
            error.path == self._cache.columns(key) if isinstance(error, ColumnFileError) else key not in self._made
        )
        if is_about:
            log.warning("%s: its columns cannot be used (%s); it is read again", file.entry.path, error)
            self._models.drop(key)
            self._cache.remove(key)
        return is_about

    def _make_columns(self, file: TraceFile, key: str) -> None:
        """Read the file, unless its columns are in the cache."""
        if self._cache.find(key) is not None:
            return
        job = self._job(file)
        is_helped = self._helped.acquire(blocking=False)
        try:
            if is_helped and not job.has_columns:
                left = memory_budget() - memory_for(file.entry, kind=file.kind)
                job = msgspec.structs.replace(job, helpers=helpers_for(file.entry, file.kind, processors() - 1, left))
            outcome = perform(job, partial(self._on_progress, file))
        finally:
            if is_helped:
                self._helped.release()
        self._on_progress(file, outcome)
        if isinstance(outcome, Failed):
            raise Unavailable(f"{file.entry.path} {outcome.reason}")
        assert isinstance(outcome, Done)
        if not job.has_columns:
            self._made.add(key)
        self._cache.add(key, outcome.summary)
        self._cache.sweep_if_due()

    def _key(self, file: TraceFile) -> str:
        key = self._keys.get(file)
        if key is None:
            try:
                key = self._keys[file] = content_key(storage_for(file.entry.url), file.entry)
            except StorageError as error:
                raise Unavailable(f"{file.entry.path} {error}") from None
        return key

    def _job(self, file: TraceFile) -> Job:
        key = self._key(file)
        target = self._cache.columns_here(key)
        return Job(
            next(self._ids),
            file.entry,
            str(target),
            expansion=self._cache.limits.expansion,
            has_columns=target.is_file(),
            rank=str(self._cache.rank(key)),
            kind=file.kind,
        )


class LocalTrace(msgspec.Struct, frozen=True):
    """A trace of a workspace, and how its steps are found."""

    workspace: LocalWorkspace
    file: TraceFile
    choice: StepChoice | None = None

    def ask(self, question: Callable[[Model], T]) -> T:
        """Return the answer to a question about this trace. Raises Unavailable."""
        return ask_together((self,), lambda models: question(models[0]))


def ask_together(traces: Sequence[LocalTrace], question: Callable[[Sequence[Model]], T]) -> T:
    """Return the answer to a question about several traces, of one or more workspaces. Raises Unavailable."""
    made_again: set[Path | None] = set()
    while True:
        try:
            opened = [trace.workspace.open(trace.file, trace.choice) for trace in traces]
            with locked(*opened), spill.watched():
                return question([each.model for each in opened])
        except Exception as error:
            # Tables are read when they are needed, so columns may turn out broken or gone this late.
            path = error.path if isinstance(error, ColumnFileError) else None
            if not is_broken(error) or path in made_again:
                raise
            about = [trace.workspace.forget_columns(trace.file, error) for trace in traces]
            if not any(about):
                raise
            made_again.add(path)


def find_traces(*paths: str) -> RunListing:
    """Return the runs of log directories, of directories of runs and of single files, whatever their names.

    Files of one directory are one run. With several directories the names of their runs begin with those of the
    directories. Raises StorageError.
    """
    folders: dict[str, list[Entry] | None] = {}
    for path in paths:
        url, entry = _looked_up(path)
        if entry is None:
            folders[without_slash(url)] = None
            continue
        named = folders.setdefault(url.replace("\\", "/").rpartition("/")[0] or url, [])
        if named is not None:
            named.append(entry)
    found = [
        list_runs([root]) if named is None else _of_files(root, {entry: sniff(entry) for entry in named})
        for root, named in zip(named_roots(list(folders)), folders.values(), strict=True)
    ]
    return RunListing(
        tuple(run for each in found for run in each.runs),
        tuple(skipped for each in found for skipped in each.skipped),
        captures=tuple(run for each in found for run in each.captures),
    )


def _looked_up(path: str) -> tuple[str, Entry | None]:
    """Return the address of a path, and the file there unless it is a directory."""
    storage = storage_for(path)
    url = storage.resolve(path)
    try:
        return url, storage.stat(url)
    except StorageError as error:
        if error.passes or error.kind in ("credentials", "package", "clock", "endpoint"):
            raise  # listing would raise the same error
        return url, None


def without_traces(path: str, found: RunListing, run: str | None = None) -> str:
    """Return the message about a path, or one of its runs, in which `find_traces` found no trace."""
    if found.runs:
        command = shlex.join(["torch-tb-profiler", "memory", shown(path), *([] if run is None else ["--run", run])])
        return f"{shown(path)} contains a memory snapshot but no trace: `{command}` opens it"
    why = f": {found.skipped[0].file} {found.skipped[0].reason}" if found.skipped else ""
    return f"{shown(path)} contains no trace{why}"


def run_of_files(name: str, contents: Mapping[Entry, Content]) -> RunFiles:
    """Return the run of files of one directory, at least one, each known to be a trace or a snapshot."""
    (run,) = _of_files(Root("", name), contents).runs
    return run


def _of_files(root: Root, contents: Mapping[Entry, Content | Reason]) -> RunListing:
    """Take files for traces, unless they are snapshots or files of other programs; reading detects any other format."""
    others = {entry: reason for entry, what in contents.items() if (reason := _other_format(entry, what))}
    entries = [entry for entry in contents if entry not in others]
    snapshots = {entry for entry, what in contents.items() if isinstance(what, Content) and what.is_snapshot}
    listing = discover([(root, entries)], lambda entry: Content(is_snapshot=entry in snapshots))
    skipped = [Skipped(entry.path.rpartition("/")[2], reason) for entry, reason in others.items()]
    listing = RunListing(listing.runs, (*listing.skipped, *skipped))
    taken = {trace.entry for run in listing.runs for trace in run.traces}
    further = tuple(
        TraceFile(_worker(entry), DEFAULT_SPAN, entry, kind="snapshot" if entry in snapshots else "trace")
        for entry in entries
        if entry not in taken and not is_candidate(entry.path)
    )
    if not further:
        return listing
    (run,) = listing.runs or (RunFiles(root.name or base_name(root.url), ()),)
    return RunListing((replace(run, traces=run.traces + further),), listing.skipped)


#: kinds of files that are no traces, whatever their names say
_NO_TRACES = frozenset((*KINDS, "no_snapshot"))


def _other_format(entry: Entry, what: Content | Reason) -> Reason | None:
    """Return the format of a file of another program; None for all other files."""
    reason = what.reason if isinstance(what, Content) else None
    if reason is None:
        return None
    return reason if reason.kind in _NO_TRACES else other_by_name(entry.path)


def _worker(entry: Entry) -> str:
    name = entry.path.rpartition("/")[2]
    return name.partition(".")[0] or name


_CODED = lazy_pattern("%(7e|25)", re.IGNORECASE)


class Address(msgspec.Struct, frozen=True):
    """The parts of a path. worker, span: None if it does not name one."""

    path: str
    worker: str | None = None
    span: str | None = None


def address_of(path: str) -> Address:
    """Split `logdir/run~worker~span` or `logdir/run~worker`; a path that exists as written is no address.

    A `~` of a name is written %7E and a `%` %25, as in the address of the page.

    >>> address_of("/nowhere/resnet~rank3~1")
    Address(path='/nowhere/resnet', worker='rank3', span='1')
    >>> address_of("/nowhere/~user/run")
    Address(path='/nowhere/~user/run', worker=None, span=None)
    """
    folder, slash, last = path.rpartition("/")
    run, *names = last.split("~")
    if len(names) not in (1, 2) or not all(names) or not (run or slash) or _is_there(path):
        return Address(path)
    worker, span = [_CODED.sub(_decoded, each) for each in [*names, ""]][:2]
    return Address(folder + slash + _CODED.sub(_decoded, run), worker, span or None)


def _decoded(code: re.Match[str]) -> str:
    return "%" if code[1] == "25" else "~"


def _is_there(path: str) -> bool:
    """Return whether a local path exists; False for a remote one, which would cost a request."""
    try:
        return "://" not in path and Path(path).exists()
    except (OSError, ValueError):  # a name that no file can have
        return False
