"""Memory of what nobody looks at any more, back to the system."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from torch_tb_profiler.workspace.give_back import give_back

#: after which a model or timeline is dropped; opening it again takes some tenths of a second for a million events
UNUSED_SECONDS = 60.0
#: between two looks
PAUSE_SECONDS = 10.0


class Unused:
    """Drops, again and again, what was not used for `UNUSED_SECONDS`.

    drops: each drops what was not used for so many seconds, and says how many those were
    """

    def __init__(self, drops: Sequence[Callable[[float], int]], pause: float = PAUSE_SECONDS) -> None:
        self._drops = drops
        self._pause = pause
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name="torch-profiler-unused", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=5)

    def look(self, seconds: float = UNUSED_SECONDS) -> None:
        """Drop what was not used for so long."""
        if sum([drop(seconds) for drop in self._drops]):
            give_back()

    def _run(self) -> None:
        while not self._stop.wait(self._pause):
            self.look()
