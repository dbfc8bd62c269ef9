"""Which ranks work longer than their peers, and on what: docs/ranks.md has the thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Float32, Float64, Int64
from torch_tb_profiler.ranks.peers import StepGrid, deviations, is_like_most, peer_median, reached
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.stragglers.causes import (
    NEARLY,
    SLOW_RATIO,
    StragglerCause,
    WorkExcess,
    diagnose,
    idle_of,
    work_excess,
)

#: with fewer steps ranks are listed, not named
LEAST_STEPS = 3
#: with fewer ranks of a kind, all ranks are compared
LEAST_PEERS = 3
#: own time before a collective is clearly longer from so many deviations, such a share of the step and so many ns on;
#: smaller deviations of the peers count as the floor
POSITION_FLOOR_NS, POSITION_DEVIATIONS, POSITION_SHARE, POSITION_NS = 20_000, 12.0, 0.01, 200_000
#: of what a rank is late before a position, this part is in the own time of the step, too
KEPT = 1 / 2
#: the same of own time of a step; the floor is the larger of a share of the step and ns
OWN_FLOOR_SHARE, OWN_FLOOR_NS, OWN_DEVIATIONS, OWN_SHARE = 0.003, 50_000, 6.0, 0.03
#: share of the step with no more steps than are needed
OWN_SHARE_OF_FEW = 0.05
#: deviations of own time of a step that is explained by more calls or blocks than those of the peers
UNEQUAL = 12.0
#: a rank on whose host something clearly takes longer: own time of the step that agrees (share of it, deviations),
#: or own time before one position
HOST_KEPT, HOST_DEVIATIONS, HOST_POSITION_DEVIATIONS = 0.5, 2.0, 6.0
#: a rank that is not named is listed from so many deviations and such a share of the step on
LISTED_DEVIATIONS, LISTED_SHARE = 3.5, 0.03


class Peers(msgspec.Struct, frozen=True):
    """Ranks that are compared.

    ranks      places of the ranks
    by_place   whether they do the same collectives, so that positions can be compared
    columns    of the step grid that at least half of them have
    usual      shape (ranks,): those that the others are compared with
    """

    ranks: Int64
    by_place: bool
    columns: Int64
    usual: Bool


@dataclass(frozen=True)
class SlowRank:
    """A rank that is late. ns are of a step.

    excess    shape (positions,): before each of its collectives of a step, ns; None if positions were not compared
    program   of the steps that these are positions of
    """

    rank: int
    late_ns: float
    z: float | None
    diagnosis: StragglerCause
    position: int | None
    steps: int
    of_steps: int
    peers: int
    named: bool
    doubt: str
    excess: Float32 | None = field(repr=False)
    program: int


class SlowRanks(msgspec.Struct, frozen=True):
    """found: named ones first, latest first. own, late, z: of each rank, NaN where unknown; kind: its set of peers."""

    found: tuple[SlowRank, ...]
    own: Float64
    late: Float64
    z: Float64
    kind: Int64

    def with_more(self, more: Sequence[SlowRank]) -> SlowRanks:
        """With others found: named ones first, latest first."""
        if not more:
            return self
        ordered = sorted((*self.found, *more), key=lambda each: (not each.named, -each.late_ns))
        return msgspec.structs.replace(self, found=tuple(ordered))


def can_be_named(ranks: int, steps: int, whole: bool) -> bool:
    """Whether anybody can be; else that nobody is says nothing."""
    return whole and ranks >= LEAST_PEERS and steps >= LEAST_STEPS


def slow_ranks(run: RunData, grid: StepGrid, whole: bool) -> SlowRanks:
    """whole: whether all ranks were read; else nobody is named."""
    step_ns = grid.real([of.end - of.start for of in run.steps])
    own = grid.real(run.own)
    kind = _kinds(run)
    none = np.full(len(run), np.nan)
    late, z = none.copy(), none.copy()
    found: list[SlowRank] = []
    for number in range(int(kind.max(initial=-1)) + 1):
        mine = np.flatnonzero(kind == number)
        peers = _peers(run, grid, mine, own, step_ns)
        use = _use(run, grid, peers, step_ns)
        if use is not None and peers.usual.all():
            apart = is_like_most(use.ratio, SLOW_RATIO - 1)
            if not apart.all():
                peers = msgspec.structs.replace(peers, usual=apart)
                use = _use(run, grid, peers, step_ns)
        own_excess, own_z = _own(own, step_ns, peers)
        at = np.searchsorted(peers.ranks, mine)
        late[mine], z[mine] = own_excess[at], own_z[at]
        if use is not None:
            found += _of_peers(run, grid, peers, mine, use, step_ns, own_excess, own_z, whole)
    known = np.array([np.median(row[~np.isnan(row)]) if not np.isnan(row).all() else np.nan for row in own])
    if len(run) <= LEAST_PEERS - 1:
        z[:] = np.nan
    if len(run) < 2:  # it has no peers
        late[:] = np.nan
    return SlowRanks((), known, late, z, kind).with_more(found)


def _kinds(run: RunData) -> Int64:
    """Of each rank a number of what it mostly does in a step."""
    usual = []
    for programs in run.programs:
        values, counts = np.unique(programs[programs != 0], return_counts=True)
        usual.append(int(values[np.argmax(counts)]) if len(values) else 0)
    codes: dict[int, int] = {}
    return np.array([codes.setdefault(each, len(codes)) for each in usual], np.int64)


def _peers(run: RunData, grid: StepGrid, mine: Int64, own: Float64, step_ns: Float64) -> Peers:
    alike = len(mine) >= LEAST_PEERS or len(mine) == len(run)
    ranks = mine if alike else np.arange(len(run))
    having = np.bincount(np.concatenate([grid.place[rank] for rank in ranks]), minlength=len(grid.names))
    by_place = alike and bool(usual_program(run, int(ranks[0])))
    columns = np.flatnonzero(having * 2 >= len(ranks))
    usual = np.ones(len(ranks), np.bool_)
    if len(columns):
        step = float(np.nanmedian(step_ns[np.ix_(ranks, columns)]))
        for values in (own, grid.real([of.input for of in run.steps]), idle_of(run, grid)):
            chosen = values[np.ix_(ranks, columns)]
            usual = is_like_most(reached(chosen - peer_median(chosen)), OWN_SHARE * step)
            if not usual.all():
                break
    return Peers(ranks, by_place, columns, usual)


def _use(run: RunData, grid: StepGrid, peers: Peers, step_ns: Float64) -> WorkExcess | None:
    """None if there is nobody, or no step, to compare."""
    if len(run) < 2 or not len(peers.columns):
        return None
    step = float(np.nanmedian(step_ns[np.ix_(peers.ranks, peers.columns)]))
    return work_excess(run, grid, peers.ranks, peers.columns, step, peers.usual)


def usual_program(run: RunData, rank: int) -> int:
    """What most steps of a rank do; 0 without collectives."""
    values, counts = np.unique(run.programs[rank][run.programs[rank] != 0], return_counts=True)
    return int(values[np.argmax(counts)]) if len(values) else 0


def _own(own: Float64, step_ns: Float64, peers: Peers) -> tuple[Float64, Float64]:
    """Of the peers: excess of own time of a step, and that in deviations."""
    if not len(peers.columns):
        none = np.full(len(peers.ranks), np.nan)
        return none, none
    values = own[np.ix_(peers.ranks, peers.columns)]
    excess: Float64 = reached(values - peer_median(values[peers.usual])).astype(np.float64)
    step = float(np.nanmedian(step_ns[np.ix_(peers.ranks, peers.columns)]))
    return excess, deviations(excess, max(OWN_FLOOR_SHARE * step, OWN_FLOOR_NS), peers.usual)


def _of_peers(
    run: RunData,
    grid: StepGrid,
    peers: Peers,
    mine: Int64,
    use: WorkExcess,
    step_ns: Float64,
    own_excess: Float64,
    own_z: Float64,
    whole: bool,
) -> list[SlowRank]:
    step = float(np.nanmedian(step_ns[np.ix_(peers.ranks, peers.columns)]))
    steps = len(peers.columns)
    placed = _positions(run, grid, peers) if peers.by_place else None
    excess = np.empty((len(peers.ranks), 0), np.float32) if placed is None else reached(placed)
    position_z = deviations(excess, POSITION_FLOOR_NS, peers.usual)
    least_own = (OWN_SHARE if steps > LEAST_STEPS else OWN_SHARE_OF_FEW) * step
    late_position = (position_z > POSITION_DEVIATIONS) & (excess >= max(POSITION_SHARE * step, POSITION_NS))
    # a collective beside computing may wait for its stream: own time then moves to another position of the same step
    late_position &= own_excess[:, None] >= KEPT * excess
    # shares of work differ by chance, as tokens of experts do: what they explain must be much more to make a rank slow
    chance = np.where(use.is_more, 0, np.maximum(use.work_ns, 0)).sum(axis=1)
    is_own = (own_z > np.where(own_excess - chance >= least_own, OWN_DEVIATIONS, UNEQUAL)) & (own_excess >= least_own)
    is_busier = _is_busier(use, own_excess, own_z, excess, position_z)
    is_named = late_position.any(axis=1) | is_own | use.is_more.any(axis=1) | use.is_slow | is_busier
    few = len(peers.ranks) < LEAST_PEERS
    # of two ranks none is unusual, but one makes the other wait
    is_listed = (few | (own_z > LISTED_DEVIATIONS)) & (own_excess >= LISTED_SHARE * step)
    found = []
    for at in np.flatnonzero((is_named | is_listed) & np.isin(peers.ranks, mine)).tolist():
        late_there = np.where(late_position[at], excess[at], -np.inf)
        position = int(np.argmax(late_there)) if late_position[at].any() else None
        doubt = (
            "loading"
            if not whole
            else "few_peers"
            if few
            else "few_steps"
            if steps < LEAST_STEPS
            else ""
            if is_named[at]
            else "small"
        )
        late_ns = _late(use, at, float(own_excess[at]), excess[at], position, bool(is_own[at]), bool(is_busier[at]))
        if not late_ns > 0:
            continue
        own_rows = placed[at] if placed is not None else None
        diagnosis = diagnose(use, at, late_ns, None if position is None else float(excess[at, position]))
        found.append(
            SlowRank(
                rank=int(peers.ranks[at]),
                late_ns=late_ns,
                z=None if few else _strongest(own_z[at], position_z[at], position, use, at, bool(is_busier[at])),
                diagnosis=diagnosis,
                position=position,
                steps=_late_steps(own_rows, position, steps),
                of_steps=steps,
                peers=len(peers.ranks) - 1,
                named=doubt == "",
                doubt=doubt,
                excess=_removable(excess[at], position_z[at], late_ns, diagnosis) if placed is not None else None,
                program=usual_program(run, int(peers.ranks[at])),
            )
        )
    return found


def _positions(run: RunData, grid: StepGrid, peers: Peers) -> Float32:
    """Shape (peers, steps, positions), ns: own time before each collective less that of the median peer."""
    program = usual_program(run, int(peers.ranks[0]))
    column = {int(name): at for at, name in enumerate(peers.columns)}
    positions = 0
    found = np.empty((0, 0, 0), np.float32)
    for at, rank in enumerate(peers.ranks.tolist()):
        rows = run.rows(rank)
        order = np.argsort(rows.step, kind="stable") if (np.diff(rows.step) < 0).any() else None
        step, own = (rows.step, rows.own) if order is None else (rows.step[order], rows.own[order])
        bounds = np.searchsorted(step, np.arange(len(run.steps[rank]) + 1))
        for number, name in enumerate(grid.place[rank].tolist()):
            if run.programs[rank][number] != program or name not in column:
                continue
            first, last = int(bounds[number]), int(bounds[number + 1])
            if not positions:
                positions = last - first
                found = np.full((len(peers.ranks), len(peers.columns), positions), np.nan, np.float32)
            if last - first == positions:
                found[at, column[name]] = own[first:last]
    for number in range(found.shape[1]):
        found[:, number] -= peer_median(found[peers.usual, number])
    return found


def _is_busier(use: WorkExcess, own: Float64, own_z: Float64, excess: Float32, position_z: Float64) -> Bool:
    """Shape (peers,): something on the host clearly takes longer, and the own time of the rank says so, too."""
    longest = use.surely_ns
    in_step = (own >= HOST_KEPT * longest) & (own_z > HOST_DEVIATIONS)
    there = ((excess >= HOST_KEPT * longest[:, None]) & (position_z > HOST_POSITION_DEVIATIONS)).any(axis=1)
    # own time varies with the kernels; that the device has nothing to do for so long does not
    in_idle = (use.on_host_ns > 0) & use.is_idle & (use.idle_ns >= HOST_KEPT * use.on_host_ns)
    found: Bool = (longest > 0) & (in_step | there | in_idle)
    return found


def _late(
    use: WorkExcess, at: int, own: float, excess: Float32, position: int | None, is_own: bool, is_busier: bool
) -> float:
    """How late a rank is: by the statistic that says most surely so."""
    if position is not None:
        return max(float(excess[position]), own)
    if is_own:
        return own
    host = float(use.surely_ns[at]) if is_busier else 0.0
    return max(own, float(use.more_ns[at]), float(use.slow_ns[at]) if use.is_slow[at] else 0.0, host)


def _strongest(
    own: float, positions: Float64, position: int | None, use: WorkExcess, at: int, is_busier: bool
) -> float:
    values = [own, use.slow_z[at] if use.is_slow[at] else 0.0, use.more_z[at] if use.is_more[at].any() else 0.0]
    if position is not None:
        values.append(positions[position])
    elif max(values) <= OWN_DEVIATIONS and is_busier:
        # nothing else names it
        values.append(use.surely_z[at])
    return round(float(np.nanmax(values)), 1)


def _late_steps(own: Float32 | None, position: int | None, steps: int) -> int:
    """In how many steps it is late by half of what it is late by."""
    if own is None:
        return steps
    values = own[:, position] if position is not None else np.nansum(own, axis=1)
    return int(np.count_nonzero(values >= 0.5 * np.nanmedian(values))) if len(values) else 0


def _removable(excess: Float32, z: Float64, late_ns: float, diagnosis: StragglerCause) -> Float32:
    """Of each position what a replay without the excess takes away: Σ is `late_ns` at most, and what takes longer where
    that is nearly all of it: the rest is chance.
    """
    if diagnosis.ns is not None and diagnosis.ns >= NEARLY * late_ns:
        late_ns = min(late_ns, diagnosis.ns)
    sure = np.where(z > POSITION_DEVIATIONS, np.maximum(excess, 0), 0)
    if float(sure.sum()) >= late_ns / 2:
        return (sure * min(late_ns / float(sure.sum()), 1.0)).astype(np.float32)
    more = np.maximum(np.nan_to_num(excess), 0)
    total = float(more.sum())
    return (more * min(late_ns / total, 1.0) if total else more).astype(np.float32)


def named(found: Sequence[SlowRank]) -> list[SlowRank]:
    """Those that are surely slow."""
    return [each for each in found if each.named]


#: this part of the ranks of a kind waits for data: else single ones are late, and compared among each other
NEARLY_ALL = 0.75


def late_stages(run: RunData, grid: StepGrid, slow: SlowRanks, whole: bool) -> list[SlowRank]:
    """Ranks of a kind that all wait for data longer than the ranks of other kinds. whole: all ranks were read."""
    if not len(grid.names) or len(run) < 2 or not whole:
        return []
    waited = grid.real([of.input for of in run.steps])
    step = float(np.nanmedian(grid.real([of.end - of.start for of in run.steps])))
    known = {each.rank for each in slow.found}
    found = []
    for kind in np.unique(slow.kind).tolist():
        mine, others = np.flatnonzero(slow.kind == kind), slow.kind != kind
        if not others.any():
            continue
        excess: Float64 = reached(waited - peer_median(waited[others])).astype(np.float64)
        z = deviations(excess, max(OWN_FLOOR_SHARE * step, OWN_FLOOR_NS), others)
        late = mine[(excess[mine] >= OWN_SHARE * step) & (z[mine] > OWN_DEVIATIONS)]
        if len(late) < NEARLY_ALL * len(mine):
            continue
        found += [
            _late_stage(run, rank, float(excess[rank]), round(float(z[rank]), 1), waited[rank], int(others.sum()))
            for rank in late.tolist()
            if rank not in known
        ]
    return found


def _late_stage(run: RunData, rank: int, excess: float, z: float, waited: Float64, peers: int) -> SlowRank:
    steps, program = int(np.count_nonzero(~np.isnan(waited))), usual_program(run, rank)
    rows = run.rows(rank)
    first = next((at for at, each in enumerate(run.programs[rank].tolist()) if each == program), -1)
    removed = np.zeros(int(np.count_nonzero(rows.step == first)), np.float32)
    removed[:1] = excess
    doubt = "few_steps" if steps < LEAST_STEPS else ""
    return SlowRank(
        rank=rank,
        late_ns=excess,
        z=z,
        diagnosis=StragglerCause("input", None, excess),
        position=0 if len(removed) else None,
        steps=int(np.count_nonzero(waited >= excess / 2)),
        of_steps=steps,
        peers=peers,
        named=not doubt,
        doubt=doubt,
        excess=removed if len(removed) else None,
        program=program,
    )
