"""Answers that worker processes are about to give: requests for one wait, as computing it again would be slower."""

from __future__ import annotations

import threading
from collections.abc import Set

from torch_tb_profiler.workspace.protocol import Answered, Prepared, Preparing

#: seconds for which a request waits for an answer that a worker process has promised
LONGEST_WAIT = 120.0


class _Everything(frozenset[str]):
    """What may be promised before it is known what is."""

    def __contains__(self, _: object) -> bool:
        return True


EVERYTHING = _Everything()


class PendingAnswers:
    """Names of answers by the content key of their trace. Thread-safe."""

    def __init__(self) -> None:
        self._names: dict[str, Set[str]] = {}
        self._changed = threading.Condition()

    def __len__(self) -> int:
        """For how many traces answers are awaited."""
        with self._changed:
            return len(self._names)

    def names(self, key: str) -> Set[str]:
        with self._changed:
            return self._names.get(key, frozenset())

    def promise(self, key: str, names: Set[str] = EVERYTHING) -> None:
        with self._changed:
            self._names[key] = names
            self._changed.notify_all()

    def hear(self, key: str, message: Preparing | Answered | Prepared) -> None:
        """What the worker process says that answers about this trace."""
        with self._changed:
            if isinstance(message, Preparing):
                self._names[key] = frozenset(message.names)
            elif isinstance(message, Answered):
                self._names[key] = self._names.get(key, frozenset()) - {message.name}
            else:
                self._names.pop(key, None)
            self._changed.notify_all()

    def wait_for(self, key: str, name: str) -> None:
        """Until it is given, or will not be."""
        with self._changed:
            self._changed.wait_for(lambda: name not in self._names.get(key, ()), LONGEST_WAIT)

    def clear(self) -> None:
        """Nothing will be given any more."""
        with self._changed:
            self._names.clear()
            self._changed.notify_all()
