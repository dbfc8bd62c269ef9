"""Matmul kernels of the steps for the rules about them: least times by the roofline, and target times.

No target is below the roofline: the least time by the shapes of the operator and the peaks of its device, divided by
the share of the peak that good kernels reach.
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
from torch_tb_profiler.insights.shared.patterns import attention, attention_written_out
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model.kernel_names.family import KernelKind

#: no kernel is expected to become shorter than this, ns: it has to start, and to fill the device
SHORTEST_NS = 3_000
#: a matrix with at most this many rows is skinny: tensor cores multiply tiles of at least 16
SKINNY = 16
_FEW_ROWS = lazy_pattern(r"gemmSN_|gemmk1_|gemv")

_ELEMENT: Mapping[str, ElementType] = {each: each for each in ("fp32", "tf32", "bf16", "fp16", "fp8", "int8")}


class FasterMatmuls(msgspec.Struct, frozen=True):
    """Kernels, and how long each may take.

    kernels      shape (n,), indices into `MatmulKernels`
    target_ns    shape (n,), not above what each takes
    by_shape     which part of what is gained is known by shapes, 0…1; the rest is an estimate
    """

    kernels: Int64
    target_ns: Int64
    by_shape: float


class MatmulsByShape(msgspec.Struct, frozen=True):
    """Calls of one shape and element type. Parallel, shape (groups,), but for `of`.

    of           shape (calls,): the group of each call; -1 for one that is in no step
    first        one of its calls
    element      what it multiplies, index into ELEMENTS
    efficiency   the least time of all its calls ÷ the time of their kernels; NaN where unknown
    duration     Σ of the durations of their kernels, ns
    """

    of: Int64
    first: Int64
    element: Int8
    efficiency: Float64
    duration: Int64

    def __len__(self) -> int:
        return len(self.first)


class StepMatmuls(msgspec.Struct, frozen=True, dict=True):
    """The matmul kernels of the steps, on devices with known peaks. Made by `step_matmuls`.

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

    def has_element(self, *elements: str) -> Bool:
        """Mark kernels of `chosen` that multiply one of some element types, shape (chosen,)."""
        return one_of(self.kernels.element[self.chosen], [ELEMENTS.index(each) for each in elements])

    def has_kind(self, *kinds: KernelKind) -> Bool:
        """Mark kernels of `chosen` of some kinds, shape (chosen,)."""
        return one_of(self.kernels.kind[self.chosen], [KINDS.index(each) for each in kinds])

    @cached_property
    def is_for_few_rows(self) -> Bool:
        """Mark kernels of `chosen` named for memory-bound matmuls with few rows, shape (chosen,)."""
        names = self.facts.trace.events.name[self.kernels.row[self.chosen]]
        few: Bool = self.facts.trace.strings.where(_FEW_ROWS.search, names)[names]
        return few

    @cached_property
    def in_attention(self) -> Bool:
        """Mark kernels of `chosen` in attention that is written out, shape (chosen,).

        One kernel can replace them, so their own sizes do not matter.
        """
        model = self.facts.model
        line = operator_line(model)
        inside = np.zeros(len(line.text) + 1, np.bool_)  # the last is for "no place"
        for first, after in attention_written_out(model, attention(model)):
            inside[first:after] = True
        found: Bool = inside[line.place[self.kernels.place[self.chosen]]]
        return found

    def use(self, use: Use) -> Bool:
        """Mark kernels of `chosen` with this use of tensor cores, shape (chosen,)."""
        used: Bool = self.kernels.use[self.chosen] == use
        return used

    def time(self, chosen: Bool) -> int:
        """Σ of the durations of some of `chosen`, ns."""
        return int(self.kernels.duration[self.chosen[chosen]].sum())

    def rows(self, kernels: Int64) -> Int32:
        """Return the events of kernels, the longest first."""
        return self.facts.longest_first(self.kernels.row[kernels])

    @cached_property
    def device(self) -> Int64:
        """Number of the device of each kernel, shape (kernels,)."""
        return self.facts.model.device_work.device[self.kernels.place].astype(np.int64)

    @cached_property
    def calls(self) -> Int64:
        """Indices of the calls whose kernels are in `chosen`, shape (c,)."""
        call = self.kernels.call[self.chosen]
        return distinct(call[call >= 0])

    @cached_property
    def call_element(self) -> Int8:
        """Element type of the first kernel of each call, shape (calls,), index into ELEMENTS."""
        return self.kernels.element[self.kernels.calls.first]

    def shape(self, call: int) -> Matmul:
        """Return the shapes of a call's matmul."""
        calls = self.kernels.calls
        return calls.shapes[int(calls.shape[call])]

    def dimension(self, name: str) -> Int64:
        """Return one number of the shape of each call, shape (calls,). name: an attribute of `Matmul`."""
        calls = self.kernels.calls
        values = np.array([int(getattr(shape, name)) for shape in calls.shapes], np.int64)
        return values[calls.shape] if len(calls) else np.empty(0, np.int64)

    def least_ns(self, element: ElementType | None = None, size: int | None = None) -> Float64:
        """Return the least time of each call, ns, shape (calls,); NaN where unknown.

        element   element type to assume; by default that of the call
        size      bytes per element to assume; by default those of the call
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
        """Mark calls that are bound by reading one matrix, because the other has few rows, shape (calls,)."""
        m, n = self.dimension("m"), self.dimension("n")
        skinny: Bool = (m > 0) & (np.minimum(m, n) <= SKINNY)
        return skinny

    @cached_property
    def efficiency(self) -> Float64:
        """Least time ÷ time of the kernels of each call, shape (calls,); NaN where unknown."""
        duration = self.kernels.calls.duration
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(duration > 0, self.least_ns() / duration, np.nan)

    @cached_property
    def by_shape_and_type(self) -> MatmulsByShape:
        """The calls of the steps by shape and element type."""
        calls, chosen = self.kernels.calls, self.calls
        groups = group([calls.shape[chosen], self.call_element[chosen]])
        of = np.full(len(calls), -1, np.int64)
        of[chosen] = groups.inverse
        least, duration = self.least_ns()[chosen], calls.duration[chosen]
        with np.errstate(divide="ignore", invalid="ignore"):
            efficiency = groups.sum_of_floats(least) / groups.sum(duration)
        first = chosen[groups.first]
        return MatmulsByShape(of, first, self.call_element[first], efficiency, groups.sum(duration))

    def faster(self, kernels: Int64, least_ns: Float64, most: float, without_shape: float) -> FasterMatmuls:
        """Return kernels with their target times: the least times of their calls, within limits.

        kernels        shape (n,), indices into `kernels`
        least_ns       shape (calls,): least time of all kernels of a call together; NaN where unknown
        most           largest speedup of a kernel
        without_shape  speedup of kernels whose least time is unknown
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
        return FasterMatmuls(kernels, np.ceil(target).astype(np.int64), by_shape)

    def change(self, faster: FasterMatmuls) -> ScaleWork:
        """Return the change of the replay that gives kernels their target times."""
        return targets(self.kernels.row[faster.kernels].tolist(), faster.target_ns.tolist())

    def confidence(self, faster: FasterMatmuls) -> FindingConfidence:
        """Return low where peaks are not sure, or where most of the gain is unknown by shapes; medium otherwise."""
        sure = all(each.sure for each in self.peaks.values())
        return "medium" if sure and faster.by_shape >= 0.5 else "low"


