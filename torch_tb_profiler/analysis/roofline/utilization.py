"""Model FLOP utilization (MFU) and hardware FLOP utilization (HFU), and how much of them is known.

MFU = Σ FLOP that the model needs ÷ peak FLOP/s of their element types ÷ time of the steps ÷ devices. HFU counts what is
executed: also what is computed a second time in the backward pass.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Fraction, NsMean
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import CountedCalls, WorkCounts, work_counts
from torch_tb_profiler.analysis.flops.matmuls import ELEMENTS
from torch_tb_profiler.analysis.flops.rates import WorkCoverage, known_work, work_coverage
from torch_tb_profiler.analysis.overview import step_times
from torch_tb_profiler.analysis.program.kinds import CODE, PHASES, PhaseName, ProgramPhase, name_of
from torch_tb_profiler.analysis.program.phases import device_phase, event_phase, phases
from torch_tb_profiler.analysis.roofline.activities import CallRoofs, call_roofs
from torch_tb_profiler.analysis.roofline.roofs import roofs
from torch_tb_profiler.analysis.shared.backward_links import recomputed
from torch_tb_profiler.analysis.shared.device_roles import COMPUTING, device_roles
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int8
from torch_tb_profiler.model import Model

_UNKNOWN_PHASES = (CODE[ProgramPhase.OTHER], CODE[ProgramPhase.NO_LAUNCH])


@cached
def activity_phase(model: Model) -> Int8:
    """Return the phase that launched each activity, on the host that in which it begins, shape (activities,)."""
    found, program = work_counts(model), phases(model)
    if found.on_host:
        return event_phase(model, program, found.activities.row)
    return device_phase(model, program)[found.activities.place]


@cached
def call_phase(model: Model) -> Int8:
    """Return the code of the phase in which each call begins, shape (calls,)."""
    return event_phase(model, phases(model), work_counts(model).calls.row)


def tells_phases(phase: Int8) -> Bool:
    """Return where a phase is more than OTHER and NO_LAUNCH, shape as `phase`."""
    return ~np.isin(phase, _UNKNOWN_PHASES)


Flop = Annotated[int, Meta(description="FLOP")]

#: with so much of the time of matmuls known, a utilization is a number; with less it is a least
ENOUGH, SOME = 0.9, 0.6
#: `exact`; `range`: it is unknown which peak counts; `at_least`: a part of the products is unknown; `hidden`: most
FlopPrecision = Literal["exact", "range", "at_least", "hidden"]
#: why there is no utilization: no steps, no device work, no peak of the device, no products, or too little is known
NoUtilization = Literal["no_steps", "no_device", "no_peak", "no_products", "coverage"]


class Utilization(msgspec.Struct, frozen=True):
    """A part of the peak, 0…1.

    value  what is known about it; None if that is nothing
    low    not less than that; None: unknown
    high   not more than that, if all that is unknown ran at the peak; None: unknown
    shown  how to say it
    why    why there is no value; None if there is one
    """

    value: Fraction | None
    low: Fraction | None
    high: Fraction | None
    shown: FlopPrecision
    why: NoUtilization | None


class OfElement(msgspec.Struct, frozen=True):
    """Products of one element type in the steps.

    element  what they multiply
    flops    FLOP of an average step
    time_ns  time of their kernels in an average step
    rate     FLOP/s of the device for the type; None: unknown
    """

    element: str
    flops: int
    time_ns: float
    rate: float | None


class PackedFlops(msgspec.Struct, frozen=True):
    """FLOP of attention over concatenated sequences whose lengths were not recorded.

    least   FLOP there are at least
    most    FLOP there are at most
    """

    least: int
    most: int


class OfPhase(msgspec.Struct, frozen=True):
    """A part of the average step.

    phase    which, as the view Program knows it
    flops    FLOP that are executed
    time_ns  time of all kernels, copies and fills that are no communication
    """

    phase: PhaseName
    flops: int
    time_ns: float


class StepFlops(Answer, frozen=True, kw_only=True):
    """FLOP of the average step, and utilizations.

    steps       how many steps there are
    time_ns     step times of all of them, which utilizations refer to
    busy_ns     while a compute kernel ran on any device
    per_step    FLOP that the model needs in an average step: without what is computed again in the backward pass
    executed    FLOP that are executed in an average step
    packed      what attention over concatenated sequences needs in addition to per_step: their lengths were not
                recorded, so it lies between two numbers; null without such attention
    mfu         model FLOP utilization: per_step ÷ peak of the element types ÷ time ÷ devices
    hfu         hardware FLOP utilization: the same for the FLOP executed
    busy_mfu    per_step ÷ peak ÷ busy: what kernels reach while they run
    elements    by element type, the most FLOP first
    phases      its parts by phase; empty if phases are unknown
    coverage    how much of the time is known; null if nothing took time
    """

    steps: Count
    time_ns: NsMean
    busy_ns: NsMean
    per_step: Flop
    executed: Flop
    packed: PackedFlops | None
    mfu: Utilization
    hfu: Utilization
    busy_mfu: Utilization
    elements: Sequence[OfElement]
    phases: Sequence[OfPhase]
    coverage: WorkCoverage | None


@cached
def step_flops(model: Model) -> StepFlops:
    """Return FLOP and utilizations of the chosen steps."""
    counts, of_calls = work_counts(model), call_roofs(model)
    inside = _in_steps(model, counts)
    weight = _weights(counts, inside)
    steps = len(model.steps)
    time, busy = int(step_times(model).duration_ns.sum()), _busy_ns(model)
    again = computed_again(model)
    model_flops = np.where(again, 0.0, np.nan_to_num(counts.calls.numbers("model_flops")))
    flops = np.nan_to_num(counts.calls.numbers("flops"))
    covered = work_coverage(model, inside)
    needs, does = (_Limits.of(counts.calls, weight, again, part) for part in ("model", "all"))
    usage = {
        name: _utilization(model, weight * values, limits, span, covered)
        for name, values, limits, span in (
            ("mfu", model_flops, needs, time),
            ("hfu", flops, does, time),
            ("busy", model_flops, needs, busy),
        )
    }
    divisor = max(steps, 1)
    return StepFlops(
        steps=steps,
        time_ns=time,
        busy_ns=busy,
        per_step=round(_total(counts, "model_flops", weight, ~again) / divisor),
        executed=round(_total(counts, "flops", weight, np.ones(len(again), np.bool_)) / divisor),
        packed=needs.sum(divisor),
        mfu=usage["mfu"],
        hfu=usage["hfu"],
        busy_mfu=usage["busy"],
        elements=_by_element(counts, of_calls, weight, divisor),
        phases=_by_phase(model, counts, inside, weight * flops, divisor),
        coverage=covered,
    )


class _Limits(msgspec.Struct, frozen=True):
    """Bounds of the FLOP of calls in the steps, shape (calls,); 0 where they are exact or unbounded."""

    least: Float64
    most: Float64

    @classmethod
    def of(cls, calls: CountedCalls, weight: Float64, again: Bool, part: Literal["model", "all"]) -> _Limits:
        if part == "all":
            names, taken = ("least", "most"), weight
        else:
            names, taken = ("model_least", "model_most"), np.where(again, 0.0, weight)
        least, most = (taken * np.nan_to_num(calls.limits(name)) for name in names)
        return cls(least, most)

    def sum(self, steps: int) -> PackedFlops | None:
        """Return the bounds of an average step; None without any."""
        if not self.most.any():
            return None
        return PackedFlops(round(float(self.least.sum()) / steps), round(float(self.most.sum()) / steps))


def _in_steps(model: Model, found: WorkCounts) -> Bool:
    """Return which activities are in a step, shape (activities,)."""
    if found.on_host:
        in_a_step: Bool = model.steps.on_host(model.trace.events.start[found.activities.row]) >= 0
        return in_a_step
    return model.in_steps.are_selected(found.activities.row)


def _weights(found: WorkCounts, inside: Bool) -> Float64:
    """Return the part of each call's activity time that is in the steps, shape (calls,)."""
    activities, count = found.activities, len(found.calls)
    owned = (activities.call >= 0) & (activities.recorded < 0)
    whole = sums_at(activities.call[owned], activities.duration[owned], count)
    part = sums_at(activities.call[owned & inside], activities.duration[owned & inside], count)
    return np.where(whole > 0, part / np.maximum(whole, 1), 0.0)


