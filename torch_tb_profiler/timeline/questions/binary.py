"""Tiles, exact slices and counters: answers in a binary layout, for typed arrays."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.question import NotFound, Question, Refused
from torch_tb_profiler.timeline.questions.parameters import (
    MOST_NUMBERS,
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
from torch_tb_profiler.timeline.window import exact_slices
from torch_tb_profiler.timeline.wire import counters_bytes, slices_bytes, tile_bytes
from torch_tb_profiler.words.reasons import because

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


def _tile(timeline: Timeline, asked: OneTile) -> bytes:
    check_level(timeline, asked.level)
    lanes = lanes_of(timeline, asked.lanes)
    return tile_bytes(timeline, asked.level, asked.tile, lanes, asked.operators == "1")


def _slices(timeline: Timeline, asked: SlicesOfWindow) -> bytes:
    lanes = lanes_of(timeline, asked.lanes)
    check_window(asked.start, asked.end)
    total, found = exact_slices(timeline, lanes, asked.start, asked.end, asked.min_ns, asked.limit)
    return slices_bytes(timeline, asked.start, asked.end, total, found)


def _counters(timeline: Timeline, asked: CountersOfTile) -> bytes:
    check_level(timeline, asked.level)
    known = {counter.id: counter for counter in timeline.counters.listed}
    ids = list(known) if asked.ids is None else asked.ids.split(",")
    if len(ids) > MOST_NUMBERS:
        raise Refused(f"ids must be at most {MOST_NUMBERS}")
    if unknown := [each for each in ids if each not in known]:
        raise NotFound(because("no_such_counter", {"counter": unknown[0]}))
    return counters_bytes(timeline, asked.level, asked.tile, [known[each] for each in ids])


TILES = Question(
    name="timeline/tiles",
    summary="A stretch of some lanes at one level",
    compute=_tile,
)

EXACT_SLICES = Question(
    name="timeline/slices",
    summary="Exact slices of a window",
    compute=_slices,
)

COUNTERS = Question(
    name="timeline/counters",
    summary="Counters over a stretch",
    compute=_counters,
)
