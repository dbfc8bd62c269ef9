"""Answers in a binary layout, for typed arrays: tiles, exact slices, counters, and tiles of computed lanes."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.question import Node, NotFound, Question, Refused
from torch_tb_profiler.analysis.slices import longest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.timeline.derived import PARTS_OF_TIMELINE, Derived, DerivedAnswer, DerivedKind
from torch_tb_profiler.timeline.enclosing import SliceReference, reference
from torch_tb_profiler.timeline.pyramid import PyramidItems
from torch_tb_profiler.timeline.question import (
    MOST_NUMBERS,
    Direction,
    LaneNumbers,
    Level,
    TileNumber,
    WindowBegin,
    WindowEnd,
    check_level,
    check_window,
    lanes_of,
)
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.wire import (
    TileAddress,
    counters_bytes,
    derived_bytes,
    slack_bytes,
    slices_bytes,
    tile_bytes,
)
from torch_tb_profiler.words.sentences import because


def exact_slices(timeline: Timeline, lanes: Int64, params: SlicesOfWindow) -> tuple[int, PyramidItems]:
    """Count the slices that are asked for, and return the longest of them in the order of start, lane and row.

    lanes   ascending
    """
    found = timeline.within(lanes, params.start, params.end)
    found = found.take(found.end - found.start >= params.min_ns)
    total = len(found)
    if total > params.limit:
        found = found.take(longest(found.end - found.start, found.start, params.limit))
    return total, found.take(np.lexsort((found.longest, found.lane, found.start)))


SLICES, MOST_SLICES = 5000, 50_000


class OneTile(msgspec.Struct, frozen=True):
    """Which tile, of which lanes."""

    level: Level
    tile: TileNumber
    lanes: LaneNumbers
    operators: Annotated[Literal["0", "1"], Meta(description="1 for a column of operators.")] = "0"


class SlicesOfWindow(msgspec.Struct, frozen=True):
    """Which slices, in which window of time."""

    lanes: LaneNumbers
    start: WindowBegin = msgspec.field(name="from")
    end: WindowEnd = msgspec.field(name="to")
    min_ns: Annotated[int, Meta(ge=0, description="Only slices of this duration or longer, ns.")] = 0
    limit: Annotated[int, Meta(ge=1, le=MOST_SLICES, description="Slices of the answer, the longest.")] = SLICES


class CountersOfTile(msgspec.Struct, frozen=True):
    """Which counters, over which tile."""

    level: Level
    tile: TileNumber
    ids: Annotated[str | None, Meta(description="Ids of counters, joined by commas; without it all.")] = None


def _tile_bytes(timeline: Timeline, params: OneTile) -> bytes:
    check_level(timeline, params.level)
    lanes = lanes_of(timeline, params.lanes)
    return tile_bytes(timeline, TileAddress(params.level, params.tile, lanes), params.operators == "1")


def _slices_bytes(timeline: Timeline, params: SlicesOfWindow) -> bytes:
    lanes = lanes_of(timeline, params.lanes)
    check_window(params.start, params.end)
    total, found = exact_slices(timeline, lanes, params)
    return slices_bytes(timeline, params.start, params.end, total, found)


def _counters_bytes(timeline: Timeline, params: CountersOfTile) -> bytes:
    check_level(timeline, params.level)
    known = {counter.id: counter for counter in timeline.counters.listed}
    ids = list(known) if params.ids is None else params.ids.split(",")
    if len(ids) > MOST_NUMBERS:
        raise Refused(f"ids must be at most {MOST_NUMBERS}")
    if unknown := [each for each in ids if each not in known]:
        raise NotFound(because("no_such_counter", {"counter": unknown[0]}))
    return counters_bytes(timeline, params.level, params.tile, [known[each] for each in ids])


TILES = Question(
    name="timeline/tiles",
    summary="An interval of some lanes at one level",
    compute=_tile_bytes,
)

EXACT_SLICES = Question(
    name="timeline/slices",
    summary="Exact slices of a window",
    compute=_slices_bytes,
)

COUNTERS = Question(
    name="timeline/counters",
    summary="Counters over an interval",
    compute=_counters_bytes,
)


class WhichDerived(msgspec.Struct, frozen=True):
    """Which lanes."""

    of: Annotated[DerivedKind, Meta(description="What the lanes show.")]


class OneDerivedTile(WhichDerived, frozen=True):
    """Which tile, of which lanes."""

    level: Level
    tile: TileNumber


class NextPiece(msgspec.Struct, frozen=True):
    """From where to go along the critical path."""

    time: Annotated[int, Meta(description="ns; a piece begins there or later, or ends there or earlier.")]
    row: Annotated[int, Meta(ge=0, description="Pieces of this event are left out.")] | None = None
    direction: Direction = "next"


class PieceFound(msgspec.Struct, frozen=True):
    """The event of the next or previous piece of the critical path.

    slice             null if there is none
    start_ns, end_ns  of the piece, from where to go on; null without one
    """

    slice: SliceReference | None
    start_ns: Ns | None
    end_ns: Ns | None


def _node_asked(params: WhichDerived) -> Node:
    return PARTS_OF_TIMELINE[params.of]


LanesAsked = Annotated[Derived, _node_asked]
Path = Annotated[Derived, PARTS_OF_TIMELINE["path"]]


def _derived_answer(_: Timeline, derived: LanesAsked, __: WhichDerived) -> DerivedAnswer:
    return derived.about


def _derived_tile(timeline: Timeline, derived: LanesAsked, params: OneDerivedTile) -> bytes:
    check_level(timeline, params.level)
    _check_derived(derived)
    return derived_bytes(timeline, derived, params.level, params.tile)


def _next_piece(timeline: Timeline, derived: Path, params: NextPiece) -> PieceFound:
    _check_derived(derived)
    pieces, of_row = derived.levels.kept[0].items, timeline.placed.of_row
    drawn = (derived.row >= 0) & (of_row[derived.row] >= 0)
    if params.row is not None:
        drawn &= derived.row != params.row
    ahead = params.direction == "next"
    chosen = np.flatnonzero(drawn & ((pieces.start >= params.time) if ahead else (pieces.end <= params.time)))
    if not len(chosen):
        return PieceFound(None, None, None)
    piece = chosen[0 if ahead else -1]
    found = reference(timeline, int(derived.row[piece]))
    return PieceFound(found, int(pieces.start[piece]), int(pieces.end[piece]))


def _slack_tile(timeline: Timeline, derived: Path, params: OneTile) -> bytes:
    check_level(timeline, params.level)
    _check_derived(derived)
    lanes = lanes_of(timeline, params.lanes)
    return slack_bytes(timeline, derived.slack, TileAddress(params.level, params.tile, lanes), params.operators == "1")


def _check_derived(derived: Derived) -> None:
    """Check that there are such lanes. Raises NotFound."""
    if derived.about.refused:
        raise NotFound(derived.about.refused.text)


DERIVED = Question(
    name="timeline/derived",
    summary="Lanes that are computed: the critical path, why devices idle, the phases of the program",
    compute=_derived_answer,
)

DERIVED_TILES = Question(
    name="timeline/derived/tiles",
    summary="An interval of lanes that are computed at one level",
    compute=_derived_tile,
)

SLACK_TILES = Question(
    name="timeline/slack",
    summary="An interval of some lanes at one level, with the slack of the slices",
    compute=_slack_tile,
)

NEXT_ON_PATH = Question(
    name="timeline/path/next",
    summary="The next event on the critical path",
    compute=_next_piece,
)
