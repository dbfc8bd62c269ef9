"""Collectives matched across the ranks as a table, and how their time goes with their size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.ranks.bandwidth import bus_factor
from torch_tb_profiler.ranks.collect import ALGORITHMS
from torch_tb_profiler.ranks.collective_answers import BandwidthFit, CollectiveRow, FitPoint
from torch_tb_profiler.ranks.link_peaks import link_peak
from torch_tb_profiler.ranks.run_answers import RunGroup
from torch_tb_profiler.ranks.run_data import RunData
from torch_tb_profiler.ranks.waits import Waits

#: a rank is the culprit from this part of the calls on, with so many ranks
CULPRIT, CULPRIT_RANKS = 0.5, 3
#: ranks whose summary is read again to tell the event that waited longest
MOST_READ = 64


def collective_rows(run: RunData, groups: Sequence[RunGroup], waits: Waits) -> tuple[CollectiveRow, ...]:
    """A row for each signature, most waiting first."""
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
    """By signature the rank that arrives last in most of some collectives, where it is in half of them."""
    found: list[tuple[int | None, float | None]] = [(None, None)] * size
    if not len(collectives):
        return found
    signature, last = run.state.signature[collectives].astype(np.int64), run.state.last[collectives].astype(np.int64)
    keys, counts = np.unique(signature * len(run) + last, return_counts=True)
    total = np.bincount(signature, minlength=size)
    for key, count in zip(keys.tolist(), counts.tolist(), strict=True):
        at, rank = divmod(key, len(run))
        share = count / int(total[at])
        if share >= CULPRIT and share > (found[at][1] or 0):
            found[at] = (rank, share)
    return found


def _events(run: RunData, waits: Waits) -> dict[int, tuple[int, int | None]]:
    """By signature the rank and the event of the call that waited longest."""
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


def fits_of(run: RunData, groups: Sequence[RunGroup]) -> list[BandwidthFit]:
    """By kind, role, link and size of the groups: t = alpha + bytes ÷ beta, most calls first."""
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
    found = []
    for (kind, role, link, size), by_size in sizes.items():
        factor = bus_factor(kind, size)
        points = []
        for moved, pieces in sorted(by_size.items()):
            times = np.concatenate(pieces)
            middle = float(np.median(times))
            speed = None if factor is None or middle <= 0 else moved * factor / middle * 1e9
            points.append(FitPoint(bytes=moved, transfer_ns=middle, busbw=speed, calls=len(times)))
        alpha, beta, residual = _line(points)
        found.append(
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
    return sorted(found, key=lambda each: -sum(point.calls for point in each.points))


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
