"""Why a rank is late: what it does apart from collectives, against its peers."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Float32, Float64, Int32, Int64
from torch_tb_profiler.ranks.peers import Real, deviations, peer_median
from torch_tb_profiler.ranks.run.answers import Cause
from torch_tb_profiler.ranks.run.data import RunData
from torch_tb_profiler.ranks.stragglers.peer_sets import PeerSet, StepTimeGrid


class ExcessThreshold(msgspec.Struct, frozen=True):
    """When an excess over the peers is clear.

    floor_share   of the step: smaller deviations of the peers count as this
    deviations    of the peers
    share         of the step
    """

    floor_share: float
    deviations: float
    share: float


#: Σ device time of one kernel, and self time of one operator on the host
OF_ONE = ExcessThreshold(floor_share=0.0005, deviations=12.0, share=0.01)
#: deviation of ranks that differ by chance alone, of what is reached in half of the steps beyond what is in nearly all
VARIES = 0.3
#: time in which a device does nothing, and in which a rank waits for data
WAITING = ExcessThreshold(floor_share=0.003, deviations=12.0, share=0.03)
#: ratio of kernel times to those of peers that is slow for sure, and the deviations that explain a rank that is late
#: for sure; smaller deviations of the peers count as the floor
RATIO_FLOOR, SLOW_DEVIATIONS, SLOW_RATIO, LIKELY_DEVIATIONS = 0.005, 6.0, 1.03, 3.0
#: of the kernels' time so much is slower by at least half of the ratio: else some of the kernels are slow, not the GPU
THROUGHOUT = 0.75
#: what explains so much of the lateness can be its cause, if nothing else explains so much more
EXPLAINS, NEARLY = 0.5, 0.8
#: bytes of all-to-alls beyond those of the median peer by this factor are more work
MORE_BYTES = 1.2


class StragglerCause(msgspec.Struct, frozen=True):
    """Why a rank is late.

    operator, ns   what takes longer, and by how much of a step; None if no single one does
    """

    cause: Cause
    operator: str | None = None
    ns: float | None = None


class WorkExcess(msgspec.Struct, frozen=True):
    """The work of each peer beyond the usual median, ns of a step.

    kernels, host      what the columns of what follows are of: the operator that launches a kernel, else its name
    kernel_ns          shape (peers, kernels), likewise `host_ns` (peers, operators on the host, their self time)
    is_more            shape (peers, kernels): clearly more time
    more_ns, more_z    Σ of what is clearly more, and its largest deviation
    apart_ns           shape (peers, kernels): `kernel_ns` without what a slow GPU adds
    work_ns            shape (peers, kernels): what more calls or blocks add
    ratio              how many times as long its kernels take by the block
    is_slow, slow_z    all kernels are slower by about the same factor
    slow_ns            what that costs, 0 where it is not likely
    input_ns, allocator_ns     excess of these
    idle_ns            excess of own time in which the device does nothing; 0 where nothing was computed on a device
    is_idle            clearly more of that
    on_host_ns         the largest of what an operator on the host, waiting for data and calls that allocate clearly add
    surely_z           the largest deviation of what is clearly more, apart from kernels
    exchanged          how many times as many bytes as the middle peer it sends or receives in all-to-alls
    """

    kernels: tuple[str, ...]
    host: tuple[str, ...]
    kernel_ns: Float32
    host_ns: Float32
    apart_ns: Float32
    work_ns: Float32
    is_more: Bool
    more_ns: Float64
    more_z: Float64
    ratio: Float64
    is_slow: Bool
    slow_ns: Float64
    slow_z: Float64
    input_ns: Float64
    allocator_ns: Float64
    idle_ns: Float64
    is_idle: Bool
    on_host_ns: Float64
    surely_z: Float64

    exchanged: Float64

    @property
    def surely_ns(self) -> Float64:
        """Shape (peers,): the largest of what is clearly more, apart from kernels."""
        found: Float64 = np.maximum(self.on_host_ns, np.where(self.is_idle, self.idle_ns, 0))
        return found


def work_excess(run: RunData, times: StepTimeGrid, peers: PeerSet) -> WorkExcess:
    """Compare the work of each peer with that of the usual ones, in one step at least."""
    ranks, among = peers.ranks, peers.usual
    kernels, ns, spread, calls, blocks, rate = _table(run, ranks, on_device=1)
    host, host_ns, host_spread, *_ = _table(run, ranks, on_device=0)
    enough = len(ranks) > 2

    def clearly(excess: Real, least: ExcessThreshold, varies: Real | float = 0.0) -> tuple[Float64, Bool]:
        z = deviations(excess, np.maximum(least.floor_share * peers.step_ns, varies), among)
        return z, enough & (z > least.deviations) & (excess >= least.share * peers.step_ns)

    usual = peer_median(ns[among])
    excess = ns - usual
    # a few peers may be alike by chance: what varies from step to step says how alike ranks can be
    z, is_more = clearly(excess, OF_ONE, VARIES * peer_median(spread[among]))
    busier = (host_ns - peer_median(host_ns[among])).astype(np.float32)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio, is_throughout = _slower(rate / peer_median(rate[among]), usual, among)
        more = np.maximum(_times(calls, among), _times(blocks, among))
        exchanged = _times(np.array([run.work[rank].exchanged for rank in ranks.tolist()]), among)
    slow_z = deviations(ratio - peer_median(ratio[among]), RATIO_FLOOR, among)
    is_likely = enough & (slow_z > LIKELY_DEVIATIONS) & (ratio > SLOW_RATIO) & is_throughout
    slower = np.where(is_likely, ratio, 1.0)
    busier_z, is_busier = clearly(busier, OF_ONE, VARIES * peer_median(host_spread[among]))
    input_ns, allocator_ns, idle_ns = (
        np.nan_to_num(peers.excess(values)) for values in (times.input, times.allocator, times.idle)
    )
    idle_z, is_idle = clearly(idle_ns, WAITING)
    calls_ns = np.stack((input_ns, allocator_ns), axis=1)
    calls_z, is_called = clearly(calls_ns, WAITING)
    is_clear = np.concatenate((is_busier, is_called), axis=1)
    on_host = np.where(is_clear, np.concatenate((busier, calls_ns), axis=1), 0).max(axis=1)
    host_z = np.where(is_clear, np.concatenate((busier_z, calls_z), axis=1), 0).max(axis=1)
    return WorkExcess(
        kernels=kernels,
        host=host,
        kernel_ns=excess.astype(np.float32),
        host_ns=busier,
        apart_ns=(ns / slower[:, None] - usual).astype(np.float32),
        work_ns=(np.minimum(more - 1, 1) * usual).astype(np.float32),
        is_more=is_more,
        more_ns=np.where(is_more, excess, 0).sum(axis=1, dtype=np.float64),
        more_z=np.where(is_more, z, 0).max(axis=1, initial=0).astype(np.float64),
        ratio=ratio,
        is_slow=is_likely & (slow_z > SLOW_DEVIATIONS),
        slow_ns=(1 - 1 / slower) * ns.sum(axis=1, dtype=np.float64),
        slow_z=slow_z,
        input_ns=input_ns,
        allocator_ns=allocator_ns,
        idle_ns=idle_ns,
        is_idle=is_idle,
        on_host_ns=on_host.astype(np.float64),
        surely_z=np.maximum(host_z, np.where(is_idle, idle_z, 0)).astype(np.float64),
        exchanged=exchanged,
    )


def _slower(rates: Real, usual: Real, among: Bool) -> tuple[Float64, Bool]:
    """Return how many times as long the kernels of each peer take, and whether nearly all of them do.

    A kernel counts by its time and by how alike the peers are in it: what experts compute for unequal tokens says
    little of a GPU.

    rates   shape (peers, kernels): of a block or call, ÷ that of the middle peer
    usual   shape (kernels,): ns of the middle peer
    """
    weight = np.where(np.isfinite(rates), usual, 0.0).astype(np.float64)
    total = weight.sum(axis=1)
    known = np.where(weight > 0, rates, 1.0)
    sure = weight / np.maximum(peer_median(np.abs(known[among] - 1)), RATIO_FLOOR) ** 2
    ratio: Float64 = np.where(total > 0, (known * sure).sum(axis=1) / np.maximum(sure.sum(axis=1), 1e-9), 1.0)
    slower = (weight * (known >= (1 + ratio[:, None]) / 2)).sum(axis=1)
    return ratio, slower >= THROUGHOUT * np.maximum(total, 1e-9)


def _table(
    run: RunData, ranks: Int64, on_device: int
) -> tuple[tuple[str, ...], Float32, Float32, Float32, Float32, Float32]:
    """Names, then shape (ranks, names): ns of a step, their spread, calls, blocks; ns of a block or call, else NaN."""
    chosen = [(run.work[rank], run.work[rank].on_device == on_device) for rank in ranks.tolist()]
    codes: Int32 = np.unique(np.concatenate([of.code[mine] for of, mine in chosen] or [np.empty(0, np.int32)]))
    columns = np.zeros((5, len(chosen), len(codes)), np.float32)
    columns[4] = np.nan
    for at, (of, mine) in enumerate(chosen):
        place = np.searchsorted(codes, of.code[mine])
        for number, values in enumerate((of.ns, of.spread, of.calls, of.blocks, of.rate)):
            columns[number, at, place] = values[mine]
    keys: list[Any] = list(run.work_names.of)
    names = tuple(run.operators.get(code) or str(keys[code][0]) for code in codes.tolist())
    ns, spread, calls, blocks, rate = columns
    return names, ns, spread, calls, blocks, rate


def _times(values: Any, among: Bool) -> Any:
    """Divide by the usual median; 1 where that is unknown."""
    return np.nan_to_num(values / peer_median(values[among]), nan=1.0, posinf=1.0)


def diagnose(work: WorkExcess, peer: int, late_ns: float, position_ns: float | None) -> StragglerCause:
    """Find what explains most of the lateness of a peer.

    peer            its place among the peers
    position_ns   excess before the one collective where most is lost; None if there is no such one
    """
    kernel, kernel_ns = _largest(work.apart_ns[peer])
    # more calls or blocks are more work, however much the times of single kernels vary
    work_ns = float(work.work_ns[peer].sum())
    clearly_ns = float(np.where(work.is_more[peer], work.apart_ns[peer], 0).sum())
    more_ns = max(clearly_ns, kernel_ns, work_ns)
    operator, host_ns = _largest(work.host_ns[peer])
    idle_ns = float(work.idle_ns[peer])
    if max(work.surely_ns[peer], idle_ns if idle_ns > more_ns else 0.0) >= max(EXPLAINS * late_ns, clearly_ns):
        # what surely takes longer, before what may: kernels differ by chance, as those of experts do
        more_ns = 0.0
    candidates = {
        "input": float(work.input_ns[peer]),
        "slow_compute": float(work.slow_ns[peer]),
        "kernels": more_ns,
        "host": host_ns,
    }
    candidates = {what: min(ns, late_ns) for what, ns in candidates.items()}
    enough = max(EXPLAINS * late_ns, NEARLY * max(candidates.values()))
    what = next((what for what, ns in candidates.items() if ns >= enough), None)
    if what == "input":
        return StragglerCause("input", None, float(work.input_ns[peer]))
    if what == "slow_compute":
        return StragglerCause("slow_compute")
    if what == "kernels":
        if work_ns >= max(EXPLAINS * late_ns, kernel_ns - float(work.work_ns[peer, kernel])):
            kernel, kernel_ns = _largest(work.work_ns[peer])
        is_more = work.work_ns[peer, kernel] >= EXPLAINS * kernel_ns or work.exchanged[peer] > MORE_BYTES
        return StragglerCause("more_work" if is_more else "slow_operator", work.kernels[kernel], kernel_ns)
    named = work.host[operator] if what == "host" else None
    if work.allocator_ns[peer] >= EXPLAINS * late_ns:
        return StragglerCause("allocator", named, float(work.allocator_ns[peer]))
    if what == "host":
        return StragglerCause("late_launches", named, host_ns)
    if max(idle_ns, position_ns or 0.0) >= EXPLAINS * late_ns:
        return StragglerCause("late_launches")
    return StragglerCause("unknown")


def _largest(ns: Float32) -> tuple[int, float]:
    at = int(np.argmax(ns)) if len(ns) else -1
    return at, float(ns[at]) if len(ns) else 0.0
