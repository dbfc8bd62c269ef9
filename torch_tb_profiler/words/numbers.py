"""Numbers in sentences: durations, sizes, counts and how often something happens.

KB, MB and GB are decimal wherever they are shown: rates (GB/s) and sizes of files on a disk.
"""

from __future__ import annotations

#: units in sentences and their ns, the largest first
_DURATIONS = (("s", 1e9), ("ms", 1e6), ("µs", 1e3))


def ms(ns: float) -> str:
    """Return a duration with three digits in the unit in which the page has it, mostly milliseconds.

    >>> ms(1_234_567), ms(234_567_890), ms(700), ms(2_729_400_000), ms(124_587_123_456), ms(999_600)
    ('1.23 ms', '235 ms', '0.7 µs', '2.73 s', '125 s', '1000 µs')
    """
    name, size = next((unit for unit in _DURATIONS if abs(ns) >= unit[1]), _DURATIONS[-1])
    return f"{short(ns / size, 3)} {name}"


def short(count: float, digits: int) -> str:
    """With so many digits, but all those before the point."""
    return f"{count:.{digits}g}" if abs(count) < 10 ** (digits - 1) else f"{count:.0f}"


def by_count(count: int, one: str, more: str) -> str:
    """Return the form of a word that goes with a number.

    >>> by_count(1, "takes", "take"), by_count(2, "takes", "take")
    ('takes', 'take')
    """
    return one if count == 1 else more


def counted(count: int, one: str, more: str = "") -> str:
    """Return a number with what is counted.

    more   the plural, where it is not `one` with an s

    >>> counted(1, "kernel"), counted(2, "kernel"), counted(2, "copy", "copies")
    ('1 kernel', '2 kernels', '2 copies')
    """
    return f"{count} {by_count(count, one, more or f'{one}s')}"


#: a unit and its bytes, the smallest first: the names of PyTorch's own messages
BYTES_PER = {"B": 1, "KiB": 1024, "MiB": 1024**2, "GiB": 1024**3, "TiB": 1024**4}


def size(count: float) -> str:
    """Bytes as people read them.

    >>> size(5 << 20), size(1536), size(12)
    ('5 MiB', '1.5 KiB', '12 B')
    """
    name = next((unit for unit in reversed(BYTES_PER) if abs(count) >= BYTES_PER[unit]), "B")
    number = count / BYTES_PER[name]
    text = f"{number:.0f}" if name == "B" else f"{number:.2f}".rstrip("0").rstrip(".")
    return f"{text} {name}"


def times(ratio: float) -> str:
    """How many times as much: one decimal where it tells anything.

    >>> times(2.74), times(44555.5)
    ('2.7', '44,556')
    """
    return f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


#: from so many a step on a whole number is near enough
_MANY = 10


def how_many(count: int, steps: int, what: str) -> str:
    """How many of something there are in steps: a whole number a step, or how many in all of few.

    what   in the singular

    >>> how_many(6, 6, "call"), how_many(18, 6, "call"), how_many(5, 6, "call"), how_many(100, 7, "call")
    ('1 call a step', '3 calls a step', '5 calls in 6 steps', 'about 14 calls a step')
    """
    each, rest = divmod(count, max(steps, 1))
    if rest and each < _MANY:
        return f"{counted(count, what)} in {steps} steps"
    about = "about " if rest else ""
    number = round(count / max(steps, 1))
    return f"{about}{counted(number, what)} a step"


def how_often(times: int, steps: int) -> str:
    """Return the same of what happens.

    >>> how_often(6, 6), how_often(18, 6), how_often(1, 6), how_often(5, 6)
    ('once a step', '3 times a step', 'once in 6 steps', '5 times in 6 steps')
    """
    said = how_many(times, steps, "time")
    return f"once{said.removeprefix('1 time')}" if said.startswith("1 time ") else said
