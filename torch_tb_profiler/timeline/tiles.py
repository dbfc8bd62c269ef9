"""Binary answers for typed arrays (docs/maintainers/timeline-protocol.md): tiles, exact slices, counters."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.question import Node, NotFound, Question, Refused
from torch_tb_profiler.analysis.slices import longest
from torch_tb_profiler.arrays.types import Float32, Int32, Int64
from torch_tb_profiler.timeline.counters import counter_tile
from torch_tb_profiler.timeline.derived import NO_EDGE, PARTS_OF_TIMELINE, Derived, DerivedAnswer, DerivedKind
from torch_tb_profiler.timeline.enclosing import SliceReference, reference
from torch_tb_profiler.timeline.links import operators_of
from torch_tb_profiler.timeline.pyramid import BUCKETS_OF_TILE, PyramidItems, tile_length, width_of
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
from torch_tb_profiler.timeline.series import Counter
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.tracks import drawn_categories
from torch_tb_profiler.words.sentences import because

MAGIC = 0x314C5454
TILE, SLICES, COUNTERS, TILE_OF_OPERATORS, TILE_WITH_SLACK, TILE_WITH_BOTH, DERIVED_TILE = range(1, 8)
#: in place of a name
NONE = 2**32 - 1

#: values, and the type they are sent as
Column = tuple[npt.NDArray[Any], str]

#: ticks of a bucket
TICKS = 256
_FARTHEST = 2**31 - 1

_TILE_HEAD = struct.Struct("<IIIiddII")
_SLICES_HEAD = struct.Struct("<IIddII")
_COUNTERS_HEAD = struct.Struct("<IIIiddII")


class TileAddress(NamedTuple):
    """Which tile: `lanes` (ascending) in the tile of this number at a level."""

    level: int
    tile: int
    lanes: Int64


class _ItemLabels(NamedTuple):
    """What each item is labelled with: the event's row, its name, its category or part, and further columns."""

    row: npt.NDArray[Any]
    name: npt.NDArray[Any]
    category: npt.NDArray[Any]
    more: Sequence[Column]


