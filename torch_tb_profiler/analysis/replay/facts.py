"""All that the edges of a graph are made of."""

from __future__ import annotations

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.replay.host_time import HostTime, host_time
from torch_tb_profiler.analysis.replay.host_waits import (
    HostWait,
    SilentWait,
    blocking_copies,
    full_queue,
    synchronizations,
    unrecorded_waits,
)
from torch_tb_profiler.analysis.replay.inputs import Calls, Items, calls_of, items_of
from torch_tb_profiler.analysis.replay.lags import Lags, launch_and_gap, previous_on_stream, wake_of
from torch_tb_profiler.analysis.replay.silence import silences
from torch_tb_profiler.analysis.replay.stream_edges import Launched
from torch_tb_profiler.analysis.replay.stretches import Stretches, merged
from torch_tb_profiler.analysis.replay.thread_edges import HandOvers, HostCollectives, hand_overs, host_collectives
from torch_tb_profiler.analysis.shared.main_lane import main_lane
from torch_tb_profiler.analysis.step_kinds import step_kinds
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps import Steps


class Facts(msgspec.Struct, frozen=True):
    """All that edges are made of."""

    items: Items
    calls: Calls
    launched: Launched
    previous: Int64
    host: HostTime
    main: int
    lags: Lags
    syncs: HostWait
    blocked: Int64
    copies: HostWait
    held: HostWait
    wakes: HandOvers
    collectives: HostCollectives
    waits: Stretches
    silent: Stretches
    silent_waits: SilentWait
    steps: Steps
    step_kind: Int64


def facts_of(model: Model) -> Facts:
    """Of the whole trace."""
    trace, steps = model.trace, model.steps
    items = items_of(model)
    calls = calls_of(model)
    previous = previous_on_stream(items)
    launch, gap = launch_and_gap(items, calls, previous)
    copies = blocking_copies(trace, items, calls)
    if len(copies.call):
        # they are launched at once, and wait from then on
        release = calls.release.copy()
        earliest = np.minimum(calls.start[copies.call] + launch, items.start[copies.item])
        release[copies.call] = np.maximum(earliest, calls.start[copies.call])
        calls = replace(calls, release=release)
        copies = replace(copies, since=release[copies.call])
    launched = Launched.of(items, calls)
    syncs, blocked = synchronizations(trace, items, calls, launched)
    held = full_queue(items, calls, launched)
    launches = np.zeros(len(trace.events), np.bool_)
    launches[calls.row[calls.release >= 0]] = True
    main = main_lane(model)
    host = host_time(trace, launches, (main, int(steps.host_start[0])) if main >= 0 and len(steps) else None)
    wakes = hand_overs(model, host, calls, main)
    collectives = host_collectives(model, host, items, main)
    silent = silences(model, host)
    silent_waits = unrecorded_waits(silent, items, launched)
    known = wakes.wait_from >= 0
    waits = merged(
        np.concatenate(
            (
                calls.lane[blocked],
                calls.lane[copies.call],
                calls.lane[held.call],
                wakes.to_lane[known],
                collectives.ended_lane,
                silent_waits.lane,
            )
        ),
        np.concatenate(
            (
                calls.start[blocked],
                copies.since,
                held.since,
                wakes.wait_from[known],
                collectives.ended_from,
                silent_waits.start,
            )
        ),
        np.concatenate(
            (
                calls.end[blocked],
                calls.end[copies.call],
                calls.end[held.call],
                wakes.to_time[known],
                collectives.ended_to,
                silent_waits.end,
            )
        ),
    )
    ended = np.concatenate((syncs.item, copies.item))
    returned = np.concatenate((calls.end[syncs.call], calls.end[copies.call]))
    begun = np.concatenate((calls.start[syncs.call], calls.start[copies.call]))
    late = (returned - items.end[ended])[items.end[ended] > begun]
    lags = Lags(launch, gap, wake_of(late))
    return Facts(
        items,
        calls,
        launched,
        previous,
        host,
        main,
        lags,
        syncs,
        blocked,
        copies,
        held,
        wakes,
        collectives,
        waits,
        silent,
        silent_waits,
        steps,
        step_kinds(model).of,
    )
