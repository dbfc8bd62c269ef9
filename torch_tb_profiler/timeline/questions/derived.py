"""Lanes that are computed: which there are, their tiles, and tiles of slices with their slack."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.question import Node, NotFound, Question
from torch_tb_profiler.timeline.derived import PARTS_OF_TIMELINE, Derived, DerivedAnswer, DerivedKind
from torch_tb_profiler.timeline.enclosing import SliceReference, reference
from torch_tb_profiler.timeline.questions.binary import OneTile
from torch_tb_profiler.timeline.questions.parameters import Direction, Level, TileNumber, check_level, lanes_of
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.wire import derived_bytes, slack_bytes


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


def _node_asked(asked: WhichDerived) -> Node:
    return PARTS_OF_TIMELINE[asked.of]


LanesAsked = Annotated[Derived, _node_asked]
Path = Annotated[Derived, PARTS_OF_TIMELINE["path"]]


def _answer(_: Timeline, derived: LanesAsked, __: WhichDerived) -> DerivedAnswer:
    return derived.about


def _tile(timeline: Timeline, derived: LanesAsked, asked: OneDerivedTile) -> bytes:
    check_level(timeline, asked.level)
    _check(derived)
    return derived_bytes(timeline, derived, asked.level, asked.tile)


def _next(timeline: Timeline, derived: Path, asked: NextPiece) -> PieceFound:
    _check(derived)
    pieces, of_row = derived.levels.kept[0].items, timeline.placed.of_row
    drawn = (derived.row >= 0) & (of_row[derived.row] >= 0)
    if asked.row is not None:
        drawn &= derived.row != asked.row
    ahead = asked.direction == "next"
    chosen = np.flatnonzero(drawn & ((pieces.start >= asked.time) if ahead else (pieces.end <= asked.time)))
    if not len(chosen):
        return PieceFound(None, None, None)
    piece = chosen[0 if ahead else -1]
    found = reference(timeline, int(derived.row[piece]))
    return PieceFound(found, int(pieces.start[piece]), int(pieces.end[piece]))


def _slack_tile(timeline: Timeline, derived: Path, asked: OneTile) -> bytes:
    check_level(timeline, asked.level)
    _check(derived)
    lanes = lanes_of(timeline, asked.lanes)
    return slack_bytes(timeline, derived.slack, asked.level, asked.tile, lanes, asked.operators == "1")


def _check(derived: Derived) -> None:
    """Raises NotFound: there are no such lanes."""
    if derived.about.refused:
        raise NotFound(derived.about.refused.text)


DERIVED = Question(
    name="timeline/derived",
    summary="Lanes that are computed: the critical path, why devices idle, the phases of the program",
    compute=_answer,
)

DERIVED_TILES = Question(
    name="timeline/derived/tiles",
    summary="A stretch of lanes that are computed at one level",
    compute=_tile,
)

SLACK_TILES = Question(
    name="timeline/slack",
    summary="A stretch of some lanes at one level, with the slack of the slices",
    compute=_slack_tile,
)

NEXT_ON_PATH = Question(
    name="timeline/path/next",
    summary="The next event on the critical path",
    compute=_next,
)
