"""Communication of sharded parameters and of experts: all-gathers ahead of their use, all-to-alls of unequal parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.ranks.parallel_answers import FsdpGathers, MoeImbalance
from torch_tb_profiler.ranks.run_answers import RunGroup
from torch_tb_profiler.ranks.run_data import RunData
from torch_tb_profiler.ranks.summary import RankSummary

_GATHER, _SCATTER, _EXCHANGE = (KINDS.index(kind) for kind in ("all_gather", "reduce_scatter", "all_to_all"))
#: ranks of a group that are looked at
MOST_RANKS = 8
#: a kernel that begins within this of its call was not asked for ahead, ns
AT_ONCE = 50_000
#: gathers of one size twice a step: for the forward and again for the backward pass
TWICE = 1.5


def fsdp_of(run: RunData, groups: Sequence[RunGroup]) -> list[FsdpGathers]:
    """Groups that gather and scatter in their steps."""
    both: dict[int, set[str]] = {}
    for each in run.signatures:
        both.setdefault(each.group, set()).add(each.kind)
    found = []
    for at in sorted(at for at, kinds in both.items() if {"all_gather", "reduce_scatter"} <= kinds):
        members = [(summary.head.worker, _gathers(summary, rows)) for summary, rows in _members(run, at)]
        looked = [(worker, each) for worker, each in members if each is not None]
        if not looked:
            continue
        gathers, scatters, lead, late, again, row = (
            np.array(values) for values in zip(*(each for _, each in looked), strict=True)
        )
        worst = int(np.argmax(late))
        found.append(
            FsdpGathers(
                group=groups[at].label,
                gathers=round(float(np.median(gathers))),
                scatters=round(float(np.median(scatters))),
                reshards=bool(np.median(again) >= TWICE),
                lead_ns=round(float(np.median(lead))),
                late_share=float(np.mean(late)),
                worker=looked[worst][0],
                row=int(row[worst]) if row[worst] >= 0 else None,
            )
        )
    return found


def _members(run: RunData, at: int) -> Iterator[tuple[RankSummary, Int64]]:
    """The first ranks that use a group, and their rows of it."""
    taken = 0
    for rank, head in enumerate(run.heads):
        codes = run.join.group_numbers(head.groups)[:-1]
        if at not in codes or taken == MOST_RANKS:
            continue
        summary = run.summaries[rank]
        rows = np.flatnonzero(codes[summary.calls.group] == at)
        if len(rows):
            taken += 1
            yield summary, rows


def _gathers(summary: RankSummary, rows: Int64) -> tuple[float, float, float, float, float, int] | None:
    """Of a step: gathers and scatters; median lead, share without one, how often the same size is gathered.

    And the event of the gather with the least lead, -1.
    """
    of, places, steps = summary.calls, summary.places, max(len(summary.steps), 1)
    gathers = rows[(of.kind[rows] == _GATHER) & (of.step[rows] >= 0) & (places.start[rows] >= 0)]
    scatters = rows[(of.kind[rows] == _SCATTER) & (of.step[rows] >= 0)]
    called = gathers[places.host_start[gathers] >= 0]
    if not len(called):
        return None
    lead = places.start[called] - places.host_start[called]
    sizes = len(np.unique(of.in_bytes[scatters])) if len(scatters) else 0
    again = len(gathers) / len(scatters) if sizes else 1.0
    row = int(places.row[called[np.argmin(lead)]])
    late = float(np.mean(lead < AT_ONCE))
    return len(gathers) / steps, len(scatters) / steps, float(np.median(lead)), late, again, row


def _largest(run: RunData, rank: int, group: int) -> int | None:
    """The event of the largest part of a rank in the all-to-alls of a group."""
    summary = run.summaries[rank]
    of, codes = summary.calls, run.join.group_numbers(summary.head.groups)[:-1]
    mine = np.flatnonzero((of.kind == _EXCHANGE) & (of.in_bytes >= 0) & (codes[of.group] == group))
    sent = np.maximum(of.in_bytes, of.out_bytes)[mine]
    row = int(summary.places.row[mine[np.argmax(sent)]])
    return row if row >= 0 else None


def moe_of(run: RunData, groups: Sequence[RunGroup]) -> list[MoeImbalance]:
    """Groups whose all-to-alls have other sizes on other ranks."""
    exchanging = {each.group for each in run.signatures if each.kind == "all_to_all"}
    parts: dict[int, list[tuple[int, Int64, Int64]]] = {}
    if not exchanging:
        return []
    for rank, summary in enumerate(run.summaries):
        codes = run.join.group_numbers(summary.head.groups)[:-1]
        of = summary.calls
        chosen = np.flatnonzero((of.kind == _EXCHANGE) & (of.in_bytes >= 0))
        number = run.rows(rank).number[chosen]
        at = codes[of.group[chosen]]
        sent = np.maximum(of.in_bytes, of.out_bytes)[chosen]
        for each in np.unique(at[number >= 0]).tolist():
            mine = (at == each) & (number >= 0)
            parts.setdefault(each, []).append((rank, number[mine], sent[mine]))
    found = []
    for group, of_ranks in sorted(parts.items()):
        number = np.concatenate([numbers for _, numbers, _ in of_ranks])
        sent = np.concatenate([values for _, _, values in of_ranks]).astype(np.float64)
        who = np.concatenate([np.full(len(numbers), rank) for rank, numbers, _ in of_ranks])
        order = np.lexsort((sent, number))
        number, sent, who = number[order], sent[order], who[order]
        starts = np.flatnonzero(np.diff(number, prepend=-1))
        count = np.diff(np.append(starts, len(number)))
        several = count > 1
        if not several.any():
            continue
        mean = (np.add.reduceat(sent, starts) / count)[several]
        last = (np.append(starts[1:], len(number)) - 1)[several]
        if (sent[last] == sent[starts[several]]).all():
            continue
        ranks, times = np.unique(who[last], return_counts=True)
        most = int(ranks[np.argmax(times)])
        found.append(
            MoeImbalance(
                group=groups[group].label,
                calls=int(np.count_nonzero(several)),
                mean_bytes=float(mean.mean()),
                worst=float((sent[last] / np.maximum(mean, 1)).mean()),
                rank=run.heads[most].rank,
                rank_share=float(times.max() / len(last)),
                rank_bytes=float(sent[who == most].mean()),
                worker=run.heads[most].worker,
                row=_largest(run, most, group),
            )
        )
    return found