def tick_of(level: int) -> int:
    """Return the ns of a tick."""
    return max(1, width_of(level) // TICKS)


def tile_bytes(timeline: Timeline, address: TileAddress, operators: bool = False) -> bytes:
    """Return what touches a tile; with the operators of slices if these are wanted."""
    return _tile(timeline, address, timeline.tile(*address), operators, None)


def slack_bytes(timeline: Timeline, slack: Float32, address: TileAddress, operators: bool) -> bytes:
    """Return the same with the least slack of the slices of each item. slack: shape (events,), ns; NaN: unknown."""
    items, least = timeline.items.tile_with_least(*address, slack)
    return _tile(timeline, address, items, operators, least)


def _tile(
    timeline: Timeline, address: TileAddress, items: PyramidItems, operators: bool, slack: Float32 | None
) -> bytes:
    if slack is None:
        kind = TILE_OF_OPERATORS if operators else TILE
    else:
        kind = TILE_WITH_BOTH if operators else TILE_WITH_SLACK
    events = timeline.trace.events
    rows = items.longest
    more: list[Column] = [(_operators(timeline, rows), "<u4")] if operators else []
    if slack is not None:
        more.append((slack, "<f4"))
    name = timeline.names.number[events.name[rows]]
    return _items(kind, address, items, _ItemLabels(rows, name, drawn_categories(timeline, rows), more))


def derived_bytes(timeline: Timeline, derived: Derived, level: int, tile: int) -> bytes:
    """Return what touches a tile in computed lanes. Row and name are those of the event that an item belongs to."""
    address = TileAddress(level, tile, np.arange(len(derived.about.lanes)))
    items = derived.levels.tile(*address)
    piece = derived.shown(items)
    row = derived.row[piece]
    known = row >= 0
    name = np.full(len(row), NONE)
    name[known] = timeline.names.number[timeline.trace.events.name[row[known]]]
    # an event that stands on no lane has no name there
    name[name < 0] = NONE
    edge = derived.edge[piece].astype(np.int64)
    more: list[Column] = [(np.where(edge == NO_EDGE, NONE, edge), "<u4")]
    labels = _ItemLabels(np.where(known, row, NONE), name, derived.part[piece], more)
    return _items(DERIVED_TILE, address, items, labels)


def _items(kind: int, address: TileAddress, items: PyramidItems, labels: _ItemLabels) -> bytes:
    level, tile, lanes = address
    begin, tick = tile * tile_length(level), tick_of(level)
    head = _TILE_HEAD.pack(MAGIC, kind, level, tile, begin, tick, len(lanes), len(items))
    columns: tuple[Column, ...] = (
        (lanes, "<u4"),
        (np.append(np.searchsorted(items.lane, lanes), len(items)), "<u4"),
        (_ticks(items.start - begin, tick), "<i4"),
        (_ticks(items.end - begin, tick), "<i4"),
        (labels.row, "<u4"),
        (labels.name, "<u4"),
        (items.count, "<u4"),
        *labels.more,
        (labels.category, "u1"),
        (_fill(items), "u1"),
    )
    return head + _joined(columns)


def _operators(timeline: Timeline, rows: Int32) -> Int64:
    """Return the names of operators; none for one that is on no lane."""
    code = operators_of(timeline.trace, timeline.links, rows)
    number = timeline.names.number[code].astype(np.int64)
    return np.where((code > 0) & (number >= 0), number, NONE)


def slices_bytes(timeline: Timeline, start: int, end: int, total: int, slices: PyramidItems) -> bytes:
    """Return slices as they are; `total` is how many there are, `slices` may be fewer."""
    events = timeline.trace.events
    rows = slices.longest
    columns = (
        (slices.start, "<f8"),
        (slices.end - slices.start, "<f8"),
        (rows, "<u4"),
        (timeline.names.number[events.name[rows]], "<u4"),
        (slices.lane, "<u4"),
        (drawn_categories(timeline, rows), "u1"),
    )
    return _SLICES_HEAD.pack(MAGIC, SLICES, start, end, total, len(slices)) + _joined(columns)


def counters_bytes(timeline: Timeline, level: int, tile: int, counters: Sequence[Counter]) -> bytes:
    """Return the bins of a tile, counter by counter."""
    length = tile_length(level)
    head = _COUNTERS_HEAD.pack(
        MAGIC, COUNTERS, level, tile, tile * length, length / BUCKETS_OF_TILE, len(counters), BUCKETS_OF_TILE
    )
    found = (counter_tile(timeline, counter, level, tile) for counter in counters)
    return head + _joined([(values, "<f8") for bins in found for values in bins.columns().values()])


def _ticks(values: Int64, tick: int) -> Int64:
    ticks: Int64 = np.clip(values // tick, -_FARTHEST, _FARTHEST)
    return ticks


def _fill(items: PyramidItems) -> npt.NDArray[np.uint8]:
    """Return the part of each item in which slices ran: 255 is all, 0 only for no length or nothing that ran."""
    length = np.maximum(items.end - items.start, 1)
    ran = 255 * (length - items.idle) / length
    filled: npt.NDArray[np.uint8] = np.maximum(np.rint(ran), ran > 0).astype(np.uint8)
    return filled


def _joined(columns: Sequence[Column]) -> bytes:
    return b"".join(values.astype(dtype, copy=False).tobytes() for values, dtype in columns)


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


SLICES_OF_ANSWER, MOST_SLICES = 5000, 50_000


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
    limit: Annotated[int, Meta(ge=1, le=MOST_SLICES, description="Slices of the answer, the longest.")] = (
        SLICES_OF_ANSWER
    )


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

COUNTER_TILES = Question(
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
