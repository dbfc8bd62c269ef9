"""Collectives matched across the ranks: waits, transfers, bandwidths, and slow links."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.communication import bus_factor
from torch_tb_profiler.ranks.peers import deviations
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run.group_answers import BandwidthFit, CollectiveRow, FitPoint, RunGroup, SlowLink
from torch_tb_profiler.ranks.summary_columns import ALGORITHMS


class RunWaits(msgspec.Struct, frozen=True):
    """Waits and transfers; a list item for each rank.

    wait, transfer   shape (steps of the rank,), ns: Σ over the collectives of the step that other ranks have, too
    unmatched        collectives that no other rank has
    longest          by signature: ns, rank and position of the call that waited longest
    """

    wait: list[Int64]
    transfer: list[Int64]
    unmatched: list[int]
    longest: dict[int, tuple[int, int, int]]


def waits_of(run: RunData) -> RunWaits:
    """Split the duration of each matched collective on each rank: wait = its duration − the transfer."""
    shared, state = np.append(run.is_shared, False), run.state
    waits = RunWaits([], [], [], {})
    best = np.full(len(run.signatures), -1, np.int64)
    for rank, rows in run.each():
        is_shared = shared[rows.number]
        measured = np.flatnonzero(is_shared & (rows.duration >= 0))
        number = rows.number[measured]
        transfer = state.shortest[number]
        wait = rows.duration[measured] - transfer
        step, steps = rows.step[measured].astype(np.int64), len(run.steps[rank])
        inside = step >= 0
        if not inside.all():
            step, of_step = step[inside], (wait[inside], transfer[inside])
        else:
            of_step = (wait, transfer)
        for sums, values in zip((waits.wait, waits.transfer), of_step, strict=True):
            sums.append(sums_at(step, values, steps))
        waits.unmatched.append(len(rows.number) - int(np.count_nonzero(is_shared)))
        signature = state.signature[number]
        before = best[signature]
        np.maximum.at(best, signature, wait)
        for at in np.flatnonzero((wait > before) & (wait == best[signature])).tolist():
            waits.longest[int(signature[at])] = (int(wait[at]), rank, int(measured[at]))
    return waits


_PEAKS = tuple(
    (lazy_pattern(pattern, re.IGNORECASE), gigabytes * 1e9)
    for pattern, gigabytes in (
        (r"V100.{0,100}SXM|V100-DGXS", 150.0),
        (r"A800.{0,100}SXM|A800-SXM", 200.0),
        (r"A100.{0,100}SXM", 300.0),
        (r"H800", 200.0),
        (r"H20\b", 450.0),
        (r"GH200|H200(?! NVL)|H100 80GB HBM3|H100.{0,100}SXM", 450.0),
        (r"B200|GB200|B300|GB300", 900.0),
        (r"MI300X|MI325X", 448.0),
    )
)


def link_peak(device: str | None) -> float | None:
    """Look up the peak of a device's links; None if it is not listed, or has no such links.

    >>> link_peak("NVIDIA H100 80GB HBM3"), link_peak("NVIDIA A100-PCIE-40GB"), link_peak(None)
    (450000000000.0, None, None)
    """
    return next((peak for pattern, peak in _PEAKS if device and pattern.search(device)), None)


#: a rank is the culprit if it is last in this share of the calls, in groups of at least so many ranks
CULPRIT, CULPRIT_RANKS = 0.5, 3
#: most ranks whose summary is read again to find the event that waited longest
MOST_READ = 64


def collective_rows(run: RunData, groups: Sequence[RunGroup], waits: RunWaits) -> tuple[CollectiveRow, ...]:
    """Make a row for each signature, most waiting first."""
    size = len(run.signatures)
    state, shared = run.state, run.is_shared
    seen = np.flatnonzero(state.signature >= 0)
    of = state.signature[seen].astype(np.int64)
    timed = shared[seen] & (state.timed[seen] > 0)
    calls = np.bincount(of, minlength=size)
    matched = np.bincount(of, shared[seen], size).astype(np.int64)
    measured = np.bincount(of[timed], minlength=size)
    shortest = np.where(timed, state.shortest[seen], 0)
    transfer = sums_at(of, shortest, size)
    waited = sums_at(of[timed], (state.total[seen] - state.timed[seen] * shortest)[timed], size)
    taking_part = sums_at(of[timed], state.timed[seen][timed].astype(np.int64), size)
    culprits = _culprits(run, seen[timed & (state.timed[seen] >= CULPRIT_RANKS)], size)
    peak = link_peak(next((head.device for head in run.heads if head.device), None))
    events = _events(run, waits)
    rows = []
    for number, signature in enumerate(run.signatures):
        group, algorithm = groups[signature.group], ALGORITHMS[signature.algorithm]
        seconds = int(transfer[number]) / 1e9
        algbw = None
        if signature.bytes is not None and seconds > 0:
            algbw = signature.bytes * int(measured[number]) / seconds
        factor = bus_factor(signature.kind, group.size or 0, algorithm)
        busbw = None if algbw is None or factor is None else algbw * factor
        of_link = peak if group.link == "within_node" else None
        last, share = culprits[number]
        rank, row = events.get(number, (0, None))
        rows.append(
            CollectiveRow(
                name=signature.name,
                kind=signature.kind,
                group=group.label,
                group_number=signature.group,
                link=group.link,
                dtype=signature.dtype,
                bytes=signature.bytes,
                ranks=group.present,
                size=group.size,
                calls=int(calls[number]),
                matched=int(matched[number]),
                transfer_ns=int(transfer[number]) / int(measured[number]) if measured[number] else None,
                wait_ns=int(waited[number]) / int(taking_part[number]) if measured[number] else None,
                algbw=algbw,
                busbw=busbw,
                algorithm=algorithm,
                peak=of_link,
                peak_share=None if busbw is None or of_link is None else busbw / of_link,
                culprit=None if last is None else run.heads[last].rank,
                culprit_worker=None if last is None else run.heads[last].worker,
                culprit_share=share,
                worker=run.heads[rank].worker,
                row=row,
            )
        )
    order = sorted(range(size), key=lambda at: (-int(waited[at]), -int(transfer[at]), at))
    return tuple(rows[at] for at in order)


def _culprits(run: RunData, collectives: Int64, size: int) -> list[tuple[int | None, float | None]]:
    """Return, by signature, the rank that arrives last in at least half of the collectives, and its share."""
    culprits: list[tuple[int | None, float | None]] = [(None, None)] * size
    if not len(collectives):
        return culprits
    signature, last = run.state.signature[collectives].astype(np.int64), run.state.last[collectives].astype(np.int64)
    keys, counts = np.unique(signature * len(run) + last, return_counts=True)
    total = np.bincount(signature, minlength=size)
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        at, rank = divmod(key, len(run))
        share = count / int(total[at])
        if share >= CULPRIT and share > (culprits[at][1] or 0):
            culprits[at] = (rank, share)
    return culprits


def _events(run: RunData, waits: RunWaits) -> dict[int, tuple[int, int | None]]:
    """Return, by signature, the rank and the event of the call that waited longest."""
    by_rank: dict[int, list[tuple[int, int]]] = {}
    for signature, (_, rank, position) in sorted(waits.longest.items(), key=lambda each: -each[1][0]):
        by_rank.setdefault(rank, []).append((signature, position))
    found: dict[int, tuple[int, int | None]] = {}
    for number, (rank, these) in enumerate(by_rank.items()):
        rows = run.summaries[rank].places.row if number < MOST_READ else None
        for signature, position in these:
            row = -1 if rows is None else int(rows[position])
            found[signature] = (rank, row if row >= 0 else None)
    return found


def bandwidth_fits(run: RunData, groups: Sequence[RunGroup]) -> list[BandwidthFit]:
    """Fit t = alpha + bytes ÷ beta by kind, role, link and size of the groups, most calls first."""
    state, shared = run.state, run.is_shared
    usable = np.flatnonzero((state.signature >= 0) & shared & (state.timed > 0))
    order = usable[np.argsort(state.signature[usable], kind="stable")]
    bounds = np.searchsorted(state.signature[order], np.arange(len(run.signatures) + 1))
    sizes: dict[tuple[str, str, str, int], dict[int, list[Float64]]] = {}
    having: dict[tuple[str, str, str, int], Counter[int]] = {}
    for number, signature in enumerate(run.signatures):
        group, times = groups[signature.group], state.shortest[order[bounds[number] : bounds[number + 1]]]
        if signature.bytes is None or not len(times) or not group.size:
            continue
        key = (signature.kind, group.role, group.link, group.size)
        sizes.setdefault(key, {}).setdefault(signature.bytes, []).append(times.astype(np.float64))
        having.setdefault(key, Counter())[signature.group] += 1
    fits = []
    for (kind, role, link, size), by_size in sizes.items():
        factor = bus_factor(kind, size)
        points = []
        for moved, pieces in sorted(by_size.items()):
            times = np.concatenate(pieces)
            middle = float(np.median(times))
            speed = None if factor is None or middle <= 0 else moved * factor / middle * 1e9
            points.append(FitPoint(bytes=moved, transfer_ns=middle, busbw=speed, calls=len(times)))
        alpha, beta, residual = _line(points)
        fits.append(
            BandwidthFit(
                kind=kind,
                role=role,  # type: ignore[arg-type]
                link=link,  # type: ignore[arg-type]
                size=size,
                groups=len(having[kind, role, link, size]),
                points=points,
                alpha_ns=alpha,
                beta=beta,
                half_bytes=None if alpha is None or beta is None else alpha * beta / 1e9,
                residual=residual,
            )
        )
    return sorted(fits, key=lambda each: -sum(point.calls for point in each.points))


def _line(points: Sequence[FitPoint]) -> tuple[float | None, float | None, float | None]:
    """alpha (ns), beta (bytes/s) and the residual: Theil–Sen through the points."""
    moved = np.array([point.bytes for point in points], np.float64)
    times = np.array([point.transfer_ns for point in points])
    if len(points) < 2:
        return None, None, None
    i, j = np.triu_indices(len(points), 1)
    slope = float(np.median((times[j] - times[i]) / (moved[j] - moved[i])))
    if slope <= 0:
        return None, None, None
    alpha = max(float(np.median(times - slope * moved)), 0.0)
    fitted = alpha + slope * moved
    return alpha, 1e9 / slope, float(np.median(np.abs(times - fitted) / fitted))


#: floor of the deviation (of the median), deviations, ratio, share of the step, groups to compare
SLOW_LINK_FLOOR, SLOW_LINK_DEVIATIONS, SLOW_LINK_RATIO, SLOW_LINK_SHARE, LEAST_LINKS = 0.05, 5.0, 1.3, 0.01, 3
MOST_LINK_RANKS = 64


class JudgedLinks(msgspec.Struct, frozen=True):
    """Times of one thing on several links, each against all.

    middle   their median, ns
    z        0.6745 × (time − median) ÷ the median absolute deviation; shape (n,)
    is_slow  shape (n,)
    """

    middle: float
    z: Float64
    is_slow: Bool


def judge_links(ns: Float64) -> JudgedLinks | None:
    """Judge which links are slow, for every page that says so; None for fewer than three.

    ns   shape (n,): what the same transfer takes on each link

    >>> judge_links(np.array([10.0, 10.0, 10.0, 20.0])).is_slow.tolist()
    [False, False, False, True]
    >>> judge_links(np.array([10.0, 10.0, 10.0, 13.0])).is_slow.any()
    np.False_
    """
    if len(ns) < LEAST_LINKS:
        return None
    middle = median(ns)
    z = deviations(ns - middle, SLOW_LINK_FLOOR * middle)
    return JudgedLinks(middle, z, (z > SLOW_LINK_DEVIATIONS) & (ns > SLOW_LINK_RATIO * middle))


def slow_links(run: RunData, groups: Sequence[RunGroup], step_ns: float, steps: int) -> list[SlowLink]:
    """Judge groups of one use, size and kind of collective, or pairs that send and receive, by equal transfers."""
    if not steps or not step_ns:
        return []
    state, shared = run.state, run.is_shared
    here = np.flatnonzero((state.signature >= 0) & shared & (state.timed > 0) & run.is_whole)
    signature = state.signature[here].astype(np.int64)
    pair = run.numbering.pair_of_numbers()[here]
    pairs = len(run.numbering.pairs) + 1
    key = signature * pairs + pair + 1
    size = len(run.signatures) * pairs
    calls = np.bincount(key, minlength=size)
    total = sums_at(key, state.shortest[here], size).astype(np.float64)
    alike: dict[tuple[object, ...], dict[tuple[int, int], tuple[float, int]]] = {}
    for code in np.flatnonzero(calls).tolist():
        of, two = code // pairs, code % pairs - 1
        known = run.signatures[of]
        group = groups[known.group]
        between = two >= 0
        link = _pair_link(run, two) if between else group.link
        kind = (group.role, group.size, link, known.kind if not between else "send", between)
        entry = alike.setdefault(kind, {})
        unit = (known.group, two)
        before = entry.get(unit, (0.0, 0))
        entry[unit] = (before[0] + total[code], before[1] + int(calls[code]))
    slow = []
    for (_, _, _, what, _), entry in alike.items():
        ns = np.array([unit[0] for unit in entry.values()])
        # sends and receives of unlike numbers are compared by their mean
        counts = np.array([unit[1] for unit in entry.values()])
        per_call: Float64 = ns / counts
        judged = judge_links(per_call)
        if judged is None:
            continue
        extra = (per_call - judged.middle) * counts / steps
        for link_number, (number, two) in enumerate(entry):
            if judged.is_slow[link_number] and extra[link_number] >= SLOW_LINK_SHARE * step_ns:
                ends, hosts = _ends(run, groups[number], two)
                slow.append(
                    SlowLink(
                        group=groups[number].label,
                        ranks=list(hosts)[:MOST_LINK_RANKS],
                        hosts=sorted({host for host in hosts.values() if host}),
                        pair=ends,
                        kind=str(what),
                        extra_ns=round(float(extra[link_number])),
                        ratio=round(float(per_call[link_number]) / judged.middle, 3),
                        z=round(float(judged.z[link_number]), 1),
                        compared=len(entry) - 1,
                    )
                )
    return sorted(slow, key=lambda each: -each.extra_ns)


def _pair_link(run: RunData, number: int) -> str:
    hosts = {head.host for head in run.heads if head.rank in run.numbering.pairs[number]}
    return "unknown" if "" in hosts else "within_node" if len(hosts) == 1 else "between_nodes"


def _ends(run: RunData, group: RunGroup, number: int) -> tuple[tuple[int, int] | None, dict[int, str]]:
    """Return the two ranks of a link (None if only its group is known), and the hosts of its loaded ranks.

    number   index into `CollectiveNumbering.pairs`, -1 if only the group of the link is known
    """
    pair = run.numbering.pairs[number] if number >= 0 else None
    if pair is None and len(group.ranks) == 2:
        pair = (group.ranks[0], group.ranks[1])
    hosts = {head.rank: head.host for head in run.heads if head.rank is not None}
    return pair, {rank: hosts[rank] for rank in pair or group.ranks if rank in hosts}