def _total(found: WorkCounts, name: str, weight: Float64, chosen: Bool) -> float:
    """Sum work over the steps; exact if calls lie in the steps as a whole."""
    parts = chosen & (weight > 0) & (weight < 1)
    values = np.nan_to_num(found.calls.numbers(name))
    return found.calls.total(name, chosen & (weight == 1)) + float((values * weight)[parts].sum())


def _busy_ns(model: Model) -> int:
    """Return `StepFlops.busy_ns`."""
    inside = np.flatnonzero(model.in_steps.are_selected(model.device_work.row))
    row, events = model.device_work.row[inside], model.trace.events
    return intervals.total(COMPUTING.spans_of(events.start[row], events.end[row], device_roles(model)[inside]))


def at_peak_ns(model: Model, which: Literal["mfu", "hfu"]) -> Float64:
    """Return how long each needs at the peak of what it multiplies, ns, shape (calls,); 0 without FLOP, NaN: unknown.

    which   of the FLOP that the model needs, or of all that are executed
    """
    calls, rate = work_counts(model).calls, call_roofs(model).rate
    flops = calls.numbers("flops" if which == "hfu" else "model_flops")
    if which == "mfu":
        flops[computed_again(model)] = 0.0
    return np.where(flops == 0, 0.0, 1e9 * flops / rate)


