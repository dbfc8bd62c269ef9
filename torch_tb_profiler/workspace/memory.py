"""Values that are made once and kept in memory: one thread makes a value, others that want the same one wait for it."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import Generic, TypeVar

import msgspec

from torch_tb_profiler.workspace.lru import Lru

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Making(msgspec.Struct):
    """A key whose value is being made, or waited for.

    users: threads that do
    is_wanted: false when the key was dropped after the making began
    """

    lock: RLock = msgspec.field(default_factory=RLock)
    users: int = 0
    is_wanted: bool = True


class Memory(Generic[K, V]):
    """A bounded memory of values by key. Thread-safe.

    Only the lock of its key is held while a value is made. A value whose making failed is not remembered: the next
    thread that waits for it makes it.
    """

    def __init__(self, capacity: int, weigh: Callable[[V], int]) -> None:
        """See `Lru`."""
        self._values: Lru[K, V] = Lru(capacity, weigh)
        self._making: dict[K, _Making] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    @property
    def weight(self) -> int:
        """Of all values together."""
        return self._values.weight

    def get(self, key: K) -> V | None:
        return self._values.get(key)

    def remember(self, key: K, make: Callable[[], V]) -> V:
        """The value of a key, made when it is not known. Raises what `make` raises."""
        value = self._values.get(key)
        if value is not None:
            return value
        with self._lock:
            making = self._making.setdefault(key, _Making())
            making.users += 1
        try:
            with making.lock:
                value = self._values.get(key)
                if value is None:
                    making.is_wanted = True
                    value = make()
                    self._put(key, value, making)
                return value
        finally:
            with self._lock:
                making.users -= 1
                if not making.users:
                    del self._making[key]

    def values(self) -> list[V]:
        """All that are kept."""
        return self._values.values()

    def put(self, key: K, value: V) -> None:
        """A value that was made elsewhere."""
        self._values.put(key, value)

    def drop_unused(self, seconds: float, least: int = 0) -> int:
        """Forget what weighs so much and was not asked for so long. How many values that were."""
        return self._values.drop_unused(seconds, least)

    def drop(self, unwanted: Callable[[K], bool]) -> None:
        """Forget the values of some keys, those that are being made included."""
        with self._lock:
            for key, making in self._making.items():
                if unwanted(key):
                    making.is_wanted = False
        self._values.drop_all(unwanted)

    def _put(self, key: K, value: V, making: _Making) -> None:
        self._values.put(key, value)
        if not making.is_wanted:  # dropped meanwhile
            self._values.drop(key)
