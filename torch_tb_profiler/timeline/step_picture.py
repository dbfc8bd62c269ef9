"""The median step as one picture: what its main thread and its devices did, side by side, in few marks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Answer, Count, Ns, TraceMeta, plain
from torch_tb_profiler.analysis.program.kinds import CODE, PHASES, ProgramPhase
from torch_tb_profiler.analysis.program.phases import phases
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.analysis.step_kinds import step_kinds
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.question import step_pieces
from torch_tb_profiler.analysis.waterfall.waterfall import main_thread_pieces
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.grouping import descending, sums_at
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.timeline.derived import PHASE
from torch_tb_profiler.timeline.pyramid import PyramidItems, begins

LaneKind = Literal["phases", "host", "device", "communication"]

#: what is shorter than this part of the step is merged with what is beside it
PIXELS = 1_200
MOST_MARKS = 2_000
#: phases that are known of less of the step are left out
LEAST_KNOWN = 0.05
#: lanes of devices: those that worked longest
MOST_DEVICES = 4


class PictureLane(msgspec.Struct, frozen=True, kw_only=True):
    """A lane of the picture. Lists are parallel, by time; marks of a lane do not overlap.

    kind         phases of the program, the main thread, a device, or collectives
    device       number of the device; null of other lanes
    part         what each mark is: its position in `parts`
    start_ns     since the start of the trace
    duration_ns  of the mark
    count        how many pieces a mark stands for; `part` is that which has most of its time
    row          number of the event that shows it: the work that ran, or that ended the gap; -1 without one
    name         of that event: its position in `names`; -1 without one
    """

    kind: LaneKind
    device: int | None = None
    part: Sequence[Count]
    start_ns: Sequence[Ns]
    duration_ns: Sequence[Ns]
    count: Sequence[Count]
    row: Sequence[int]
    name: Sequence[int]


class StepPicture(Answer, frozen=True, kw_only=True):
    """The median step as a picture.

    meta         which trace
    step         name of the step of median length, of the kind of steps that took most time; null without steps
    start_ns     since the start of the trace
    duration_ns  of the step
    devices      how many devices ran kernels; there is a lane for each of the four that worked longest
    parts        what marks are: causes of the waterfall, `communication`, and phases with `phase.` before their names
    names        of events, shortened
    lanes        from top to bottom
    """

    meta: TraceMeta
    step: str | None
    start_ns: Ns
    duration_ns: Ns
    devices: Count
    parts: Sequence[str]
    names: Sequence[str]
    lanes: Sequence[PictureLane]


class _Pieces(msgspec.Struct, frozen=True):
    """The pieces of a lane, by start, in the step. row: -1 for none."""

    kind: LaneKind
    part: Sequence[str]
    start: Int64
    end: Int64
    row: Int64
    device: int | None = None


class _Marks(msgspec.Struct, frozen=True):
    """What is drawn of a lane. shown: the piece that each mark is drawn as; size: how many it stands for."""

    start: Int64
    end: Int64
    size: Int64
    shown: Int64


def _step_picture(subject: Subject, _: NoParameters) -> StepPicture:
    model = subject.model
    meta = TraceMeta(**subject.about("overview"))
    steps = model.steps
    if not len(steps):
        return StepPicture(meta=meta, step=None, start_ns=0, duration_ns=0, devices=0, parts=(), names=(), lanes=())
    length = steps.end - steps.start
    step = _median_step(model, length)
    window = Spans(steps.start[step : step + 1], steps.end[step : step + 1])
    lanes = [lane for lane in _lanes(model, step, window) if len(lane.start)]
    width = max(1, int(length[step]) // PIXELS)
    merged = [_merged(lane, width) for lane in lanes]
    while sum(len(marks.start) for marks in merged) > MOST_MARKS:
        width *= 2
        merged = [_merged(lane, width) for lane in lanes]
    parts = list(dict.fromkeys(part for lane in lanes for part in lane.part))
    names: dict[str, int] = {}
    return StepPicture(
        meta=meta,
        step=steps.names[step],
        start_ns=int(steps.start[step]),
        duration_ns=int(length[step]),
        devices=len(waterfall(model).devices),
        parts=parts,
        lanes=[
            PictureLane(
                kind=lane.kind,
                device=lane.device,
                part=[parts.index(lane.part[at]) for at in marks.shown.tolist()],
                start_ns=plain(marks.start),
                duration_ns=plain(marks.end - marks.start),
                count=plain(marks.size),
                row=plain(lane.row[marks.shown]),
                name=_names(model, lane.row[marks.shown], names),
            )
            for lane, marks in zip(lanes, merged, strict=True)
        ],
        names=list(names),
    )


def _median_step(model: Model, length: Int64) -> int:
    """Return the step of median length, of the kind that took most time where steps run different programs."""
    kinds, steps = step_kinds(model), np.arange(len(length))
    if kinds.are_several:
        steps = np.flatnonzero(kinds.of == sums_at(kinds.of, length, int(kinds.of.max()) + 1).argmax())
    return int(steps[np.argsort(length[steps], kind="stable")[(len(steps) - 1) // 2]])


def _lanes(model: Model, step: int, window: Spans) -> Iterator[_Pieces]:
    known = _phases(model, window)
    if int((known.end - known.start).sum()) >= LEAST_KNOWN * int(window.end[0] - window.start[0]):
        yield known
    start, end, causes = main_thread_pieces(model, window)
    yield _Pieces("host", causes, start, end, np.full(len(start), -1, np.int64))
    yield from _devices(model, step)
    ranges = model.communications.ranges
    spans = intervals.intersection(intervals.union(ranges.start, ranges.end), window)
    nothing = np.full(spans.size, -1, np.int64)
    yield _Pieces("communication", ["communication"] * spans.size, spans.start, spans.end, nothing)


def _devices(model: Model, step: int) -> Iterator[_Pieces]:
    """Yield the lanes of the devices that worked longest in a step, by number."""
    parts = waterfall(model)
    if not parts.devices:
        return
    pieces = step_pieces(model, parts, step)
    idle = np.array([cause.startswith("idle") for cause in parts.causes], np.bool_)
    work = np.where(idle[pieces.cause], 0, pieces.duration_ns)
    busy = sums_at(np.searchsorted(np.array(parts.devices), pieces.device), work, len(parts.devices))
    row = take_known(model.trace.device_work.row, pieces.closing_work, -1).astype(np.int64)
    for place in np.sort(descending(busy)[:MOST_DEVICES]).tolist():
        device = parts.devices[place]
        mine = np.flatnonzero(pieces.device == device)
        start = pieces.start_ns[mine]
        causes = [parts.causes[code] for code in pieces.cause[mine].tolist()]
        yield _Pieces("device", causes, start, start + pieces.duration_ns[mine], row[mine], device)


def _phases(model: Model, window: Spans) -> _Pieces:
    """Return the phases of the main thread that something in the trace says."""
    segments = phases(model).segments
    start = np.maximum(segments.start, window.start[0])
    end = np.minimum(segments.end, window.end[0])
    kept = np.flatnonzero((end > start) & (segments.phase != CODE[ProgramPhase.OTHER]))
    names = [PHASE + PHASES[code].value for code in segments.phase[kept].tolist()]
    return _Pieces("phases", names, start[kept], end[kept], np.full(len(kept), -1, np.int64))


def _merged(lane: _Pieces, width: int) -> _Marks:
    """Merge what is shorter than `width` ns; a mark shows the longest piece of the part that has most of its time."""
    count = len(lane.start)
    codes = {part: code for code, part in enumerate(dict.fromkeys(lane.part))}
    code = np.array([codes[part] for part in lane.part], np.int64)
    duration = lane.end - lane.start
    one, zero = np.ones(count, np.int32), np.zeros(count, np.int64)
    items = PyramidItems(zero.astype(np.int32), lane.start, lane.end, zero, one, np.arange(count, dtype=np.int32))
    first = begins(items, width)
    size = np.diff(np.append(first, count))
    last = first + size - 1
    mark = np.repeat(np.arange(len(first)), size)
    time = sums_at(mark * len(codes) + code, duration, len(first) * len(codes)).reshape(-1, len(codes))
    shown = np.lexsort((duration, time[mark, code], mark))[last]
    return _Marks(lane.start[first], lane.end[last], size, shown)


def _names(model: Model, rows: Int64, names: dict[str, int]) -> list[int]:
    """Return the number of the name of each event, -1 for none; new names are put into `names`."""
    strings, name = model.trace.strings, model.trace.events.name
    short = {code: short_name(strings[code]) for code in set(name[rows[rows >= 0]].tolist())}
    return [names.setdefault(short[int(name[row])], len(names)) if row >= 0 else -1 for row in rows.tolist()]


STEP_PICTURE = Question(
    name="step_picture",
    summary="The median step: its main thread and its devices, side by side",
    tag="trace",
    compute=_step_picture,
    precompute=(NoParameters(),),
    report=({},),
)
