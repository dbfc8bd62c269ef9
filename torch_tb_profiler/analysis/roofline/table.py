"""The roofline of operators, their shapes, kernels, modules, phases, or lines of the program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import WorkCounts, work_counts
from torch_tb_profiler.analysis.flops.matmuls import ELEMENTS
from torch_tb_profiler.analysis.flops.rates import known_work, share_of_call, whole_share_of_call
from torch_tb_profiler.analysis.flops.work import Certainty
from torch_tb_profiler.analysis.kernels import by_owner
from torch_tb_profiler.analysis.program.kinds import PHASES
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.roofline.activities import ABOVES, BOUNDS, TENSOR_CORES, activity_roofs, reached_ns
from torch_tb_profiler.analysis.roofline.advice import ADVICES, call_advice
from torch_tb_profiler.analysis.roofline.utilization import SOME, activity_phase, at_peak_ns
from torch_tb_profiler.analysis.shared.operator_times import nn_program
from torch_tb_profiler.arrays.grouping import Groups, first_at, greatest_at, group, ties_sorted
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import is_own_code
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.model.modules import module_name
from torch_tb_profiler.model.program_tree import NodeKind

RooflineGrouping = Literal["operator", "operator_shape", "kernel", "module", "line", "element", "phase"]
#: from the surest on
_SURE = (Certainty.EXACT, Certainty.RECORDED, Certainty.DERIVED, Certainty.BOUND, Certainty.ESTIMATE)
_UNKNOWN = "(unknown)"
_NO_PRODUCTS = "(no products)"


class RooflineTable(Result, group="roofline"):
    """One row per group, by lost time, then time, descending. NaN and None: unknown."""

    name: tuple[str, ...] = column(
        "Name", "Operator, kernel, module, line, element type or phase, depending on the grouping."
    )
    input_shape: tuple[str, ...] | None = column("Input shapes", "Shapes of the inputs, one list per argument.")
    lost_ns: Float64 = column(
        "Lost",
        "Σ of the time that each call takes beyond its time at the roof. The losses of kernels that run at the same "
        "time are added up.",
        average=True,
    )
    roof_share: Float64 = column("Of the roof", "Time at the roof ÷ time, where both are known. Above 1: see `above`.")
    mfu: Float64 = column(
        "MFU",
        "FLOP that the model needs ÷ peak of their element types ÷ time. Empty without FLOP, or if less than 60 % of "
        "the time of products is known.",
        unit="fraction",
    )
    time_ns: Int64 = column(
        "Time", "Σ durations of the kernels, copies and fills that belong to it, communication left out.", average=True
    )
    flop_rate: Float64 = column("FLOP/s", "FLOP ÷ time, where FLOP are known; empty without FLOP.")
    least_flops: Float64 = column(
        "FLOP at least",
        "For attention over packed sequences, whose lengths were not recorded: FLOP if all have the same length, plus "
        "the known FLOP of the row. Empty for other rows.",
        unit="flop",
    )
    most_flops: Float64 = column(
        "FLOP at most", "The same, if each query sees as many keys as the longest sequence has.", unit="flop"
    )
    byte_rate: Float64 = column("Bytes/s", "Bytes ÷ time, where bytes are known.")
    intensity: Float64 = column("FLOP/byte", "FLOP ÷ bytes, where both are known; empty without FLOP.", unit=None)
    bound: tuple[str | None, ...] = column(
        "Bound by",
        "What determines the time at the roof, for most of the time: compute, memory, link, or launch (less than 2 "
        "µs).",
    )
    advice: tuple[str | None, ...] = column(
        "Sizes",
        "What may be wrong with the sizes of products that reach less than 75 % of the roof, for most of their time: "
        "alignment (rows do not begin at 16 bytes), few_rows (at most 16, bound by the memory), split_k (fewer tiles "
        "than multiprocessors, and a sum more than 8 times as long as the result), last_wave (1 to 4 rounds of tiles "
        "of which more than 15 % is lost), edges (more than 15 % of the tiles lies beyond the result), merge (2 to 7 "
        "in a row with an input of the same size), batch (8 or more equal ones in a row, below 10 µs).",
    )
    tensor_cores: tuple[str | None, ...] = column(
        "Tensor cores",
        "For products, for most of the time: used, or why not, although the device has tensor cores: fp32 (TF32 is "
        "off, or the device has none), fp64, alignment (rows do not begin at 16 bytes), groups, small, other.",
    )
    element: tuple[str | None, ...] = column(
        "Multiplies",
        "The element type that kernels multiply, by their names, otherwise by the inputs: its peak is the roof. Empty "
        "if no matrices are multiplied. If there are several, the one with the most FLOP.",
    )
    calls: Int64 = column(
        "Calls", "Calls of operators that own device work, and copies. For kernels: how often they ran."
    )
    flops: Float64 = column(
        "FLOP",
        "Matrix FLOP by the shapes of the inputs: a multiplication with its addition counts two, softmax, bias and "
        "activation none; with a causal mask, only the part that it leaves. The kernels of a call share its FLOP by "
        "their durations.",
        unit="flop",
        hidden=True,
    )
    bytes: Float64 = column(
        "Bytes",
        "The minimum that is read and written: each different element of the inputs and of the result once. For "
        "copies, as recorded.",
        hidden=True,
    )
    roof_ns: Float64 = column(
        "Time at the roof",
        "Σ of the least time of each call: the longer of FLOP ÷ peak of the element type and bytes ÷ bandwidth of the "
        "memory (for copies from and to the host, of the link); at least 2 µs if the call takes that long.",
        average=True,
        hidden=True,
    )
    lost_here_ns: Float64 = column(
        "Lost against its best",
        "The same against what this trace itself reaches (95th percentiles) instead of the peaks: the bandwidth of at "
        "least 10 elementwise kernels above 64 MB, the FLOP/s of at least 3 products above 50 µs. If there are fewer, "
        "the peaks count.",
        hidden=True,
    )
    hfu: Float64 = column(
        "HFU",
        "The same for the FLOP that are executed, including those that are computed again in the backward pass.",
        unit="fraction",
        hidden=True,
    )
    below_wave: Float64 = column(
        "Below one wave",
        "Part of the time in kernels with fewer blocks than the device has multiprocessors.",
        unit="fraction",
        hidden=True,
    )
    above: tuple[str | None, ...] = column(
        "Above the roof",
        "Why calls are more than 5 % faster than the roof, if there are any: algorithm (Winograd, FFT), cache (the "
        "data fits into the last level), strides (not recorded: inputs may be expanded), model (unknown).",
        hidden=True,
    )
    known: Float64 = column(
        "Known", "Part of the time for which the time at the roof is known.", unit="fraction", hidden=True
    )
    sure: tuple[str | None, ...] = column(
        "Known by",
        "The least certain way in which FLOP and bytes are known: exact (arguments), derived (another event), bound "
        "(at least or at most that), estimate, recorded.",
        hidden=True,
    )
    worst_row: Int64 = column(
        "Worst event",
        "Number of the event of the kernel or copy that loses most, or of the longest one if the lost time is unknown.",
        unit=None,
        hidden=True,
    )
    worst_start_ns: Int64 = column("Worst start", "Its start, since the start of the trace.", hidden=True)
    worst_ns: Int64 = column("Worst duration", "Its duration.", hidden=True)

    group_by: RooflineGrouping = fact("what makes a row")
    total_ns: int = fact("Σ of `time_ns`")


@cached
def roofline(model: Model, group_by: RooflineGrouping) -> RooflineTable:
    """Return all that took time on devices, or on the host where nothing ran on one."""
    counts, roof = work_counts(model), activity_roofs(model)
    activities = counts.activities
    code, text, shape = _keys(model, group_by)
    groups = group([code, shape]) if group_by == "operator_shape" else group([code])
    duration = activities.duration
    time = groups.sum(duration)
    lost = groups.sum_of_floats(np.nan_to_num(roof.lost_ns))
    strings = model.trace.strings
    order = ties_sorted(
        np.lexsort((-time, -lost)),
        (lost, time),
        lambda at: (text(int(code[groups.first[at]])) or "", strings[int(shape[groups.first[at]])]),
    )
    first = groups.first[order]
    has_flops, has_bytes, has_roof = (~np.isnan(value) for value in (roof.flops, roof.bytes, roof.roof_ns))
    multiplies = np.nan_to_num(roof.flops) > 0
    flops = _sum(groups, roof.flops, has_flops)
    both = multiplies & has_bytes

    def ratio(part: Float64, whole: Float64 | Int64) -> Float64:
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(whole > 0, part / whole, np.nan)[order]

    def within(chosen: Bool) -> Int64:
        return groups.sum(np.where(chosen, duration, 0))

    by_loss = np.lexsort((-duration, -np.nan_to_num(roof.lost_ns)))
    worst = first_at(groups.inverse[by_loss], activities.row[by_loss], len(groups))[order]
    known_roof = groups.sum_of_floats(np.where(has_roof, roof.roof_ns, 0.0))
    return RooflineTable(
        group_by=group_by,
        name=tuple(text(value) for value in code[first].tolist()),
        input_shape=tuple(strings[value] for value in shape[first].tolist()) if group_by == "operator_shape" else None,
        element=_most(groups, roof.element, np.nan_to_num(roof.flops), ELEMENTS, order),
        calls=(groups.count() if group_by == "kernel" else groups.sum(roof.first))[order],
        time_ns=time[order],
        flops=flops[order],
        least_flops=_limit(groups, counts, "least", roof.flops)[order],
        most_flops=_limit(groups, counts, "most", roof.flops)[order],
        bytes=_sum(groups, roof.bytes, has_bytes)[order],
        intensity=ratio(
            groups.sum_of_floats(np.where(both, roof.flops, 0.0)), groups.sum_of_floats(np.where(both, roof.bytes, 0.0))
        ),
        flop_rate=np.where(flops[order] > 0, ratio(np.nan_to_num(flops), within(multiplies) / 1e9), np.nan),
        byte_rate=ratio(groups.sum_of_floats(np.nan_to_num(roof.bytes)), within(has_bytes) / 1e9),
        roof_ns=np.where(within(has_roof) > 0, known_roof, np.nan)[order],
        lost_ns=np.where(within(has_roof) > 0, lost, np.nan)[order],
        lost_here_ns=np.where(within(has_roof) > 0, groups.sum_of_floats(_lost_here(model)), np.nan)[order],
        roof_share=ratio(known_roof, within(has_roof)),
        mfu=_utilization(model, groups, "mfu")[order],
        hfu=_utilization(model, groups, "hfu")[order],
        bound=_most(groups, roof.bound, duration, BOUNDS, order),
        tensor_cores=_most(groups, roof.tensor_cores, duration, TENSOR_CORES, order),
        below_wave=ratio(within(roof.below_wave).astype(np.float64), time),
        advice=_most(groups, take_known(call_advice(model), activities.call), duration, ADVICES, order),
        above=_most(groups, roof.above, duration, ABOVES, order),
        known=ratio(within(has_roof).astype(np.float64), time),
        sure=_least_sure(model, groups, order),
        worst_row=worst.astype(np.int64),
        worst_start_ns=model.trace.events.start[worst],
        worst_ns=np.maximum(model.trace.events.duration[worst], 0),
        total_ns=int(duration.sum()),
    )


def _sum(groups: Groups, values: Float64, known: Bool) -> Float64:
    """Return Σ of what is known; NaN where nothing is."""
    total = groups.sum_of_floats(np.where(known, values, 0.0))
    return np.where(groups.sum(known) > 0, total, np.nan)


def _limit(groups: Groups, found: WorkCounts, name: Literal["least", "most"], flops: Float64) -> Float64:
    """Return Σ of what there is at least or at most, with what is known; NaN of groups without any that lie between."""
    limit = whole_share_of_call(found, found.calls.limits(name))
    open_ = ~np.isnan(limit)
    total = groups.sum_of_floats(np.where(open_, limit, np.nan_to_num(flops)))
    return np.where(groups.sum(open_) > 0, total, np.nan)


def _most(
    groups: Groups, code: Int8, weight: Float64 | Int64, names: tuple[str, ...], order: Int64
) -> tuple[str | None, ...]:
    """Return the name with the largest weight in each group; None without any."""
    weights = np.array(
        [groups.sum_of_floats(np.where(code == at, weight, 0).astype(np.float64)) for at in range(len(names))]
    )
    best = np.where(weights.max(axis=0, initial=0.0) > 0, weights.argmax(axis=0), -1) if len(groups) else order
    return tuple(names[at] if at >= 0 else None for at in best[order].tolist())


def _lost_here(model: Model) -> Float64:
    """Return the time that each activity loses to what the trace reaches; of copies to the peaks; 0 if unknown."""
    found = work_counts(model)
    lost = share_of_call(found, np.maximum(found.calls.duration - reached_ns(model), 0.0))
    return np.nan_to_num(np.where(found.activities.recorded >= 0, activity_roofs(model).lost_ns, lost))


def _utilization(model: Model, groups: Groups, which: Literal["mfu", "hfu"]) -> Float64:
    """Return the utilization of each group; NaN without FLOP, without a peak, or if too much is unknown."""
    found, is_known = work_counts(model), known_work(model)
    duration = found.activities.duration
    at_peak = share_of_call(found, at_peak_ns(model, which))
    matrix = groups.sum(np.where(is_known.multiplies, duration, 0))
    missing = groups.sum(np.where(is_known.flops, 0, duration))
    peakless = groups.sum(is_known.multiplies & np.isnan(at_peak))
    with np.errstate(divide="ignore", invalid="ignore"):
        part = groups.sum_of_floats(np.nan_to_num(at_peak)) / groups.sum(duration)
        shown = (matrix > 0) & (matrix >= SOME * (matrix + missing)) & (peakless == 0)
    return np.where(shown, part, np.nan)


def _least_sure(model: Model, groups: Groups, order: Int64) -> tuple[str | None, ...]:
    found = work_counts(model)
    works = found.calls.works
    certainty = [-1 if work.flops is None and work.bytes is None else _SURE.index(work.sure) for work in works]
    of_call = np.array([*certainty, -1], np.int64)[np.append(found.calls.work, -1)]
    sure = of_call[found.activities.call]
    sure[found.activities.recorded >= 0] = _SURE.index(Certainty.RECORDED)
    worst = greatest_at(groups.inverse, sure, len(groups))[order]
    return tuple(_SURE[at].value if at >= 0 else None for at in worst.tolist())


def _keys(model: Model, group_by: RooflineGrouping) -> tuple[Int64, Callable[[int], str], Int64]:
    """Return the group of each activity as a number, the text of a number, and the code of its shapes."""
    counts, strings = work_counts(model), model.trace.strings
    activities, tree = counts.activities, model.tree
    none = np.zeros(len(activities), np.int64)
    if group_by == "kernel":
        codes = model.trace.events.name[activities.row].astype(np.int64)
        return codes, lambda code: short_name(strings[code]), none
    if group_by == "element":
        element = activity_roofs(model).element.astype(np.int64)
        return element, lambda code: ELEMENTS[code] if code >= 0 else _NO_PRODUCTS, none
    if group_by == "phase":
        return activity_phase(model).astype(np.int64), lambda code: PHASES[code].value, none
    if group_by == "module":
        return _modules(model, none)
    if group_by == "line":
        return _lines(model, none)
    node = np.where(activities.call >= 0, take_known(counts.calls.node, activities.call), activities.node)
    name = take_known(tree.name, node).astype(np.int64)
    shape = take_known(model.trace.operators.input_dims, take_known(tree.operator, node), missing=0).astype(np.int64)
    if counts.on_host:
        return name, strings.__getitem__, shape
    owner, owner_text = by_owner(model)
    shift = len(strings)
    code = np.where(name >= 0, name, shift + owner[activities.place])
    return code, lambda each: strings[each] if each < shift else owner_text(each - shift), shape


def _lines(model: Model, none: Int64) -> tuple[Int64, Callable[[int], str], Int64]:
    """Group by the innermost Python frame of the program's own code around the call."""
    strings, frames = model.trace.strings, model.frames
    frame = take_known(model.tree.frame, work_counts(model).activities.node)
    code = np.full(len(frame), -1, np.int64)
    if len(frames):
        own = strings.where(is_own_code, frames.name)[frames.name]
        code = take_known(frames.name, nearest(frames.parent, own, frame)).astype(np.int64)
    return code, lambda each: strings[each] if each >= 0 else _UNKNOWN, none


def _modules(model: Model, none: Int64) -> tuple[Int64, Callable[[int], str], Int64]:
    """Group by the innermost module around; in the backward pass by the module whose backward it is."""
    counts, strings = work_counts(model), model.trace.strings
    timed = nn_program(model)
    tree = timed.tree
    named = (tree.kind == NodeKind.MODULE) | (tree.kind == NodeKind.BACKWARD)
    if counts.on_host:
        of_row = np.full(len(model.trace.events), -1, np.int32)
        real = np.flatnonzero(tree.row >= 0)
        of_row[tree.row[real]] = real
        node = of_row[counts.activities.row]
    else:
        node = timed.work_node[counts.activities.place]
    module = nearest(tree.parent, named, node)
    code = take_known(tree.name, module).astype(np.int64)
    return code, lambda each: module_name(strings[each]) if each >= 0 else _UNKNOWN, none
