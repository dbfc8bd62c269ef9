"""Lanes that are computed: their tiles at every zoom, what is said of them, and tiles with slack."""

from __future__ import annotations

import struct
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import asdict
from werkzeug.test import Client

from tests.events import annotation, kernel, launch, model_of, op
from tests.replay_programs import random_program, recorded
from tests.served import client_of, everything_read, get
from tests.timelines import events, lanes_of, tiles_of, timeline_of
from tests.tiny import write_trace
from tests.unit.timeline_routes import OF_TRACE
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.program.kinds import PHASES
from torch_tb_profiler.analysis.program.phases import phases
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.derived import NO_EDGE, PARTS_OF_TIMELINE, Derived, DerivedKind
from torch_tb_profiler.timeline.pyramid import tile_length
from torch_tb_profiler.timeline.tiles import DERIVED_TILE, NONE, TILE_WITH_BOTH, TILE_WITH_SLACK, derived_bytes
from torch_tb_profiler.timeline.timeline_file import build

KINDS: tuple[DerivedKind, ...] = ("path", "idle")


def derived_of(model: Model, of: DerivedKind) -> Derived:
    node = PARTS_OF_TIMELINE[of]
    assert node.decode is not None
    derived: Derived = node.decode(node.make(Subject(model, "run", "worker", "1", 0, 1, troubles)))
    return derived


@pytest.fixture(scope="module")
def simulated() -> Model:
    return model_of(recorded(random_program(3), jitter=0.1).events)


def columns_of(data: bytes, kind: int) -> dict[str, np.ndarray[Any, Any]]:
    """A tile by the table of the protocol; `kind`: which one it must be."""
    head = struct.unpack_from("<IIIiddII", data)
    assert head[1] == kind
    lanes, items = head[6:]
    columns = [("lanes", "<u4", lanes), ("first", "<u4", lanes + 1), ("start", "<i4", items), ("end", "<i4", items)]
    columns += [(name, "<u4", items) for name in ("row", "name", "count")]
    columns += [("operator", "<u4", items)] if kind in (TILE_WITH_BOTH, DERIVED_TILE) else []
    columns += [("slack", "<f4", items)] if kind in (TILE_WITH_SLACK, TILE_WITH_BOTH) else []
    columns += [("category", "u1", items), ("fill", "u1", items)]
    found, at = {}, 40
    for name, dtype, length in columns:
        found[name] = np.frombuffer(data, dtype, length, at)
        at += found[name].nbytes
    assert at == len(data)
    return found


@pytest.mark.parametrize("of", KINDS)
def test_no_piece_is_lost_or_counted_twice_at_any_zoom(simulated: Model, of: DerivedKind) -> None:
    derived, timeline = derived_of(simulated, of), build(simulated)
    pieces = derived.levels.kept[0].items
    lanes = np.arange(len(derived.about.lanes))
    assert len(pieces) > 50
    assert derived.about.refused is None
    for level in range(timeline.highest_level + 1):
        tiles = tiles_of(timeline, level)
        if len(tiles) > 64:
            continue
        count, time = 0, 0
        for tile in tiles:
            items = derived.levels.tile(level, tile, lanes)
            own = items.take(items.start >= tile * tile_length(level))
            count += int(own.count.sum())
            time += int((own.end - own.start - own.idle).sum())
        assert count == len(pieces)
        assert time == int((pieces.end - pieces.start).sum())


@pytest.mark.parametrize("of", KINDS)
def test_a_cell_is_drawn_as_the_part_that_has_most_of_its_time(simulated: Model, of: DerivedKind) -> None:
    derived, timeline = derived_of(simulated, of), build(simulated)
    pieces, lanes = derived.levels.kept[0].items, np.arange(len(derived.about.lanes))
    cells = 0
    for level in range(6, timeline.highest_level + 1):
        items = derived.levels.tile(level, 0, lanes)
        shown = derived.shown(items)
        for at in np.flatnonzero(items.count > 1).tolist():
            inside = np.flatnonzero(
                (pieces.lane == items.lane[at]) & (pieces.start >= items.start[at]) & (pieces.end <= items.end[at])
            )
            assert len(inside) == items.count[at]
            length = (pieces.end - pieces.start)[inside]
            sums = {part: length[derived.part[inside] == part].sum() for part in set(derived.part[inside].tolist())}
            part = derived.part[shown[at]]
            assert sums[part] == max(sums.values())
            assert (pieces.end - pieces.start)[shown[at]] == length[derived.part[inside] == part].max()
            cells += 1
    assert cells > 10


def test_the_parts_are_those_that_occur_most_time_first(simulated: Model) -> None:
    for of in KINDS:
        derived = derived_of(simulated, of)
        pieces = derived.levels.kept[0].items
        time = np.bincount(derived.part, pieces.end - pieces.start)
        assert len(time) == len(derived.about.parts) == len(set(derived.about.parts))
        assert (np.diff(time) <= 0).all()
        assert (time > 0).all()


