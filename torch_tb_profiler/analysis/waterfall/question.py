"""Question for the waterfall, and the largest intervals of a cause: what ended them and where in the program."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Fraction, Ns, Row, TraceMeta
from torch_tb_profiler.analysis.question import Question, Refused, Subject
from torch_tb_profiler.analysis.replay.host_time import HOST_COLLECTIVE
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.analysis.waterfall.causes import ALL, BUSY
from torch_tb_profiler.analysis.waterfall.waterfall import (
    Basis,
    Gaps,
    Part,
    Waterfall,
    average,
    busy_sets,
    first_set,
    is_below,
    parts_of,
    waterfall,
    works_of,
)
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import isin
from torch_tb_profiler.arrays.grouping import apportion, descending
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.lookup import place_of_running_maximum, take_known
from torch_tb_profiler.arrays.nesting import nearest, nest
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import NN_MODULE, is_own_code
from torch_tb_profiler.model.model import DATALOADER_NAME


class Piece(Answer, frozen=True, kw_only=True):
    """An interval with one cause, within one step. Texts and rows are null if the trace does not show it.

    cause         why the time passed
    step          name of the step
    device        number of the device; null of the main thread
    start_ns      since the start of the trace
    duration_ns   how long it lasts
    gap_ns        length of the whole gap that it is a part of, from the end of work to the start of work; of work its
                  own duration
    work          name of the kernel, copy or fill that ended the gap, or that ran
    work_row      its event
    launch        name of the call that launched it
    launch_row    its event
    owner         the operator, annotation or Python frame that launched it
    owner_row     its event
    host          what ran on the thread when the piece began: the innermost call, operator or annotation; of waiting
                  for a batch or a collective, that; of work what ran when it was launched
    host_row      its event
    frame         the innermost Python frame of the user's own code then, as `file(line): function`
    frame_row     its event
    module        the innermost nn.Module then
    """

    cause: str
    step: str
    device: int | None
    start_ns: Ns
    duration_ns: Ns
    gap_ns: Ns
    work: str | None
    work_row: Row | None
    launch: str | None
    launch_row: Row | None
    owner: str | None
    owner_row: Row | None
    host: str | None
    host_row: Row | None
    frame: str | None
    frame_row: Row | None
    module: str | None


def cause_pieces(model: Model, parts: Waterfall, cause: str) -> Gaps:
    """Collect all pieces of a cause and those below it, the longest first."""
    wanted = np.array([is_below(each, cause) for each in parts.causes], np.bool_)
    gaps = [parts.gaps.take(np.flatnonzero(wanted[parts.gaps.cause]))]
    codes = [at for at, meaning in enumerate(BUSY) if is_below(meaning.cause, cause) and meaning.cause in parts.causes]
    if codes:
        gaps += [_busy_pieces(model, parts, device, codes) for device in parts.devices]
    every = Gaps(**{name: np.concatenate([getattr(part, name) for part in gaps]) for name in Gaps.columns})
    return every.take(descending(every.duration_ns))


def step_pieces(model: Model, parts: Waterfall, step: int) -> Gaps:
    """Return all that the devices did in one step and why they idled, by device and start: together the step."""
    codes = [at for at, meaning in enumerate(BUSY) if meaning.cause in parts.causes]
    found = [parts.gaps, *(_busy_pieces(model, parts, device, codes) for device in parts.devices if codes)]
    every = Gaps(**{name: np.concatenate([getattr(part, name) for part in found]) for name in Gaps.columns})
    every = every.take(np.flatnonzero(every.step == step))
    return every.take(np.lexsort((every.start_ns, every.device)))


def with_evidence(model: Model, parts: Waterfall, pieces: Gaps) -> list[Piece]:
    """Return the pieces with their evidence."""
    trace, structure = model.trace, model.structure
    rows, calls = trace.device_work.row, trace.launches.row
    events, strings = trace.events, trace.strings
    work = take_known(rows, pieces.closing_work)
    launch = take_known(calls, pieces.launch_call)
    owner = take_known(structure.owners.row, pieces.closing_work)
    lane, time = pieces.track.copy(), pieces.start_ns.copy()
    ran = np.array([parts.causes[code] in _BUSY for code in pieces.cause.tolist()], np.bool_)
    lane[ran] = take_known(events.track, launch[ran])
    time[ran] = take_known(events.start, launch[ran])
    host = _running(model, lane, time)
    for ending, pattern in ((".input", DATALOADER_NAME), (".data", DATALOADER_NAME), (".collective", HOST_COLLECTIVE)):
        causes = [at for at, cause in enumerate(parts.causes) if cause.endswith(ending)]
        chosen = np.flatnonzero(np.isin(pieces.cause, causes))
        around = _around(model, pattern, time[chosen])
        host[chosen] = np.where(around >= 0, around, host[chosen])
    frame, module = _frames(model, lane, time)

    def name(row: int) -> str | None:
        return strings[int(events.name[row])] if row >= 0 else None

    def known(row: int) -> int | None:
        return row if row >= 0 else None

    return [
        Piece(
            cause=parts.causes[cause],
            step=model.steps.names[step],
            device=device if parts.basis == "devices" else None,
            start_ns=start,
            duration_ns=duration,
            gap_ns=gap,
            work=name(w),
            work_row=known(w),
            launch=name(c),
            launch_row=known(c),
            owner=name(o),
            owner_row=known(o),
            host=name(h),
            host_row=known(h),
            frame=name(f),
            frame_row=known(f),
            module=(name(m) or "").removeprefix(NN_MODULE) or None,
        )
        for cause, step, device, start, duration, gap, w, c, o, h, f, m in zip(
            *(
                column.tolist()
                for column in (
                    pieces.cause,
                    pieces.step,
                    pieces.device,
                    pieces.start_ns,
                    pieces.duration_ns,
                    pieces.gap_ns,
                    work,
                    launch,
                    owner,
                    host,
                    frame,
                    module,
                )
            ),
            strict=True,
        )
    ]


_BUSY = frozenset(meaning.cause for meaning in BUSY)


def _busy_pieces(model: Model, parts: Waterfall, device: int, codes: list[int]) -> Gaps:
    """Collect the pieces in which a device was busy with work of some codes, and that work."""
    windows = Spans(model.steps.start, model.steps.end)
    overlay = intervals.overlay(busy_sets(model, device))
    of = first_set(overlay)
    kept = np.flatnonzero(isin(of, codes))
    cut = intervals.intersection(Spans(overlay.start[kept], overlay.end[kept]), windows)
    code = of[kept][np.searchsorted(overlay.start[kept], cut.start, side="right") - 1]
    work = np.full(cut.size, -1, np.int64)
    for busy in codes:
        mine, start, end = works_of(model, device, busy)
        order = np.argsort(start, kind="stable")
        chosen = np.flatnonzero(code == busy)
        at = np.searchsorted(start[order], cut.start[chosen], side="right") - 1
        work[chosen] = mine[order][place_of_running_maximum(end[order])[at]]
    # positions of what is selected become those of the whole trace
    whole = np.searchsorted(model.trace.device_work.row, model.device_work.row[work])
    place = {cause: at for at, cause in enumerate(parts.causes)}
    launch = take_known(model.structure.device_links.launch, whole).astype(np.int64)
    row = model.trace.device_work.row[whole]
    return Gaps(
        start_ns=cut.start,
        duration_ns=cut.end - cut.start,
        step=np.searchsorted(windows.start, cut.start, side="right") - 1,
        device=np.full(cut.size, device),
        cause=np.array([place.get(ALL[busy].cause, -1) for busy in range(len(BUSY))], np.int64)[code],
        gap_ns=model.trace.events.duration[row],
        closing_work=whole,
        launch_call=launch,
        track=take_known(model.trace.events.track, take_known(model.trace.launches.row, launch)).astype(np.int64),
    )


def _running(model: Model, lane: Int64, time: Int64) -> Int32:
    """Return the rows of the innermost call on a thread at a time, else of the operator or annotation; -1 for none."""
    trace, structure = model.trace, model.structure
    rows = trace.launches.row
    events = trace.events
    calls = nest(events.track[rows], events.start[rows], events.end[rows], np.zeros(len(rows), np.int32))
    track = lane.astype(np.int32)
    call = take_known(rows[calls.order], calls.innermost(track, time))
    node = take_known(structure.tree.row, structure.nesting.innermost(track, time))
    return np.where(call >= 0, call, node)


def _around(model: Model, pattern: re.Pattern[str], time: Int64) -> Int32:
    """Return the rows of the ranges of a name that ran at each time, on whatever thread; -1 for none."""
    tree = model.structure.tree
    at = np.flatnonzero(model.trace.strings.where(pattern.match, tree.name)[tree.name])
    at = at[np.argsort(tree.start[at], kind="stable")]
    if not len(at):
        return np.full(len(time), -1, np.int32)
    place = np.searchsorted(tree.start[at], time, side="right") - 1
    longest = at[place_of_running_maximum(tree.end[at])[place]]
    return np.where((place >= 0) & (tree.end[longest] > time), tree.row[longest], -1)


def _frames(model: Model, lane: Int64, time: Int64) -> tuple[Int32, Int32]:
    """Return the rows of the innermost frame of the user's code, and of the innermost module.

    Where a thread has no frames, those of the main thread.
    """
    frames, nesting = model.structure.frames, model.structure.frame_nesting
    if not len(frames):
        nothing = np.full(len(lane), -1, np.int32)
        return nothing, nothing
    main = np.full(len(lane), main_lane(model), np.int32)
    at = nesting.innermost(lane.astype(np.int32), time)
    at = np.where(at >= 0, at, nesting.innermost(main, time))

    def around(wanted: Callable[[str], object]) -> Int32:
        matches = model.trace.strings.where(wanted, frames.name)[frames.name]
        return take_known(frames.row, nearest(frames.parent, matches, at))

    return around(is_own_code), around(lambda name: name.startswith(NN_MODULE))


#: pieces of one answer, unless asked otherwise
PAGE = 100
LARGEST_PAGE = 1_000


class CauseParams(msgspec.Struct, frozen=True):
    """Of which cause pieces are listed."""

    cause: Annotated[
        str | None, Meta(description="A cause, or a group such as idle or idle.host: its largest pieces are listed.")
    ] = None
    limit: Annotated[int, Meta(description="Pieces of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class CauseMeaning(Answer, frozen=True, kw_only=True):
    """A cause that occurs.

    cause  its id; the part before a dot is a group of causes
    help   its definition
    """

    cause: str
    help: str


class DeviceParts(Answer, frozen=True, kw_only=True):
    """The average step of one device.

    device  number of the device
    parts   that add up to the mean step time exactly
    """

    device: int
    parts: Sequence[Part]


class CausePieces(Answer, frozen=True, kw_only=True):
    """The pieces of a cause.

    cause     which one
    total     how many pieces it has in all steps
    total_ns  Σ of their durations, over all steps and devices
    largest   the longest of them, the longest first
    """

    cause: str
    total: Count
    total_ns: Ns
    largest: Sequence[Piece]


class WaterfallAnswer(Answer, frozen=True, kw_only=True):
    """Where the time of the steps went.

    meta                which trace
    basis               devices: the time of the devices that ran kernels; host: that of the main thread where none did
    steps               names of the steps
    step_ns             their periods
    causes              those that occur, with their definitions
    average             the average step, mean over devices: the parts add up to the mean step time exactly
    step_parts          of each step by cause, mean over devices: they add up to step_ns exactly
    devices             the average step of each device; empty for a host
    launch_bound_score  share of the idle time, 0…1, that is due to launching and in gaps below 100 µs; null without
                        idle time
    pieces              of the cause that was asked for; null without one
    """

    meta: TraceMeta
    basis: Basis
    steps: Sequence[str]
    step_ns: Sequence[Ns]
    causes: Sequence[CauseMeaning]
    average: Sequence[Part]
    step_parts: Mapping[str, Sequence[Ns]]
    devices: Sequence[DeviceParts]
    launch_bound_score: Fraction | None
    pieces: CausePieces | None


_HELP = {meaning.cause: meaning.help for meaning in ALL}


def _waterfall(subject: Subject, params: CauseParams) -> WaterfallAnswer:
    model = subject.model
    parts = waterfall(model)
    pieces = None
    if params.cause is not None:
        if not any(is_below(cause, params.cause) for cause in _HELP):
            raise Refused(f"there is no cause {params.cause!r}")
        every = cause_pieces(model, parts, params.cause)
        pieces = CausePieces(
            cause=params.cause,
            total=len(every),
            total_ns=int(every.duration_ns.sum()),
            largest=with_evidence(model, parts, every.take(np.arange(min(params.limit, len(every))))),
        )
    return WaterfallAnswer(
        meta=TraceMeta(**subject.about("overview")),
        basis=parts.basis,
        steps=model.steps.names,
        step_ns=parts.step_ns.tolist(),
        causes=[CauseMeaning(cause=cause, help=_HELP[cause]) for cause in parts.causes],
        average=average(parts),
        step_parts=_step_parts(parts),
        devices=[
            DeviceParts(device=device, parts=parts_of(parts, parts.ns[at : at + 1]))
            for at, device in enumerate(parts.devices)
        ],
        launch_bound_score=parts.launch_bound_score,
        pieces=pieces,
    )


def _step_parts(parts: Waterfall) -> dict[str, list[int]]:
    """Split each step by cause: means over devices, in whole numbers that add up to the step."""
    if len(parts.ns) == 1:
        return dict(zip(parts.causes, parts.ns[0].T.tolist(), strict=True))
    sums = parts.ns.sum(axis=0)
    whole = [
        apportion(weights, step) if step else [0] * len(weights)
        for weights, step in zip(sums, parts.step_ns.tolist(), strict=True)
    ]
    columns = zip(*whole, strict=True) if whole else ([] for _ in parts.causes)
    return {cause: list(ns) for cause, ns in zip(parts.causes, columns, strict=True)}


WATERFALL = Question(
    name="waterfall",
    summary="Where the time of the steps went, exactly",
    compute=_waterfall,
    more="Causes, and how they are found: docs/waterfall.md.",
    precompute=(CauseParams(),),
)
