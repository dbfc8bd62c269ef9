"""Which ranks work longer than their peers, and on what: docs/ranks.md has the thresholds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Float32, Float64, Int64
from torch_tb_profiler.ranks.peers import StepGrid, deviations, is_like_most, peer_median, reached
from torch_tb_profiler.ranks.run.answers import Doubt
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.stragglers.causes import (
    NEARLY,
    SLOW_RATIO,
    StragglerCause,
    WorkExcess,
    diagnose,
    work_excess,
)
from torch_tb_profiler.ranks.stragglers.peer_sets import (
    LEAST_PEERS,
    OWN_SHARE,
    PeerSet,
    StepTimeGrid,
    kinds_of,
    peers_of,
    usual_program,
)

#: with fewer steps ranks are listed, not named
LEAST_STEPS = 3
#: own time before a collective is clearly longer from so many deviations, such a share of the step and so many ns on;
#: smaller deviations of the peers count as the floor
POSITION_FLOOR_NS, POSITION_DEVIATIONS, POSITION_SHARE, POSITION_NS = 20_000, 12.0, 0.01, 200_000
#: of what a rank is late before a position, this part is in the own time of the step, too
POSITION_KEPT = 1 / 2
#: own time of a step is clearly longer from so many deviations on, and from OWN_SHARE of the step; the floor of the
#: deviations is the larger of a share of the step and ns
OWN_FLOOR_SHARE, OWN_FLOOR_NS, OWN_DEVIATIONS = 0.003, 50_000, 6.0
#: share of the step with no more steps than are needed
OWN_SHARE_OF_FEW = 0.05
#: deviations of own time of a step that is explained by more calls or blocks than those of the peers
UNEQUAL_DEVIATIONS = 12.0
#: a rank on whose host something clearly takes longer: own time of the step that agrees (share of it, deviations),
#: or own time before one position
HOST_KEPT, HOST_DEVIATIONS, HOST_POSITION_DEVIATIONS = 0.5, 2.0, 6.0
#: a rank that is not named is listed from so many deviations and such a share of the step on
LISTED_DEVIATIONS, LISTED_SHARE = 3.5, 0.03
#: a stage of a pipeline is late when this part of its ranks waits for data: else single ones are late
NEARLY_ALL = 0.75


@dataclass(frozen=True)
class SlowRank:
    """A rank that is late. ns are of a step.

    excess    shape (positions,): before each of its collectives of a step, ns; None if positions were not compared
    program   of the steps that these are positions of
    """

    rank: int
    late_ns: float
    z: float | None
    cause: StragglerCause
    position: int | None
    steps: int
    of_steps: int
    peers: int
    named: bool
    doubt: Doubt
    excess: Float32 | None = field(repr=False)
    program: int


class SlowRanks(msgspec.Struct, frozen=True):
    """Late ranks, and the lateness of all.

    found    named ones first, latest first
    own, late, z   of each rank, NaN where unknown
    kind     the number of its set of peers
    """

    found: tuple[SlowRank, ...]
    own: Float64
    late: Float64
    z: Float64
    kind: Int64

    def with_more(self, more: Sequence[SlowRank]) -> SlowRanks:
        """Add late ranks: named ones first, latest first."""
        if not more:
            return self
        ordered = sorted((*self.found, *more), key=lambda each: (not each.named, -each.late_ns))
        return msgspec.structs.replace(self, found=tuple(ordered))


def can_be_named(ranks: int, steps: int, whole: bool) -> bool:
    """Whether any rank can be named; if not, naming none means nothing."""
    return whole and ranks >= LEAST_PEERS and steps >= LEAST_STEPS


class _Lateness(msgspec.Struct, frozen=True):
    """How late each peer is, compared with the usual ones.

    own_ns, own_z            shape (peers,): in own time of a step, and in deviations
    before                   shape (peers, steps, positions), ns: in own time before each collective; None if positions
                             cannot be compared
    position_ns, position_z  shape (peers, positions): what is reached of that in most steps, and in deviations
    """

    peers: PeerSet
    work: WorkExcess
    own_ns: Float64
    own_z: Float64
    before: Float32 | None
    position_ns: Float32
    position_z: Float64


class _Signs(msgspec.Struct, frozen=True):
    """The evidence that a peer is slow.

    at_position  shape (peers, positions): own time before a collective
    in_own       shape (peers,): own time of the step
    on_host      shape (peers,): something on the host, and own time agrees
    """

    at_position: Bool
    in_own: Bool
    on_host: Bool


def slow_ranks(run: RunData, grid: StepGrid, whole: bool) -> SlowRanks:
    """Compare the ranks of each kind among each other. whole: whether all ranks were read; else nobody is named."""
    times = StepTimeGrid.of(run, grid)
    kind = kinds_of(run)
    late, z = np.full((2, len(run)), np.nan)
    slow: list[SlowRank] = []
    for number in range(int(kind.max(initial=-1)) + 1):
        mine = np.flatnonzero(kind == number)
        peers, work = _compared(run, times, peers_of(run, grid, times, mine))
        own_ns, own_z = _own(times, peers)
        place = np.searchsorted(peers.ranks, mine)
        late[mine], z[mine] = own_ns[place], own_z[place]
        if work is not None:
            before = _before_positions(run, grid, peers) if peers.by_position else None
            position_ns = np.empty((len(peers.ranks), 0), np.float32) if before is None else reached(before)
            position_z = deviations(position_ns, POSITION_FLOOR_NS, peers.usual)
            lateness = _Lateness(peers, work, own_ns, own_z, before, position_ns, position_z)
            slow += _slow_peers(run, lateness, mine, whole)
    own = np.array([np.median(row[~np.isnan(row)]) if not np.isnan(row).all() else np.nan for row in times.own])
    if len(run) < LEAST_PEERS:
        z[:] = np.nan
    if len(run) < 2:  # it has no peers
        late[:] = np.nan
    return SlowRanks((), own, late, z, kind).with_more(slow)


def _compared(run: RunData, times: StepTimeGrid, peers: PeerSet) -> tuple[PeerSet, WorkExcess | None]:
    """Compare the work of the peers with those that are not slow together; None with nobody, or no step."""
    if len(run) < 2 or not len(peers.columns):
        return peers, None
    work = work_excess(run, times, peers)
    if peers.usual.all():
        usual = is_like_most(work.ratio, SLOW_RATIO - 1)
        if not usual.all():
            peers = msgspec.structs.replace(peers, usual=usual)
            work = work_excess(run, times, peers)
    return peers, work


def _own(times: StepTimeGrid, peers: PeerSet) -> tuple[Float64, Float64]:
    """Excess of own time of a step, shape (peers,), and that in deviations; NaN without steps."""
    if not len(peers.columns):
        none = np.full(len(peers.ranks), np.nan)
        return none, none
    excess = peers.excess(times.own)
    return excess, deviations(excess, max(OWN_FLOOR_SHARE * peers.step_ns, OWN_FLOOR_NS), peers.usual)


def _slow_peers(run: RunData, lateness: _Lateness, mine: Int64, whole: bool) -> list[SlowRank]:
    """Judge the peers among some ranks (`mine`: their places). whole: whether all ranks were read."""
    peers, work, signs = lateness.peers, lateness.work, _signs(lateness)
    is_named = signs.at_position.any(axis=1) | signs.in_own | work.is_more.any(axis=1) | work.is_slow | signs.on_host
    few = len(peers.ranks) < LEAST_PEERS
    # of two ranks none is unusual, but one makes the other wait
    is_listed = (few | (lateness.own_z > LISTED_DEVIATIONS)) & (lateness.own_ns >= LISTED_SHARE * peers.step_ns)
    slow = []
    for peer in np.flatnonzero((is_named | is_listed) & np.isin(peers.ranks, mine)).tolist():
        ns = np.where(signs.at_position[peer], lateness.position_ns[peer], -np.inf)
        position = int(np.argmax(ns)) if signs.at_position[peer].any() else None
        late_ns = _late_ns(lateness, signs, peer, position)
        if not late_ns > 0:
            continue
        doubt = _doubt(whole, few, len(peers.columns), bool(is_named[peer]))
        at_position = None if position is None else float(lateness.position_ns[peer, position])
        cause = diagnose(work, peer, late_ns, at_position)
        slow.append(
            SlowRank(
                rank=int(peers.ranks[peer]),
                late_ns=late_ns,
                z=None if few else _strongest(lateness, signs, peer, position),
                cause=cause,
                position=position,
                steps=_late_steps(lateness, peer, position),
                of_steps=len(peers.columns),
                peers=len(peers.ranks) - 1,
                named=doubt == "",
                doubt=doubt,
                excess=None if lateness.before is None else _removable(lateness, peer, late_ns, cause),
                program=usual_program(run, int(peers.ranks[peer])),
            )
        )
    return slow


def _doubt(whole: bool, few: bool, steps: int, is_named: bool) -> Doubt:
    """Why a rank is only listed; empty if it is named. few: too few peers."""
    if not whole:
        return "loading"
    if few:
        return "few_peers"
    if steps < LEAST_STEPS:
        return "few_steps"
    return "" if is_named else "small"


def _before_positions(run: RunData, grid: StepGrid, peers: PeerSet) -> Float32:
    """Shape (peers, steps, positions), ns: own time before each collective less that of the median peer."""
    program = usual_program(run, int(peers.ranks[0]))
    column = {int(name): peer for peer, name in enumerate(peers.columns)}
    positions = 0
    before = np.empty((0, 0, 0), np.float32)
    for peer, rank in enumerate(peers.ranks.tolist()):
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
                before = np.full((len(peers.ranks), len(peers.columns), positions), np.nan, np.float32)
            if last - first == positions:
                before[peer, column[name]] = own[first:last]
    for number in range(before.shape[1]):
        before[:, number] -= peer_median(before[peers.usual, number])
    return before


def _signs(lateness: _Lateness) -> _Signs:
    peers, work, own_ns, own_z = lateness.peers, lateness.work, lateness.own_ns, lateness.own_z
    position_ns, position_z, step_ns = lateness.position_ns, lateness.position_z, peers.step_ns
    at_position = (position_z > POSITION_DEVIATIONS) & (position_ns >= max(POSITION_SHARE * step_ns, POSITION_NS))
    # a collective beside computing may wait for its stream: own time then moves to another position of the same step
    at_position &= own_ns[:, None] >= POSITION_KEPT * position_ns
    least_own = (OWN_SHARE if len(peers.columns) > LEAST_STEPS else OWN_SHARE_OF_FEW) * step_ns
    # shares of work differ by chance, as tokens of experts do: what they explain must be much more to make a rank slow
    chance = np.where(work.is_more, 0, np.maximum(work.work_ns, 0)).sum(axis=1)
    in_own = (own_z > np.where(own_ns - chance >= least_own, OWN_DEVIATIONS, UNEQUAL_DEVIATIONS)) & (
        own_ns >= least_own
    )
    longest = work.surely_ns
    in_step = (own_ns >= HOST_KEPT * longest) & (own_z > HOST_DEVIATIONS)
    before_one = (position_ns >= HOST_KEPT * longest[:, None]) & (position_z > HOST_POSITION_DEVIATIONS)
    # own time varies with the kernels; that the device has nothing to do for so long does not
    in_idle = (work.on_host_ns > 0) & work.is_idle & (work.idle_ns >= HOST_KEPT * work.on_host_ns)
    return _Signs(at_position, in_own, (longest > 0) & (in_step | before_one.any(axis=1) | in_idle))


def _late_ns(lateness: _Lateness, signs: _Signs, peer: int, position: int | None) -> float:
    """Return how late a peer is, ns of a step, by the surest statistic."""
    work, own = lateness.work, float(lateness.own_ns[peer])
    if position is not None:
        return max(float(lateness.position_ns[peer, position]), own)
    if signs.in_own[peer]:
        return own
    on_host = float(work.surely_ns[peer]) if signs.on_host[peer] else 0.0
    return max(own, float(work.more_ns[peer]), float(work.slow_ns[peer]) if work.is_slow[peer] else 0.0, on_host)


def _strongest(lateness: _Lateness, signs: _Signs, peer: int, position: int | None) -> float:
    """Return the largest deviation that names a peer."""
    work = lateness.work
    values = [
        lateness.own_z[peer],
        work.slow_z[peer] if work.is_slow[peer] else 0.0,
        work.more_z[peer] if work.is_more[peer].any() else 0.0,
    ]
    if position is not None:
        values.append(lateness.position_z[peer, position])
    elif max(values) <= OWN_DEVIATIONS and signs.on_host[peer]:
        # nothing else names it
        values.append(work.surely_z[peer])
    return round(float(np.nanmax(values)), 1)


def _late_steps(lateness: _Lateness, peer: int, position: int | None) -> int:
    """Count the steps in which a peer is late by half of its usual lateness."""
    if lateness.before is None:
        return len(lateness.peers.columns)
    own = lateness.before[peer]
    values = own[:, position] if position is not None else np.nansum(own, axis=1)
    return int(np.count_nonzero(values >= 0.5 * np.nanmedian(values))) if len(values) else 0


def _removable(lateness: _Lateness, peer: int, late_ns: float, cause: StragglerCause) -> Float32:
    """Shape (positions,), ns: what a replay without the excess takes away before each collective.

    Σ is `late_ns` at most, or what takes longer where that is nearly all of it: the rest is chance.
    """
    excess: Float32 = lateness.position_ns[peer]
    z = lateness.position_z[peer]
    if cause.ns is not None and cause.ns >= NEARLY * late_ns:
        late_ns = min(late_ns, cause.ns)
    sure = np.where(z > POSITION_DEVIATIONS, np.maximum(excess, 0), 0)
    if float(sure.sum()) >= late_ns / 2:
        return (sure * min(late_ns / float(sure.sum()), 1.0)).astype(np.float32)
    more = np.maximum(np.nan_to_num(excess), 0)
    total = float(more.sum())
    return (more * min(late_ns / total, 1.0) if total else more).astype(np.float32)


def late_stages(run: RunData, grid: StepGrid, slow: SlowRanks, whole: bool) -> list[SlowRank]:
    """Find ranks of a kind that all wait for data longer than other kinds: the first stage of a pipeline.

    Ranks are compared with others that do the same collectives. When all of these load slowly nobody is later than its
    peers; but ranks of other kinds do not wait for data, so that waiting for it is compared with them.

    whole   whether all ranks were read; else there are none
    """
    if not len(grid.names) or len(run) < 2 or not whole:
        return []
    times = StepTimeGrid.of(run, grid)
    floor = max(OWN_FLOOR_SHARE * float(np.nanmedian(times.step)), OWN_FLOOR_NS)
    least = OWN_SHARE * float(np.nanmedian(times.step))
    known = {rank.rank for rank in slow.found}
    late: list[SlowRank] = []
    for kind in np.unique(slow.kind).tolist():
        mine, others = np.flatnonzero(slow.kind == kind), slow.kind != kind
        if not others.any():
            continue
        excess: Float64 = reached(times.input - peer_median(times.input[others])).astype(np.float64)
        z = deviations(excess, floor, others)
        stage = mine[(excess[mine] >= least) & (z[mine] > OWN_DEVIATIONS)]
        if len(stage) < NEARLY_ALL * len(mine):
            continue
        for rank in stage.tolist():
            if rank in known:
                continue
            ns, waited = float(excess[rank]), times.input[rank]
            steps, program = int(np.count_nonzero(~np.isnan(waited))), usual_program(run, rank)
            removed = _before_first(run, rank, program, ns)
            late.append(
                SlowRank(
                    rank=rank,
                    late_ns=ns,
                    z=round(float(z[rank]), 1),
                    cause=StragglerCause("input", None, ns),
                    position=0 if len(removed) else None,
                    steps=int(np.count_nonzero(waited >= ns / 2)),
                    of_steps=steps,
                    peers=int(others.sum()),
                    named=steps >= LEAST_STEPS,
                    doubt="" if steps >= LEAST_STEPS else "few_steps",
                    excess=removed if len(removed) else None,
                    program=program,
                )
            )
    return late


def _before_first(run: RunData, rank: int, program: int, ns: float) -> Float32:
    """Shape (positions,): all of an excess before the first collective of the steps with a program."""
    step = next((at for at, each in enumerate(run.programs[rank].tolist()) if each == program), -1)
    excess = np.zeros(int(np.count_nonzero(run.rows(rank).step == step)), np.float32)
    excess[:1] = ns
    return excess
