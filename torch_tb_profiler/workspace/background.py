"""Work of the server in a thread of its own, until it is stopped."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod

STOP_SECONDS = 5.0


class Background(ABC):
    """One thread; `name` is for who looks at the process."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Returns when the work has ended, or after `STOP_SECONDS`."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=STOP_SECONDS)

    @abstractmethod
    def _work(self) -> None:
        """Ends soon after `_stop` is set."""
