"""/api/timeline: the track tree, tiles, exact slices and names (docs/timeline-protocol.md)."""

from __future__ import annotations

import json
from dataclasses import asdict

import numpy as np

from torch_tb_profiler.model import Model
from torch_tb_profiler.timeline.bands import Band
from torch_tb_profiler.timeline.counters import extremes
from torch_tb_profiler.timeline.pyramid import tile_length, width_of
from torch_tb_profiler.timeline.series import KINDS, Counter
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.tree import account, tree_of
from torch_tb_profiler.timeline.window import exact_slices
from torch_tb_profiler.trace import Category
from torch_tb_profiler.web.ask import Route, ask
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, dumps
from torch_tb_profiler.web.tables import Json, meta_of, plain
from torch_tb_profiler.web.timeline.request import MOST_NUMBERS, Asked, lanes_of, numbers, window_of
from torch_tb_profiler.web.timeline.wire import counters_bytes, slices_bytes, tile_bytes
from torch_tb_profiler.workspace import OpenTrace, Workspace

LIMIT, LARGEST_LIMIT = 5000, 50_000
MOST_NAMES = 10_000
#: numbers of tiles that can be sent
_FARTHEST_TILE = 2**31 - 1


def steps_answer(model: Model, trace: OpenTrace) -> Json:
    """/api/timeline/steps."""
    steps = model.steps
    return {
        "meta": meta_of(model, trace, "trace"),
        "steps": {
            "rule": steps.rule,
            "names": steps.names,
            "start_ns": plain(steps.start),
            "duration_ns": plain(steps.end - steps.start),
        },
    }


def _steps(workspace: Workspace, parameters: Parameters) -> Answer:
    return ask(workspace, parameters, "timeline steps", steps_answer)


def _timeline(workspace: Workspace, parameters: Parameters) -> Answer:
    asked = Asked.of(workspace, parameters)
    timeline = asked.timeline
    return Answer(dumps(_steps_json(workspace, parameters) | tree_answer(timeline, asked.version)))


def steps_of(workspace: Workspace, parameters: Parameters) -> Json:
    """names, start_ns, duration_ns of the steps, as a request has them found."""
    steps: Json = _steps_json(workspace, parameters)["steps"]
    return steps


def _steps_json(workspace: Workspace, parameters: Parameters) -> Json:
    body = _steps(workspace, parameters).body
    found: Json = json.loads(body if isinstance(body, bytes) else body.plain())
    return found


def tree_answer(timeline: Timeline, version: str) -> Json:
    """/api/timeline, but for what depends on steps."""
    tree, lanes = tree_of(timeline), timeline.placed.lanes
    return {
        "version": version,
        "begin_ns": timeline.begin,
        "end_ns": timeline.end,
        "origin_ns": str(timeline.trace.origin_ns),
        "events": asdict(account(timeline)),
        "names": len(timeline.names),
        "categories": [category.name.lower() for category in Category],
        "levels": [
            {"level": level, "width_ns": width_of(level), "tile_ns": tile_length(level)}
            for level in range(timeline.highest_level + 1)
        ],
        "tracks": [
            {
                "id": number,
                "parent": node.parent,
                "kind": node.kind,
                "name": node.name,
                "pid": node.pid,
                "tid": node.tid,
                "device": node.device,
                "slices": node.slices,
                "instants": node.instants,
                "busy_ns": node.busy,
                "begin_ns": node.begin,
                "end_ns": node.end,
            }
            for number, node in enumerate(tree.nodes)
        ],
        "lanes": {
            "track": plain(tree.lanes.node),
            "band": [Band(band).name.lower() for band in lanes.band.tolist()],
            "depth": plain(lanes.depth),
            "slices": plain(tree.lanes.slices),
            "busy_ns": plain(tree.lanes.busy),
            "begin_ns": plain(tree.lanes.begin),
            "end_ns": plain(tree.lanes.end),
        },
        "counters": [_counter(timeline, counter) for counter in timeline.counters.listed],
    }


def _counter(timeline: Timeline, counter: Counter) -> Json:
    name, unit = KINDS[counter.kind]
    low, high = extremes(timeline, counter)
    return {
        "id": counter.id,
        "kind": counter.kind,
        "name": name,
        "device": counter.device,
        "unit": unit,
        "min": low,
        "max": high,
    }


def level_and_tile(parameters: Parameters, timeline: Timeline) -> tuple[int, int]:
    parameters.need_all("level", "tile")
    level = parameters.whole_number("level", 0, 0, timeline.highest_level)
    return level, parameters.whole_number("tile", 0, -_FARTHEST_TILE, _FARTHEST_TILE)


def _tiles(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    operators = parameters.choice("operators", ("0", "1")) == "1"

    def make(timeline: Timeline) -> bytes:
        level, tile = level_and_tile(parameters, timeline)
        return tile_bytes(timeline, level, tile, lanes_of(parameters, timeline), operators)

    return asked.binary("tile", make)


def _slices(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    parameters.need("lanes")
    start, end = window_of(parameters)
    least = parameters.whole_number("min_ns", 0, 0)
    limit = parameters.whole_number("limit", LIMIT, 1, LARGEST_LIMIT)

    def make(timeline: Timeline) -> bytes:
        total, found = exact_slices(timeline, lanes_of(parameters, timeline), start, end, least, limit)
        return slices_bytes(timeline, start, end, total, found)

    return asked.binary("slices", make)


def _names(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    if parameters.get("ids") is not None:
        ids = numbers(parameters, "ids", MOST_NAMES)
    else:
        parameters.need_all("from", "count")
        first = parameters.whole_number("from", 0, 0)
        ids = first + np.arange(parameters.whole_number("count", 1, 1, MOST_NAMES))

    def make(timeline: Timeline) -> Json:
        known = ids[ids < len(timeline.names)].tolist()
        codes = timeline.names.code
        return {
            "total": len(timeline.names),
            "ids": known,
            "names": [timeline.trace.strings[codes[number]] for number in known],
        }

    return asked.json("names", make)


def _counters(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    named = parameters.get("ids")
    wanted = None if named is None else named.split(",")
    if len(wanted or ()) > MOST_NUMBERS:
        raise HttpError(400, f"ids must be at most {MOST_NUMBERS}")

    def make(timeline: Timeline) -> bytes:
        level, tile = level_and_tile(parameters, timeline)
        known = {counter.id: counter for counter in timeline.counters.listed}
        ids = list(known) if wanted is None else wanted
        if unknown := next((each for each in ids if each not in known), None):
            raise HttpError(404, f"there is no counter {unknown!r}")
        return counters_bytes(timeline, level, tile, [known[each] for each in ids])

    return asked.binary("counters", make)


ROUTES: dict[str, Route] = {
    "/api/timeline": _timeline,
    "/api/timeline/steps": _steps,
    "/api/timeline/tiles": _tiles,
    "/api/timeline/slices": _slices,
    "/api/timeline/names": _names,
    "/api/timeline/counters": _counters,
}
