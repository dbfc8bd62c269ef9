"""Algorithm and bus bandwidth, with the conventions of nccl-tests.

n ranks; S is the size of the operation, t its transfer time. algbw = S ÷ t; busbw = algbw × factor, the speed that
each link must have had whatever n is.
"""

from __future__ import annotations

from collections.abc import Callable

#: kind → factor of the bus bandwidth
_FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "all_to_all": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "broadcast": lambda _: 1.0,
    "reduce": lambda _: 1.0,
    "send": lambda _: 1.0,
    "recv": lambda _: 1.0,
    "send_recv": lambda _: 1.0,
}

_OF_ALL_RANKS = ("all_gather", "reduce_scatter", "gather", "scatter")


def bus_factor(kind: str, ranks: int, algorithm: str = "") -> float | None:
    """None if there is none: a barrier, an unknown kind, an unknown number of ranks.

    algorithm   with "nvls" the switch adds up, so that each link moves (n−1)/(n+1) of an all-reduce
    """
    if kind == "all_reduce" and algorithm == "nvls" and ranks > 0:
        return (ranks - 1) / (ranks + 1)
    factor = _FACTORS.get(kind)
    return factor(ranks) if factor and ranks > 0 else None


def volume(kind: str, in_bytes: int, out_bytes: int, ranks: int) -> int | None:
    """S in bytes: of all ranks together where each has a part, else what one rank puts in; None if not known.

    in_bytes, out_bytes: of one rank; negative when not known
    """
    if kind not in _FACTORS:
        return None
    if kind in _OF_ALL_RANKS:
        part, whole = (in_bytes, out_bytes) if kind in ("all_gather", "gather") else (out_bytes, in_bytes)
        if kind in ("all_gather", "reduce_scatter") and whole >= 0:
            return whole
        return part * ranks if part >= 0 and ranks > 0 else None
    known = in_bytes if in_bytes >= 0 else out_bytes
    return known if known >= 0 else None
