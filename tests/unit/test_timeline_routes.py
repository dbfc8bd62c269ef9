"""The timeline over HTTP: every route of docs/maintainers/timeline-protocol.md, its bytes, errors and validators."""

from __future__ import annotations

import gzip
import json
import struct
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from werkzeug.test import Client

from tests.served import client_of, everything_read, get
from tests.timelines import ns, timeline_of
from tests.tiny import write_trace
from tests.unit.timeline_routes import KERNEL, OF_TRACE
from torch_tb_profiler.ranks.matching.match import Matching, match
from torch_tb_profiler.ranks.matching.operations import TimedOperations
from torch_tb_profiler.timeline.tiles import TileAddress, tile_bytes

MAGIC = 0x314C5454


@pytest.fixture
def ask(tree: Any) -> str:
    """What every request begins with."""
    return f"{OF_TRACE}&v={tree['version']}"


def all_lanes(tree: Any) -> str:
    return f"0-{len(tree['lanes']['track']) - 1}"


def binary(client: Client, url: str) -> bytes:
    response = client.get(url)
    assert response.status_code == 200, response.text
    assert response.content_type == "application/octet-stream"
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    return response.data


def tile_of(client: Client, ask: str, level: int, tile: int, lanes: str, operators: bool = False) -> dict[str, Any]:
    """A tile, decoded by the table of the protocol."""
    url = f"/api/timeline/tiles?{ask}&level={level}&tile={tile}&lanes={lanes}"
    data = binary(client, url + ("&operators=1" if operators else ""))
    head = struct.unpack_from("<IIIiddII", data)
    assert head[:4] == (MAGIC, 4 if operators else 1, level, tile)
    count, items = head[6:]
    at, found = 40, {"begin": head[4], "tick": head[5]}
    columns = [("lanes", "<u4", count), ("first", "<u4", count + 1), ("start", "<i4", items), ("end", "<i4", items)]
    columns += [("row", "<u4", items), ("name", "<u4", items), ("count", "<u4", items)]
    columns += [("operator", "<u4", items)] if operators else []
    columns += [("category", "u1", items), ("fill", "u1", items)]
    for name, dtype, length in columns:
        found[name] = np.frombuffer(data, dtype, length, at)
        at += found[name].nbytes
    assert at == len(data)
    return found


def test_the_tree(tree: Any, client: Client) -> None:
    lanes, tracks = tree["lanes"], tree["tracks"]
    parts = dict(tree["events"])
    assert parts.pop("total") == sum(parts.values())
    assert sum(lanes["slices"]) == parts["slices"] + parts["instants"]
    assert parts["instants"] > 0
    assert len({len(column) for column in lanes.values()}) == 1
    assert {track["kind"] for track in tracks} == {"process", "thread", "stream", "other"}
    assert [track["id"] for track in tracks] == list(range(len(tracks)))
    assert all(track["parent"] is None or track["parent"] < track["id"] for track in tracks)
    assert all(tracks[track]["parent"] is not None for track in lanes["track"])
    assert tree["levels"][0] == {"level": 0, "width_ns": 0, "tile_ns": 65536}
    assert tree["levels"][1] == {"level": 1, "width_ns": 256, "tile_ns": 65536}
    assert tree["levels"][-1]["tile_ns"] >= tree["end_ns"] - tree["begin_ns"]
    assert tree["categories"][6] == "kernel"
    assert {counter["kind"] for counter in tree["counters"]} >= {
        "busy",
        "computing",
        "queue_length",
        "memory_allocated",
    }
    overview = get(client, f"/api/overview?{OF_TRACE}")["steps"]
    assert tree["steps"]["names"] == overview["names"]
    assert tree["steps"]["start_ns"] == overview["start_ns"]
    assert get(client, f"/api/timeline/steps?{OF_TRACE}")["steps"] == tree["steps"]
    assert get(client, f"/api/timeline?{OF_TRACE}&steps=whole_trace")["steps"]["rule"] == "whole_trace"


