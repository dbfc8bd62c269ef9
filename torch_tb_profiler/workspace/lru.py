"""A memory that forgets what was not used for the longest time."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import Generic, TypeVar

import msgspec

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Held(msgspec.Struct, Generic[V]):
    """used: when it was asked for last, monotonic seconds."""

    value: V
    weight: int
    used: float


class Lru(Generic[K, V]):
    """Holds values whose weights add up to `capacity` at most; the newest one always stays. Thread-safe."""

    def __init__(self, capacity: int, weigh: Callable[[V], int]) -> None:
        self._capacity = capacity
        self._weigh = weigh
        self._held: OrderedDict[K, _Held[V]] = OrderedDict()
        self._weight = 0
        self._lock = Lock()

    def get(self, key: K) -> V | None:
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return None
            self._held.move_to_end(key)
            held.used = time.monotonic()
            return held.value

    def put(self, key: K, value: V) -> None:
        weight = self._weigh(value)  # may take a while
        with self._lock:
            self._drop(key)
            self._held[key] = _Held(value, weight, time.monotonic())
            self._weight += weight
            while self._weight > self._capacity and len(self._held) > 1:
                self._drop(next(iter(self._held)))

    def drop(self, key: K) -> None:
        with self._lock:
            self._drop(key)

    def drop_all(self, unwanted: Callable[[K], bool]) -> None:
        """Drop every value whose key is unwanted."""
        with self._lock:
            for key in list(filter(unwanted, self._held)):
                self._drop(key)

    def drop_unused(self, seconds: float, least: int = 0) -> int:
        """Drop every value of this weight or more that was not asked for so long. How many were dropped."""
        until = time.monotonic() - seconds
        with self._lock:
            unused = [key for key, held in self._held.items() if held.used <= until and held.weight >= least]
            for key in unused:
                self._drop(key)
        return len(unused)

    def values(self) -> list[V]:
        with self._lock:
            return [held.value for held in self._held.values()]

    def __len__(self) -> int:
        return len(self._held)

    @property
    def weight(self) -> int:
        """Of all values together."""
        return self._weight

    def _drop(self, key: K) -> None:
        held = self._held.pop(key, None)
        if held is not None:
            self._weight -= held.weight
