"""Lanes that are computed, not recorded: the critical path, why devices idle, the phases; and the slack of each slice.

They are made at the first request, stored like an answer, and cut into tiles like the slices of the file.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec.structs import asdict, replace

from torch_tb_profiler.analysis.answer import Count, Fraction, Ns
from torch_tb_profiler.analysis.program.kinds import PHASES, PhaseEvidence
from torch_tb_profiler.analysis.program.phases import phases
from torch_tb_profiler.analysis.question import Node, Subject
from torch_tb_profiler.analysis.replay.graph import Edge
from torch_tb_profiler.analysis.replay.on_path import recorded_path, recorded_quality, recorded_slices
from torch_tb_profiler.analysis.replay.path import PARTS, UNKNOWN, slack_of_rows
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.waterfall import explained, unknown_time
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.lookup import places_of, take_known
from torch_tb_profiler.arrays.types import Float32, Int32, Int64, UInt8
from torch_tb_profiler.codec import convert
from torch_tb_profiler.timeline.pyramid import Levels, PyramidItems, bounded, pyramid
from torch_tb_profiler.trace.column_file import NamedTables, decode_tables, encode_tables

DerivedKind = Literal["path", "idle", "phases"]

#: the code for no edge
NO_EDGE = 255

#: dtypes of the columns of segments
_TYPES = {"lane": np.int32, "start": np.int64, "end": np.int64, "part": np.uint8, "edge": np.uint8, "row": np.int32}
#: prefix of a phase among the parts of a step
PHASE = "phase."
NO_DEVICE = "No device ran kernels in the steps of this trace."
NO_PHASE = "Nothing in this trace says in which phase its main thread is."
_NO_SLACK = np.empty(0, np.float32)


class DerivedLaneAnswer(msgspec.Struct, frozen=True):
    """A lane that is computed.

    device            number of the device, null for a lane of the whole trace
    pieces            how many are on it
    begin_ns, end_ns  where the first begins, where the last one ends
    """

    device: int | None
    pieces: Count = 0
    begin_ns: Ns = 0
    end_ns: Ns = 0


class NoLanes(msgspec.Struct, frozen=True):
    """Why there are no such lanes.

    id    names the reason
    text  says it
    """

    id: str
    text: str


class DerivedAnswer(msgspec.Struct, frozen=True):
    """Lanes that are computed.

    lanes            their position is the number of the lane
    parts            what pieces are, by the codes that tiles have; most time first
    edges            by the codes in tiles: why what follows a piece could not come earlier; for phases, how each is
                     known
    refused          why there are none; null if there are
    unexplained      share of the time of the steps that nothing in the trace explains; null if unknown
    longest_step_ns  how long the longest step takes; 0 without steps
    has_slack        whether `/api/timeline/slack` can be asked
    """

    lanes: list[DerivedLaneAnswer]
    parts: list[str]
    edges: list[str]
    refused: NoLanes | None = None
    unexplained: Fraction | None = None
    longest_step_ns: Ns = 0
    has_slack: bool = False


class Derived(msgspec.Struct, frozen=True):
    """Lanes of one kind.

    levels   `PyramidItems.longest` is the position of a piece
    part     shape (pieces,), index into `about.parts`
    edge     shape (pieces,), index into `about.edges`; NO_EDGE for none
    row      shape (pieces,): the event that a piece belongs to, -1 for none
    slack    shape (events,), ns, NaN where unknown; empty if it is not said
    size     bytes, about
    """

    about: DerivedAnswer
    levels: Levels
    part: UInt8
    edge: UInt8
    row: Int32
    slack: Float32
    size: int

    def shown(self, items: PyramidItems) -> Int64:
        """Return the segment that each item is drawn as, shape (items,): in a cell, the longest of its largest part.

        Work and gaps of similar length alternate: the longest segment alone could make a cell look like one gap.
        """
        shown_columns = items.longest.astype(np.int64)
        pieces, durations = self.levels.kept[0], self.levels.durations
        for at in np.flatnonzero(items.count > 1).tolist():
            lane = slice(*pieces.first[items.lane[at] : items.lane[at] + 2].tolist())
            first = lane.start + int(np.searchsorted(pieces.items.start[lane], items.start[at]))
            cell = slice(first, first + int(items.count[at]))
            part, duration = self.part[cell], durations[cell]
            most = int(sums_at(part, duration, len(self.about.parts)).argmax())
            shown_columns[at] = first + int(np.argmax(np.where(part == most, duration, -1)))
        return shown_columns


def _encoded(about: DerivedAnswer, pieces: dict[str, npt.NDArray[Any]], slack: Float32) -> bytes:
    """Encode lanes. pieces: the segments by lane and time, without overlap within a lane."""
    columns = {name: pieces[name].astype(dtype) for name, dtype in _TYPES.items()}
    tables: dict[str, dict[str, npt.NDArray[Any]]] = {"pieces": columns, "slack": {"slack": slack}}
    start, end = columns["start"], columns["end"]
    lanes = []
    bounds = np.searchsorted(columns["lane"], np.arange(len(about.lanes) + 1)).tolist()
    for lane, (low, high) in zip(about.lanes, pairwise(bounds), strict=True):
        begin_ns, end_ns = (int(start[low]), int(end[high - 1])) if high > low else (0, 0)
        lanes.append(DerivedLaneAnswer(lane.device, high - low, begin_ns, end_ns))
    about = replace(about, lanes=lanes, has_slack=len(slack) > 0)
    return encode_tables(NamedTables(msgspec.to_builtins(about), [""], tables))


def _read(stored: bytes) -> Derived:
    kept = decode_tables(stored)
    pieces, slack = kept.tables["pieces"], kept.tables["slack"]["slack"]
    about = convert(kept.header, DerivedAnswer)
    start, end = pieces["start"], pieces["end"]
    idle, count = np.zeros(len(start), np.int64), np.ones(len(start), np.int32)
    items = PyramidItems(pieces["lane"], start, end, idle, count, np.arange(len(start), dtype=np.int32))
    durations = end - start
    begin, last = (int(start.min()), int(end.max())) if len(start) else (0, 0)
    kept_levels = {0: items, **pyramid(items, durations, begin, last)}
    levels = Levels({level: bounded(held, len(about.lanes)) for level, held in kept_levels.items()}, durations)
    size = levels.size + durations.nbytes + slack.nbytes + sum(values.nbytes for values in pieces.values())
    return Derived(about, levels, pieces["part"], pieces["edge"], pieces["row"], slack, size)


def _path(subject: Subject) -> bytes:
    """Return the critical path of all steps, not only the chosen ones, and the slack of all slices."""
    model = subject.model
    edges = [edge.name.lower() for edge in Edge]
    path = recorded_path(model)
    refused = next((each for each in recorded_quality(model).refusals if each.scope == "everything"), None)
    if refused is not None:
        return _encoded(DerivedAnswer([], [], [], NoLanes(refused.id, refused.text)), _nothing(), _NO_SLACK)
    pieces, known = recorded_slices(model), explained(recorded_quality(model), unknown_time(model))
    slack = slack_of_rows(model)
    about = DerivedAnswer(
        lanes=[DerivedLaneAnswer(None)],
        parts=list(PARTS),
        edges=edges,
        unexplained=None if known.share is None else 1 - known.share,
        longest_step_ns=int(path.step_ns.max(initial=0)),
    )
    columns = {"lane": np.zeros(len(pieces), np.int32), **asdict(pieces)}
    return _encoded(
        _used(about, columns), columns, np.where(slack == UNKNOWN, np.float32(np.nan), slack.astype(np.float32))
    )


def _idle(subject: Subject) -> bytes:
    """Return the gaps of each device that ran kernels in the steps, by cause; the work that ends a gap owns it."""
    model = subject.model
    parts = waterfall(model)
    if parts.basis != "devices":
        return _encoded(DerivedAnswer([], [], [], NoLanes("no_device", NO_DEVICE)), _nothing(), _NO_SLACK)
    gaps = parts.gaps
    gaps = gaps.take(np.lexsort((gaps.start_ns, gaps.device)))
    start, end = gaps.start_ns.copy(), gaps.start_ns + gaps.duration_ns
    # steps may overlap by a nanosecond
    same = gaps.device[1:] == gaps.device[:-1]
    start[1:] = np.where(same, np.maximum(start[1:], end[:-1]), start[1:])
    kept = np.flatnonzero(end > start)
    gaps, start, end = gaps.take(kept), start[kept], end[kept]
    row = take_known(model.trace.device_work.row, gaps.closing_work)
    columns: dict[str, npt.NDArray[Any]] = {
        "lane": np.searchsorted(np.array(parts.devices), gaps.device),
        "start": start,
        "end": end,
        "part": gaps.cause,
        "edge": np.full(len(gaps), NO_EDGE),
        "row": row,
    }
    lanes = [DerivedLaneAnswer(device) for device in parts.devices]
    return _encoded(_used(DerivedAnswer(lanes, list(parts.causes), []), columns), columns, _NO_SLACK)


def _phases(subject: Subject) -> bytes:
    """Return the phases of the main thread in the whole trace; each belongs to the mark in which it begins, if any."""
    of_thread = phases(subject.model)
    segments = of_thread.segments
    if not len(segments.start):
        return _encoded(DerivedAnswer([], [], [], NoLanes("no_phase", NO_PHASE)), _nothing(), _NO_SLACK)
    mark = of_thread.marks.nesting.innermost(np.full(len(segments.start), of_thread.main, np.int32), segments.start)
    columns: dict[str, npt.NDArray[Any]] = {
        "lane": np.zeros(len(segments.start), np.int32),
        "start": segments.start,
        "end": segments.end,
        "part": segments.phase,
        "edge": np.where(segments.evidence == PhaseEvidence.NONE, NO_EDGE, segments.evidence),
        "row": take_known(of_thread.marks.row, mark, -1),
    }
    parts = [PHASE + phase.value for phase in PHASES]
    about = DerivedAnswer([DerivedLaneAnswer(None)], parts, [each.name.lower() for each in PhaseEvidence])
    return _encoded(_used(about, columns), columns, _NO_SLACK)


def _nothing() -> dict[str, npt.NDArray[Any]]:
    return dict.fromkeys(_TYPES, np.empty(0, np.int64))


def _used(about: DerivedAnswer, columns: dict[str, npt.NDArray[Any]]) -> DerivedAnswer:
    """Keep only the parts that occur, most time first; renumber the codes in `columns`."""
    time = sums_at(columns["part"], columns["end"] - columns["start"], len(about.parts))
    used = np.flatnonzero(np.bincount(columns["part"], minlength=len(about.parts)))
    used = used[np.argsort(-time[used], kind="stable")]
    columns["part"] = places_of(used, len(about.parts))[columns["part"]]
    return replace(about, parts=[about.parts[part] for part in used.tolist()])


PARTS_OF_TIMELINE: dict[DerivedKind, Node] = {
    "path": Node(name="timeline path", make=_path, keep="answers", decode=_read, once=True),
    "idle": Node(name="timeline idle", make=_idle, keep="answers", decode=_read, once=True),
    "phases": Node(name="timeline phases", make=_phases, keep="answers", decode=_read, once=True),
}
