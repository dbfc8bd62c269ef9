"""Each device activity beside the least time that its call needs, and what the trace itself reaches.

The least time of a call is the longer of multiplying and moving; its activities share it by their durations. No kernel
is expected to take less than two microseconds: it has to start.

What a trace reaches is a lower bound for its devices, below the peaks of data sheets: bandwidth by large elementwise
kernels, FLOP/s of an element type by long matmuls, the 95th percentile of either.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, get_args

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import CountedCalls, WorkCounts, work_counts
from torch_tb_profiler.analysis.flops.elementwise import ELEMENTWISE
from torch_tb_profiler.analysis.flops.matmuls import ELEMENTS, FIRST_WITH_TF32, matmul_kernels
from torch_tb_profiler.analysis.flops.rates import activity_work, share_of_call
from torch_tb_profiler.analysis.flops.work import OperatorWork
from torch_tb_profiler.analysis.roofline.roofs import roof_table, roofs
from torch_tb_profiler.analysis.shared.kernel_use import blocks_per_sm
from torch_tb_profiler.analysis.shared.tensor_cores import Use, nvidia_capability, use_of_device_work
from torch_tb_profiler.arrays.distinct import one_of
from torch_tb_profiler.arrays.grouping import each_value, first_at, sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import percentile
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Category

#: a call that takes no longer than this loses nothing, ns
FLOOR_NS = 2_000
#: a call that is this much faster than its roof says that something else is going on
ABOVE = 1.05
#: what bounds the least time of a call
Bound = Literal["compute", "memory", "link", "launch"]
BOUNDS: tuple[Bound, ...] = get_args(Bound)
#: why a call is faster than its roof: it multiplies less than it counts for (Winograd, FFT); the cache may hold what
#: is too much for the memory (its size of what is read, and of what is written); strides were not recorded, so that an
#: input may be an expanded one; or what is thought of its work is wrong
Above = Literal["algorithm", "cache", "strides", "model"]
ABOVES: tuple[Above, ...] = get_args(Above)
#: whether a product uses tensor cores, and why it does not though its device has some: fp32 where TF32 is off or is no
#: type of it, fp64, rows that do not begin at 16 bytes, groups of a convolution, too small, or another cause
TensorCores = Literal["used", "fp32", "fp64", "alignment", "groups", "small", "other"]
TENSOR_CORES: tuple[TensorCores, ...] = get_args(TensorCores)

_ALGORITHM = lazy_pattern(r"(?i)winograd|fft")
_BETWEEN_DEVICES = lazy_pattern(r"PtoP|Peer")
_ON_DEVICE = lazy_pattern(r"DtoD|Device -> Device|Memset")
_DATA = (*ELEMENTS, "fp4")


class ActivityRoofs(msgspec.Struct, frozen=True):
    """The roof of each activity, parallel to `Activities`, shape (activities,); NaN: unknown.

    element       what its call multiplies, index into ELEMENTS; -1: nothing, or unknown
    flops         matrix FLOP, its share of those of its call
    bytes         what it moves at least, its share
    roof_ns       its share of the least time of its call
    lost_ns       its share of what the call takes longer than that
    bound         what bounds it, index into BOUNDS; -1: unknown
    above         why the call is faster than its roof, index into ABOVES; -1: it is not
    tensor_cores  index into TENSOR_CORES; -1: it is no product, or it is unknown
    below_wave    its kernels have fewer blocks than the device has multiprocessors; False where unknown
    first         the first activity of its call: counts the call
    """

    element: Int8
    flops: Float64
    bytes: Float64
    roof_ns: Float64
    lost_ns: Float64
    bound: Int8
    above: Int8
    tensor_cores: Int8
    below_wave: Bool
    first: Bool


class CallRoofs(msgspec.Struct, frozen=True):
    """The roof of each call, parallel to `CountedCalls`, shape (calls,).

    element  what it multiplies, index into ELEMENTS; -1: nothing, or unknown
    device   its number
    rate     FLOP/s of its device for that; NaN: unknown
    most     the same where it is unknown whether 32 bits are multiplied as TF32: if they are
    roof_ns  the least time, ns; NaN: unknown
    bound    index into BOUNDS; -1: unknown
    """

    element: Int8
    device: Int64
    rate: Float64
    most: Float64
    roof_ns: Float64
    bound: Int8


@cached
def call_roofs(model: Model) -> CallRoofs:
    """Return the least time of each call on its device."""
    counts = work_counts(model)
    activities, calls = counts.activities, counts.calls
    count = len(calls)
    flops, size = calls.numbers("flops"), calls.numbers("bytes")
    element = _elements(model, counts)
    rate, most, bandwidth = (np.full(count, np.nan) for _ in range(3))
    device = np.full(count, -1, np.int64)
    if not counts.on_host and count:
        device = model.device_work.device[activities.place[calls.first]].astype(np.int64)
        open_ = _may_be_tf32(model, counts, element, device)
        table = roof_table(model)
        place, rates = table.places(device), table.rates(ELEMENTS)
        bandwidth = table.bandwidth[place]
        rate = np.where(element >= 0, rates[place, element], np.nan)
        most = np.where(open_, rates[place, ELEMENTS.index("tf32")], np.nan)
    most = np.where(np.isnan(most), rate, most)
    with np.errstate(invalid="ignore"):
        computing, moving = 1e9 * flops / rate, 1e9 * size / bandwidth
    computing = np.where(flops == 0, 0.0, computing)
    # bytes that are unknown bound nothing; FLOP that are unknown leave the least time open
    roof = np.where(np.isnan(computing), np.nan, np.fmax(computing, moving))
    roof[np.isnan(moving) & (flops == 0)] = np.nan
    bound = np.where(computing >= np.nan_to_num(moving), BOUNDS.index("compute"), BOUNDS.index("memory"))
    short = roof < FLOOR_NS
    bound[short] = BOUNDS.index("launch")
    roof[short] = np.maximum(roof, np.minimum(calls.duration, FLOOR_NS))[short]
    bound[np.isnan(roof)] = -1
    return CallRoofs(element, device, rate, most, roof, bound.astype(np.int8))


def _elements(model: Model, counts: WorkCounts) -> Int8:
    """Return what each call multiplies: by its longest kernel whose name or operator says it, else by its inputs."""
    calls, activities = counts.calls, counts.activities
    data = [_DATA.index(work.data) if _multiplies(work) and work.data in _DATA else -1 for work in calls.works]
    element = np.array(data or [-1], np.int64)[calls.work]
    element[element >= len(ELEMENTS)] = ELEMENTS.index("fp8")  # 4-bit types differ by their peak alone
    if counts.on_host or not len(calls):
        return element.astype(np.int8)
    kernels = matmul_kernels(model)
    of_place = np.full(len(model.device_work), -1, np.int64)
    of_place[kernels.place] = kernels.element
    of_activity = of_place[activities.place]
    has = np.flatnonzero((activities.call >= 0) & (of_activity >= 0))
    has = has[np.argsort(-activities.duration[has], kind="stable")]
    by_kernel = first_at(activities.call[has], of_activity[has], len(calls))
    return np.where((element >= 0) & (by_kernel >= 0), by_kernel, element).astype(np.int8)


def _multiplies(work: OperatorWork) -> bool:
    return bool(work.flops) or work.limits is not None


def _may_be_tf32(model: Model, counts: WorkCounts, element: Int8, device: Int64) -> Bool:
    """Return the calls on 32 bits whose kernels may or may not use tensor cores; arrays of shape (calls,)."""
    activities = counts.activities
    use = use_of_device_work(model)[activities.place]
    open_ = (activities.call >= 0) & (use == Use.UNKNOWN) & ~activities.no_flops
    unclear = sums_at(activities.call[open_], np.ones(int(open_.sum()), np.int64), len(element)) > 0
    capable = {
        device: (nvidia_capability(model.trace.header.device(device)) or (0, 0)) >= FIRST_WITH_TF32
        for device in model.used_devices
    }
    wide: Bool = unclear & (element == ELEMENTS.index("fp32"))
    return wide & one_of(device, [number for number, able in capable.items() if able])


@cached
def activity_roofs(model: Model) -> ActivityRoofs:
    """Return each activity beside its roof."""
    counts, of_calls = work_counts(model), call_roofs(model)
    activities, calls = counts.activities, counts.calls
    call = np.where(activities.recorded >= 0, -1, activities.call)
    work = activity_work(model)
    roof = share_of_call(counts, of_calls.roof_ns)
    lost = share_of_call(counts, np.maximum(calls.duration - of_calls.roof_ns, 0.0))
    bound = take_known(of_calls.bound, call)
    copies = np.flatnonzero(activities.recorded >= 0)
    if len(copies):
        roof[copies], bound[copies] = _copies(model, counts, copies)
        lost[copies] = np.maximum(activities.duration[copies] - roof[copies], 0.0)
    is_first = call < 0
    is_first[calls.first] = True
    return ActivityRoofs(
        element=take_known(of_calls.element, call),
        flops=work.flops,
        bytes=work.bytes,
        roof_ns=roof,
        lost_ns=lost,
        bound=bound,
        above=take_known(_above(model, counts, of_calls), call),
        tensor_cores=take_known(_tensor_cores(model, counts, of_calls), call),
        below_wave=_below_wave(model, counts),
        first=is_first,
    )


def _copies(model: Model, counts: WorkCounts, copies: Int64) -> tuple[Float64, Int8]:
    """Return the least time of copies whose bytes are recorded, NaN if unknown, and what bounds it."""
    activities, strings = counts.activities, model.trace.strings
    names = model.trace.events.name[activities.row[copies]]
    device = model.device_work.device[activities.place[copies]]
    size = activities.recorded[copies].astype(np.float64)
    on_device = strings.where(_ON_DEVICE.search, names)[names]
    between = strings.where(_BETWEEN_DEVICES.search, names)[names]
    is_copy = model.device_category[activities.place[copies]] == Category.MEMCPY
    table = roof_table(model)
    place = table.places(device)
    speed = np.where(between, table.link[place], np.where(on_device, table.bandwidth[place], table.host[place]))
    moved = np.where(on_device & is_copy, 2 * size, size)
    roof = 1e9 * moved / speed
    bound = np.where(on_device, BOUNDS.index("memory"), BOUNDS.index("link"))
    bound[roof < FLOOR_NS] = BOUNDS.index("launch")
    bound[np.isnan(roof)] = -1
    least = np.maximum(roof, np.minimum(activities.duration[copies], FLOOR_NS))
    return np.where(roof < FLOOR_NS, least, roof), bound.astype(np.int8)


def _above(model: Model, counts: WorkCounts, of_calls: CallRoofs) -> Int8:
    """Return why calls are faster than their roof: an index into ABOVES, -1, shape (calls,)."""
    calls, activities = counts.calls, counts.activities
    above = np.full(len(calls), -1, np.int8)
    fast = (of_calls.roof_ns > ABOVE * calls.duration) & (of_calls.bound != BOUNDS.index("launch"))
    if counts.on_host or not fast.any():
        return above
    names = model.trace.events.name[activities.row]
    other = model.trace.strings.where(_ALGORITHM.search, names)[names] & (activities.call >= 0)
    other_call = np.zeros(len(calls), np.bool_)
    other_call[activities.call[other]] = True
    table = roof_table(model)
    place = table.places(of_calls.device)
    cache, bandwidth = np.nan_to_num(table.cache)[place], np.nan_to_num(table.bandwidth)[place]
    # the cache may hold so much of what is read, and keep so much of what is written
    moved = np.maximum(calls.numbers("bytes") - 2 * cache, 0)
    fits = (of_calls.bound == BOUNDS.index("memory")) & (1e9 * moved <= ABOVE * calls.duration * bandwidth)
    strides = take_known(model.trace.operators.input_strides, model.tree.operator[calls.node], missing=0)
    above[fast] = np.where(strides[fast] > 0, ABOVES.index("model"), ABOVES.index("strides"))
    above[fast & fits] = ABOVES.index("cache")
    above[fast & other_call] = ABOVES.index("algorithm")
    return above


def _tensor_cores(model: Model, counts: WorkCounts, of_calls: CallRoofs) -> Int8:
    """Return how matmuls use tensor cores: an index into TENSOR_CORES, -1 on devices without any, shape (calls,)."""
    calls, activities = counts.calls, counts.activities
    state = np.full(len(calls), -1, np.int8)
    able = [each.device for each in roofs(model) if each.tensor_cores]
    if counts.on_host or not able:
        return state
    use = use_of_device_work(model)[activities.place]
    has_use = {}
    for value in (Use.YES, Use.UNKNOWN):
        of_use = (activities.call >= 0) & (use == value) & ~activities.no_flops
        has_use[value] = np.bincount(activities.call[of_use], minlength=len(calls)) > 0
    is_product = (calls.numbers("flops") > 0) & np.isin(of_calls.device, able)
    state[is_product & has_use[Use.YES]] = TENSOR_CORES.index("used")
    unused = np.flatnonzero(is_product & ~has_use[Use.YES] & ~has_use[Use.UNKNOWN])
    cause = _causes(calls)
    state[unused] = cause[unused]
    small = unused[of_calls.bound[unused] == BOUNDS.index("launch")]
    state[small] = TENSOR_CORES.index("small")
    return state


def _causes(calls: CountedCalls) -> Int8:
    """Return why tensor cores are not used, as far as arguments say it, shape (calls,)."""
    of_work = []
    for work in calls.works:
        product = work.product
        if work.data == "fp64":
            cause = "fp64"
        elif work.data == "fp32":
            cause = "fp32"
        elif product is not None and product.groups > 1:
            cause = "groups"
        elif product is not None and product.aligned * product.size < 16:
            cause = "alignment"
        else:
            cause = "other"
        of_work.append(TENSOR_CORES.index(cause))
    return np.array(of_work or [-1], np.int8)[calls.work]


def _below_wave(model: Model, counts: WorkCounts) -> Bool:
    """Return which activities are kernels with fewer blocks than multiprocessors, shape (activities,)."""
    if counts.on_host:
        return np.zeros(len(counts.activities), np.bool_)
    blocks = blocks_per_sm(model.trace, model.device_work.take(counts.activities.place))
    below: Bool = (blocks > 0) & (blocks < 1)
    return below


#: bytes that no cache holds, and how long a product must take, ns
_LARGE, _LONG_NS = 64e6, 50_000
#: fewer calls say nothing, of elementwise kernels and of products
_LEAST_MOVES, _LEAST_PRODUCTS = 10, 3
_PERCENT = 95


class ReachedRates(msgspec.Struct, frozen=True):
    """What one device reaches in this trace.

    bandwidth  bytes/s of elementwise kernels that move more than 64 MB; None for fewer than 10
    flops      FLOP/s by element type, of products that take longer than 50 µs; no entry for fewer than 3
    """

    bandwidth: float | None
    flops: Mapping[str, float]


@cached
def reached(model: Model) -> Mapping[int, ReachedRates]:
    """Return what the trace reaches, by number of the device."""
    found, of_calls = work_counts(model), call_roofs(model)
    calls = found.calls
    if found.on_host or not len(calls):
        return {device.device: ReachedRates(None, {}) for device in roofs(model)}
    flops, size = calls.numbers("flops"), calls.numbers("bytes")
    is_product = np.array([work.product is not None for work in calls.works], np.bool_)
    strings = model.trace.strings
    moves = strings.where(ELEMENTWISE.__contains__, calls.name)[calls.name] & (size > _LARGE) & (calls.duration > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved, computed = 1e9 * size / calls.duration, 1e9 * flops / calls.duration
        # what is above the peak multiplies less than it counts for
        multiplies = (
            is_product[calls.work] & (flops > 0) & (calls.duration > _LONG_NS) & (computed <= ABOVE * of_calls.rate)
        )
    devices = roofs(model)
    place = roof_table(model).places(of_calls.device)
    moves &= place >= 0
    multiplies &= (place >= 0) & (of_calls.element >= 0)
    bandwidth = _best(place[moves], moved[moves], _LEAST_MOVES)
    product = len(ELEMENTS) * place + of_calls.element
    flops_of: list[dict[str, float]] = [{} for _ in devices]
    for number, rate in _best(product[multiplies], computed[multiplies], _LEAST_PRODUCTS).items():
        of_device, element = divmod(number, len(ELEMENTS))
        flops_of[of_device][ELEMENTS[element]] = rate
    return {device.device: ReachedRates(bandwidth.get(at), flops_of[at]) for at, device in enumerate(devices)}


def _best(number: Int64, rates: Float64, least: int) -> dict[int, float]:
    """Return the best rates by number, among rates that occur often enough."""
    chosen = np.flatnonzero(np.bincount(number)[number] >= least)
    of_number = each_value(number[chosen])
    return {value: percentile(rates[chosen[at]], _PERCENT) for value, at in of_number}


def reached_ns(model: Model) -> Float64:
    """Return the least time of each by what is reached, else by the peaks, ns, shape (calls,); NaN: unknown."""
    found, of_calls = work_counts(model), call_roofs(model)
    calls = found.calls
    flops, size = calls.numbers("flops"), calls.numbers("bytes")
    least = of_calls.roof_ns.copy()
    bandwidth, rate = _as_columns(reached(model))
    place = roof_table(model).places(of_calls.device)
    moving = (size > 0) & ~np.isnan(bandwidth[place])
    least[moving] = np.maximum(least, 1e9 * size / bandwidth[place])[moving]
    rate_here = rate[place, of_calls.element]
    computing = (of_calls.element >= 0) & (flops > 0) & ~np.isnan(rate_here)
    least[computing] = np.maximum(least, 1e9 * flops / rate_here)[computing]
    short = least < FLOOR_NS
    least[short] = np.minimum(calls.duration, FLOOR_NS)[short]
    return least


def _as_columns(best: Mapping[int, ReachedRates]) -> tuple[Float64, Float64]:
    """Return bandwidth, shape (devices + 1,), and FLOP/s, (devices + 1, elements), as `RoofTable`; NaN: unknown."""
    bandwidth, rate = np.full(len(best) + 1, np.nan), np.full((len(best) + 1, len(ELEMENTS)), np.nan)
    for place, each in enumerate(best.values()):
        if each.bandwidth is not None:
            bandwidth[place] = each.bandwidth
        for name, flops in each.flops.items():
            rate[place, ELEMENTS.index(name)] = flops
    return bandwidth, rate
