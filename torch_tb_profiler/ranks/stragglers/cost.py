"""What late ranks cost: the collectives of all ranks, replayed without what these ranks are late by.

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
from torch_tb_profiler.ranks.peers import StepGrid
from torch_tb_profiler.ranks.run.answers import Straggler
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.run.group_answers import RunGroup, SlowLink
from torch_tb_profiler.ranks.stragglers.slow_ranks import LEAST_STEPS, SlowRank, SlowRanks


class Schedule(msgspec.Struct, frozen=True):
    """The order in which collectives of all ranks are replayed: wave by wave, each rank at most once in a wave.

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


def replay_savings(run: RunData, removed: Sequence[Mapping[int, Float32]]) -> list[Int64]:
    """Return per scenario, shape (ranks,), ns: how much earlier each rank is at its last collective.

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
    """Order the collectives so that every rank agrees; one that contradicts the order goes on alone."""
    state, shared = run.state, run.is_shared
    numbers: list[Int32] = []
    rows: list[Int32] = []
    waits: list[Int64] = []
    sender = np.full(len(state.signature), -1, np.int64)
    # a collective has the kind that its first rank calls it: of a receive the other rank, a later one, sends
    kind = np.array([*(calls.kind for calls in run.signatures), ""])[state.signature]
    for rank, of in run.each():
        here = np.flatnonzero((of.number >= 0) & (of.duration >= 0))
        here = here[shared[of.number[here]] & (state.timed[of.number[here]] > 1)]
        mine = of.number[here]
        numbers.append(mine.astype(np.int32))
        rows.append(here.astype(np.int32))
        waits.append(of.duration[here] - state.shortest[mine])
        sender[mine[(kind[mine] == "recv") | ((kind[mine] == "send") & (sender[mine] < 0))]] = rank
    lengths = np.array([len(calls) for calls in numbers])
    first = np.concatenate(([0], np.cumsum(lengths)))[:-1]
    number: Int32 = np.concatenate(numbers)
    row: Int32 = np.concatenate(rows)
    wait = np.concatenate(waits)
    left = state.timed.copy()
    parted = np.full(len(state.signature), -1, np.int64)
    position = first.copy()
    end = first + lengths
    taken: list[Int64] = []
    alone: list[Bool] = []
    bounds = [0]
    while len(alive := np.flatnonzero(position < end)):
        current = number[position[alive]]
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
        taken.append(position[going])
        alone.append(np.full(len(going), is_alone))
        bounds.append(bounds[-1] + len(going))
        position[going] += 1
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


#: ranks that are replayed one by one, and ranks that are only listed
MOST_REPLAYED, MOST_LISTED = 20, 20
#: a rank is replayed when so many of its collectives have all their ranks here
LEAST_WHOLE_SHARE = 0.5


def stragglers_of(
    run: RunData, grid: StepGrid, slow: SlowRanks, groups: Sequence[RunGroup]
) -> tuple[list[Straggler], int | None]:
    """Return late ranks, named ones first, and what a step would save without all named ones."""
    named = [rank for rank in slow.found if rank.named]
    others = [rank for rank in slow.found if not rank.named][:MOST_LISTED]
    removable = [rank for rank in (*named, *others)[:MOST_REPLAYED] if rank.excess is not None and _meets(run, rank)]
    scenarios = [{rank.rank: _removed(run, rank)} for rank in removable]
    together = {rank.rank: _removed(run, rank) for rank in named if rank.excess is not None and _meets(run, rank)}
    per_step = []
    if scenarios and len(grid.names):
        gained = replay_savings(run, [*scenarios, together])
        per_step = [round(float(np.mean(earlier)) / len(grid.names)) for earlier in gained]
    saved = {rank.rank: ns for rank, ns in zip(removable, per_step, strict=False)}
    lost = 0 if not named else per_step[-1] if together and per_step else None
    answers = [_answer(run, rank, saved.get(rank.rank), groups) for rank in (*named, *others)]
    return answers, lost


def named_or_slower(stragglers: Sequence[Straggler]) -> list[Straggler]:
    """Return the named ones; without any, the slower rank of peers that are too few to name one."""
    return [each for each in stragglers if each.named] or [each for each in stragglers if each.doubt == "few_peers"]


def _meets(run: RunData, slow: SlowRank) -> bool:
    """Tell whether the ranks that wait for it are loaded: all ranks of most of its collectives."""
    number = run.rows(slow.rank).number
    whole = run.is_whole[number[number >= 0]]
    return bool(len(whole)) and float(np.mean(whole)) >= LEAST_WHOLE_SHARE


def link_stragglers(run: RunData, links: Sequence[SlowLink], steps: int, whole: bool) -> list[Straggler]:
    """Name the two ranks of each slow link; nobody where only the group is known."""
    places = {head.rank: at for at, head in enumerate(run.heads) if head.rank is not None}
    stragglers = []
    for link in links:
        for rank in link.pair or ():
            if rank in places:
                head = run.heads[places[rank]]
                stragglers.append(
                    Straggler(
                        rank=rank,
                        worker=head.worker,
                        host=head.host or None,
                        late_ns=link.extra_ns,
                        z=link.z,
                        cause="network",
                        operator=link.kind,
                        operator_ns=link.extra_ns,
                        position=None,
                        saving_ns=None,
                        steps=steps,
                        of_steps=steps,
                        peers=link.compared,
                        named=whole and steps >= LEAST_STEPS,
                        doubt="loading" if not whole else "" if steps >= LEAST_STEPS else "few_steps",
                    )
                )
    return stragglers


def _removed(run: RunData, slow: SlowRank) -> Float32:
    """Return the ns taken away before each collective of the rank: at most its own time."""
    rows = run.rows(slow.rank)
    found = np.zeros(len(rows.number), np.float32)
    assert slow.excess is not None
    for step, program in enumerate(run.programs[slow.rank].tolist()):
        at = np.flatnonzero(rows.step == step)
        if program == slow.program and len(at) == len(slow.excess):
            found[at] = np.minimum(slow.excess, np.nan_to_num(rows.own[at]))
    return found


def _answer(run: RunData, slow: SlowRank, saving: int | None, groups: Sequence[RunGroup]) -> Straggler:
    head = run.heads[slow.rank]
    return Straggler(
        rank=head.rank,
        worker=head.worker,
        host=head.host or None,
        late_ns=round(slow.late_ns),
        z=slow.z,
        cause=slow.cause.cause,
        operator=slow.cause.operator,
        operator_ns=None if slow.cause.ns is None else round(slow.cause.ns),
        position=_position(run, slow, groups),
        saving_ns=saving,
        steps=slow.steps,
        of_steps=slow.of_steps,
        peers=slow.peers,
        named=slow.named,
        doubt=slow.doubt,
    )


def _position(run: RunData, slow: SlowRank, groups: Sequence[RunGroup]) -> str | None:
    """Describe the collective before which a rank is late: name, position in the step (from 1), group."""
    if slow.position is None:
        return None
    of = run.summaries[slow.rank].called
    step = next((at for at, each in enumerate(run.programs[slow.rank].tolist()) if each == slow.program), None)
    if step is None:
        return None
    row = int(np.flatnonzero(of.step == step)[slow.position])
    code = int(run.numbering.group_numbers(of.groups)[of.group[row]])
    label = groups[code].label
    return f"{of.names[of.name[row]]} #{slow.position + 1}{f' ({label})' if label else ''}"


_MS = 1_000_000
#: a shorter saving would be printed as 0.00 ms
_LEAST_NS = 5_000

CAUSES = {
    "input": "waits for input",
    "slow_compute": "computes slower",
    "more_work": "has more work",
    "slow_operator": "one operator takes longer",
    "late_launches": "launches late",
    "allocator": "allocates memory",
    "network": "its network is slower",
    "unknown": "cause unknown",
}


def straggler_lines(stragglers: Sequence[Straggler]) -> list[tuple[str, str]]:
    """Describe each late rank: `slow`, or `slower` where peers are too few to name a rank, and the details."""
    return [
        ("slow", _straggler(each)) if each.named else ("slower", f"of the two, {_straggler(each)}")
        for each in named_or_slower(stragglers)
    ]


def milliseconds(ns: float | None) -> str:
    """`1,234.50 ms`; empty for None."""
    return "" if ns is None else f"{ns / _MS:,.2f} ms"


def _straggler(of: Straggler) -> str:
    who = of.worker if of.rank is None else f"rank {of.rank}"
    where = f" on {of.host}" if of.host else ""
    what = f": {of.operator}" if of.operator else ""
    is_shown = of.saving_ns is not None and of.saving_ns >= _LEAST_NS
    saving = f"; without it a step is {milliseconds(of.saving_ns)} shorter" if is_shown else ""
    return f"{who}{where}: {milliseconds(of.late_ns)} a step, {CAUSES[of.cause]}{what}{saving}"
