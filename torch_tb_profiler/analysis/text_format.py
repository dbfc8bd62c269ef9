"""Numbers as text, as on the page (`fe/src/format`), and numbers read from text; names made harmless."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from torch_tb_profiler.analysis.answer import Unit
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.words.formats import BYTES_PER

MISSING = "–"
YES, NO = "yes", "no"

#: units of a column: name, size, decimals; the largest first
_DURATIONS = (("s", 1e9, 3), ("ms", 1e6, 3), ("µs", 1e3, 1), ("ns", 1.0, 0))
_BYTES = tuple((name, float(size), 0 if name == "B" else 2) for name, size in reversed(BYTES_PER.items()))
_RATES = (("TB/s", 1e12, 2), ("GB/s", 1e9, 2), ("MB/s", 1e6, 2), ("KB/s", 1e3, 2), ("B/s", 1.0, 0))
_FLOP = tuple((f"{prefix}FLOP", 1000.0**power, 2) for power, prefix in enumerate(("", "K", "M", "G", "T", "P", "E")))[
    ::-1
]
_UNITS = {
    "ns": _DURATIONS,
    "bytes": _BYTES,
    "bytes_per_second": _RATES,
    "flop": _FLOP,
    "flop_per_second": tuple((f"{name}/s", size, decimals) for name, size, decimals in _FLOP),
    "percent": (("%", 1.0, 1),),
    "fraction": (("%", 0.01, 1),),
}


def in_column(values: Sequence[Any], unit: Unit | None) -> tuple[str, list[str]]:
    """Format numbers in the unit that suits the largest, so that a column lines up. Returns the unit and the texts.

    >>> in_column([1_500_000, 2_000, None], "ns")
    ('ms', ['1.500', '0.002', '–'])
    """
    numbers = [value if _is_there(value) else None for value in values]
    if unit is None or unit == "count":
        return "", [MISSING if value is None else plain(value) for value in numbers]
    largest = max((abs(value) for value in numbers if value is not None), default=0)
    name, size, decimals = next((each for each in _UNITS[unit] if largest >= each[1]), _UNITS[unit][-1])
    return name, [MISSING if value is None else _scaled(value / size, decimals) for value in numbers]


def with_unit(value: float | None, unit: Unit | None) -> str:
    """Format one number with its unit.

    >>> with_unit(12_340_000, "ns"), with_unit(None, "ns"), with_unit(0.251, "fraction")
    ('12.340 ms', '–', '25.1 %')
    """
    name, (text,) = in_column([value], unit)
    return text if text == MISSING or not name else f"{text} {name}"


def yes_no(value: bool | None) -> str:
    """Return a boolean in words; None is unknown."""
    return MISSING if value is None else YES if value else NO


def plain(value: float) -> str:
    """Format a number without a unit: all digits of integers, four significant digits of others."""
    if isinstance(value, int) or value == int(value):
        return f"{int(value):,}"
    digits = 1 if abs(value) < 1 else math.floor(math.log10(abs(value))) + 1
    text = f"{value:,.{max(0, 4 - digits)}f}"
    return text if float(text.replace(",", "")) else f"{value:.2g}"


def _scaled(value: float, decimals: int) -> str:
    """Format a value with fixed decimals; a small value does not look like zero."""
    least = 10.0**-decimals
    if value and abs(value) < least / 2:
        return f"{'>-' if value < 0 else '<'}{least:.{decimals}f}"
    return f"{value:,.{decimals}f}"


def _is_there(value: Any) -> bool:
    return value is not None and not (isinstance(value, float) and not math.isfinite(value))


def harmless(text: str, most: int | None = None) -> str:
    """Remove characters that control a terminal, a page or the text direction; cut to `most` characters.

    Control characters, marks of direction, characters without width, and spaces that are none become U+FFFD.
    """
    if most is not None and len(text) > most:
        text = f"{text[: most - 1]}…"
    return text if text.isprintable() else "".join(each if each.isprintable() else "\ufffd" for each in text)


def text_of(value: Any, unit: Unit | None) -> str:
    """Format a number with its unit, a boolean in words, a text unchanged."""
    if value is None:
        return MISSING
    if isinstance(value, bool):
        return yes_no(value)
    return with_unit(value, unit) if isinstance(value, int | float) else str(value)


NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
#: KiB, and what people write for it: KB and K are 1024 bytes here, too
BYTES = {
    written: float(size)
    for name, size in BYTES_PER.items()
    for written in (name.lower(), name.lower().replace("i", ""), name[0].lower())
}
#: of ten, as vendors write bandwidths
_BANDWIDTH = {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
_FLOP_PREFIX = {
    "": 1.0,
    "kflop": 1e3,
    "mflop": 1e6,
    "gflop": 1e9,
    "tflop": 1e12,
    "pflop": 1e15,
    "k": 1e3,
    "m": 1e6,
    "g": 1e9,
    "t": 1e12,
}
_FACTORS: dict[str | None, Mapping[str, float]] = {
    "ns": NS,
    "bytes": BYTES,
    "flop": _FLOP_PREFIX,
    "flop_per_second": _FLOP_PREFIX | {f"{name}/s": factor for name, factor in _FLOP_PREFIX.items()},
    "bytes_per_second": _BANDWIDTH | {f"{name}/s": factor for name, factor in _BANDWIDTH.items()},
    "percent": {"%": 1.0},
    "fraction": {"%": 0.01},
}
_COUNTS = {"k": 1e3, "m": 1e6}


def factor_of(written: str, unit: str | None) -> float | None:
    """Return the factor from a written unit to that of a column: 1 if none is written, None if the unit does not fit.

    >>> factor_of("ms", "ns"), factor_of("µs", "ns"), factor_of("ms", "bytes")
    (1000000.0, 1000.0, None)
    """
    name = written.lower().replace("µ", "u")
    return _FACTORS.get(unit, _COUNTS).get(name) if name else 1.0


#: fits in 64 bits; Python itself refuses thousands of digits, and takes other digits than these for digits
_WHOLE = lazy_pattern(r"[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """Parse an integer ≥ 0 of at most 18 digits, ignoring blanks around it; None of any other text.

    >>> whole_number(" 12"), whole_number("²"), whole_number("9" * 19), whole_number("-1")
    (12, None, None, None)
    """
    found = _WHOLE.fullmatch(text.strip())
    return None if found is None else int(found[0])
