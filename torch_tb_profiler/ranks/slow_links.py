"""Links whose transfers take longer than those of their like."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Float64
from torch_tb_profiler.ranks.robust import deviations
from torch_tb_profiler.ranks.run_answers import RunGroup, SlowLink
from torch_tb_profiler.ranks.run_data import RunData

#: floor of the deviation (of the median), deviations, ratio, share of the step, groups to compare
FLOOR, DEVIATIONS, RATIO, SHARE, LEAST = 0.05, 5.0, 1.3, 0.01, 3
MOST_RANKS = 64


class Judged(msgspec.Struct, frozen=True):
    """Times of one thing on several links, each against all.

    middle   their median, ns
    z        0.6745 × (time − median) ÷ the median absolute deviation; shape (n,)
    is_slow  shape (n,)
    """

    middle: float
    z: Float64
    is_slow: Bool


def judge_links(ns: Float64) -> Judged | None:
    """Which links are slow, for everything that says so; None of fewer than three, which tell nothing.

    ns   shape (n,): what the same transfer takes on each link

    >>> judge_links(np.array([10.0, 10.0, 10.0, 20.0])).is_slow.tolist()
    [False, False, False, True]
    >>> judge_links(np.array([10.0, 10.0, 10.0, 13.0])).is_slow.any()
    np.False_
    """
    if len(ns) < LEAST:
        return None
    middle = median(ns)
    z = deviations(ns - middle, FLOOR * middle)
    return Judged(middle, z, (z > DEVIATIONS) & (ns > RATIO * middle))


def slow_links(run: RunData, groups: Sequence[RunGroup], step_ns: float, steps: int) -> list[SlowLink]:
    """Groups of one use, size and kind of collective, or pairs that send and receive: transfers of the same bytes."""
    if not steps or not step_ns:
        return []
    state, shared = run.state, run.is_shared
    here = np.flatnonzero((state.signature >= 0) & shared & (state.timed > 0) & run.is_whole)
    signature = state.signature[here].astype(np.int64)
    pair = run.join.pair_of_numbers()[here]
    pairs = len(run.join.pairs) + 1
    key = signature * pairs + pair + 1
    size = len(run.signatures) * pairs
    calls = np.bincount(key, minlength=size)
    total = sums_at(key, state.shortest[here], size).astype(np.float64)
    alike: dict[tuple[object, ...], dict[tuple[int, int], tuple[float, int]]] = {}
    for at in np.flatnonzero(calls).tolist():
        of, two = at // pairs, at % pairs - 1
        known = run.signatures[of]
        group = groups[known.group]
        between = two >= 0
        link = _pair_link(run, two) if between else group.link
        kind = (group.role, group.size, link, known.kind if not between else "send", between)
        entry = alike.setdefault(kind, {})
        unit = (known.group, two)
        before = entry.get(unit, (0.0, 0))
        entry[unit] = (before[0] + total[at], before[1] + int(calls[at]))
    found = []
    for (_, _, _, what, _), entry in alike.items():
        ns = np.array([each[0] for each in entry.values()])
        # sends and receives of unlike numbers are compared by their mean
        counts = np.array([each[1] for each in entry.values()])
        per_call: Float64 = ns / counts
        judged = judge_links(per_call)
        if judged is None:
            continue
        extra = (per_call - judged.middle) * counts / steps
        for at, (number, two) in enumerate(entry):
            if judged.is_slow[at] and extra[at] >= SHARE * step_ns:
                ratio = float(per_call[at]) / judged.middle
                one = _link(run, groups[number], two, str(what), float(extra[at]), ratio, float(judged.z[at]))
                found.append(msgspec.structs.replace(one, compared=len(entry) - 1))
    return sorted(found, key=lambda each: -each.extra_ns)


def _pair_link(run: RunData, number: int) -> str:
    hosts = {head.host for head in run.heads if head.rank in run.join.pairs[number]}
    return "unknown" if "" in hosts else "within_node" if len(hosts) == 1 else "between_nodes"


def _link(run: RunData, group: RunGroup, number: int, kind: str, extra: float, ratio: float, z: float) -> SlowLink:
    pair = run.join.pairs[number] if number >= 0 else None
    if pair is None and len(group.ranks) == 2:
        pair = (group.ranks[0], group.ranks[1])
    here = {head.rank: head.host for head in run.heads if head.rank is not None}
    ranks = [rank for rank in (pair or group.ranks) if rank in here]
    return SlowLink(
        group=group.label,
        ranks=ranks[:MOST_RANKS],
        hosts=sorted({here[rank] for rank in ranks if here[rank]}),
        pair=pair,
        kind=kind,
        extra_ns=round(extra),
        ratio=round(ratio, 3),
        z=round(z, 1),
        compared=0,
    )
