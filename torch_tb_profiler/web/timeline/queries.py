"""/api/timeline/…: one slice, its neighbours, search, sums over a window, arrows (docs/timeline-protocol.md)."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import BinaryIO

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.patterns import SlowPattern, check_pattern
from torch_tb_profiler.timeline.details import as_json, details, neighbour
from torch_tb_profiler.timeline.flows import KINDS, Found, Kind, of_slice, of_window
from torch_tb_profiler.timeline.search import Matches, search
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.timeline.totals import totals
from torch_tb_profiler.timeline.tree import tree_of
from torch_tb_profiler.trace import Category, TraceError
from torch_tb_profiler.trace.raw_event import raw_args
from torch_tb_profiler.web.ask import Route, ask_original
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, Stream, dumps
from torch_tb_profiler.web.tables import Json, plain
from torch_tb_profiler.web.timeline.request import Asked, lanes_of, row_of, window_of
from torch_tb_profiler.web.timeline.routes import steps_of
from torch_tb_profiler.workspace import Workspace

LONGEST_QUERY = 1000
#: characters of the arguments of an event, as they stand in the file
LONGEST_ARGS = 200_000
MOST_NAMES_FOUND = 200
MOST_NAMES_SUMMED = 1000
MOST_FLOWS_OF_SLICE = 2000
FLOWS, MOST_FLOWS = 2000, 20_000


def _slice(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    parameters.need("row")

    def make(timeline: Timeline) -> Json:
        row = row_of(parameters, timeline)
        steps = steps_of(workspace, parameters)
        events = timeline.trace.events
        return {
            **as_json(details(timeline, row)),
            "track": int(tree_of(timeline).lanes.node[timeline.placed.of_row[row]]),
            "step": _step_at(steps, int(events.start[row])),
        }

    return asked.json("slice", make)


def _args(workspace: Workspace, parameters: Parameters) -> Answer:
    asked = Asked.of(workspace, parameters)
    row = row_of(parameters, asked.timeline)
    trace = asked.timeline.trace

    def find(stream: BinaryIO) -> bytes:
        text = raw_args(trace, row, stream, workspace.limits)
        return dumps({"row": row, "args": None if text is None else text[:LONGEST_ARGS], "length": len(text or "")})

    try:
        return Answer(ask_original(workspace, asked.trace, ("args", row), find))
    except TraceError as error:
        raise HttpError(422, f"the file {error}") from None


def _step_at(steps: Json, time: int) -> str | None:
    for name, start, duration in zip(steps["names"], steps["start_ns"], steps["duration_ns"], strict=True):
        if start <= time < start + duration:
            return str(name)
    return None


def _next(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    parameters.need("row")
    direction = parameters.choice("direction", ("next", "previous"))

    def make(timeline: Timeline) -> Json:
        found = neighbour(timeline, row_of(parameters, timeline), direction == "next")
        return {"slice": asdict(found) if found else None}

    return asked.json("next", make)


def _search(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    text = parameters.need("q")
    if not 0 < len(text) <= LONGEST_QUERY:
        raise HttpError(400, f"q must have 1 to {LONGEST_QUERY} characters")
    is_pattern = parameters.choice("mode", ("text", "regex")) == "regex"
    ignore_case = parameters.choice("case", ("ignore", "match")) == "ignore"
    bins = parameters.whole_number("bins", 800, 1, 4000)
    most = parameters.whole_number("hits", 200, 1, 10_000)
    earliest = parameters.whole_number("from", None)
    if is_pattern:
        try:
            check_pattern(text)
        except ValueError as error:
            raise HttpError(400, f"q {error}") from None

    def make(timeline: Timeline) -> Json:
        after = row_of(parameters, timeline, "after") if parameters.get("after") is not None else None
        try:
            return _found(timeline, search(timeline, text, is_pattern, ignore_case, bins, most, after, earliest))
        except SlowPattern as error:
            raise HttpError(400, f"q {error}") from None

    return asked.json("search", make)


def _found(timeline: Timeline, found: Matches) -> Json:
    trace, events, names = timeline.trace, timeline.trace.events, timeline.names
    listed = found.names[:MOST_NAMES_FOUND].tolist()
    return {
        "names": [
            {
                "name_id": number,
                "name": trace.strings[names.code[number]],
                "count": int(names.count[number]),
                "total_ns": int(names.total[number]),
                "longest_row": int(longest),
            }
            for number, longest in zip(listed, found.longest[: len(listed)].tolist(), strict=True)
        ],
        "names_total": len(found.names),
        "count": found.count,
        "total_ns": found.total_ns,
        "hits": {
            "row": plain(found.hits),
            "lane": plain(timeline.placed.of_row[found.hits]),
            "name_id": plain(names.number[events.name[found.hits]]),
            "start_ns": plain(events.start[found.hits]),
            "duration_ns": plain(np.maximum(events.duration[found.hits], 0)),
        },
        "density": {"from_ns": timeline.begin, "to_ns": timeline.end, "counts": plain(found.density)},
    }


def _range(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    given = parameters.get("lanes") is not None
    start, end = window_of(parameters)

    def make(timeline: Timeline) -> Json:
        lanes = lanes_of(parameters, timeline) if given else np.arange(timeline.lanes, dtype=np.int64)
        return _sums(timeline, lanes, start, end)

    return asked.json("range", make)


def _sums(timeline: Timeline, lanes: Int64, start: int, end: int) -> Json:
    found = totals(timeline, lanes, start, end)
    by_name, number = found.by_name, timeline.names.number
    shown = min(len(by_name), MOST_NAMES_SUMMED)
    return {
        "from_ns": start,
        "to_ns": end,
        "slices": found.slices,
        "instants": found.instants,
        "by_name": [
            {
                "name_id": int(number[by_name.name[i]]),
                "name": timeline.trace.strings[by_name.name[i]],
                "category": Category(by_name.category[i]).name.lower(),
                "count": int(by_name.count[i]),
                "total_ns": int(by_name.total_ns[i]),
                "longest_row": int(by_name.longest[i]),
            }
            for i in range(shown)
        ],
        "names_total": len(by_name),
        "rest": {"count": int(by_name.count[shown:].sum()), "total_ns": int(by_name.total_ns[shown:].sum())},
        "by_category": [asdict(total) for total in found.by_category],
        "devices": [asdict(device) for device in found.devices],
    }


def _flows(workspace: Workspace, parameters: Parameters) -> Stream:
    asked = Asked.of(workspace, parameters)
    kinds = _kinds(parameters)
    if parameters.get("row") is not None:

        def of_row(timeline: Timeline) -> Json:
            row = row_of(parameters, timeline)
            return _arrows(timeline, of_slice(timeline, row=row, most=MOST_FLOWS_OF_SLICE, kinds=kinds))

        return asked.json("flows of", of_row)
    start, end = window_of(parameters)
    limit = parameters.whole_number("limit", FLOWS, 1, MOST_FLOWS)
    within = partial(of_window, start=start, end=end, most=limit, kinds=kinds)
    return asked.json("flows", lambda timeline: _arrows(timeline, within(timeline)))


def _kinds(parameters: Parameters) -> tuple[Kind, ...]:
    named = (parameters.get("kinds") or ",".join(KINDS)).split(",")
    if unknown := set(named) - set(KINDS):
        raise HttpError(400, f"kinds must be of {', '.join(KINDS)}, not {min(unknown)!r}")
    return tuple(kind for kind in KINDS if kind in named)


def _arrows(timeline: Timeline, found: Found) -> Json:
    arrows, lane, start = found.arrows, timeline.placed.of_row, timeline.trace.events.start
    return {
        "total": found.total,
        "loose": found.loose,
        "kind": [KINDS[kind] for kind in arrows.kind.tolist()],
        "from_row": plain(arrows.source),
        "from_lane": plain(lane[arrows.source]),
        "from_ns": plain(start[arrows.source]),
        "to_row": plain(arrows.target),
        "to_lane": plain(lane[arrows.target]),
        "to_ns": plain(start[arrows.target]),
    }


ROUTES: dict[str, Route] = {
    "/api/timeline/slice": _slice,
    "/api/timeline/args": _args,
    "/api/timeline/next": _next,
    "/api/timeline/search": _search,
    "/api/timeline/range": _range,
    "/api/timeline/flows": _flows,
}
