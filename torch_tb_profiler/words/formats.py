r"""How a value is written in a sentence, by what stands behind the colon; for the page: `zh-CN/server/say.ts`.

| format | of | example |
|---|---|---|
| (none) | a text or a whole number | `aten::mm`, `12` |
| `.1f` `.3g` `,` | a number, as Python's `format` writes it | `1.5`, `1,234` |
| `%` `%0` | a share, 0…1, with one decimal or as many as the digit says | `12.5 %` |
| `time` | ns, in the unit that fits, with three digits | `1.23 ms` |
| `us` `us0` `ms1` | ns in one unit, with one decimal or as many as the digit says | `4.2 µs` |
| `KiB` `MiB4` `GiB` | bytes, with three digits (GiB: two) or as many as the digit says | `73.5 MiB` |
| `GiB.1` `MiB.0` | bytes in one unit, with as many decimals | `79.2 GiB` |
| `size` | bytes, in the unit that fits | `373.99 MiB` |
| `part` | a part of a step, by its id | `Computing: matmuls` |
| `each GPU` | names with commas between them, each behind what it names | `GPU 0, GPU 1 and GPU 2` |
| `times` | how many times as much, with a decimal where it tells anything | `2.7`, `44,556` |
| `quoted` | a text in quotes, as Python writes it; English only | `'mm'` |
| `often` | how often something happens, of the value `steps` | `3 times a step` |
| `many call` | how many there are of what is named in the singular, of the value `steps` | `3 calls a step` |
| `kernel\|kernels` | a count: the word for one, the word for more | `kernels` |

KB, MB and GB are decimal wherever they are shown: rates (GB/s) and sizes of files on a disk.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Value
from torch_tb_profiler.words.files import part_name

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
    """Format a number with so many digits, but with all those before the point."""
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
    """Format bytes as people read them.

    >>> size(5 << 20), size(1536), size(12)
    ('5 MiB', '1.5 KiB', '12 B')
    """
    name = next((unit for unit in reversed(BYTES_PER) if abs(count) >= BYTES_PER[unit]), "B")
    number = count / BYTES_PER[name]
    text = f"{number:.0f}" if name == "B" else f"{number:.2f}".rstrip("0").rstrip(".")
    return f"{text} {name}"


def times(ratio: float) -> str:
    """Return how many times as much: one decimal where it tells anything.

    >>> times(2.74), times(44555.5)
    ('2.7', '44,556')
    """
    return f"{ratio:.1f}" if ratio < 100 else f"{ratio:,.0f}"


#: from so many a step on a whole number is near enough
_MANY = 10


def how_many(count: int, steps: int, what: str) -> str:
    """Return how many of something there are in steps: a whole number a step, or how many in all of few.

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


_NS_PER = {"us": 1e3, "ms": 1e6}
_SIGNS = {"us": "µs"}
_DIGITS = {"KiB": 3, "MiB": 3, "GiB": 2}
_WITH_DIGITS = lazy_pattern(r"(%|us|ms|KiB|MiB|GiB)(\d*)")
_WITH_DECIMALS = lazy_pattern(r"([KMG]iB)\.(\d)")
_NUMBER = lazy_pattern(r",|(\.\d[fg])")

_NAMED: Mapping[str, Callable[[float], str]] = {"time": ms, "times": times, "size": size}


def formatted(value: Value, how: str, values: Mapping[str, Value]) -> str:
    """Write a value. Raises ValueError of a format that does not exist, KeyError without the value that it needs."""
    if not how:
        return str(value)
    if how == "part":
        return part_name(str(value))
    if how.startswith("each "):
        return _each(str(value).split(", "), how.removeprefix("each "))
    if how == "quoted":
        return repr(value)
    number = float(value) if isinstance(value, str) else value
    if how in _NAMED:
        return _NAMED[how](number)
    if how == "often":
        return how_often(int(number), int(values["steps"]))
    if how.startswith("many "):
        return how_many(int(number), int(values["steps"]), how.removeprefix("many "))
    if "|" in how:
        one, more = how.split("|")
        return by_count(int(number), one, more)
    if _NUMBER.fullmatch(how):
        return format(number, how)
    if match := _WITH_DECIMALS.fullmatch(how):
        return f"{number / BYTES_PER[match[1]]:.{match[2]}f} {match[1]}"
    if match := _WITH_DIGITS.fullmatch(how):
        return _with_digits(number, match[1], match[2])
    raise ValueError(f"there is no format {how!r} of a value in a sentence")


def _each(names: Sequence[str], what: str) -> str:
    *others, last = (f"{what} {name}" for name in names)
    return f"{', '.join(others)} and {last}" if others else last


def _with_digits(number: float, unit: str, digits: str) -> str:
    if unit == "%":
        return f"{100 * number:.{digits or 1}f} %"
    if unit in _DIGITS:
        return f"{short(number / BYTES_PER[unit], int(digits or _DIGITS[unit]))} {unit}"
    return f"{number / _NS_PER[unit]:.{digits or 1}f} {_SIGNS.get(unit, unit)}"
