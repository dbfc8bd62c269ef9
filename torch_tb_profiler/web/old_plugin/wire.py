"""JSON as the old plugin writes it: times in microseconds, and trees of any depth without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Int64

#: integers below this are exact in floating point
EXACT_LIMIT = 2**53


def microseconds(ns: int) -> int | float:
    """Convert ns to µs: an int when it is a whole number, as in files that hold ints."""
    whole, rest = divmod(int(ns), 1000)
    return whole if rest == 0 else int(ns) / 1000


def many_microseconds(ns: Int64) -> list[int | float]:
    """Return `microseconds` of each value."""
    if len(ns) and max(int(ns.max()), -int(ns.min())) >= EXACT_LIMIT:
        return [microseconds(value) for value in ns.tolist()]
    found = (ns / 1000).astype(object)
    whole = ns // 1000
    is_whole = np.flatnonzero(whole * 1000 == ns)
    found[is_whole] = whole[is_whole]
    numbers: list[int | float] = found.tolist()
    return numbers


def rounded_microseconds(ns: float) -> int:
    """Round ns to whole µs."""
    return round(float(ns) / 1000)


def exact(ns: int) -> str:
    """Return µs as text, exact where a double could not hold them."""
    whole, rest = divmod(abs(ns), 1000)
    return f"{'-' if ns < 0 else ''}{whole}" + (f".{rest:03d}" if rest else "")


def laid_out(ns: Int64) -> npt.NDArray[np.uint8]:
    """Write many times as JSON numbers, exact to the nanosecond: a row of bytes for each, zero behind shorter ones."""
    if not len(ns):
        return np.empty((0, 0), np.uint8)
    whole = ns // 1000
    rest = ns - whole * 1000  # numpy divides by vector instructions, but takes remainders one by one
    digits = len(str(int(whole.max())))
    if int(whole.min()) < 10 ** (digits - 1):  # also what is negative
        return np.array([exact(value).encode() for value in ns.tolist()]).view(np.uint8).reshape(len(ns), -1)
    # all are of the same length: four digits at a time
    groups = -(-digits // 4)
    table = np.empty((len(ns), groups + 1), "<u4")
    for place in range(groups - 1, -1, -1):
        above = whole // 10_000
        table[:, place] = _FOUR_DIGITS[whole - above * 10_000]
        whole = above
    table[:, groups] = _FRACTIONS[rest]
    return table.view(np.uint8)[:, 4 * groups - digits :]


_FOUR_DIGITS = np.array([f"{value:04d}" for value in range(10_000)], dtype="S4").view("<u4")
_FRACTIONS = np.array(["", *(f".{rest:03d}" for rest in range(1, 1000))], dtype="S4").view("<u4")


def nested(nodes: Iterable[tuple[int, bytes]]) -> bytes:
    """Return the elements of a JSON array from nodes in preorder: depth, and the object that gets `children`."""
    return b"".join(nested_pieces(nodes))


def nested_pieces(nodes: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """Yield the same in pieces, one for each node and one for the end."""
    open_ = 0
    for depth, item in nodes:
        closing = b"]}" * (open_ - depth) + b"," if depth < open_ else b""
        yield b"".join((closing, item[:-1], b',"children":['))
        open_ = depth + 1
    yield b"]}" * open_
