"""Trying again: what passes by itself is waited for, with growing pauses, for a while."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import TypeVar

from torch_tb_profiler.storage.errors import PASSING, Trouble

T = TypeVar("T")

TRIES = 4
FIRST_PAUSE = 0.25
LONGEST_PAUSE = 20.0


def pause(tried: int, asked: float = 0.0) -> float:
    """Seconds to wait after so many tries: doubled each time, or what the store asked for; never all at once."""
    return float(min(max(FIRST_PAUSE * 2 ** (tried - 1), asked), LONGEST_PAUSE) * random.uniform(1.0, 1.25))  # noqa: S311


def patiently(call: Callable[[], T]) -> T:
    """The outcome of `call`, of the first of a few tries that has one. Raises Trouble."""
    for tried in range(1, TRIES):
        try:
            return call()
        except Trouble as trouble:
            if trouble.kind not in PASSING:
                raise
            time.sleep(pause(tried, trouble.wait))
    return call()
