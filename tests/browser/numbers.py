"""Numbers as the UI writes them, against the exact ones."""

from __future__ import annotations

import re

_UNITS = {
    "": 1.0,
    "%": 0.01,
    "ns": 1.0,
    "µs": 1e3,
    "ms": 1e6,
    "s": 1e9,
    "B": 1.0,
    "KiB": 1024.0,
    "MiB": 1024.0**2,
    "GiB": 1024.0**3,
    "TiB": 1024.0**4,
    # Rates are decimal.
    "KB/s": 1e3,
    "MB/s": 1e6,
    "GB/s": 1e9,
}
_WRITTEN = re.compile(r"(<?)(-?[\d,]+(?:\.(\d+))?)\s*(\S*)")


def same(shown: str, exact: float | None) -> bool:
    """True when `shown` is `exact` (nanoseconds, bytes, a fraction for %, a count), rounded to its last digit."""
    if exact is None:
        return shown == "–"
    written = _WRITTEN.fullmatch(_ascii(shown.strip()))
    if written is None or written[4] not in _UNITS:
        return False
    unit = _UNITS[written[4]]
    number = float(written[2].replace(",", "")) * unit
    if written[1]:
        return 0 < exact < number
    step = 10.0 ** -len(written[3] or "") * unit
    return abs(number - exact) <= step * 0.5001


def with_unit(cell: str, unit: str) -> str:
    """A cell of a column of this unit: what would be too small in it has its own."""
    cell = cell.strip()
    return cell if cell == "–" or " " in cell else f"{cell} {unit}"


def all_same(shown: list[str], exact: list[float | None]) -> bool:
    return len(shown) == len(exact) and all(map(same, shown, exact))


def read(shown: str) -> float:
    """A number written without a unit."""
    return float(_ascii(shown).replace(",", ""))


def _ascii(shown: str) -> str:
    """A number may be less than 0, and its sign is the typographer's."""
    return shown.replace("−", "-")
