"""What a step would be without what some ranks are late by: a replay of the collectives of all ranks.

No clocks: a rank that waited w for the others in a collective came w before the last of them. With a rank's work
made shorter it comes earlier by a; the collective then begins earlier by the least of (w + a) over its ranks, and so do
all of them from there on. Unchanged, nothing moves.

Ranks may call operations in orders that contradict each other, as stages of a pipeline do whose sends do not block.
Then a sender goes on alone: it comes as much earlier as it does, and the receiver no earlier than that allows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Float32, Int32, Int64
from torch_tb_profiler.ranks.run_data import RunData


class Schedule(msgspec.Struct, frozen=True):
    """In which order the collectives of all ranks are replayed: wave by wave, each rank at most once in a wave.

    rank, row    shape (rows,): by wave
    meeting      shape (rows,): number of the collective within its wave
    bounds       shape (waves + 1,)
    wait         shape (rows,), ns
    alone        shape (rows,): it goes on without the others
    parted       shape (rows,): which of the collectives that not all ranks are at together, -1
    """

    rank: Int32
    row: Int32
    meeting: Int32
    bounds: Int64
    wait: Int64
    alone: Bool
    parted: Int64


def savings(run: RunData, removed: Sequence[Mapping[int, Float32]]) -> list[Int64]:
    """Of each scenario, shape (ranks,), ns: how much earlier each rank is at its last collective.

    removed: of each scenario, by rank, shape (rows of the rank,): ns taken away before each collective
    """
    schedule = _schedule(run)
    gained = np.zeros((len(removed), len(run)))
    posted = np.full((len(removed), int(schedule.parted.max(initial=-1)) + 1), np.inf)
    for wave in range(len(schedule.bounds) - 1):
        part = slice(int(schedule.bounds[wave]), int(schedule.bounds[wave + 1]))
        rank, meeting = schedule.rank[part], schedule.meeting[part]
        earlier = gained[:, rank]
        for number, by_rank in enumerate(removed):
            for changed, less in by_rank.items():
                at = np.flatnonzero(rank == changed)
                if len(at):
                    earlier[number, at] += less[schedule.row[part][at]]
        slack = earlier + schedule.wait[part]
        alone, parted = schedule.alone[part], schedule.parted[part]
        late = np.flatnonzero((parted >= 0) & ~alone)
        slack[:, late] = np.minimum(slack[:, late], posted[:, parted[late]])
        order = np.argsort(meeting, kind="stable")
        starts = np.flatnonzero(np.diff(meeting[order], prepend=-1))
        least = np.minimum.reduceat(slack[:, order], starts, axis=1)
        gained[:, rank[order]] = np.repeat(least, np.diff(np.append(starts, len(order))), axis=1)
        gained[:, rank[alone]] = earlier[:, alone]
        np.minimum.at(posted.T, parted[alone], slack[:, alone].T)
    return [row.astype(np.int64) for row in np.rint(gained)]


def _schedule(run: RunData) -> Schedule:
    """Collectives in an order that every rank agrees with; what contradicts it goes on alone."""
    state, shared = run.state, run.is_shared
    numbers: list[Int32] = []
    rows: list[Int32] = []
    waits: list[Int64] = []
    sender = np.full(len(state.signature), -1, np.int64)
    # a collective has the kind that its first rank calls it: of a receive the other rank, a later one, sends
    kind = np.array([*(each.kind for each in run.signatures), ""])[state.signature]
    for rank, of in run.each():
        here = np.flatnonzero((of.number >= 0) & (of.duration >= 0))
        here = here[shared[of.number[here]] & (state.timed[of.number[here]] > 1)]
        mine = of.number[here]
        numbers.append(mine.astype(np.int32))
        rows.append(here.astype(np.int32))
        waits.append(of.duration[here] - state.shortest[mine])
        sender[mine[(kind[mine] == "recv") | ((kind[mine] == "send") & (sender[mine] < 0))]] = rank
    lengths = np.array([len(each) for each in numbers])
    first = np.concatenate(([0], np.cumsum(lengths)))[:-1]
    number: Int32 = np.concatenate(numbers)
    row: Int32 = np.concatenate(rows)
    wait = np.concatenate(waits)
    left = state.timed.copy()
    parted = np.full(len(state.signature), -1, np.int64)
    at = first.copy()
    end = first + lengths
    taken: list[Int64] = []
    alone: list[Bool] = []
    bounds = [0]
    while len(alive := np.flatnonzero(at < end)):
        current = number[at[alive]]
        meetings, place, here_now = np.unique(current, return_inverse=True, return_counts=True)
        ready = (here_now >= left[meetings])[place.reshape(-1)]
        is_alone = not ready.any()
        if is_alone:
            # called in another order by some rank: what sends does not wait, else those that most ranks are at go on
            ready = sender[current] == alive
            if not ready.any():
                ready = current == meetings[np.argmax(here_now)]
            met = np.unique(current[ready])
            left[met] = 0
            new = met[parted[met] < 0]
            parted[new] = parted.max(initial=-1) + 1 + np.arange(len(new))
        going = alive[ready]
        taken.append(at[going])
        alone.append(np.full(len(going), is_alone))
        bounds.append(bounds[-1] + len(going))
        at[going] += 1
    chosen = np.concatenate(taken) if taken else np.empty(0, np.int64)
    return Schedule(
        rank=np.repeat(np.arange(len(run), dtype=np.int32), lengths)[chosen],
        row=row[chosen],
        meeting=number[chosen],
        bounds=np.array(bounds),
        wait=wait[chosen],
        alone=np.concatenate(alone) if alone else np.empty(0, np.bool_),
        parted=parted[number[chosen]],
    )
