"""Lists the log directories again and again, and looks at what their files are."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from torch_tb_profiler.discovery import Found, Root, Skipped, discover
from torch_tb_profiler.storage import Entry, Problem, StorageError, storage_for
from torch_tb_profiler.workspace.heads import MOST_SECONDS, Heads

log = logging.getLogger(__name__)

DEFAULT_INTERVAL = 5.0
LONGEST_PAUSE = 300.0


class Scanner:
    """Calls `found` after every listing, or `failed` with the reason why there is none.

    interval: seconds between two listings; 0 lists once. While listing fails the pauses double. While there are
    files that were not looked at yet there is no pause.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        interval: float,
        found: Callable[[Found], None],
        failed: Callable[[str], None],
    ) -> None:
        self._roots = roots
        self._interval = interval
        self._found = found
        self._failed = failed
        self._heads = Heads()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="torch-profiler-scanner", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def _run(self) -> None:
        pause, said = self._interval, ""
        while True:
            complete = True
            try:
                found = self._step()
                self._found(found)
                complete = found.complete
                pause, said = self._interval, ""
            except Exception as error:  # this thread must live as long as the server
                reason = str(error) if isinstance(error, StorageError) else f"{type(error).__name__}: {error}"
                if reason != said:
                    log.warning("%s", reason, exc_info=not isinstance(error, StorageError))
                    said = reason
                self._failed(reason)
                pause = min(max(pause, 0.1) * 2, LONGEST_PAUSE)
            if complete and self._interval <= 0:
                return
            if self._stop.wait(pause if complete else 0):
                return

    def _step(self) -> Found:
        """List, and look at some of the files that are new or changed."""
        began = time.monotonic()
        listing = list_files(self._roots)
        waiting = self._heads.waiting(listing.entries())
        # as long as the listing took, or listing would be most of the work
        done = self._heads.look(waiting, seconds=max(MOST_SECONDS, time.monotonic() - began))
        return runs_of(listing, self._heads, complete=done == len(waiting))


@dataclass(frozen=True)
class Listing:
    """The files of each log directory, and what could not be listed."""

    files: tuple[tuple[Root, list[Entry]], ...]
    problems: tuple[Problem, ...]

    def entries(self) -> list[Entry]:
        return [entry for _, entries in self.files for entry in entries]


def list_files(roots: Sequence[Root]) -> Listing:
    """What is in the log directories now; one of several that cannot be listed is told among the problems.

    Raises StorageError when none can be listed.
    """
    problems: list[Problem] = []
    files: list[tuple[Root, list[Entry]]] = []
    failure: StorageError | None = None
    for root in roots:
        try:
            files.append((root, list(storage_for(root.url).list(root.url, problems.append))))
        except StorageError as error:
            failure = error
            problems.append(Problem(root.name or root.url, str(error)))
    if failure and not files:
        raise failure
    return Listing(tuple(files), tuple(problems))


def runs_of(listing: Listing, heads: Heads, complete: bool) -> Found:
    found = discover(listing.files, heads.content_of)
    unlisted = tuple(Skipped(p.path, p.reason) for p in listing.problems)
    return Found(found.runs, found.skipped + unlisted, complete)


def list_runs(roots: Sequence[Root]) -> Found:
    """The runs of log directories, after looking at all files. Raises StorageError when none can be listed."""
    listing, heads = list_files(roots), Heads()
    waiting = heads.waiting(listing.entries())
    heads.look(waiting, most=len(waiting), seconds=float("inf"))
    return runs_of(listing, heads, complete=True)
