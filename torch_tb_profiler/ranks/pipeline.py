"""Stages of a pipeline: what each did in a step, and how long it waited for the others."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.ranks.called import Timed, is_between_two
from torch_tb_profiler.ranks.parallel_answers import Pipeline, PipelineStage, StageSpan
from torch_tb_profiler.ranks.run_answers import RunGroup
from torch_tb_profiler.ranks.run_data import RunData

_Kind = Literal["work", "wait", "transfer"]
#: stretches of a stage
MOST_SPANS = 400
_ESTIMATED = "Some sends and receives have no known partner: all of their time counts as waiting."


def pipeline_of(run: RunData, groups: Sequence[RunGroup]) -> Pipeline | None:
    """None without groups of pipeline stages of which two ranks and more are here."""
    stage = _stages(run, groups)
    if len(set(stage.values())) < 2:
        return None
    by_stage: dict[int, list[int]] = {}
    for rank, number in stage.items():
        by_stage.setdefault(number, []).append(rank)
    stages = []
    of_rank = {run.heads[place].rank: number for place, number in stage.items()}
    spanning = {
        at for at, each in enumerate(groups) if len({of_rank[rank] for rank in each.ranks if rank in of_rank}) > 1
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
    """Of each rank in a pipeline its place in its group: groups named so, else those that send and receive."""
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
    """Stretches of a step; the median of what the steps wait for other stages; whether a partner is unknown.

    spanning   numbers of the groups with ranks of several stages
    """
    summary, rows = run.summaries[rank], run.rows(rank)
    of = summary.timed
    timed = np.flatnonzero((of.duration >= 0) & (of.step >= 0))
    timed = timed[np.argsort(of.start[timed], kind="stable")]
    if not len(timed):
        return [], 0, False
    stopped = _stopped(of, summary.calls.own, timed)
    number, shared = rows.number[timed], run.is_shared
    known = (number >= 0) & shared[np.maximum(number, 0)] if len(shared) else number < -1
    transfer = np.where(known, run.state.shortest[np.maximum(number, 0)] if len(shared) else 0, 0)
    is_pair = is_between_two(of)[timed]
    codes = run.join.group_numbers(of.groups)[:-1]
    between = is_pair | np.isin(codes[of.group[timed]], list(spanning))
    stopped = np.where(between, stopped, 0)
    wait = stopped - np.minimum(transfer, stopped)
    bubble = round(float(np.median(np.bincount(of.step[timed], wait, len(summary.steps)))))
    mine = np.flatnonzero(between & (of.step[timed] == step))
    at = timed[mine]
    begin, end = int(summary.steps.start[step]), int(summary.steps.end[step])
    parts = of.start[at], wait[mine], stopped[mine], summary.places.row[at].astype(np.int64)
    return _spans(parts, begin, end), bubble, not bool(known[is_pair].all())


def _stopped(of: Timed, own: Int64, timed: Int64) -> Int64:
    """Shape (timed,), ns: how long each operation stops the rank: until the next one begins, less its own time."""
    start = of.start[timed]
    until = np.append(start[1:], start[-1] + of.duration[timed[-1]])
    working = np.append(np.maximum(own[timed[1:]], 0), 0)
    found: Int64 = np.maximum(until - start - working, 0)
    return found


def _span(kind: _Kind, start: int, end: int, row: int) -> StageSpan:
    return StageSpan(kind=kind, start_ns=start, end_ns=end, row=row if row >= 0 else None)


def _spans(parts: tuple[Int64, Int64, Int64, Int64], begin: int, until: int) -> list[StageSpan]:
    """Work between operations that stop the rank; each of these waits first and transfers then.

    parts   start, wait, stop of each in ns, and its event
    """
    found: list[StageSpan] = []
    at = begin
    for start, waited, stopped, event in zip(*(each.tolist() for each in parts), strict=True):
        ends: Sequence[tuple[_Kind, int]] = (
            ("work", start),
            ("wait", start + waited),
            ("transfer", start + stopped),
        )
        for kind, end in ends if stopped else ():
            then = min(end, until)
            if then > at:
                found.append(_span(kind, at - begin, then - begin, event))
                at = then
    if until > at:
        found.append(_span("work", at - begin, until - begin, -1))
    return found[:MOST_SPANS]
