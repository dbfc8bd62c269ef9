"""When a device waits around the nodes of graphs: inside a replay, and from one replay to the next."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.replay_nodes import replayed_nodes
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import descending, greatest_at, least_at
from torch_tb_profiler.arrays.lookup import place_of_running_maximum
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import ROUNDING_NS
from torch_tb_profiler.model.kernel_names.short import short_name


class GraphGaps(msgspec.Struct, frozen=True):
    """Gaps of the replays of the steps that are chosen; parallel.

    inside         whether no node of the replay runs then, between two of its nodes; else from the end of the replay to
                   the next one of any graph on the device, which may take no time
    replay         index into `ReplayedNodes.graph_of`: in which replay, or behind which one
    start          ns
    duration       ns
    after, before  event of the node that ends where the gap begins, and of the one that begins where it ends
    """

    inside: Bool
    replay: Int64
    start: Int64
    duration: Int64
    after: Int64
    before: Int64


@cached
def graph_gaps(model: Model) -> GraphGaps:
    found, work = replayed_nodes(model), model.trace.device_work
    events, replays = model.trace.events, len(found.graph_of)
    if not replays:
        none = np.empty(0, np.int64)
        return GraphGaps(np.empty(0, np.bool_), none, none, none, none, none)
    row = work.row[found.work].astype(np.int64)
    order = np.lexsort((events.start[row], found.replay))
    row, replay = row[order], found.replay[order]
    start, end = events.start[row], events.end[row]
    lead = np.flatnonzero(begins_run(replay))
    first, last = least_at(replay, start, replays), greatest_at(replay, end, replays)
    # on an axis on which replays follow one another, so that the latest end of a replay is never that of another one
    base = np.append(0, np.cumsum(last - first + 1)[:-1])
    latest = place_of_running_maximum(end - first[replay] + base[replay])
    at = np.flatnonzero(~begins_run(replay))
    at = at[start[at] > end[latest[at - 1]]]
    # the next replay on the device; it may begin before the end of this one
    device = work.device[found.work[order]][lead]
    turn = np.lexsort((first, device))
    same = device[turn][1:] == device[turn][:-1]
    this, following = turn[:-1][same], turn[1:][same]
    closing = latest[np.append(lead[1:], len(row)) - 1]
    opened = np.concatenate([end[latest[at - 1]], last[this]])
    return GraphGaps(
        inside=np.arange(len(at) + len(this)) < len(at),
        replay=np.concatenate([replay[at], this]).astype(np.int64),
        start=opened,
        duration=np.maximum(np.concatenate([start[at], first[following]]) - opened, 0),
        after=np.concatenate([row[latest[at - 1]], row[closing[this]]]),
        before=np.concatenate([row[at], row[lead[following]]]),
    )


class GapTable(Result, group="graph_gaps"):
    """One row per gap longer than rounding, the longest first."""

    where: tuple[str, ...] = column("Where", "inside a replay, or between one and the next on the device.")
    graph: Int64 = column("Graph", "Number of the graph that the gap is in, or after.", unit=None)
    duration_ns: Int64 = column("Gap", "Time in which no node of the replay runs, or of any replay.")
    after: tuple[str, ...] = column("After", "The node that ends where the gap begins.")
    before: tuple[str, ...] = column("Before", "The node that begins where the gap ends.")
    short_after: tuple[str, ...] = column(
        "After, short",
        "The name without parameters and most template arguments, as in the GPU Kernel view.",
        hidden=True,
    )
    short_before: tuple[str, ...] = column(
        "Before, short",
        "The name without parameters and most template arguments, as in the GPU Kernel view.",
        hidden=True,
    )
    start_ns: Int64 = column("Begins", "Since the start of the trace.", hidden=True)
    row: Int64 = column("Node", "Event of the node that begins where the gap ends.", unit=None, hidden=True)


def longest_gaps(model: Model, graph: int | None, limit: int) -> tuple[GapTable, int]:
    """Those in the replays of a graph and behind them, or of all graphs; and how many there are."""
    gaps, events, strings = graph_gaps(model), model.trace.events, model.trace.strings
    of = replayed_nodes(model).graph_of[gaps.replay]
    chosen = np.flatnonzero((gaps.duration > ROUNDING_NS) & (True if graph is None else of == graph))
    top = chosen[descending(gaps.duration[chosen])[:limit]]
    after, before = (strings.texts(events.name[nodes[top]]) for nodes in (gaps.after, gaps.before))
    table = GapTable(
        where=tuple("inside" if inside else "between" for inside in gaps.inside[top].tolist()),
        graph=of[top].astype(np.int64),
        duration_ns=gaps.duration[top],
        after=tuple(after),
        before=tuple(before),
        short_after=tuple(map(short_name, after)),
        short_before=tuple(map(short_name, before)),
        start_ns=gaps.start[top],
        row=gaps.before[top],
    )
    return table, len(chosen)
