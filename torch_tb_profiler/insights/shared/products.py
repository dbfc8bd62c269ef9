"""What rules on products of matrices share: how long the device would need at least, and how long it may take instead.

No target is below what the roofline allows: the least time by the shapes of the operator and the peaks of its device,
divided by the part of it that good kernels reach.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.flops.matmuls import ELEMENTS, KINDS, MatmulKernels, matmul_kernels
from torch_tb_profiler.analysis.flops.work import Matmul
from torch_tb_profiler.analysis.replay.changes import ScaleWork, targets
from torch_tb_profiler.analysis.roofline.roofs import minimal_ns
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute
from torch_tb_profiler.analysis.shared.peaks import ElementType, Peaks, peaks_of
from torch_tb_profiler.analysis.shared.tensor_cores import Use
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rule import FindingConfidence
from torch_tb_profiler.insights.shared.operator_line import operator_line
from torch_tb_profiler.insights.shared.patterns import attention, by_hand
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.family import KernelKind

#: no kernel is expected to become shorter than this, ns: it has to start, and to fill the device
SHORTEST_NS = 3_000
#: a matrix with at most this many rows is skinny: tensor cores multiply tiles of at least 16
SKINNY = 16
_FEW_ROWS = lazy_pattern(r"gemmSN_|gemmk1_|gemv")

_ELEMENT: Mapping[str, ElementType] = {each: each for each in ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")}


class Faster(msgspec.Struct, frozen=True):
    """Kernels, and how long each may take.

    kernels      shape (n,), indices into `MatmulKernels`
    target_ns    shape (n,), not above what each takes
    by_shape     which part of what is gained is known by shapes, 0…1; the rest is an estimate
    """

    kernels: Int64
    target_ns: Int64
    by_shape: float


class Alike(msgspec.Struct, frozen=True):
    """Calls of one shape and element type. Parallel, shape (groups,), but for `of`.

    of           shape (calls,): the group of each call; -1 for one that is in no step
    first        one of its calls
    element      what it multiplies, index into ELEMENTS
    efficiency   the least time of all its calls ÷ the time of their kernels; NaN where it is not known
    duration     Σ of the durations of their kernels, ns
    """

    of: Int64
    first: Int64
    element: Int8
    efficiency: Float64
    duration: Int64

    def __len__(self) -> int:
        return len(self.first)


class Products(msgspec.Struct, frozen=True, dict=True):
    """The product kernels of the steps, on devices with known peaks. Made by `products_of`.

    kernels   all of the trace
    chosen    shape (m,), indices of those in a step, on a device with peaks
    peaks     by number of the device
    step      shape (kernels,), parallel to `kernels`: the index of the step, -1 for none
    compute_ns  Σ durations of all compute kernels of the steps
    """

    facts: Facts
    kernels: MatmulKernels
    chosen: Int64
    peaks: Mapping[int, Peaks]
    compute_ns: int

    def are(self, *elements: str) -> Bool:
        """Which of `chosen` multiply one of some element types, shape (chosen,)."""
        return one_of(self.kernels.element[self.chosen], [ELEMENTS.index(each) for each in elements])

    def are_of(self, *kinds: KernelKind) -> Bool:
        """Which of `chosen` are of some kinds, shape (chosen,)."""
        return one_of(self.kernels.kind[self.chosen], [KINDS.index(each) for each in kinds])

    @cached_property
    def is_for_few_rows(self) -> Bool:
        """Which of `chosen` are, by their name, for products with few rows, that the memory bounds, shape (chosen,)."""
        names = self.facts.trace.events.name[self.kernels.row[self.chosen]]
        few: Bool = self.facts.trace.strings.where(_FEW_ROWS.search, names)[names]
        return few

    @cached_property
    def in_attention(self) -> Bool:
        """Which of `chosen` are of attention that is written out, shape (chosen,): one kernel can take their place, so
        that their own sizes are no matter.
        """
        model = self.facts.model
        line = operator_line(model)
        inside = np.zeros(len(line.text) + 1, np.bool_)  # the last is for "no place"
        for first, after in by_hand(model, attention(model)):
            inside[first:after] = True
        found: Bool = inside[line.place[self.kernels.place[self.chosen]]]
        return found

    def use(self, use: Use) -> Bool:
        """Which of `chosen` have this use of tensor cores, shape (chosen,)."""
        used: Bool = self.kernels.use[self.chosen] == use
        return used

    def time(self, chosen: Bool) -> int:
        """Σ of the durations of some of `chosen`, ns."""
        return int(self.kernels.duration[self.chosen[chosen]].sum())

    def rows(self, kernels: Int64) -> Int32:
        """Their events, the longest first."""
        return self.facts.longest_first(self.kernels.row[kernels])

    @cached_property
    def device(self) -> Int64:
        """Shape (kernels,): the number of the device."""
        return self.facts.model.device_work.device[self.kernels.place].astype(np.int64)

    @cached_property
    def calls(self) -> Int64:
        """Shape (c,): indices of the calls whose kernels are in `chosen`."""
        call = self.kernels.call[self.chosen]
        return distinct(call[call >= 0])

    @cached_property
    def call_element(self) -> Int8:
        """Shape (calls,): what the first kernel of each call multiplies, index into ELEMENTS."""
        return self.kernels.element[self.kernels.calls.first]

    def shape(self, call: int) -> Matmul:
        """Return what a call multiplies."""
        calls = self.kernels.calls
        return calls.shapes[int(calls.shape[call])]

    def of_shapes(self, name: str) -> Int64:
        """Shape (calls,): a number of each call's shape."""
        calls = self.kernels.calls
        values = np.array([int(getattr(shape, name)) for shape in calls.shapes], np.int64)
        return values[calls.shape] if len(calls) else np.empty(0, np.int64)

    def least_ns(self, element: ElementType | None = None, size: int | None = None) -> Float64:
        """Shape (calls,): how long each call takes at least, ns; NaN where it is not known.

        element   what it would multiply; by default what it does
        size      bytes that an element would have; by default as many as it has
        """
        calls, least_of_calls = self.kernels.calls, np.full(len(self.kernels.calls), np.nan)
        first = self.device[calls.first]
        for device, peaks in self.peaks.items():
            for code, name in enumerate(ELEMENTS):
                chosen = np.flatnonzero((first == device) & (self.call_element == code))
                multiplied = element or _ELEMENT.get(name)
                if not len(chosen) or multiplied is None:
                    continue
                used = distinct(calls.shape[chosen])
                of_shape = np.full(len(calls.shapes), np.nan)
                for each in used.tolist():
                    least = minimal_ns(calls.shapes[each], peaks, multiplied, size)
                    of_shape[each] = np.nan if least is None else least
                least_of_calls[chosen] = of_shape[calls.shape[chosen]]
        return least_of_calls

    @cached_property
    def is_skinny(self) -> Bool:
        """Shape (calls,): whether one matrix has so few rows that reading the other one bounds the product."""
        m, n = self.of_shapes("m"), self.of_shapes("n")
        skinny: Bool = (m > 0) & (np.minimum(m, n) <= SKINNY)
        return skinny

    @cached_property
    def efficiency(self) -> Float64:
        """Shape (calls,): the least time ÷ the time of its kernels; NaN where it is not known."""
        duration = self.kernels.calls.duration
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(duration > 0, self.least_ns() / duration, np.nan)

    @cached_property
    def alike(self) -> Alike:
        """The calls of the steps by shape and element type."""
        calls, chosen = self.kernels.calls, self.calls
        groups = group([calls.shape[chosen], self.call_element[chosen]])
        of = np.full(len(calls), -1, np.int64)
        of[chosen] = groups.of
        least, duration = self.least_ns()[chosen], calls.duration[chosen]
        with np.errstate(divide="ignore", invalid="ignore"):
            efficiency = groups.sum_of_floats(least) / groups.sum(duration)
        first = chosen[groups.first]
        return Alike(of, first, self.call_element[first], efficiency, groups.sum(duration))

    def faster(self, kernels: Int64, least_ns: Float64, most: float, without_shape: float) -> Faster:
        """Kernels that take what their calls need at least.

        kernels        shape (n,), indices into `kernels`
        least_ns       shape (calls,): what all kernels of a call need together; NaN where it is not known
        most           how many times as fast a kernel may become
        without_shape  how many times as fast where the call is not known
        """
        found, call = self.kernels, self.kernels.call[kernels]
        duration = found.duration[kernels].astype(np.float64)
        needed = np.where(call >= 0, least_ns[call] if len(least_ns) else np.nan, np.nan)
        known = ~np.isnan(needed)
        whole = np.maximum(found.calls.duration[call[known]], 1)
        target = duration / without_shape
        target[known] = np.maximum(duration[known] * needed[known] / whole, duration[known] / most)
        target = np.minimum(np.maximum(target, SHORTEST_NS), duration)
        gained = duration - target
        total = float(gained.sum())
        by_shape = float(gained[known].sum()) / total if total else 0.0
        return Faster(kernels, np.ceil(target).astype(np.int64), by_shape)

    def change(self, faster: Faster) -> ScaleWork:
        """Return what of the replay makes them so fast."""
        return targets(self.kernels.row[faster.kernels].tolist(), faster.target_ns.tolist())

    def confidence(self, faster: Faster) -> FindingConfidence:
        """Low where peaks are not sure, or where most of it is not known by shapes."""
        sure = all(each.sure for each in self.peaks.values())
        return "medium" if sure and faster.by_shape >= 0.5 else "low"


