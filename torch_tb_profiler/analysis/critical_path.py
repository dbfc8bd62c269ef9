"""What limits the steps, and how long they would take after a change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from torch_tb_profiler.analysis.question import NotFound, Question, Refused, Subject
from torch_tb_profiler.analysis.replay.change_texts import (
    LARGEST_FACTOR,
    LONGEST,
    MOST,
    BadChanges,
    changes_of,
    named_events,
    parse_changes,
)
from torch_tb_profiler.analysis.replay.changes import ScaleWork
from torch_tb_profiler.analysis.replay.on_path import names_on_path, recorded_path, recorded_quality, recorded_slices
from torch_tb_profiler.analysis.replay.path import PARTS
from torch_tb_profiler.analysis.replay.resources import (
    RESOURCES,
    WAITS,
    CriticalPathAnswer,
    NotAnswered,
    ReplayMeta,
    ResourceId,
    ResourceOnPath,
    Saved,
    SavingEstimate,
    StepResource,
    StepsOnPath,
    WhatIfAnswer,
    by_resource,
    estimated_saving,
    largest_resource,
    limit_without,
    path_parts,
)
from torch_tb_profiler.analysis.replay.savings import what_if
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.slices import track_name
from torch_tb_profiler.analysis.tabular import Table, TableMeta
from torch_tb_profiler.analysis.waterfall.waterfall import explained, unknown_time
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange, steps_in_range
from torch_tb_profiler.words.sentences import because

_STEPS_MORE = (
    "`from_step` and `to_step` choose whose path is looked at; the replay is always of the whole recording, because "
    "what a step waits for may have begun before it."
)


def _chosen(subject: Subject) -> list[int]:
    """Return the chosen steps, by index."""
    steps = subject.model.steps
    return list(range(len(steps)))[steps_in_range(steps, subject.steps)] if subject.steps else list(range(len(steps)))


def _meta(subject: Subject) -> ReplayMeta:
    quality = recorded_quality(subject.model)
    found = explained(quality, unknown_time(subject.model))
    return ReplayMeta(
        **subject.about("criticalpath"),
        explained=found.share,
        confidence=found.confidence,
        refused=[NotAnswered(each.id, each.scope, each.text, each.share) for each in quality.refusals],
    )


def _saved(found: SavingEstimate) -> Saved:
    why = None if found.refused is None else found.refused.id
    return Saved(saved_ns=found.saved, low_ns=found.low, high_ns=found.high, bound=found.bound, refused=why)


# the path ---------------------------------------------------------------------------------------------------


class CriticalPathParams(msgspec.Struct, frozen=True):
    """How much of it."""

    most: Annotated[
        int, Meta(description="How many operators, kernels, functions and modules, each.", ge=1, le=1000)
    ] = 100


def _critical_path(subject: Subject, params: CriticalPathParams) -> CriticalPathAnswer:
    model, steps = subject.model, _chosen(subject)
    path, recorded_steps = recorded_path(model), model.steps
    parts = path_parts(path, steps)
    total = int(path.step_ns[steps].sum())
    sums = by_resource(parts)
    free = {
        resource.id: estimated_saving(model, resource.free, steps) if resource.free else None for resource in RESOURCES
    }
    faster = {
        resource.id: estimated_saving(model, resource.faster, steps) if resource.faster else None
        for resource in RESOURCES
    }
    following = {resource.id: _next(model, resource, free[resource.id], steps) for resource in RESOURCES}
    names = names_on_path(model, steps)
    composition = path.composition[steps]
    return CriticalPathAnswer(
        meta=_meta(subject),
        steps=StepsOnPath(
            names=[path.names[k] for k in steps],
            start_ns=(recorded_steps.end[steps] - path.step_ns[steps]).tolist(),
            step_ns=path.step_ns[steps].tolist(),
            part_ns={part: composition[:, PARTS.index(part)].tolist() for part in parts},
        ),
        total_ns=total,
        mean_step_ns=total / len(steps) if steps else None,
        largest=largest_resource(parts)[0],
        resources=[
            ResourceOnPath(
                resource=resource.id,
                parts=[part for part in resource.parts if part in parts],
                on_path_ns=sums[resource.id],
                if_free=None if (gone := free[resource.id]) is None else _saved(gone),
                if_faster=_faster(free[resource.id], faster[resource.id]),
                next=following[resource.id][0],
                next_share=following[resource.id][1],
            )
            for resource in RESOURCES
        ],
        operators=names.operators[: params.most],
        kernels=names.kernels[: params.most],
        functions=names.functions[: params.most],
        modules=names.modules[: params.most],
    )


def _next(
    model: Model, resource: StepResource, free: SavingEstimate | None, steps: Sequence[int]
) -> tuple[ResourceId | None, float | None]:
    return limit_without(model, resource, steps) if free is not None and free.saved else (None, None)


def _faster(free: SavingEstimate | None, faster: SavingEstimate | None) -> Saved | None:
    """Return what a faster resource saves; of what can only be removed, that it cannot be faster."""
    if faster is not None:
        return _saved(faster)
    return None if free is None else Saved(saved_ns=None, low_ns=None, high_ns=None, bound=False, refused=WAITS)


CRITICAL_PATH = Question(
    name="critical_path",
    summary="What the steps could not have been shorter without",
    compute=_critical_path,
    of_steps=False,
    report=({},),
    more=_STEPS_MORE,
)


# its pieces -------------------------------------------------------------------------------------------------


class PathPieceParams(msgspec.Struct, frozen=True):
    """Of which step."""

    step: Annotated[str | None, Meta(description="Only of this step; without it of all that are chosen.")] = None


class PathPieces(Result, group="path"):
    """The path piece by piece, by step and start. Parallel."""

    step: list[str] = column("Step", "The step whose path the piece is on.")
    name: list[str | None] = column(
        "Name",
        "What ran: the kernel or copy; on the host the innermost operator, annotation or call, or the Python function "
        "while the interpreter runs; for a delay, what came after it.",
    )
    part: list[str] = column("Part", "What the time of the path is spent on there.")
    start_ns: Int64 = column("Start", "Time since the start of the trace.")
    duration_ns: Int64 = column("Duration", "How long the path stays there.", total=True)
    track: list[str | None] = column("Track", "Thread of the host, or stream of the device; empty for delays.")
    row: Int64 = column(
        "Event", "Number of the event in the file, counted from 0.", unit=None, missing_below_zero=True, hidden=True
    )


def _pieces(subject: Subject, params: PathPieceParams) -> Table[TableMeta]:
    model = subject.model
    steps = _chosen(subject)
    names = model.steps.names
    if params.step is not None:
        if params.step not in names:
            raise NotFound(because("no_such_step", {"step": params.step}))
        steps = list(range(len(names)))[steps_in_range(model.steps, StepRange(params.step, params.step))]
    slices = recorded_slices(model)
    chosen = np.flatnonzero(isin(slices.step, np.array(steps, np.int64)))
    trace = model.trace
    strings, row = trace.strings, slices.row[chosen]
    code = np.where(row >= 0, trace.events.name[np.maximum(row, 0)], -1) if len(trace.events) else row
    tracks = {track: track_name(trace.tracks[track]) for track in distinct(slices.track[chosen]).tolist() if track >= 0}
    pieces = PathPieces(
        step=[names[k] for k in slices.step[chosen].tolist()],
        name=[strings[each] if each >= 0 else None for each in code.tolist()],
        part=[PARTS[part] for part in slices.part[chosen].tolist()],
        start_ns=slices.start[chosen],
        duration_ns=(slices.end - slices.start)[chosen],
        track=[tracks.get(track) for track in slices.track[chosen].tolist()],
        row=row,
    )
    return pieces.table(TableMeta(**subject.about("criticalpath")))


PATH_PIECES_OF_STEP = Question(
    name="critical_path/pieces",
    summary="The critical path piece by piece",
    compute=_pieces,
    of_steps=False,
    more="The pieces of a step follow one another without a gap, and add up to it. Host time is cut where an event "
    "begins or ends.",
)


# what if ----------------------------------------------------------------------------------------------------


class WhatIfParams(msgspec.Struct, frozen=True):
    """What is changed."""

    changes: Annotated[
        str,
        Meta(
            description="A list such as `data:0,kernels:0.8,operator.aten::mm:0.5,sync`: kinds of changes with a name "
            "after a point where they have one and a factor after a colon. `,` and `%` in names are written `%2C` and "
            f"`%25`. At most {MOST} changes and {LONGEST:,} characters; factors from 0 to {LARGEST_FACTOR:.0f}."
        ),
    ] = ""


def _what_if(subject: Subject, params: WhatIfParams) -> WhatIfAnswer:
    model, steps = subject.model, _chosen(subject)
    try:
        wanted = parse_changes(params.changes)
    except BadChanges as error:
        raise Refused(str(error)) from None
    quality = recorded_quality(model)
    named = [named_events(model, change.kind, change.name) for change in wanted]
    effective = changes_of([change for change, events in zip(wanted, named, strict=True) if events != 0])
    replayed = what_if(model, effective, steps)
    before = path_parts(recorded_path(model), steps)
    after = None if replayed.path is None else path_parts(replayed.path, list(range(len(steps))))
    has_interval = len(effective) > 0
    return WhatIfAnswer(
        meta=_meta(subject),
        changes=[
            replace(
                requested,
                found=count,
                refused=next((why.id for change in requested.changes if (why := quality.of(change)) is not None), None),
            )
            for requested, count in zip(wanted, named, strict=True)
        ],
        notes=replayed.notes,
        with_waiting=any(
            isinstance(change, ScaleWork) and change.work in ("collectives", "all") for change in effective
        ),
        names=replayed.names,
        step_before_ns=replayed.step_before_ns.tolist(),
        step_after_ns=None if replayed.step_after_ns is None else replayed.step_after_ns.tolist(),
        before_ns=replayed.before_ns,
        after_ns=replayed.after_ns,
        saved=Saved(
            saved_ns=replayed.saved_ns,
            low_ns=replayed.low_ns if has_interval else None,
            high_ns=replayed.high_ns if has_interval else None,
            bound=replayed.bound,
            refused=replayed.refused[0].id if replayed.refused else None,
        ),
        parts_before=before,
        parts_after=after,
        limit_before=largest_resource(before)[0],
        limit_after=None if after is None else largest_resource(after)[0],
    )


WHAT_IF = Question(
    name="what_if",
    summary="How long the steps would take after some changes",
    compute=_what_if,
    of_steps=False,
    more=_STEPS_MORE,
)