def test_a_tile_names_the_event_of_each_piece(simulated: Model) -> None:
    derived, timeline = derived_of(simulated, "path"), build(simulated)
    found = columns_of(derived_bytes(timeline, derived, timeline.highest_level - 3, 0), DERIVED_TILE)
    events, strings = timeline.trace.events, timeline.trace.strings
    known = np.flatnonzero(found["row"] != NONE)
    assert len(known)
    assert (found["operator"] < len(derived.about.edges)).all()
    for at in known.tolist():
        assert strings[timeline.names.code[found["name"][at]]] == strings[events.name[found["row"][at]]]
    assert (found["name"][found["row"] == NONE] == NONE).all()


@pytest.mark.slow
@given(events, st.randoms(use_true_random=False))
def test_an_item_has_the_least_slack_of_its_slices(given: list[Any], random: Any) -> None:
    timeline = timeline_of(given)
    lanes, slices = lanes_of(timeline), timeline.slices.items
    values = np.array([random.choice([np.nan, 0.0, 5.0, 100.0]) for _ in range(len(timeline.trace.events))], np.float32)
    for level in range(timeline.highest_level + 1):
        for tile in list(tiles_of(timeline, level))[:16]:
            plain = timeline.tile(level, tile, lanes)
            items, least = timeline.items.tile_with_least(level, tile, lanes, values)
            np.testing.assert_equal(asdict(items), asdict(plain))
            first = 0
            for lane in lanes.tolist():
                own = np.flatnonzero(items.lane == lane)
                if not len(own):
                    continue
                rows = slices.longest[slices.lane == lane]
                # items of a lane follow one another, and with them the slices in them
                first = rows.tolist().index(_first_row(timeline, items, own[0], rows))
                for at in own.tolist():
                    inside = values[rows[first : first + items.count[at]]]
                    known = inside[~np.isnan(inside)]
                    assert np.isnan(least[at]) if not len(known) else least[at] == known.min()
                    first += int(items.count[at])


def _first_row(timeline: Any, items: Any, at: int, rows: Any) -> int:
    """The first slice of an item: of those that begin with it the one from which on its length and number come out."""
    slices = timeline.slices.items
    own = np.flatnonzero(slices.lane == items.lane[at])
    for start in np.flatnonzero(slices.start[own] == items.start[at]).tolist():
        inside = own[start : start + items.count[at]]
        same = len(inside) == items.count[at] and slices.end[inside].max() == items.end[at]
        if same and items.longest[at] in rows[start : start + items.count[at]]:
            return int(rows[start])
    raise AssertionError("no slice begins where the item does")


def test_without_kernels_there_is_no_lane_of_idle_time() -> None:
    derived = derived_of(model_of([annotation("ProfilerStep#1", 0, 100), op("a", 10, 20)]), "idle")
    assert derived.about.refused is not None
    assert (derived.about.refused.id, derived.about.lanes, len(derived.part)) == ("no_device", [], 0)


def test_without_anything_that_lasts_there_is_no_path() -> None:
    derived = derived_of(model_of([]), "path")
    assert derived.about.refused is not None
    assert (derived.about.refused.id, len(derived.slack)) == ("no_step", 0)


def test_a_clock_that_runs_elsewhere_is_no_path() -> None:
    given = [annotation("ProfilerStep#1", 0, 1000)]
    for i in range(30):
        given += [launch(500 + 10 * i, i + 1), kernel(10 * i, 5, i + 1)]
    derived = derived_of(model_of(given), "path")
    assert derived.about.refused is not None
    assert derived.about.refused.id == "clocks"


def test_each_device_has_a_lane_of_its_gaps() -> None:
    given = [annotation("ProfilerStep#1", 0, 1000)]
    for device in (0, 3):
        for i in range(4):
            given.append(launch(20 * i + device, 10 * device + i + 1, 2))
            given.append(kernel(100 * i + 50, 30, 10 * device + i + 1, device=device))
    derived = derived_of(model_of(given), "idle")
    assert [lane.device for lane in derived.about.lanes] == [0, 3]
    pieces = derived.levels.kept[0].items
    for lane in (0, 1):
        own = pieces.take(np.flatnonzero(pieces.lane == lane))
        assert int((own.end - own.start).sum()) == 1_000_000 - 4 * 30_000
    assert (derived.edge == NO_EDGE).all()