def products_of(facts: Facts) -> Products | None:
    """Return the product kernels of a trace; None if there are none in steps on devices with known peaks."""
    return facts.model.answers.get(products_of, lambda: _products(facts))


def _products(facts: Facts) -> Products | None:
    model = facts.model
    kernels = matmul_kernels(model)
    computes = np.flatnonzero(is_compute(model))
    devices = distinct(model.device_work.device[computes]).tolist() if len(computes) else []
    known = {device: peaks_of(model.trace.header.device(device)) for device in devices}
    peaks = {device: each for device, each in known.items() if each is not None}
    on_known = one_of(model.device_work.device[kernels.place], list(peaks))
    chosen = np.flatnonzero((facts.step_of(kernels.row) >= 0) & on_known & (kernels.duration > 0))
    if not len(chosen):
        return None
    in_steps = computes[facts.step_of(model.device_work.row[computes]) >= 0]
    return Products(facts, kernels, chosen, peaks, int(durations(model)[in_steps].sum()))


_ALIGN = lazy_pattern(r"align_?(\d+)(?!\d)")
#: elements in 16 bytes, by what is multiplied, in the order of ELEMENTS; 0: not looked at
_NEEDED = np.array([{"tf32": 4, "bf16": 8, "fp16": 8, "fp8": 16, "int8": 16}.get(each, 0) for each in ELEMENTS])


def needed_of(element: Int8) -> Int64:
    """How many elements are 16 bytes; 0 for those that are not looked at.

    element   shape (n,): indices into ELEMENTS, -1 for unknown
    Returns shape (n,).
    """
    found: Int64 = np.where(element >= 0, _NEEDED[element], 0)
    return found


def aligned_by_name(products: Products) -> Int64:
    """Shape (products.chosen,): how many elements are loaded at once, by the kernel's name; 0 where it does not say."""
    trace = products.facts.trace
    names = trace.events.name[products.kernels.row[products.chosen]]
    of_code = np.zeros(len(trace.strings), np.int64)
    for code in distinct(names).tolist():
        found = _ALIGN.search(trace.strings[code])
        of_code[code] = int(found[1]) if found else 0
    return of_code[names]


def loads_pieces(products: Products) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Shape (products.chosen,): whether the name says that less than 16 bytes are loaded at once."""
    named = aligned_by_name(products)
    return (named > 0) & (named < needed_of(products.kernels.element[products.chosen]))
