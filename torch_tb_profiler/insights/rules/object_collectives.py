"""Steps that send Python objects to other ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import kernels, scale, without
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.collective_calls import CollectiveCalls, collective_calls, steps_with
from torch_tb_profiler.insights.shared.exposed import ONE_RANK
from torch_tb_profiler.late_pattern import late_pattern

_FUNCTION = late_pattern(
    r"distributed/distributed_c10d\.py\(\d+\): (?:(?:all_)?gather_object|(?:broadcast|scatter|send|recv)_object_list)$"
)
_READS = late_pattern(r"Synchronize|Memcpy")
#: numbers that are sent before the objects: how long each is
_MOST_LENGTHS = 1024


def _find(facts: Facts) -> Sequence[Found]:
    calls, events = collective_calls(facts), facts.trace.events
    rows, end = _exchanges(facts, calls)
    step = facts.step_of(rows)
    rows, end = rows[step >= 0], end[step >= 0]
    start, track = events.start[rows], events.track[rows].astype(np.int64)
    spent = int((end - start).sum())
    in_steps = steps_with(facts, _ID, step[step >= 0], spent)
    if not in_steps:
        return ()
    launches = facts.model.launches.row
    called = [launches[(events.track[launches] == each)] for each in distinct(track).tolist()]
    waits = np.concatenate(
        [
            of[_inside(start[track == each], end[track == each], events.start[of])]
            for each, of in zip(distinct(track).tolist(), called, strict=True)
        ]
    )
    sent = calls.take(_inside(start, end, calls.of.operations.host_start[calls.operation]))
    return (
        Found(
            title="Steps send Python objects to other ranks",
            detail=(
                f"{len(start)} times in {in_steps} of {facts.steps} steps objects are pickled, sent in two collectives "
                f"and read by the host, which waits for the device: {100 * facts.share(spent):.1f} % of the steps."
            ),
            advice=(
                "Send tensors, which the host does not need to read: `torch.distributed.all_gather_into_tensor(out, "
                "x)` in place of `all_gather_object`. What is only logged can be sent after the epoch."
            ),
            values={"calls": len(start), "in": in_steps, "steps": facts.steps, "share": facts.share(spent)},
            rows=facts.longest_first(sent.row),
            changes=(
                scale(factor=0, intervals=np.stack((track, start, end), axis=1)),
                without(rows=waits),
                kernels(0, rows=sent.row),
            ),
            refused=ONE_RANK,
            confidence="medium",
            evidence=(
                Evidence("object_collectives", "Exchanges of objects in the steps", len(start), "count", "distributed"),
                Evidence(
                    "object_time", "Time of the host in them, average per step", spent / facts.steps, "ns", "stacks"
                ),
            ),
            links=(
                Link(
                    "object_collectives",
                    "torch.distributed.all_gather_object",
                    "https://docs.pytorch.org/docs/stable/distributed.html#torch.distributed.all_gather_object",
                ),
            ),
        ),
    )


def _exchanges(facts: Facts, calls: CollectiveCalls) -> tuple[Int32, Int64]:
    """The host event that each exchange begins with, and its end, ns: its frame, else two neighbouring collectives."""
    frames, strings = facts.model.structure.frames, facts.trace.strings
    named = strings.where(lambda name: _FUNCTION.search(name) is not None, frames.name)[frames.name]
    if named.any():
        outer = np.flatnonzero(named & (nearest(frames.parent, named, frames.parent) < 0))
        return frames.row[outer], frames.end[outer]
    return _pairs(facts, calls)


def _pairs(facts: Facts, calls: CollectiveCalls) -> tuple[Int32, Int64]:
    """The same by what is sent: whole numbers, the lengths, and then bytes, by one kind of collective in a group."""
    of, tree = calls.of.operations, facts.model.structure.tree
    types = np.array([name.lower() for name in calls.of.dtypes])
    by_call = calls.operation[np.argsort(of.host_start[calls.operation], kind="stable")]
    by_call = by_call[of.host_start[by_call] >= 0]
    first, second = by_call[:-1], by_call[1:]
    like = (of.kind[first] == of.kind[second]) & (of.group[first] == of.group[second])
    lengths = (types[of.dtype[first]] == "long") & (of.in_bytes[first] >= 0) & (of.in_bytes[first] <= 8 * _MOST_LENGTHS)
    pair = np.flatnonzero(like & lengths & (types[of.dtype[second]] == "byte"))
    order = np.argsort(tree.start, kind="stable")
    place = np.searchsorted(tree.start[order], of.host_start[first[pair]])
    known = place < len(order)
    known[known] = tree.start[order[place[known]]] == of.host_start[first[pair[known]]]
    rows = tree.row[order[place[known]]]
    return rows, _until_read(facts, rows, of.host_end[second[pair[known]]])


def _until_read(facts: Facts, rows: Int32, end: Int64) -> Int64:
    """Shape (n,), ns: the bytes are read with the next call of the thread that waits for the device, if it is the next.

    rows, end   shape (n,): the event that each exchange begins with, and the end of its last collective
    """
    events, calls = facts.trace.events, facts.model.launches.row
    waits = facts.trace.strings.where(lambda name: _READS.search(name) is not None, events.name[calls])
    found = end.copy()
    for track in distinct(events.track[rows]).tolist():
        mine, own = np.flatnonzero(events.track[rows] == track), calls[events.track[calls] == track]
        own = own[np.argsort(events.start[own], kind="stable")]
        place = np.searchsorted(events.start[own], end[mine])
        mine, following = mine[place < len(own)], own[place[place < len(own)]]
        reads = waits[events.name[following]]
        found[mine[reads]] = events.end[following[reads]]
    return found


def _inside(start: Int64, end: Int64, time: Int64) -> Bool:
    """Shape (m,): which times are in one of some stretches."""
    order = np.argsort(start, kind="stable")
    last = np.maximum.accumulate(end[order])
    at = np.searchsorted(start[order], time, side="right") - 1
    found: Bool = at >= 0
    found[found] = time[found] < last[at[found]]
    return found


_ID = "object_collectives"
RULE = Rule(_ID, "R58", (STEPS, HOST, COMMUNICATION), _find, over_ranks=True)
