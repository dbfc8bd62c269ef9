"""Kernels of matmuls and convolutions: what they multiply, and the operator calls whose shapes tell how much."""

from __future__ import annotations

import re

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.flops.work import Matmul
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute
from torch_tb_profiler.analysis.shared.tensor_cores import Use, nvidia_capability, use_of_device_work
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.kernel_names.plain import element_type

#: what kernels multiply, in the order of `MatmulKernels.element`
ELEMENTS = ("fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8")
#: kinds of kernels, in the order of `ProductKernels.kind`; gemv is a product with a vector
KINDS = (KernelKind.GEMM, KernelKind.CONV, KernelKind.GEMV, KernelKind.ATTENTION)
#: the first compute capability whose tensor cores multiply 32 bits, as TF32
FIRST_WITH_TF32 = (8, 0)

_FLOAT = lazy_pattern(r"[<, ]float\b")
_OTHER = lazy_pattern(r"half|bf16|bfloat16|fp16|double|float2|int8|fp8|e4m3|e5m2", re.IGNORECASE)


class MatmulKernels(msgspec.Struct, frozen=True):
    """Compute kernels of the kinds `KINDS`, selected ones only. Parallel, shape (n,).

    place      position in `Model.device_work`
    row        the event
    duration   ns
    kind       index into KINDS
    element    what it multiplies, index into ELEMENTS: by its name, else by the inputs of its operator; -1: unknown.
               Kernels with inputs of 32 bits on tensor cores of NVIDIA's multiply as TF32
    use        `Use` of tensor cores
    call       index into `calls`; -1 where no operator says what is multiplied
    calls      the operator calls
    """

    place: Int64
    row: Int32
    duration: Int64
    kind: Int8
    element: Int8
    use: Int8
    call: Int64
    calls: MatmulCalls

    def __len__(self) -> int:
        return len(self.row)


class MatmulCalls(msgspec.Struct, frozen=True):
    """Calls of operators of known shapes that launched matmul kernels. Parallel, shape (calls,).

    row        the event of the operator
    duration   Σ of its product kernels, ns
    first      one of its kernels, index into `MatmulKernels`
    shape      index into `shapes`
    shapes     the different products
    """

    row: Int32
    duration: Int64
    first: Int64
    shape: Int64
    shapes: tuple[Matmul, ...]

    def __len__(self) -> int:
        return len(self.row)


@cached
def matmul_kernels(model: Model) -> MatmulKernels:
    """Return the kernels of a trace that multiply matrices or convolve."""
    trace, strings = model.trace, model.trace.strings
    names = trace.events.name[model.device_work.row]
    computes = np.flatnonzero(is_compute(model))
    kind_of, element_of = np.full((2, len(strings)), -1, np.int8)
    for code in np.flatnonzero(np.bincount(names[computes], minlength=1)).tolist():
        family = family_of(strings[code])
        if family is not None and family.kind in KINDS:
            kind_of[code] = KINDS.index(family.kind)
            element_of[code] = _element(strings[code])
    place = computes[kind_of[names[computes]] >= 0]
    name, duration = names[place], durations(model)[place]
    use = use_of_device_work(model)[place]
    call, calls = _calls(model, place, duration)
    element = element_of[name]
    data = np.array([_code(shape.data) for shape in calls.shapes] or [-1], np.int8)
    by_call = np.where(call >= 0, data[calls.shape[call]] if len(calls) else -1, -1)
    element = np.where(element >= 0, element, by_call)
    as_tf32 = (element == ELEMENTS.index("fp32")) & (use == Use.YES) & _has_tf32(model, place)
    element = np.where(as_tf32, ELEMENTS.index("tf32"), element).astype(np.int8)
    return MatmulKernels(place, model.device_work.row[place], duration, kind_of[name], element, use, call, calls)


def _element(kernel: str) -> int:
    """Return the index into ELEMENTS; -1 for unknown. A template for `float` and no other type multiplies that."""
    found = element_type(kernel)
    if found is None and _FLOAT.search(kernel) and not _OTHER.search(kernel):
        found = "fp32"
    return _code(found)


def _code(element: str | None) -> int:
    return ELEMENTS.index(element) if element in ELEMENTS else -1


def _has_tf32(model: Model, place: Int64) -> Bool:
    """Return which device activities ran on a device that can multiply as TF32, shape (n,)."""
    devices, of = distinct_places(model.device_work.device[place])
    capabilities = [nvidia_capability(model.trace.header.device(int(device))) for device in devices.tolist()]
    has = np.array([each is not None and each >= FIRST_WITH_TF32 for each in capabilities], np.bool_)
    return has[of] if len(of) else np.zeros(0, np.bool_)


def _calls(model: Model, place: Int64, duration: Int64) -> tuple[Int64, MatmulCalls]:
    """Return the index of each kernel's call, -1 for none, and the calls."""
    counts = work_counts(model)
    none = np.empty(0, np.int64)
    if counts.on_host or not len(place):
        return np.full(len(place), -1, np.int64), MatmulCalls(np.empty(0, np.int32), none, none, none, ())
    call_of_place = np.full(len(model.device_work), -1, np.int64)
    call_of_place[counts.activities.place] = counts.activities.call
    owner = call_of_place[place]
    shape_of_work = np.full(len(counts.calls.works) + 1, -1, np.int64)
    products = [at for at, work in enumerate(counts.calls.works) if work.product is not None]
    shape_of_work[products] = np.arange(len(products))
    shape_of_call = np.append(shape_of_work[counts.calls.work], -1)
    owner = np.where(shape_of_call[owner] >= 0, owner, -1)
    has = np.flatnonzero(owner >= 0)
    chosen, of = distinct_places(owner[has])
    call = np.full(len(place), -1, np.int64)
    call[has] = of
    total = np.bincount(of, duration[has], len(chosen)).astype(np.int64)
    first = np.empty(len(chosen), np.int64)
    first[of[::-1]] = has[::-1]
    shapes = tuple(work.product for work in counts.calls.works if work.product is not None)
    return call, MatmulCalls(counts.calls.row[chosen], total, first, shape_of_call[chosen], shapes)
