"""CPU of a work as a ratio in one run, which the pace of the machine leaves as it is."""

from __future__ import annotations

import gc
import itertools
from collections.abc import Callable
from time import process_time

Work = Callable[[], object]

#: between 4, which is linear, and 16, the square; a larger work also needs more of the caches of the processor
MOST = 9
#: below it a work is not told apart from what the interpreter does beside
_LEAST_SECONDS = 0.004


def growth(prepared: Callable[[int], Work], size: int, turns: int = 3) -> float:
    """CPU of a work of 4 × the size, in that of the work of `size`.

    prepared: makes a work of a size; that is not measured, and done anew for each of the turns, the least of which
    counts.
    """
    small, large = (min(_seconds(prepared(of)) for _ in range(turns)) for of in (size, 4 * size))
    return large / max(small, _LEAST_SECONDS)


def growth_of_text(text: Callable[[int], str], say: Callable[[str], object], repeats: int) -> float:
    """The same for what is said of a text, by how often something repeats in it.

    Each text is another one, so that none is known already to what remembers what it said.
    """
    turn = itertools.count()

    def prepared(of: int) -> Work:
        made = text(of + next(turn))
        return lambda: say(made)

    return growth(prepared, repeats)


def beside(work: Work, peer: Work) -> float:
    """CPU of a work in that of another."""
    return _seconds(work) / _seconds(peer)


def _seconds(work: Work) -> float:
    collects = gc.isenabled()
    gc.disable()
    try:
        began = process_time()
        work()
        return process_time() - began
    finally:
        if collects:
            gc.enable()
