"""Stages of a pipeline: what each did in a step, and how long it waited for the others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.ranks.called import is_between_two
from torch_tb_profiler.ranks.parallel_answers import Pipeline, PipelineStage, StageSpan
from torch_tb_profiler.ranks.run_answers import RunGroup
from torch_tb_profiler.ranks.run_data import RunData

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
    shown = ""
    estimated = False
    for number, ranks in sorted(by_stage.items()):
        rank = ranks[len(ranks) // 2]
        steps = run.steps[rank]
        if not len(steps):
            continue
        at = len(steps) // 2
        shown = shown or run.heads[rank].steps[at]
        spans, bubble, unknown = _of_rank(run, rank, at)
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


def _of_rank(run: RunData, rank: int, step: int) -> tuple[list[StageSpan], int, bool]:
    """Stretches of a step; the median of what the steps wait for other stages; whether a partner is unknown."""
    summary, rows = run.summaries[rank], run.rows(rank)
    of = summary.timed
    chosen = np.flatnonzero(is_between_two(of) & (of.duration >= 0) & (of.step >= 0))
    shared = run.is_shared
    known = (rows.number[chosen] >= 0) & shared[np.maximum(rows.number[chosen], 0)] if len(shared) else chosen < 0
    transfer = np.where(known, run.state.shortest[np.maximum(rows.number[chosen], 0)] if len(shared) else 0, 0)
    wait = of.duration[chosen] - np.minimum(transfer, of.duration[chosen])
    of_steps = np.bincount(of.step[chosen], wait, len(summary.steps))
    bubble = round(float(np.median(of_steps)))
    mine = chosen[of.step[chosen] == step]
    begin, end = int(summary.steps.start[step]), int(summary.steps.end[step])
    events = summary.places.row[mine]
    spans = _spans(of.start[mine], of.end[mine], wait[of.step[chosen] == step], events, begin, end)
    return spans, bubble, not bool(known.all())


def _span(kind: Literal["work", "wait", "transfer"], start: int, end: int, row: int) -> StageSpan:
    return StageSpan(kind=kind, start_ns=start, end_ns=end, row=row if row >= 0 else None)


def _spans(start: Int64, end: Int64, wait: Int64, row: Int32, begin: int, until: int) -> list[StageSpan]:
    """Work between sends and receives; each of these waits first and transfers then."""
    order = np.argsort(start, kind="stable")
    found: list[StageSpan] = []
    at = begin
    rows = zip(*(values[order].tolist() for values in (start, end, wait, row)), strict=True)
    for first, last, waited, event in rows:
        arrived = min(max(first, at) + waited, last)
        parts: Sequence[tuple[Literal["work", "wait", "transfer"], int]] = (
            ("work", first),
            ("wait", arrived),
            ("transfer", last),
        )
        for kind, until_then in parts:
            then = min(until_then, until)
            if then > at:
                found.append(_span(kind, at - begin, then - begin, event))
                at = then
    if until > at:
        found.append(_span("work", at - begin, until - begin, -1))
    return found[:MOST_SPANS]