def test_tiles_of_every_level_hold_every_slice(client: Client, tree: Any, ask: str) -> None:
    for level in tree["levels"]:
        length = level["tile_ns"]
        tiles = range(tree["begin_ns"] // length, tree["end_ns"] // length + 1)
        if len(tiles) > 40:
            continue
        counts = np.zeros(len(tree["lanes"]["track"]), np.int64)
        for number in tiles:
            tile = tile_of(client, ask, level["level"], number, all_lanes(tree))
            assert tile["begin"] == number * length
            assert tile["tick"] == max(1, level["width_ns"] // 256)
            lane = np.repeat(tile["lanes"], np.diff(tile["first"]))
            own = tile["start"] >= 0
            counts += np.bincount(lane[own], tile["count"][own], len(counts)).astype(np.int64)
            assert (tile["end"] >= tile["start"]).all()
        assert counts.tolist() == tree["lanes"]["slices"]


def test_a_tile_of_some_lanes(client: Client, ask: str) -> None:
    some = tile_of(client, ask, 1, 0, "5,2-3,3")
    assert some["lanes"].tolist() == [2, 3, 5]
    assert tile_of(client, ask, 1, -7, "0")["first"].tolist() == [0, 0]
    assert tile_of(client, ask, 1, 2**31 - 1, "0")["first"].tolist() == [0, 0]


def test_a_tile_with_the_operators_of_its_slices(client: Client, tree: Any, ask: str) -> None:
    last = len(tree["levels"]) - 1
    plain = tile_of(client, ask, last, 0, all_lanes(tree))
    tile = tile_of(client, ask, last, 0, all_lanes(tree), operators=True)
    operators = tile.pop("operator")
    for name, values in plain.items():
        np.testing.assert_array_equal(tile[name], values, name)
    names = get(client, f"/api/timeline/names?{ask}&from=0&count=10000")["names"]
    seen = {"kernel": 0, "runtime": 0, "operator": 0, "python_function": 0}
    for row, operator, category in zip(tile["row"], operators.tolist(), tile["category"], strict=True):
        kind = tree["categories"][category]
        if seen.get(kind, 20) >= 20:
            continue
        seen[kind] += 1
        slice_ = get(client, f"/api/timeline/slice?{ask}&row={row}")
        around = slice_["operator"] or (slice_ if kind == "operator" else None)
        assert (None if operator == 2**32 - 1 else names[operator]) == (around and around["name"]), slice_
    assert all(seen[kind] for kind in ("kernel", "runtime", "operator"))


def test_the_arguments_as_the_file_has_them(client: Client, ask: str) -> None:
    row = get(client, f"/api/timeline/search?{ask}&q={KERNEL}")["hits"]["row"][0]
    found = get(client, f"/api/timeline/args?{ask}&row={row}")
    stored = client.get(f"/api/trace/download?{OF_TRACE}").data
    file = json.loads(gzip.decompress(stored) if stored.startswith(b"\x1f\x8b") else stored)
    assert json.loads(found["args"]) == file["traceEvents"][row]["args"]
    assert found["length"] == len(found["args"])


def test_the_example_of_the_protocol() -> None:
    """The layout, byte for byte, with what a made-up trace has for rows, names and lanes."""
    timeline = timeline_of(
        [
            ns("kernel", "long", 0, 1000, 7),
            ns("kernel", "a", 1100, 10, 7),
            ns("kernel", "b", 1150, 70, 7),
            ns("kernel", "a", 1260, 20, 7),
        ]
    )
    data = tile_bytes(timeline, TileAddress(1, 0, np.array([0])))
    head = struct.pack("<IIIiddIIIII", MAGIC, 1, 1, 0, 0.0, 1.0, 1, 2, 0, 0, 2)
    places = struct.pack("<2i2i2I2I2I", 0, 1100, 1000, 1280, 0, 2, 0, 1, 1, 3)
    assert data == head + places + struct.pack("2B2B", 6, 6, 255, round(255 * 100 / 180))


def test_a_tile_is_told_by_its_address(client: Client, tree: Any, ask: str) -> None:
    url = f"/api/timeline/tiles?{ask}&level=2&tile=0&lanes={all_lanes(tree)}"
    first = client.get(url)
    assert first.headers["Cache-Control"] == "private, max-age=31536000, immutable"
    etag = first.headers["ETag"]
    again = client.get(url, headers={"If-None-Match": etag})
    assert (again.status_code, again.data) == (304, b"")
    assert again.headers["ETag"] == etag
    packed = client.get(url, headers={"Accept-Encoding": "gzip"})
    assert packed.headers["Content-Encoding"] == "gzip"
    assert len(packed.data) < len(first.data)
    without = client.get(url.replace(f"&v={tree['version']}", ""))
    assert without.headers["Cache-Control"] == "no-cache"
    assert without.data == first.data
    assert client.get(url.replace("tile=0", "tile=1")).headers["ETag"] != etag
    assert client.head(url).status_code == 200


def test_exact_slices(client: Client, tree: Any, ask: str) -> None:
    url = f"/api/timeline/slices?{ask}&lanes={all_lanes(tree)}&from={tree['begin_ns']}&to={tree['end_ns'] + 1}"
    data = binary(client, f"{url}&limit=50000")
    magic, kind, low, high, total, count = struct.unpack_from("<IIddII", data)
    assert (magic, kind, low, high) == (MAGIC, 2, tree["begin_ns"], tree["end_ns"] + 1)
    assert total == count == sum(tree["lanes"]["slices"])
    start, duration = np.frombuffer(data, "<f8", 2 * count, 32).reshape(2, count)
    row, _, lane = np.frombuffer(data, "<u4", 3 * count, 32 + 16 * count).reshape(3, count)
    assert len(data) == 32 + 29 * count
    assert (np.diff(start) >= 0).all()
    assert len(set(row.tolist())) == count
    busy = np.bincount(lane, duration, len(tree["lanes"]["busy_ns"]))
    assert busy.tolist() == tree["lanes"]["busy_ns"]
    some = binary(client, f"{url}&limit=3&min_ns=5")
    assert struct.unpack_from("<II", some, 24) == (int((duration >= 5).sum()), 3)
    longest = np.frombuffer(some, "<f8", 3, 32 + 24)
    assert sorted(longest, reverse=True) == sorted(duration, reverse=True)[:3]


def test_names(client: Client, tree: Any, ask: str) -> None:
    some = get(client, f"/api/timeline/names?{ask}&from=0&count=10000")
    assert some["total"] == tree["names"] == len(some["names"]) == len(set(some["names"]))
    assert some["ids"] == list(range(tree["names"]))
    chosen = get(client, f"/api/timeline/names?{ask}&ids=2,0,999999")
    names, labels = ([some[of][0], some[of][2]] for of in ("names", "labels"))
    assert chosen == {"total": tree["names"], "ids": [0, 2], "names": names, "labels": labels}


def test_a_slice_and_its_neighbours(client: Client, tree: Any, ask: str) -> None:
    found = get(client, f"/api/timeline/search?{ask}&q={KERNEL}&bins=10")
    assert found["count"] == sum(found["density"]["counts"]) > 0
    assert found["count"] == sum(name["count"] for name in found["names"])
    assert found["hits"]["start_ns"] == sorted(found["hits"]["start_ns"])
    row = found["names"][0]["longest_row"]
    kernel = get(client, f"/api/timeline/slice?{ask}&row={row}")
    assert (kernel["row"], kernel["category"], kernel["name"]) == (row, "kernel", found["names"][0]["name"])
    assert tree["tracks"][kernel["track"]]["kind"] == "stream"
    assert kernel["track"] == tree["lanes"]["track"][kernel["lane"]]
    assert kernel["launch"]["category"] == "runtime"
    assert kernel["operator"]["category"] == "operator"
    assert kernel["step"] in tree["steps"]["names"]
    assert kernel["args"]["correlation"] > 0
    assert kernel["same_name"]["count"] == found["names"][0]["count"]
    assert kernel["duration_ns"] == kernel["same_name"]["max_ns"]
    flows = get(client, f"/api/timeline/flows?{ask}&row={row}")
    assert (flows["from_row"], flows["to_row"]) == ([kernel["launch"]["row"]], [row])
    call = get(client, f"/api/timeline/slice?{ask}&row={kernel['launch']['row']}")
    assert [each["row"] for each in call["launched"]["slices"]] == [row]
    walked, at = 1, row
    for direction in ("previous", "next"):
        at = row
        while (other := get(client, f"/api/timeline/next?{ask}&row={at}&direction={direction}")["slice"]) is not None:
            walked, at = walked + 1, other["row"]
    assert walked == kernel["same_name"]["count"]


def test_sums_over_a_range(client: Client, tree: Any, ask: str) -> None:
    whole = get(client, f"/api/timeline/range?{ask}&from={tree['begin_ns']}&to={tree['end_ns'] + 1}")
    assert whole["slices"] == tree["events"]["slices"]
    assert whole["instants"] == tree["events"]["instants"]
    assert sum(of["total_ns"] for of in whole["by_category"]) == sum(tree["lanes"]["busy_ns"])
    assert sum(of["total_ns"] for of in whole["by_name"]) + whole["rest"]["total_ns"] == sum(tree["lanes"]["busy_ns"])
    (device,) = whole["devices"]
    assert device["busy_ns"] + device["idle_ns"] == tree["end_ns"] + 1 - tree["begin_ns"]
    streams = [i for i, band in enumerate(tree["lanes"]["band"]) if band == "device"]
    some = get(client, f"/api/timeline/range?{ask}&from=0&to=1000000&lanes={','.join(map(str, streams))}")
    assert {of["category"] for of in some["by_name"]} <= {"kernel", "memcpy", "memset"}
    assert get(client, f"/api/timeline/range?{ask}&from=5&to=5")["slices"] == 0


def test_arrows_of_a_window(client: Client, tree: Any, ask: str) -> None:
    whole = get(client, f"/api/timeline/flows?{ask}&from={tree['begin_ns']}&to={tree['end_ns']}&limit=20000")
    assert whole["total"] == len(whole["from_row"]) > 10
    assert set(whole["kind"]) == {"launch", "forward_backward"}
    cut = get(client, f"/api/timeline/flows?{ask}&from={tree['begin_ns']}&to={tree['end_ns']}&limit=4&kinds=launch")
    assert len(cut["to_row"]) == 4
    assert cut["total"] == whole["kind"].count("launch")


def test_counters(client: Client, tree: Any, ask: str) -> None:
    ids = [counter["id"] for counter in tree["counters"]]
    level = tree["levels"][-1]
    data = binary(client, f"/api/timeline/counters?{ask}&level={level['level']}&tile=0&ids={','.join(ids[:2])}")
    head = struct.unpack_from("<IIIiddII", data)
    assert head == (MAGIC, 3, level["level"], 0, 0.0, level["tile_ns"] / 256, 2, 256)
    values = np.frombuffer(data, "<f8", offset=40).reshape(2, 4, 256)
    assert np.nanmin(values[0, 0]) == tree["counters"][0]["min"]
    assert np.nanmax(values[0, 1]) == tree["counters"][0]["max"]
    low, high, _, mean = values.transpose(1, 0, 2)
    there = ~np.isnan(mean)
    assert (low[there] <= mean[there]).all()
    assert (mean[there] <= high[there]).all()
    every = binary(client, f"/api/timeline/counters?{ask}&level=1&tile=3")
    assert len(every) == 40 + 8 * 4 * 256 * len(ids)


def test_all_ranks_at_a_glance(client: Client) -> None:
    found = get(client, "/api/timeline/overview?run=whole&bins=16")
    assert [worker["worker"] for worker in found["workers"]] == ["rank0", "rank1"]
    assert found["aligned"] is True
    for worker in found["workers"]:
        tree = get(client, f"/api/timeline?run=whole&worker={worker['worker']}")
        assert worker["version"] == tree["version"]
        assert worker["slices"] == sum(tree["lanes"]["slices"])
        assert (worker["begin_ns"], worker["end_ns"]) == (tree["begin_ns"], tree["end_ns"])
        assert worker["step_ns"] == tree["steps"]["start_ns"]
        for key in ("device", "host", "communication"):
            assert len(worker[key]) == 16
            assert 0 < max(worker[key]) <= 255
    assert min(worker["offset_ns"] for worker in found["workers"]) == 0
    broken = get(client, "/api/timeline/overview?run=broken")
    assert [worker["worker"] for worker in broken["workers"]] == ["rank0"]
    assert broken["absent"][0]["state"] == "failed"
    assert broken["absent"][0]["reason"]
    get(client, "/api/timeline/overview?run=whole&bins=3", 400)
    get(client, "/api/timeline/overview?run=moon", 404)


def test_a_collective_on_all_its_ranks(client: Client, ask: str, monkeypatch: pytest.MonkeyPatch) -> None:
    matched: list[int] = []

    def counted(ranks: Sequence[TimedOperations]) -> Matching:
        matched.append(len(ranks))
        return match(ranks)

    monkeypatch.setattr("torch_tb_profiler.ranks.distributed_questions.match", counted)
    hits = get(client, f"/api/timeline/search?{ask}&q=nccl&hits=50")["hits"]
    found = [client.get(f"/api/timeline/collective?run=whole&worker=rank0&row={row}") for row in hits["row"]]
    shared = [answer.json for answer in found if answer.status_code == 200]
    assert len(shared) > 1
    assert matched == [2]  # once for all of them
    for answer in shared:
        assert answer["kind"] == "all_reduce"
        assert [member["worker"] for member in answer["members"]] == ["rank0", "rank1"]
        assert answer["total"] == 2
        for member in answer["members"]:
            slice_ = get(client, f"/api/timeline/slice?run=whole&worker={member['worker']}&row={member['row']}")
            assert (slice_["start_ns"], slice_["duration_ns"]) == (member["start_ns"], member["duration_ns"])
            assert slice_["category"] == "kernel"
    aten = get(client, f"/api/timeline/search?{ask}&q={KERNEL}")["hits"]["row"][0]
    assert (
        "not communication" in get(client, f"/api/timeline/collective?run=whole&worker=rank0&row={aten}", 404)["error"]
    )


def test_a_timeline_that_is_gone_or_damaged_is_built_again(tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("again")
    write_trace(root / "logs" / "run" / "w.pt.trace.json")
    url = "/api/timeline?run=run&worker=w"
    with everything_read(root / "logs", root / "cache") as workspace:
        tree = get(client_of(workspace), url)
    (path,) = (root / "cache").glob("*.timeline")
    content = path.read_bytes()
    path.unlink()
    with everything_read(root / "logs", root / "cache") as workspace:
        assert get(client_of(workspace), url) == tree
        assert get(client_of(workspace), "/api/timeline/overview?run=run")["workers"][0]["slices"] > 0
    path.write_bytes(content[: len(content) // 2])
    with everything_read(root / "logs", root / "cache") as workspace:
        assert get(client_of(workspace), "/api/timeline/overview?run=run")["workers"][0]["slices"] > 0
        assert get(client_of(workspace), url) == tree
    assert path.read_bytes() == content
