"""Lists the log directories again and again."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence

from torch_tb_profiler.discovery import Found, Root, Skipped, discover
from torch_tb_profiler.storage import Entry, Problem, StorageError, storage_for

log = logging.getLogger(__name__)

DEFAULT_INTERVAL = 5.0
LONGEST_PAUSE = 300.0


class Scanner:
    """Calls `found` after every listing, or `failed` with the reason why there is none.

    interval: seconds between two listings; 0 lists once. While listing fails the pauses double.
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
            try:
                self._found(list_runs(self._roots))
                pause, said = self._interval, ""
            except Exception as error:  # this thread must live as long as the server
                reason = str(error) if isinstance(error, StorageError) else f"{type(error).__name__}: {error}"
                if reason != said:
                    log.warning("%s", reason, exc_info=not isinstance(error, StorageError))
                    said = reason
                self._failed(reason)
                pause = min(max(pause, 0.1) * 2, LONGEST_PAUSE)
            if self._interval <= 0 or self._stop.wait(pause):
                return


def list_runs(roots: Sequence[Root]) -> Found:
    """What is in the log directories now; one of several that cannot be listed is told among the skipped.

    Raises StorageError when none can be listed.
    """
    problems: list[Problem] = []
    listings: list[tuple[Root, list[Entry]]] = []
    failure: StorageError | None = None
    for root in roots:
        try:
            listings.append((root, list(storage_for(root.url).list(root.url, problems.append))))
        except StorageError as error:
            failure = error
            problems.append(Problem(root.name or root.url, str(error)))
    if failure and not listings:
        raise failure
    found = discover(listings)
    return Found(found.runs, found.skipped + tuple(Skipped(p.path, p.reason) for p in problems))
