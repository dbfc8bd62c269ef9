"""/api/timeline/overview and /collective: all ranks of a run (docs/timeline-protocol.md)."""

from __future__ import annotations

from typing import Any

import numpy as np

from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.ranks import Rank
from torch_tb_profiler.ranks.distributed import group_label
from torch_tb_profiler.ranks.matching import match
from torch_tb_profiler.timeline.overview import overview
from torch_tb_profiler.timeline.timeline import Timeline
from torch_tb_profiler.web.ask import Route
from torch_tb_profiler.web.distributed import ranks_of
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, dumps
from torch_tb_profiler.web.tables import Json
from torch_tb_profiler.web.timeline.request import row_of, version_of
from torch_tb_profiler.workspace import Key, OpenRun, Workspace, pack

#: of a collective, in an answer
MOST_MEMBERS = 64


def _overview(workspace: Workspace, parameters: Parameters) -> Answer:
    opened = workspace.find_span(parameters.need("run"), parameters.get("span"))
    bins = parameters.whole_number("bins", 400, 16, 1024)
    key = Key.of_run(opened, ("timeline overview", bins))
    return Answer(workspace.remember(key, lambda: pack(dumps(overview_answer(workspace, opened, bins)))))


def overview_answer(workspace: Workspace, opened: OpenRun, bins: int) -> Json:
    """/api/timeline/overview."""
    summaries = [workspace.rank_summary(trace) for trace in opened.traces]
    found = overview(summaries, bins)
    status = {(trace.worker, trace.span): trace for trace in workspace.run(opened.run).traces}
    workers = []
    for trace, summary, density in zip(opened.traces, summaries, found.ranks, strict=True):
        known = status[trace.worker, trace.span]
        workers.append(
            {
                "worker": trace.worker,
                "rank": known.rank,
                "host_name": known.host_name,
                "state": "ready",
                "version": version_of(trace),
                "events": summary.events,
                "slices": summary.slices,
                "offset_ns": density.offset,
                "begin_ns": summary.begin_ns,
                "end_ns": summary.end_ns,
                "device": density.device,
                "host": density.host,
                "communication": density.communication,
                "step_ns": summary.step_ns,
            }
        )
    return {
        "run": opened.run,
        "span": opened.span,
        "begin_ns": found.begin,
        "end_ns": found.end,
        "aligned": found.aligned,
        "workers": workers,
        "absent": [
            {"worker": trace.worker, "state": trace.state, "reason": trace.reason and trace.reason.text}
            for trace in opened.others
        ],
    }


def _collective(workspace: Workspace, parameters: Parameters) -> Answer:
    _, worker = parameters.need_all("run", "worker")
    trace = workspace.find(parameters.need("run"), worker, parameters.get("span"))
    row = row_of(parameters, workspace.timeline(trace))
    opened = workspace.find_span(trace.run, trace.span)
    key = Key.of_run(opened, ("timeline collective", worker, row))
    return Answer(workspace.remember(key, lambda: pack(dumps(collective_answer(workspace, opened, worker, row)))))


def collective_answer(workspace: Workspace, opened: OpenRun, worker: str, row: int) -> Json:
    """/api/timeline/collective."""
    ranks = ranks_of(workspace, opened)
    own = next(number for number, rank in enumerate(ranks) if rank.worker == worker)
    events = workspace.timeline(opened.traces[own]).trace.events
    operation = _operation_at(ranks[own].communications, int(events.start[row]), int(events.end[row]))
    matching = match(ranks)
    number = -1 if operation is None else int(matching.match[own][operation])
    if operation is None or number < 0:
        raise HttpError(404, f"row {row} is no communication that other ranks share")
    members: list[tuple[int, int]] = []
    for rank in (own, *(other for other in range(len(ranks)) if other != own)):
        places = np.flatnonzero(matching.match[rank] == number)
        members.extend((rank, int(place)) for place in places)
    found = ranks[own].communications
    return {
        "name": found.names[found.operations.name[operation]],
        "kind": KINDS[found.operations.kind[operation]],
        "group": group_label(found.groups[found.operations.group[operation]]),
        "total": len(members),
        "members": [
            _member(workspace.timeline(opened.traces[rank]), ranks[rank], place)
            for rank, place in members[:MOST_MEMBERS]
        ],
    }


def _operation_at(found: Communications, start: int, end: int) -> int | None:
    """The operation of a kernel, of a call on the host, or of something inside of such a call."""
    of, ranges = found.operations, found.ranges
    kernels = np.flatnonzero((ranges.start == start) & (ranges.end == end))
    if len(kernels):
        return int(ranges.operation[kernels[0]])
    calls = np.flatnonzero((of.host_start >= 0) & (of.host_start <= start) & (of.host_end >= end))
    if not len(calls):
        return None
    return int(calls[np.argmin(of.host_end[calls] - of.host_start[calls])])


def _member(timeline: Timeline, rank: Rank, operation: int) -> dict[str, Any]:
    """The first slice of an operation: its kernel, else its call."""
    found = rank.communications
    ranges = np.flatnonzero(found.ranges.operation == operation)
    if len(ranges):
        start, end = int(found.ranges.start[ranges[0]]), int(found.ranges.end[ranges[0]])
    else:
        start, end = int(found.operations.host_start[operation]), int(found.operations.host_end[operation])
    row = timeline.row_at(start, end)
    return {
        "worker": rank.worker,
        "row": row,
        "lane": None if row is None else int(timeline.placed.of_row[row]),
        "start_ns": start,
        "duration_ns": end - start,
    }


ROUTES: dict[str, Route] = {
    "/api/timeline/overview": _overview,
    "/api/timeline/collective": _collective,
}
