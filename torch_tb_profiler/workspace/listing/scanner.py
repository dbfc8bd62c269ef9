"""Lists the log directories again and again, and looks at what their files are."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.discovery import Root, RunListing, Skipped, discover
from torch_tb_profiler.discovery.names import concerns, natural_key
from torch_tb_profiler.reason import OTHER, Reason, reason_of
from torch_tb_profiler.storage import Entry, ListingProblem, StorageError, is_local, shown, storage_for
from torch_tb_profiler.storage.local import LocalTree
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.cache.identity import contents_name
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.listing.sniff import MOST_SECONDS, SniffCache, Sniffer
from torch_tb_profiler.workspace.process import BackgroundThread

log = logging.getLogger(__name__)

DEFAULT_INTERVAL = 5.0
LONGEST_PAUSE = 300.0
#: seconds for which a local file system may not answer while a directory is listed
SILENT_SECONDS = 30.0


class Scanner(BackgroundThread):
    """Calls `on_listing` after every listing, or `on_failure` with the reason why there is none.

    interval: seconds between two listings; 0 lists once. While listing fails the pauses double. While there are
    files that were not looked at yet there is no pause.
    cache: remembers what is in remote files; its shared part stands in for log directories that cannot be listed
    """

    def __init__(
        self,
        roots: Sequence[Root],
        interval: float,
        on_listing: Callable[[RunListing], None],
        on_failure: Callable[[Reason], None],
        cache: TraceCache | None = None,
    ) -> None:
        self._roots = roots
        self._cache = cache
        self._shared = cache.shared if cache else None
        self._lister = Lister(roots, interval)
        self._interval = interval
        self._on_listing = on_listing
        self._on_failure = on_failure
        self._sniffer = Sniffer(SniffCache(cache.contents(contents_name(roots))) if cache else None)
        self._listing, self._last = FileListing((), ()), RunListing((), (), complete=False)
        #: files of the last listing that were not looked at yet
        self._waiting: list[Entry] = []
        #: seconds of the last step without looking into files
        self._aside = 0.0
        super().__init__("torch-profiler-scanner")

    def _work(self) -> None:
        pause, logged = self._interval, ""
        if self._cache:  # what is in the cache may go before it is listed, not afterwards
            self._cache.sweep()
        while True:
            complete = True
            try:
                listing = self._step()
                self._on_listing(listing)
                complete = listing.complete
                pause, logged = self._interval, ""
            except Exception as error:  # this thread must live as long as the server
                foreseen = isinstance(error, StorageError)
                reason = reason_of(error) if foreseen else Reason(OTHER, f"{type(error).__name__}: {error}")
                if str(reason) != logged:
                    log.warning("%s", reason, exc_info=not foreseen)
                    logged = str(reason)
                self._on_failure(reason)
                pause = min(max(pause, 0.1) * 2, LONGEST_PAUSE)
            if complete and self._interval <= 0:
                return
            if self._stop.wait(pause if complete else 0):
                return

    def _step(self) -> RunListing:
        """List, and inspect some of the new or changed files; return the last listing if there are none."""
        began = time.monotonic()
        shared = self._shared
        if shared and all(shared.is_itself(root) for root in self._roots):
            shared.refresh()
            return shared.found(self._roots)
        try:
            listing = self._lister.list()
        except StorageError:
            if shared:
                shared.refresh()
                if (known := shared.found(self._roots)).runs:
                    return known
            raise
        is_new = listing is not self._listing
        if not is_new and self._last.complete and not self._sniffer.is_any_due:
            return self._last
        if is_new or not self._waiting:
            self._take_over(listing)
        before = time.monotonic()
        # at least as long as the rest, which covers every file: work would grow with the square of their number
        done = self._sniffer.look(self._waiting, seconds=max(MOST_SECONDS, self._aside))
        looked = time.monotonic()
        del self._waiting[:done]
        self._last = runs_of(listing, self._sniffer, complete=not self._waiting)
        self._aside = time.monotonic() - looked + before - began
        return self._last

    def _take_over(self, listing: FileListing) -> None:
        """Log what could not be listed; when nothing has been shown yet, show at once what needs no look."""
        logged = set(self._listing.problems)
        for problem in listing.problems:
            if problem not in logged:
                log.warning("%s: %s", problem.path, problem.reason)
        self._listing, entries = listing, listing.entries()
        self._waiting = self._sniffer.waiting(entries)
        if not self._last.runs and 0 < len(self._waiting) < len(entries):
            self._last = runs_of(listing, self._sniffer, complete=False)
            self._on_listing(self._last)


class FileListing(msgspec.Struct, frozen=True):
    """The files of each log directory, and what could not be listed."""

    files: tuple[tuple[Root, list[Entry]], ...]
    problems: tuple[ListingProblem, ...]

    def entries(self) -> list[Entry]:
        return [entry for _, entries in self.files for entry in entries]


class _Attempt(threading.Thread):
    """Lists a local directory in a thread of its own, which waits if the file system does not answer."""

    def __init__(self, tree: LocalTree) -> None:
        super().__init__(name="torch-profiler-listing", daemon=True)
        self._tree = tree
        self._entries: list[Entry] = []
        self._problems: list[ListingProblem] = []
        self._error: Exception | None = None
        tree.heard = time.monotonic()
        self.start()

    def run(self) -> None:
        try:
            self._entries = self._tree.list(self._problems.append)
        except Exception as error:  # noqa: BLE001 - `result` raises it
            self._error = error

    def result(self, report: Callable[[ListingProblem], None]) -> list[Entry]:
        """Wait for the listing. Raises StorageError, also when no answer comes for a while; call it again then."""
        while self.is_alive() and (left := self._tree.heard + SILENT_SECONDS - time.monotonic()) > 0:
            self.join(left)
        if self.is_alive():
            place = shown(self._tree.root)
            raise StorageError(because("silent", {"place": place, "seconds": SILENT_SECONDS}))
        if self._error is not None:
            raise self._error
        for problem in self._problems:
            report(problem)
        return self._entries


class _Listed(msgspec.Struct):
    """One log directory and its last listing.

    tree: None for a remote one
    due: when it is listed again after a failure (monotonic seconds)
    attempt: an unfinished listing
    """

    root: Root
    pause: float
    tree: LocalTree | None
    entries: list[Entry] | None = None
    problems: tuple[ListingProblem, ...] = ()
    failure: StorageError | None = None
    due: float = 0.0
    attempt: _Attempt | None = None


class Lister:
    """Lists log directories. One that fails keeps its last listing, and is tried again after growing pauses."""

    def __init__(self, roots: Sequence[Root], interval: float) -> None:
        self._interval = max(interval, 0.1)
        self._listed = [
            _Listed(root, self._interval, LocalTree(root.url, concerns) if is_local(root.url) else None)
            for root in roots
        ]
        self._last = FileListing((), ())

    def list(self) -> FileListing:
        """Return the files in the log directories now; a directory that cannot be listed is one of the problems.

        It is the same object as last time when nothing has changed.

        Raises StorageError when none can be listed.
        """
        for listed in self._listed:
            if listed.failure is None or time.monotonic() >= listed.due:
                self._list(listed)
        failures = [listed.failure for listed in self._listed if listed.failure]
        if failures and len(failures) == len(self._listed):
            raise _all_of(failures)
        problems = [problem for listed in self._listed for problem in listed.problems]
        problems += [ListingProblem(o.root.name or o.root.url, o.failure.reason) for o in self._listed if o.failure]
        files = tuple((listed.root, listed.entries) for listed in self._listed if listed.entries is not None)
        before = self._last
        is_same = [id(entries) for _, entries in files] == [id(entries) for _, entries in before.files]
        if not is_same or before.problems != tuple(problems):
            self._last = FileListing(files, tuple(problems))
        return self._last

    def _list(self, listed: _Listed) -> None:
        problems: list[ListingProblem] = []
        try:
            entries = _entries_of(listed, problems.append)
        except StorageError as error:
            listed.failure = error
            listed.pause = min(listed.pause * 2, LONGEST_PAUSE)
            listed.due = time.monotonic() + max(listed.pause, error.wait)
        else:
            listed.entries, listed.problems, listed.failure = entries, tuple(problems), None
            listed.pause = self._interval
        finally:
            if listed.attempt is not None and not listed.attempt.is_alive():
                listed.attempt = None


def _entries_of(listed: _Listed, report: Callable[[ListingProblem], None]) -> list[Entry]:
    """List the files that something may be said of; the same list as last time when nothing has changed."""
    if listed.tree is not None:
        listed.attempt = listed.attempt or _Attempt(listed.tree)
        return listed.attempt.result(report)
    every = storage_for(listed.root.url).list(listed.root.url, report)
    entries = [entry for entry in every if concerns(entry.path.rpartition("/")[2])]
    return listed.entries if entries == listed.entries else entries


def _all_of(failures: Sequence[StorageError]) -> StorageError:
    first = failures[0]
    sentences = dict.fromkeys(str(failure) for failure in failures)
    message = first.reason if len(sentences) == 1 else "; ".join(sentences)
    return StorageError(message, first.kind, max(failure.wait for failure in failures))


def resolved(roots: Sequence[Root]) -> list[Root]:
    """Log directories by their absolute addresses. Raises StorageError when none of them can be right."""
    absolute: list[Root] = []
    failures: list[StorageError] = []
    for root in roots:
        try:
            absolute.append(Root(storage_for(root.url).resolve(root.url), root.name))
        except StorageError as error:
            failures.append(error)
            absolute.append(Root(shown(root.url), root.name))  # listing it says the same
    if failures and len(failures) == len(roots):
        raise failures[0]
    return absolute


def runs_of(listing: FileListing, sniffer: Sniffer, complete: bool) -> RunListing:
    found = discover(listing.files, sniffer.content_of)
    unlisted = tuple(Skipped(p.path, p.reason, unlisted=True) for p in listing.problems)
    # of a folder of captures one file is read: there may be hundreds
    captures = tuple(run for run in found.captures if sniffer.has_captures(run.traces[0].entry))
    others = [replace(run, parent=None) for run in found.captures if run not in captures]
    runs = tuple(sorted([*found.runs, *others], key=lambda run: natural_key(run.name)))
    return RunListing(runs, unlisted + found.skipped, complete, found.dumps, captures)


def list_files(roots: Sequence[Root]) -> FileListing:
    """Return the files in the log directories. Raises StorageError when none can be listed."""
    return Lister(roots, DEFAULT_INTERVAL).list()


def list_runs(roots: Sequence[Root]) -> RunListing:
    """Return the runs of log directories, after looking at all files. Raises StorageError when none can be listed."""
    listing, sniffer = list_files(roots), Sniffer()
    waiting = sniffer.waiting(listing.entries())
    sniffer.look(waiting, seconds=float("inf"))
    return runs_of(listing, sniffer, complete=True)
