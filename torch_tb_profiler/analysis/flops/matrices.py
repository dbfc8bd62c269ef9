"""Matmuls and recurrent layers: for each operator the places of its matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import permutations
from math import prod
from types import MappingProxyType

from msgspec.structs import replace

from torch_tb_profiler.analysis.flops.work import (
    ELEMENT_BYTES,
    ELEMENT_NAMES,
    Certainty,
    Matmul,
    OperatorArguments,
    OperatorWork,
    Tensor,
    UnknownReason,
    UnknownWorkError,
    matmul_work,
)
from torch_tb_profiler.analysis.text_format import whole_number

Reader = Callable[[OperatorArguments], OperatorWork]

#: two numbers in a byte: what the arguments count as one element
_PACKED = frozenset({"c10::Float4_e2m1fn_x2"})


def matrices(a: int, b: int, batched: bool = False, result: int | None = None, bias: int | None = None) -> Reader:
    """Read a product of the arguments a and b.

    result     bytes of an element of the result, where it is always another type
    bias       an argument that is read as well, unless it is multiplied by 0
    """

    def read(given: OperatorArguments) -> OperatorWork:
        out_size = result or _result_size(given, b + 1, bias is not None)
        first, second = given.tensor(a), given.tensor(b)
        if len(first.dims) != 2 + batched or len(second.dims) != 2 + batched or first.dims[-1] != second.dims[-2]:
            raise ValueError("no two matrices that fit")
        if batched and first.dims[0] != second.dims[0]:
            raise ValueError("different batches")
        batch = first.dims[0] if batched else 1
        if not batch * first.dims[-2] * first.dims[-1] * second.dims[-1]:
            return OperatorWork(0, batch * first.dims[-2] * second.dims[-1] * (out_size or first.size), first.data)
        found = matmul(first, second, (batch, first.dims[-2], second.dims[-1], first.dims[-1]), not batched, out_size)
        added = given.tensor(bias).bytes if bias is not None and _is_added(given, bias, b + 1) else 0
        written = batch * found.m * found.n * (out_size or first.size)
        return OperatorWork(found.flops, first.bytes + second.bytes + added + written, found.data, product=found)

    return read


def _result_size(given: OperatorArguments, at: int, has_bias: bool) -> int | None:
    """Return the bytes of an element of the result, which overloads with `out_dtype` name behind the matrices."""
    if has_bias and (len(given) < 6 or given.is_tensor(5)):
        return None  # `beta` stands there
    text = given.concrete[at] if at < len(given.concrete) else ""
    number = whole_number(text)
    return None if number is None else _SCALAR_TYPES.get(number)


def _is_added(given: OperatorArguments, bias: int, beta: int) -> bool:
    is_zero = len(given) < 6 and given.concrete[beta : beta + 1] in (["0"], ["0."])
    return given.is_tensor(bias) and not is_zero


def matmul(
    first: Tensor, second: Tensor, shape: tuple[int, int, int, int], constant: bool, out_size: int | None = None
) -> Matmul:
    """Return one matmul or a batch of them. Raises ValueError for empty operands and for different types.

    shape      batch, m, n, k
    constant   the second matrix has two dimensions, as weights have
    out_size   bytes of an element of the result, where it is another type
    """
    batch, m, n, k = shape
    if not batch * m * n * k:
        raise ValueError("nothing to multiply")
    size = first.size
    if second.size != size or first.data != second.data:
        raise ValueError("different types")
    packed = 2 if first.kind in _PACKED else 1
    contiguous = [n]
    for tensor in (first, second):
        contiguous += [d for d, step in zip(tensor.dims[-2:], tensor.strides[-2:], strict=False) if step == 1]
    return Matmul(
        data=first.data,
        flops=packed * 2 * batch * m * n * k,
        elements=batch * m * k + batch * m * n * (out_size or size) // size,
        weights=batch * k * n,
        size=size,
        batch=batch,
        m=m,
        n=n,
        k=packed * k,
        aligned=min(map(_power, contiguous)),
        constant=constant,
    )


def _power(number: int) -> int:
    """Return the largest power of 2, at most 64, that divides a number; 64 for 1, which is no length of a row."""
    return 64 if number == 1 else min(number & -number, 64)


def linear(given: OperatorArguments) -> OperatorWork:
    x, w = given.tensor(0), given.tensor(1)
    if len(x.dims) < 2 or len(w.dims) != 2 or x.dims[-1] != w.dims[1]:
        raise ValueError("no linear layer")
    return matmul_work(matmul(x, w, (1, prod(x.dims[:-1]), w.dims[0], w.dims[1]), constant=True))


def _vector(a: int, b: int) -> Reader:
    """Read a matrix times a vector: all of the matrix is read."""

    def read(given: OperatorArguments) -> OperatorWork:
        matrix, vector = given.tensor(a), given.tensor(b)
        if len(matrix.dims) != 2 or len(vector.dims) != 1 or matrix.dims[1] != vector.dims[0]:
            raise ValueError("no matrix and vector that fit")
        m, k = matrix.dims
        return matmul_work(Matmul(matrix.data, 2 * m * k, m + k, m * k, matrix.size, 1, m, 1, k, constant=True))

    return read


def _dot(given: OperatorArguments) -> OperatorWork:
    a, b = given.tensor(0), given.tensor(1)
    if len(a.dims) != 1 or a.dims != b.dims:
        raise ValueError("no two vectors that fit")
    return OperatorWork(2 * a.elements, a.bytes + b.bytes + a.size, a.data)


def _summed(given: OperatorArguments) -> OperatorWork:
    """Read addbmm: matmuls of a batch that are added up."""
    a, b = given.tensor(1), given.tensor(2)
    if len(a.dims) != 3 or len(b.dims) != 3 or a.dims[0] != b.dims[0] or a.dims[2] != b.dims[1]:
        raise ValueError("no two batches that fit")
    found = matmul(a, b, (a.dims[0], a.dims[1], b.dims[2], a.dims[2]), constant=False)
    return OperatorWork(found.flops, a.bytes + b.bytes + 2 * a.dims[1] * b.dims[2] * a.size, found.data, product=found)


def _scaled(given: OperatorArguments) -> OperatorWork:
    """Read 8-bit or 4-bit inputs with scales; the result has 16 bits where its type is not recorded.

    The type is the one number among the arguments, whose order changed from version to version.
    """
    type_number = next((number for text in given.concrete if (number := whole_number(text)) is not None), None)
    work = matrices(0, 1, result=_SCALAR_TYPES.get(type_number, 2) if type_number is not None else 2)(given)
    scales = sum(given.tensor(at).bytes for at in range(2, len(given)) if given.is_tensor(at) and _is_scale(given, at))
    return replace(work, bytes=(work.bytes or 0) + scales)


def _is_scale(given: OperatorArguments, at: int) -> bool:
    """Return whether a tensor is a scale, and not where the result is written."""
    return given.tensor(at).dims != (given.tensor(0).dims[0], given.tensor(1).dims[1])


#: c10::ScalarType, by number, in bytes
_SCALAR_TYPES = {3: 4, 5: 2, 6: 4, 7: 8, 15: 2, 23: 1, 24: 1}


def _grouped(given: OperatorArguments) -> OperatorWork:
    """Read matmuls of different lengths. Weights of all groups count, which is at most what is read."""
    a, b = given.tensor(0), given.tensor(1)
    if len(a.dims) not in (2, 3) or len(b.dims) not in (2, 3) or a.dims[-1] != b.dims[-2]:
        raise ValueError("no groups that fit")
    k, n, m = a.dims[-1], b.dims[-1], a.dims[-2]
    ranks = len(a.dims), len(b.dims)
    if ranks == (2, 2):  # what is summed over is cut into groups
        offsets = [given.tensor(at) for at in range(2, len(given)) if given.is_tensor(at) and given.types[at] == "int"]
        if not offsets:
            raise UnknownWorkError(UnknownReason.CONTENTS)
        out = offsets[0].elements * m * n
        flops = 2 * m * n * k
    elif ranks in ((2, 3), (3, 2)):
        out, flops = m * n, 2 * m * n * k
    else:
        if a.dims[0] != b.dims[0]:
            raise ValueError("different groups")
        out, flops = a.dims[0] * m * n, 2 * a.dims[0] * m * n * k
    packed = 2 if a.kind in _PACKED else 1
    return OperatorWork(packed * flops, a.bytes + b.bytes + out * max(a.size, 2), a.data, Certainty.BOUND)


def _of_packed(bits: int) -> Reader:
    """Read weights of 8 or 4 bits, packed: the activation tells what is summed over."""

    def read(given: OperatorArguments) -> OperatorWork:
        x, w = given.tensor(0), given.tensor(1)
        if len(x.dims) != 2 or not w.elements:
            raise ValueError("no product with packed weights")
        m, k = x.dims
        values = w.elements * ELEMENT_BYTES[w.kind] * 8 // bits
        if not k or values % k:
            raise UnknownWorkError(UnknownReason.NO_MODEL)
        n = values // k
        return OperatorWork(2 * m * n * k, x.bytes + w.bytes + m * n * x.size, x.data, Certainty.DERIVED)

    return read


def _sparse(a: int, b: int) -> Reader:
    """Read 2:4 sparse matrices: the first holds half of its row. FLOP are those of the dense product."""

    def read(given: OperatorArguments) -> OperatorWork:
        packed, dense = given.tensor(a), given.tensor(b)
        if len(packed.dims) != 2 or len(dense.dims) != 2 or packed.kind != dense.kind:
            raise UnknownWorkError(UnknownReason.NO_MODEL)
        k, n = dense.dims
        m, held = packed.dims
        if not m * n * k or not k <= 2 * held <= k * 5 // 4:  # cuSPARSELt keeps what says the places in the same rows
            raise UnknownWorkError(UnknownReason.NO_MODEL)
        own = packed.bytes * 9 // 8 if 2 * held == k else packed.bytes
        return OperatorWork(2 * m * n * k, own + dense.bytes + m * n * dense.size, dense.data, Certainty.DERIVED)

    return read


def _sparse_linear(given: OperatorArguments) -> OperatorWork:
    """Read an input and, behind it, a 2:4 sparse weight (n, k ÷ 2)."""
    x, w = given.tensor(0), given.tensor(1)
    if len(x.dims) < 2 or len(w.dims) != 2 or x.dims[-1] != 2 * w.dims[1] or x.kind != w.kind:
        raise UnknownWorkError(UnknownReason.NO_MODEL)
    m, n = prod(x.dims[:-1]), w.dims[0]
    flops = 2 * m * n * x.dims[-1]
    return OperatorWork(flops, x.bytes + w.bytes * 9 // 8 + m * n * x.size, x.data, Certainty.DERIVED)


def engine(packed: int) -> Reader:
    """Read a matmul of an inference engine, if only one reading of its tensors fits.

    packed   how many numbers a byte holds, where both inputs are of bytes
    """

    def read(given: OperatorArguments) -> OperatorWork:
        a, b, n = _operands([t for t in given.tensors() if len(t.dims) > 1 and t.elements])
        m, k = a.dims
        of_byte = packed if a.kind in _BYTES else 2 if a.kind in _PACKED else 1
        data = "fp4" if of_byte == 2 else ELEMENT_NAMES.get(a.kind, "")
        return OperatorWork(2 * m * n * k * of_byte, a.bytes + b.bytes + 2 * m * n, data, Certainty.DERIVED)

    return read


#: types that hold numbers of 4 bits, two by two, where an operator says so
_BYTES = frozenset({"unsigned char", "signed char"})


def _operands(tensors: Sequence[Tensor]) -> tuple[Tensor, Tensor, int]:
    """Return both inputs, and how long rows of the result are. Raises UnknownWorkError.

    The result may stand before or behind the inputs, and be of their type.
    """
    narrow = [t for t in tensors if t.size == 1]
    if len(narrow) > 1:  # others are scales and the result
        a, b = narrow[:2]
        if (len(a.dims), len(b.dims)) != (2, 2) or ELEMENT_NAMES.get(a.kind) != ELEMENT_NAMES.get(b.kind):
            raise UnknownWorkError(UnknownReason.NO_MODEL)
        results = [t.dims for t in tensors if t not in narrow[:2] and t.size in (2, 4)]
        readings = {n for n in _lengths(a, b) if not results or (a.dims[0], n) in results} or set(_lengths(a, b))
        if len(readings) != 1:
            raise UnknownWorkError(UnknownReason.NO_MODEL)
        return a, b, readings.pop()
    if narrow or len(tensors) < 2 or any(t.kind == "int" for t in tensors):
        raise UnknownWorkError(UnknownReason.WEIGHTS)  # packed weights: their number of elements is unknown
    like = [t for t in tensors if t.kind == tensors[0].kind][:3]
    if len(like) < 2 or tensors[1].kind != tensors[0].kind or any(len(t.dims) != 2 for t in like):
        raise UnknownWorkError(UnknownReason.NO_MODEL)
    fits = [
        (a, b, n)
        for a, b, out in permutations(like, 3)
        for n in _lengths(a, b)
        if out.dims == (a.dims[0], n) and like.index(a) <= like.index(b)
    ]
    if not fits:
        fits = [(like[0], like[1], n) for n in _lengths(like[0], like[1])]
    if len({(a.dims, n) for a, _, n in fits}) != 1:
        raise UnknownWorkError(UnknownReason.NO_MODEL)
    return fits[0]


def _lengths(a: Tensor, b: Tensor) -> list[int]:
    """Return the possible row lengths of a product of a with b, or with b transposed."""
    return sorted({b.dims[other] for own, other in ((0, 1), (1, 0)) if b.dims[own] == a.dims[1]})


MATRICES: Mapping[str, Reader] = MappingProxyType(
    {
        "aten::mm": matrices(0, 1),
        "aten::_int_mm": matrices(0, 1, result=4),
        "aten::_scaled_mm": _scaled,
        "aten::_scaled_mm_v2": _scaled,
        "aten::addmm": matrices(1, 2, bias=0),
        "aten::addmm_": matrices(1, 2, bias=0),
        "aten::_addmm_activation": matrices(1, 2, bias=0),
        "aten::bmm": matrices(0, 1, batched=True),
        "aten::baddbmm": matrices(1, 2, batched=True, bias=0),
        "aten::baddbmm_": matrices(1, 2, batched=True, bias=0),
        "aten::addbmm": _summed,
        "aten::addbmm_": _summed,
        "aten::mv": _vector(0, 1),
        "aten::addmv": _vector(1, 2),
        "aten::addmv_": _vector(1, 2),
        "aten::dot": _dot,
        "aten::vdot": _dot,
        "aten::linear": linear,
        "mkldnn::_linear_pointwise": linear,
        "aten::mkldnn_linear": linear,
        "aten::_grouped_mm": _grouped,
        "aten::_scaled_grouped_mm": _grouped,
        "aten::_scaled_grouped_mm_v2": _grouped,
        "aten::_weight_int8pack_mm": _of_packed(8),
        "aten::_weight_int4pack_mm": _of_packed(4),
        "aten::_sparse_semi_structured_mm": _sparse(0, 2),
        "aten::_sparse_semi_structured_addmm": _sparse(1, 3),
        "aten::_sparse_semi_structured_linear": _sparse_linear,
        "aten::_cslt_sparse_mm": _sparse(0, 1),
    }
)


#: gates by mode of cuDNN: RNN with relu, with tanh, LSTM, GRU
_GATES = (1, 1, 4, 3)


def _layers(mode: int, hidden: int, projected: int | None, layers: int, buffer: int | None, backward: bool) -> Reader:
    """Read recurrent layers by the places of their settings. buffer: where all weights stand as one tensor."""

    def read(given: OperatorArguments) -> OperatorWork:
        x = given.tensor(0)
        width, gates, count = given.value(hidden), _GATES[given.value(mode)], given.value(layers)
        small = given.value(projected) if projected is not None else 0
        both = 2 if given.flags()[2][1] else 1
        out = small or width
        if not 0 < count < 10_000 or len(x.dims) < 2:
            raise ValueError("no layers")
        steps, weights, flops = prod(x.dims[:-1]), 0, 0
        for layer in range(count):
            size = x.dims[-1] if not layer else out * both
            of_layer = both * (size * gates * width + out * gates * width + (width * small if small else 0))
            flops += 2 * steps * of_layer
            weights += of_layer
        moved = given.tensor(buffer).bytes if buffer is not None and given.is_tensor(buffer) else weights * x.size
        moved += x.bytes + steps * both * out * x.size
        if backward:  # that of the first hidden state is counted, though it may not be needed
            return OperatorWork(2 * flops, 2 * moved, x.data, Certainty.BOUND)
        return OperatorWork(flops, moved, x.data)

    return read


def _one_layer(given: OperatorArguments) -> OperatorWork:
    x = given.tensor(0)
    hidden, gates = given.value(10), _GATES[given.value(9)]
    weights = (x.dims[-1] + hidden) * gates * hidden
    steps = prod(x.dims[:-1])
    return OperatorWork(2 * steps * weights, (weights + steps * hidden) * x.size + x.bytes, x.data)


RECURRENT: Mapping[str, Reader] = MappingProxyType(
    {
        "aten::_cudnn_rnn": _layers(6, 7, 8, 9, 3, backward=False),
        "aten::_cudnn_rnn_backward": _layers(10, 11, 12, 13, 3, backward=True),
        "aten::miopen_rnn": _layers(5, 6, None, 7, None, backward=False),
        "aten::miopen_rnn_backward": _layers(10, 11, None, 12, 3, backward=True),
        "aten::mkldnn_rnn_layer": _one_layer,
    }
)
