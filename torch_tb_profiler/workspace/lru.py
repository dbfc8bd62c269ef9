"""A memory that forgets what was not used for the longest time."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class Lru(Generic[K, V]):
    """Holds values whose weights add up to `capacity` at most; the newest one always stays. Thread-safe."""

    def __init__(self, capacity: int, weigh: Callable[[V], int]) -> None:
        self._capacity = capacity
        self._weigh = weigh
        self._held: OrderedDict[K, V] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            value = self._held.get(key)
            if value is not None:
                self._held.move_to_end(key)
            return value

    def put(self, key: K, value: V) -> None:
        with self._lock:
            self._drop(key)
            self._held[key] = value
            self._weight += self._weigh(value)
            while self._weight > self._capacity and len(self._held) > 1:
                self._drop(next(iter(self._held)))

    def drop(self, key: K) -> None:
        with self._lock:
            self._drop(key)

    def __len__(self) -> int:
        return len(self._held)

    def _drop(self, key: K) -> None:
        value = self._held.pop(key, None)
        if value is not None:
            self._weight -= self._weigh(value)
