"""Costs of pipelines, sharded parameters and experts: bubbles, late all-gathers, uneven all-to-alls."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.communication import KINDS
from torch_tb_profiler.ranks.matching.operations import TimedOperations, is_between_two
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run.group_answers import (
    FsdpGathers,
    MoeImbalance,
    Pipeline,
    PipelineStage,
    RunGroup,
    StageSpan,
)
from torch_tb_profiler.ranks.summary import RankSummary

_Kind = Literal["work", "wait", "transfer"]
#: most spans of a stage
MOST_SPANS = 400
_ESTIMATED = "Some sends and receives have no known partner: all of their time counts as waiting."


def pipeline_of(run: RunData, groups: Sequence[RunGroup]) -> Pipeline | None:
    """Measure the stages of a pipeline; None with fewer than two stages."""
    stage = _stages(run, groups)
    if len(set(stage.values())) < 2:
        return None
    by_stage: dict[int, list[int]] = {}
    for rank, number in stage.items():
        by_stage.setdefault(number, []).append(rank)
    stages = []
    of_rank = {run.heads[place].rank: number for place, number in stage.items()}
    spanning = {
        number_of_group
        for number_of_group, each in enumerate(groups)
        if len({of_rank[rank] for rank in each.ranks if rank in of_rank}) > 1
    }
    shown = ""
    estimated = False
    for number, ranks in sorted(by_stage.items()):
        rank = ranks[len(ranks) // 2]
        steps = run.steps[rank]
        if not len(steps):
            continue
        at = len(steps) // 2
        shown = shown or run.heads[rank].steps[at]
        spans, bubble, unknown = _of_rank(run, rank, at, spanning)
        estimated |= unknown
        length = int(np.median(steps.end - steps.start))
        stages.append(
            PipelineStage(
                stage=number,
                ranks=len(ranks),
                worker=run.heads[rank].worker,
                step_ns=length,
                bubble_ns=bubble,
                bubble=min(bubble / max(length, 1), 1.0),
                spans=spans,
            )
        )
    return Pipeline(step=shown, stages=stages, note=_ESTIMATED if estimated else "")


def _stages(run: RunData, groups: Sequence[RunGroup]) -> dict[int, int]:
    """Return the stage of each rank: its place in groups named for pipelines, else in groups that send and receive."""
    places = {head.rank: at for at, head in enumerate(run.heads) if head.rank is not None}
    sending = {each.group for each in run.signatures if each.kind in ("send", "recv", "send_recv")}
    named = [of for at, of in enumerate(groups) if of.role == "pp" and at in sending]
    chosen = named or [of for at, of in enumerate(groups) if at in sending and of.role == "unknown"]
    return {
        places[rank]: number
        for of in chosen
        for number, rank in enumerate(of.ranks)
        if rank in places and (of.size or 0) > 1
    }


def _of_rank(run: RunData, rank: int, step: int, spanning: Collection[int]) -> tuple[list[StageSpan], int, bool]:
    """Return the spans of a step, the median wait of the steps for other stages, and whether a partner is unknown.

    spanning   numbers of the groups with ranks of several stages
    """
    summary, rows = run.summaries[rank], run.rows(rank)
    calls = summary.timed
    timed = np.flatnonzero((calls.duration >= 0) & (calls.step >= 0))
    timed = timed[np.argsort(calls.start[timed], kind="stable")]
    if not len(timed):
        return [], 0, False
    stopped = _stopped(calls, summary.calls.own, timed)
    number, shared = rows.number[timed], run.is_shared
    known = (number >= 0) & shared[np.maximum(number, 0)] if len(shared) else number < -1
    transfer = np.where(known, run.state.shortest[np.maximum(number, 0)] if len(shared) else 0, 0)
    is_pair = is_between_two(calls)[timed]
    codes = run.numbering.group_numbers(calls.groups)[:-1]
    between = is_pair | np.isin(codes[calls.group[timed]], list(spanning))
    stopped = np.where(between, stopped, 0)
    wait = stopped - np.minimum(transfer, stopped)
    bubble = round(float(np.median(np.bincount(calls.step[timed], wait, len(summary.steps)))))
    mine = np.flatnonzero(between & (calls.step[timed] == step))
    at = timed[mine]
    begin, end = int(summary.steps.start[step]), int(summary.steps.end[step])
    parts = calls.start[at], wait[mine], stopped[mine], summary.places.row[at].astype(np.int64)
    return _spans(parts, begin, end), bubble, not bool(known[is_pair].all())


def _stopped(of: TimedOperations, own: Int64, timed: Int64) -> Int64:
    """Return how long each operation stops the rank, shape (timed,), ns: until the next begins, less its own time."""
    start = of.start[timed]
    until = np.append(start[1:], start[-1] + of.duration[timed[-1]])
    working = np.append(np.maximum(own[timed[1:]], 0), 0)
    found: Int64 = np.maximum(until - start - working, 0)
    return found


def _span(kind: _Kind, start: int, end: int, row: int) -> StageSpan:
    return StageSpan(kind=kind, start_ns=start, end_ns=end, row=row if row >= 0 else None)


def _spans(parts: tuple[Int64, Int64, Int64, Int64], begin: int, until: int) -> list[StageSpan]:
    """Return the spans of a rank: waits and transfers of the operations that stop it, and the work between them.

    parts   start, wait and stop of each operation in ns, and its event
    """
    spans: list[StageSpan] = []
    begun = begin
    for start, waited, stopped, event in zip(*(each.tolist() for each in parts), strict=True):
        ends: Sequence[tuple[_Kind, int]] = (
            ("work", start),
            ("wait", start + waited),
            ("transfer", start + stopped),
        )
        for kind, end in ends if stopped else ():
            then = min(end, until)
            if then > begun:
                spans.append(_span(kind, begun - begin, then - begin, event))
                begun = then
    if until > begun:
        spans.append(_span("work", begun - begin, until - begin, -1))
    return spans[:MOST_SPANS]


_GATHER, _SCATTER, _EXCHANGE = (KINDS.index(kind) for kind in ("all_gather", "reduce_scatter", "all_to_all"))
#: most ranks of a group that are measured
MOST_RANKS = 8
#: a kernel that begins within this time of its call was not prefetched, ns
PREFETCH_LEAD_NS = 50_000
#: from this median of gathers ÷ scatters, parameters are gathered again for the backward pass
RESHARD_RATIO = 1.5


def fsdp_of(run: RunData, groups: Sequence[RunGroup]) -> list[FsdpGathers]:
    """Measure the all-gathers of groups that all-gather and reduce-scatter in their steps."""
    both: dict[int, set[str]] = {}
    for signature in run.signatures:
        both.setdefault(signature.group, set()).add(signature.kind)
    answers = []
    for group_number in sorted(
        group_number for group_number, kinds in both.items() if {"all_gather", "reduce_scatter"} <= kinds
    ):
        members = [(summary.head.worker, _gathers(summary, rows)) for summary, rows in _members(run, group_number)]
        looked = [(worker, each) for worker, each in members if each is not None]
        if not looked:
            continue
        gathers, scatters, lead, late, again, row = (
            np.array(values) for values in zip(*(each for _, each in looked), strict=True)
        )
        worst = int(np.argmax(late))
        answers.append(
            FsdpGathers(
                group=groups[group_number].label,
                gathers=round(float(np.median(gathers))),
                scatters=round(float(np.median(scatters))),
                reshards=bool(np.median(again) >= RESHARD_RATIO),
                lead_ns=round(float(np.median(lead))),
                late_share=float(np.mean(late)),
                worker=looked[worst][0],
                row=int(row[worst]) if row[worst] >= 0 else None,
            )
        )
    return answers


def _members(run: RunData, at: int) -> Iterator[tuple[RankSummary, Int64]]:
    """Yield the first ranks that use a group, with the rows of its operations."""
    taken = 0
    for rank, head in enumerate(run.heads):
        codes = run.numbering.group_numbers(head.groups)[:-1]
        if at not in codes or taken == MOST_RANKS:
            continue
        summary = run.summaries[rank]
        rows = np.flatnonzero(codes[summary.calls.group] == at)
        if len(rows):
            taken += 1
            yield summary, rows


def _gathers(summary: RankSummary, rows: Int64) -> tuple[float, float, float, float, float, int] | None:
    """Return gathers and scatters per step, median lead, share without lead, gathers ÷ scatters.

    And the event of the gather with the least lead, -1 without one.
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
    late = float(np.mean(lead < PREFETCH_LEAD_NS))
    return len(gathers) / steps, len(scatters) / steps, float(np.median(lead)), late, again, row


