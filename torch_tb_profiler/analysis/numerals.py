"""Numbers written as text: integers in a trace, and units that a person writes behind a number."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.words.numbers import BYTES_PER

NS = {"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9}
#: KiB, and what people write for it: KB and K are 1024 bytes here, too
BYTES = {
    written: float(size)
    for name, size in BYTES_PER.items()
    for written in (name.lower(), name.lower().replace("i", ""), name[0].lower())
}
#: of ten, as vendors write bandwidths
_BANDWIDTH = {"b": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12}
_FLOP = {
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
_UNITS: dict[str | None, Mapping[str, float]] = {
    "ns": NS,
    "bytes": BYTES,
    "flop": _FLOP,
    "flop_per_second": _FLOP | {f"{name}/s": factor for name, factor in _FLOP.items()},
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
    return _UNITS.get(unit, _COUNTS).get(name) if name else 1.0


#: fits in 64 bits; Python itself refuses thousands of digits, and takes other digits than these for digits
_WHOLE = lazy_pattern(r"[0-9]{1,18}")


def whole_number(text: str) -> int | None:
    """Parse an integer ≥ 0 of at most 18 digits, ignoring blanks around it; None of any other text.

    >>> whole_number(" 12"), whole_number("²"), whole_number("9" * 19), whole_number("-1")
    (12, None, None, None)
    """
    found = _WHOLE.fullmatch(text.strip())
    return None if found is None else int(found[0])