def test_the_lane_of_phases_is_what_the_program_view_tells() -> None:
    node = "autograd::engine::evaluate_function: AddmmBackward0"
    given = [
        annotation("ProfilerStep#0", 0, 1000),
        annotation("enumerate(DataLoader)#_X.__next__", 0, 100),
        annotation("forward", 100, 300),
        op(node, 450, 200, **{"Sequence number": 1, "Fwd thread id": 1}),
        annotation("Optimizer.step#SGD.step", 700, 200),
    ]
    model = model_of(given)
    derived = derived_of(model, "phases")
    about, pieces = derived.about, derived.levels.kept[0].items
    segments = phases(model).segments
    assert [lane.device for lane in about.lanes] == [None]
    np.testing.assert_array_equal(pieces.start, segments.start)
    np.testing.assert_array_equal(pieces.end, segments.end)
    told = [about.parts[part].removeprefix("phase.") for part in derived.part.tolist()]
    assert told == [PHASES[code].value for code in segments.phase.tolist()]
    by_name = dict(zip(told, zip(derived.edge.tolist(), derived.row.tolist(), strict=True), strict=False))
    names = {row: model.trace.strings[int(model.trace.events.name[row])] for _, row in by_name.values() if row >= 0}
    assert about.edges[by_name["forward"][0]] == "named"
    assert names[by_name["forward"][1]] == "forward"
    assert names[by_name["optimizer"][1]] == "Optimizer.step#SGD.step"
    # that of which nothing is known has neither evidence nor an event
    assert by_name["other"] == (NO_EDGE, -1)


def test_without_a_mark_there_is_no_lane_of_phases() -> None:
    derived = derived_of(model_of([annotation("ProfilerStep#1", 0, 100), op("a", 10, 20)]), "phases")
    assert derived.about.refused is not None
    assert (derived.about.refused.id, derived.about.lanes, len(derived.part)) == ("no_phase", [], 0)


def test_over_http(client: Client, tree: Any) -> None:
    version = tree["version"]
    top = tree["levels"][-1]["level"]
    for of in (*KINDS, "phases"):
        about = get(client, f"/api/timeline/derived?{OF_TRACE}&v={version}&of={of}")
        assert about["refused"] is None
        assert about["has_slack"] == (of == "path")
        response = client.get(f"/api/timeline/derived/tiles?{OF_TRACE}&v={version}&of={of}&level={top}&tile=0")
        assert "immutable" in response.headers["Cache-Control"]
        found = columns_of(response.data, DERIVED_TILE)
        assert len(found["lanes"]) == len(about["lanes"])
        assert found["category"].max() < len(about["parts"])
        assert found["count"].sum() <= sum(lane["pieces"] for lane in about["lanes"])
    last = len(tree["lanes"]["track"]) - 1
    query = f"{OF_TRACE}&v={version}&level={top}&tile=0&lanes=0-{last}"
    plain = client.get(f"/api/timeline/slack?{query}").data
    slack = columns_of(plain, TILE_WITH_SLACK)["slack"]
    assert (slack[~np.isnan(slack)] >= 0).all()
    assert (slack == 0).any()
    both = columns_of(client.get(f"/api/timeline/slack?{query}&operators=1").data, TILE_WITH_BOTH)
    np.testing.assert_array_equal(both["slack"], slack)


def test_along_the_path_from_event_to_event(client: Client, tree: Any) -> None:
    ask = f"/api/timeline/path/next?{OF_TRACE}&v={tree['version']}"
    begin = tree["steps"]["start_ns"][0]
    seen = [get(client, f"{ask}&time={begin}")]
    while len(seen) < 20:
        seen.append(get(client, f"{ask}&time={seen[-1]['end_ns']}&row={seen[-1]['slice']['row']}"))
    assert all(a["end_ns"] <= b["start_ns"] for a, b in pairwise(seen))
    assert all(a["slice"]["row"] != b["slice"]["row"] for a, b in pairwise(seen))
    back = get(client, f"{ask}&time={seen[9]['start_ns']}&row={seen[9]['slice']['row']}&direction=previous")
    assert back == seen[8]
    last = get(client, f"{ask}&time={10**15}&direction=previous")
    assert last["start_ns"] > begin
    nothing = {"slice": None, "start_ns": None, "end_ns": None}
    assert get(client, f"{ask}&time={begin}&direction=previous") == nothing


def test_a_trace_of_the_host_alone_has_a_path_and_no_idle_lane(tmp_path: Path) -> None:
    write_trace(tmp_path / "logs" / "host" / "w.pt.trace.json", gpu=False)
    with everything_read(tmp_path / "logs", tmp_path / "cache") as workspace:
        client = client_of(workspace)
        of = "run=host&worker=w"
        assert get(client, f"/api/timeline/derived?{of}&of=path")["refused"] is None
        refused = get(client, f"/api/timeline/derived?{of}&of=idle")
        assert (refused["refused"]["id"], refused["lanes"], refused["parts"]) == ("no_device", [], [])
        error = get(client, f"/api/timeline/derived/tiles?{of}&of=idle&level=1&tile=0", 404)
        assert "No device" in error["error"]