def _largest(run: RunData, rank: int, group: int) -> int | None:
    """Return the event of a rank's largest part in the all-to-alls of a group."""
    summary = run.summaries[rank]
    of, codes = summary.calls, run.numbering.group_numbers(summary.head.groups)[:-1]
    mine = np.flatnonzero((of.kind == _EXCHANGE) & (of.in_bytes >= 0) & (codes[of.group] == group))
    sent = np.maximum(of.in_bytes, of.out_bytes)[mine]
    row = int(summary.places.row[mine[np.argmax(sent)]])
    return row if row >= 0 else None


def moe_of(run: RunData, groups: Sequence[RunGroup]) -> list[MoeImbalance]:
    """Measure the imbalance of groups whose all-to-alls differ in size between ranks."""
    exchanging = {each.group for each in run.signatures if each.kind == "all_to_all"}
    parts: dict[int, list[tuple[int, Int64, Int64]]] = {}
    if not exchanging:
        return []
    for rank, summary in enumerate(run.summaries):
        codes = run.numbering.group_numbers(summary.head.groups)[:-1]
        of = summary.calls
        chosen = np.flatnonzero((of.kind == _EXCHANGE) & (of.in_bytes >= 0))
        number = run.rows(rank).number[chosen]
        at = codes[of.group[chosen]]
        sent = np.maximum(of.in_bytes, of.out_bytes)[chosen]
        for group_number in np.unique(at[number >= 0]).tolist():
            mine = (at == group_number) & (number >= 0)
            parts.setdefault(group_number, []).append((rank, number[mine], sent[mine]))
    answers = []
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
        answers.append(
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
    return answers
