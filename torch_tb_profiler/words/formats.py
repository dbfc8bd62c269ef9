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
| `part` | a part of a step, by its id | `Computing: matrix products` |
| `each GPU` | names with commas between them, each behind what it names | `GPU 0, GPU 1 and GPU 2` |
| `times` | how many times as much, with a decimal where it tells anything | `2.7`, `44,556` |
| `quoted` | a text in quotes, as Python writes it; English only | `'mm'` |
| `often` | how often something happens, of the value `steps` | `3 times a step` |
| `many call` | how many there are of what is named in the singular, of the value `steps` | `3 calls a step` |
| `kernel\|kernels` | a count: the word for one, the word for more | `kernels` |
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Value
from torch_tb_profiler.words.numbers import BYTES_PER, by_count, how_many, how_often, ms, short, size, times
from torch_tb_profiler.words.parts import part_name

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
