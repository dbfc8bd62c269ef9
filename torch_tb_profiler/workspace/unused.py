"""Memory of what nobody looks at any more, back to the system."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_tb_profiler.workspace.background import Background
from torch_tb_profiler.workspace.give_back import give_back

#: after which a model or timeline is dropped; opening it again takes some tenths of a second for a million events
UNUSED_SECONDS = 60.0
#: between two looks
PAUSE_SECONDS = 10.0


class Unused(Background):
    """Drops, again and again, what was not used for `UNUSED_SECONDS`.

    drops: each drops what was not used for so many seconds, and says how many those were
    """

    def __init__(self, drops: Sequence[Callable[[float], int]], pause: float = PAUSE_SECONDS) -> None:
        self._drops = drops
        self._pause = pause
        super().__init__("torch-profiler-unused")

    def look(self, seconds: float = UNUSED_SECONDS) -> None:
        """Drop what was not used for so long."""
        if sum([drop(seconds) for drop in self._drops]):
            give_back()

    def _work(self) -> None:
        while not self._stop.wait(self._pause):
            self.look()