def step_matmuls(facts: Facts) -> StepMatmuls | None:
    """Return the matmul kernels of a trace; None if there are none in steps on devices with known peaks."""
    return facts.model.answers.get(step_matmuls, lambda: _step_matmuls(facts))


def _step_matmuls(facts: Facts) -> StepMatmuls | None:
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
    return StepMatmuls(facts, kernels, chosen, peaks, int(durations(model)[in_steps].sum()))


_ALIGN = lazy_pattern(r"align_?(\d+)(?!\d)")
#: elements in 16 bytes by element type, in the order of ELEMENTS; 0: type is not checked
_NEEDED = np.array([{"tf32": 4, "bf16": 8, "fp16": 8, "fp8": 16, "int8": 16}.get(each, 0) for each in ELEMENTS])


def elements_in_16_bytes(element: Int8) -> Int64:
    """Return the elements in 16 bytes, shape (n,); 0 for types that are not checked.

    element   shape (n,): indices into ELEMENTS, -1 for unknown
    """
    found: Int64 = np.where(element >= 0, _NEEDED[element], 0)
    return found


def alignment_in_name(matmuls: StepMatmuls) -> Int64:
    """Return the elements per load by the kernel's name, shape (matmuls.chosen,); 0 where the name has none."""
    trace = matmuls.facts.trace
    names = trace.events.name[matmuls.kernels.row[matmuls.chosen]]
    of_code = np.zeros(len(trace.strings), np.int64)
    for code in distinct(names).tolist():
        found = _ALIGN.search(trace.strings[code])
        of_code[code] = int(found[1]) if found else 0
    return of_code[names]


def has_narrow_loads(matmuls: StepMatmuls) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Mark kernels whose name shows loads of less than 16 bytes, shape (matmuls.chosen,)."""
    named = alignment_in_name(matmuls)
    return (named > 0) & (named < elements_in_16_bytes(matmuls.kernels.element[matmuls.chosen]))
