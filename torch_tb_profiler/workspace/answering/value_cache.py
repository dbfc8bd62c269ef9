"""Values in memory within a budget: made once for all threads, the least recently used dropped first."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock, RLock
from typing import Generic, TypeVar

import msgspec

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Held(msgspec.Struct, Generic[V]):
    """A value. used: when it was last asked for, monotonic seconds."""

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
        """Drop every value of at least this weight that was not used for so long; return how many."""
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
        """The weight of all values."""
        return self._weight

    def _drop(self, key: K) -> None:
        held = self._held.pop(key, None)
        if held is not None:
            self._weight -= held.weight


class _Making(msgspec.Struct):
    """A key whose value is being made, or waited for.

    users: how many threads make it or wait for it
    is_wanted: false when the key was dropped after the making began
    """

    lock: RLock = msgspec.field(default_factory=RLock)
    users: int = 0
    is_wanted: bool = True


class ValueCache(Generic[K, V]):
    """A bounded memory of values by key. Thread-safe.

    Only the lock of its key is held while a value is made. A value whose making failed is not remembered: the next
    thread that waits for it makes it.
    """

    def __init__(self, capacity: int, weigh: Callable[[V], int]) -> None:
        self._values: Lru[K, V] = Lru(capacity, weigh)
        self._making: dict[K, _Making] = {}
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._values)

    @property
    def weight(self) -> int:
        """The weight of all values."""
        return self._values.weight

    def get(self, key: K) -> V | None:
        return self._values.get(key)

    def remember(self, key: K, make: Callable[[], V]) -> V:
        """Return the value of a key; make it if there is none. Raises the errors of `make`."""
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
        """Return all values that are kept."""
        return self._values.values()

    def put(self, key: K, value: V) -> None:
        """Keep a value that was made elsewhere."""
        self._values.put(key, value)

    def drop_unused(self, seconds: float, least: int = 0) -> int:
        """Drop every value of at least this weight that was not used for so long; return how many."""
        return self._values.drop_unused(seconds, least)

    def drop(self, unwanted: Callable[[K], bool]) -> None:
        """Drop the values of unwanted keys, also those that are being made."""
        with self._lock:
            for key, making in self._making.items():
                if unwanted(key):
                    making.is_wanted = False
        self._values.drop_all(unwanted)

    def _put(self, key: K, value: V, making: _Making) -> None:
        self._values.put(key, value)
        if not making.is_wanted:  # dropped meanwhile
            self._values.drop(key)
