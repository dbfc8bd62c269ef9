"""Kernels that compilers generate, and kernels of engines that bring their weights along.

The profiler writes the arguments of a compiled kernel into an operator of the same name around its launch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec.structs import replace

from torch_tb_profiler.analysis.flops.matrices import Reader, engine, matmul
from torch_tb_profiler.analysis.flops.work import (
    ELEMENT_NAMES,
    ERRORS,
    Certainty,
    OperatorArguments,
    OperatorWork,
    UnknownReason,
    UnknownWorkError,
    matmul_work,
    moves,
    read_arguments,
    unknown_work,
)
from torch_tb_profiler.analysis.text_format import whole_number
from torch_tb_profiler.lazy_pattern import lazy_pattern

_POINTWISE = lazy_pattern(r"triton_(?:poi|red|per|for|spl|mix|split_scan)_")
_TEMPLATE = lazy_pattern(r"triton_(?:tem|mm|bmm|addmm|flex)_")
_ENGINE = lazy_pattern(
    r"(?i).*(?:cublas_scaled_mm|deep_gemm|gemm_a8w8|gemm_a4w4|gemm_a16w16|hipblaslt_gemm|hipb_mm|cutlass_scaled_mm"
    r"|fp8_gemm|marlin_gemm|w8a8_block_fp8_matmul|fp4_gemm|cutlass_scaled_fp4_mm)"
)
_OF_4_BITS = lazy_pattern(r"(?i)fp4|a4w4")
_EXPERTS = lazy_pattern(r"(?:vllm|sglang|aiter)::(?:(?:in|out)place_fused_experts|fused_moe|fmoe\w*|ck_moe\w*)")
#: lookups in tables and what sorts their indices, of FBGEMM
_LOOKUP = lazy_pattern(r"fbgemm::split_embedding_codegen_lookup_\w+_function")
_BY_CONTENTS = lazy_pattern(r"fbgemm::|torch::autograd::CppNode<Split")


def all_tensors(given: OperatorArguments) -> int | None:
    """Return Σ bytes of the tensors; each element of an expanded one counts once. None if there are none."""
    return sum(each.bytes for each in given.tensors()) or None


def tensor_bytes(dims: str, types: str, strides: str) -> int | None:
    """Return the bytes of the tensors among recorded arguments; None if unknown. Arguments as in `read_arguments`."""
    try:
        return all_tensors(read_arguments(dims, types, "", strides))
    except (UnknownWorkError, *ERRORS):
        return None


def _pointwise(given: OperatorArguments) -> OperatorWork:
    """Count all pointers as read or written, once if both."""
    size = all_tensors(given)
    if size is None:
        raise ValueError("no tensors")
    return moves(size, Certainty.ESTIMATE)


def _template(given: OperatorArguments) -> OperatorWork:
    """Read a matmul made from a template: its first two matrices, where one dimension is the same."""
    found = [each for each in given.tensors() if len(each.dims) in (2, 3)]
    if len(found) < 3 or len(found[0].dims) != len(found[1].dims) or len(found[2].dims) != len(found[0].dims):
        raise UnknownWorkError(UnknownReason.GENERATED)
    a, b, out = found[:3]
    batched = len(a.dims) == 3
    if a.dims[-1] != b.dims[-2] or out.dims[-2:] != (a.dims[-2], b.dims[-1]):
        raise UnknownWorkError(UnknownReason.GENERATED)
    batch = a.dims[0] if batched else 1
    work = matmul_work(matmul(a, b, (batch, a.dims[-2], b.dims[-1], a.dims[-1]), not batched))
    return work.surely(Certainty.DERIVED)


def _experts(given: OperatorArguments) -> OperatorWork:
    """Read tokens, the two weights of all experts, and which of them each token goes to."""
    tensors = [each for each in given.tensors() if each.elements]
    x = next((t for t in tensors if len(t.dims) == 2), None)
    weights = [t for t in tensors if len(t.dims) == 3]
    if x is None or len(weights) < 2:
        raise UnknownWorkError(UnknownReason.WEIGHTS)
    tokens, width = x.dims
    first, second = weights[:2]
    chosen = next((t for t in tensors if t is not x and len(t.dims) == 2 and t.dims[0] == tokens), None)
    if chosen is None or first.dims[2] != width or second.dims[1] != width:
        raise UnknownWorkError(UnknownReason.WEIGHTS)
    inner, most = second.dims[2], min(first.dims[0], tokens * chosen.dims[1])
    if first.dims[1] not in (inner, 2 * inner):
        raise UnknownWorkError(UnknownReason.WEIGHTS)
    flops = 2 * tokens * chosen.dims[1] * width * (first.dims[1] + inner)
    touched = (first.bytes + second.bytes) * most // first.dims[0]
    return OperatorWork(flops, 2 * x.bytes + touched, x.data, Certainty.BOUND)


def _opaque(_: OperatorArguments) -> OperatorWork:
    """Give up: the weights of a layer are not among the arguments."""
    raise UnknownWorkError(UnknownReason.WEIGHTS)


OPAQUE: Mapping[str, Reader] = MappingProxyType({"vllm::moe_forward": _opaque, "vllm::moe_forward_shared": _opaque})


def _rows_by_contents(_: OperatorArguments) -> OperatorWork:
    """Give up: only their indices tell which rows of tables are read."""
    return unknown_work(UnknownReason.CONTENTS, 0)


def _pooled_rows(given: OperatorArguments) -> OperatorWork:
    """Read a lookup of FBGEMM in tables of several widths: rows of a mean width are read, and summed for each bag."""
    weights, tables, indices, offsets = (given.tensor(at) for at in (1, 5, 11, 12))
    if len(given.concrete) <= 8 or whole_number(given.concrete[7]) is None:
        return _rows_by_contents(given)
    width, widest, count = given.value(7), given.value(8), tables.elements
    bags = offsets.elements - 1
    if given.tensor(6).elements != count + 1 or not 0 < widest <= width <= widest * count or bags % count:
        return _rows_by_contents(given)
    read = indices.elements * width // count * weights.size
    moved = read + indices.bytes + offsets.bytes + bags // count * width * weights.size
    return moves(moved, Certainty.ESTIMATE)


def with_recorded(work: OperatorWork, types: str, flops: str, gigabytes: str) -> OperatorWork:
    """Add what Inductor counted: `kernel_flop` and `kernel_num_gb`, "" for missing, and `Input type`.

    What the arguments say exactly stays. 0 is written of a kernel that Inductor knows nothing of. FLOP without a type
    of inputs have no peak: they stay unknown.
    """
    if (not flops and not gigabytes) or (work.sure == Certainty.EXACT and work.why is None):
        return work
    data = work.data or next((ELEMENT_NAMES[kind] for kind in _kinds(types) if kind in ELEMENT_NAMES), "")
    new_flops = (_amount(flops) if data else None) or work.flops
    new_bytes = _amount(gigabytes, 1e9) or work.bytes
    if (new_flops, new_bytes) == (work.flops, work.bytes):
        return work
    why = None if new_flops is not None and new_bytes is not None else work.why or UnknownReason.GENERATED
    return replace(work, flops=new_flops, bytes=new_bytes, data=data, why=why, sure=Certainty.RECORDED)


def _kinds(types: str) -> Sequence[str]:
    try:
        return read_arguments("", types, "", "").types
    except ERRORS:
        return ()


def _amount(text: str, unit: float = 1.0) -> int | None:
    """Parse a recorded number; None if it is none."""
    try:
        found = unit * float(text.strip('"'))
    except ValueError:
        return None
    return round(found) if 0 <= found < 2.0**63 else None


def reader_of(operator: str) -> Reader | None:
    """Return the reader that a generated name looks like; None for all others."""
    if operator.startswith("triton_"):
        return _pointwise if _POINTWISE.match(operator) else _template if _TEMPLATE.match(operator) else None
    if _LOOKUP.fullmatch(operator):
        return _pooled_rows
    if _BY_CONTENTS.match(operator):
        return _rows_by_contents
    if "::" not in operator or operator.startswith("aten::"):
        return None
    if _ENGINE.match(operator):
        return engine(2 if _OF_4_BITS.search(operator) else 1)
    return _experts if _EXPERTS.match(operator) else None