@cached
def computed_again(model: Model) -> Bool:
    """Return which calls recompute in the backward pass, shape (calls,)."""
    found, nodes = work_counts(model), recomputed(model)
    again = np.zeros(len(model.tree), np.bool_)
    again[nodes] = True
    if not again.any():
        return np.zeros(len(found.calls), np.bool_)
    inside: Bool = nearest(model.tree.parent, again, found.calls.node.astype(np.int32)) >= 0
    return inside


def _utilization(model: Model, flops: Float64, limits: _Limits, time: int, covered: WorkCoverage | None) -> Utilization:
    """Return FLOP in the steps ÷ the peak in `time` ns. flops, limits: of each call in the steps."""
    devices, counts, of_calls = roofs(model), work_counts(model), call_roofs(model)
    inside = _in_steps(model, counts)
    if not len(model.steps):
        return _none("no_steps")
    if counts.on_host or not time:
        return _none("no_device")
    multiplies = flops > 0
    is_known = known_work(model)
    missing_ns = int(counts.activities.duration[inside & ~is_known.flops].sum())
    matrix_ns = int(counts.activities.duration[inside & is_known.multiplies].sum())
    if not multiplies.any():
        return _none("coverage" if missing_ns else "no_products")
    used = set(distinct(of_calls.device[multiplies]).tolist())
    computing = [each for each in devices if each.device in used]
    if np.isnan(of_calls.rate[multiplies]).any() or any(not each.flops for each in computing):
        return _none("no_peak")
    room = time * len(computing)
    at_peak = 1e9 * float((flops[multiplies] / of_calls.rate[multiplies]).sum())
    at_most = 1e9 * float((flops[multiplies] / of_calls.most[multiplies]).sum())
    spread = max(each.spread for each in computing)
    low, high = at_most / room / (1 + spread), at_peak / room / (1 - spread)
    is_range = low <= 0.99 * high
    share = matrix_ns / (matrix_ns + missing_ns)
    value = at_peak / room
    least_ns, open_ns = _of_limits(counts, inside, of_calls, limits)
    low += least_ns / room / (1 + spread)
    most = high + (missing_ns - open_ns) / room
    if covered is None or share < SOME:
        return Utilization(None, low, most, "hidden", "coverage")
    if share < ENOUGH or limits.most.any():
        return Utilization(value, low, most, "at_least", None)
    return Utilization(value, low, most, "range" if is_range else "exact", None)


def _of_limits(found: WorkCounts, inside: Bool, of_calls: CallRoofs, limits: _Limits) -> tuple[float, float]:
    """How long the least of FLOP that lie between take at the peak; and how much less than all of their time the most.

    Both in ns, of activities in the steps.
    """
    activities, calls = found.activities, found.calls
    bounded = (limits.most > 0) & ~np.isnan(of_calls.rate)
    if not bounded.any():
        return 0.0, 0.0
    mine = inside & (activities.call >= 0) & (activities.recorded < 0)
    time = sums_at(activities.call[mine], activities.duration[mine], len(calls))[bounded]
    at_most = 1e9 * limits.most[bounded] / of_calls.rate[bounded]
    least = 1e9 * limits.least[bounded] / of_calls.most[bounded]
    return float(least.sum()), float(np.maximum(time - at_most, 0.0).sum())


def _none(why: NoUtilization) -> Utilization:
    return Utilization(None, None, None, "hidden", why)


def _by_element(found: WorkCounts, of_calls: CallRoofs, weight: Float64, steps: int) -> Sequence[OfElement]:
    flops = weight * np.nan_to_num(found.calls.numbers("flops"))
    rows = []
    for code, name in enumerate(ELEMENTS):
        here = (of_calls.element == code) & (flops > 0)
        if here.any():
            rate = float(of_calls.rate[here][0])
            time = float((weight * found.calls.duration)[here].sum())
            known_rate = None if np.isnan(rate) else rate
            rows.append(OfElement(name, round(float(flops[here].sum()) / steps), time / steps, known_rate))
    return sorted(rows, key=lambda each: -each.flops)


def _by_phase(model: Model, found: WorkCounts, inside: Bool, flops: Float64, steps: int) -> Sequence[OfPhase]:
    """Return the phases that occur, in the order of `ProgramPhase`; together all FLOP and time. Empty if unknown."""
    calls, activities = call_phase(model), activity_phase(model)[inside]
    if not tells_phases(activities).any():
        return ()
    many = len(PHASES)
    executed = np.bincount(calls, flops, many)
    time = np.bincount(activities, found.activities.duration[inside], many)
    return tuple(
        OfPhase(name_of(phase), round(float(executed[code]) / steps), float(time[code]) / steps)
        for code, phase in enumerate(PHASES)
        if executed[code] or time[code]
    )
