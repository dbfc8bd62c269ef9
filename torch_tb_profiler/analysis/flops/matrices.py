"""Products of matrices: operator → where its matrices stand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod
from types import MappingProxyType

from torch_tb_profiler.analysis.flops.arguments import ELEMENT_BYTES, Arguments, Tensor
from torch_tb_profiler.analysis.flops.work import NotKnown, Product, Sure, Unknown, Work, of_product

Reader = Callable[[Arguments], Work]

#: two numbers in a byte: what the arguments count as one element
_PACKED = frozenset({"c10::Float4_e2m1fn_x2"})


def matrices(a: int, b: int, batched: bool = False, out_size: int | None = None, bias: int | None = None) -> Reader:
    """A product of the arguments a and b.

    out_size   bytes of an element of the result, where it is another type
    bias       an argument that is read as well
    """

    def read(given: Arguments) -> Work:
        first, second = given.tensor(a), given.tensor(b)
        if len(first.dims) != 2 + batched or len(second.dims) != 2 + batched or first.dims[-1] != second.dims[-2]:
            raise ValueError("no two matrices that fit")
        if batched and first.dims[0] != second.dims[0]:
            raise ValueError("different batches")
        batch = first.dims[0] if batched else 1
        if not batch * first.dims[-1]:
            return Work(0, batch * first.dims[-2] * second.dims[-1] * (out_size or first.size), first.data)
        found = product(first, second, batch, first.dims[-2], second.dims[-1], first.dims[-1], not batched, out_size)
        added = given.tensor(bias).bytes if bias is not None and given.is_tensor(bias) else 0
        result = batch * found.m * found.n * (out_size or first.size)
        return Work(found.flops, first.bytes + second.bytes + added + result, found.data, product=found)

    return read


def product(
    first: Tensor, second: Tensor, batch: int, m: int, n: int, k: int, constant: bool, out_size: int | None = None
) -> Product:
    """Raises ValueError for nothing, and for different types."""
    if not batch * m * n * k:
        raise ValueError("nothing to multiply")
    size = first.size
    if second.size != size or first.data != second.data:
        raise ValueError("different types")
    packed = 2 if first.kind in _PACKED else 1
    contiguous = [n]
    for each in (first, second):
        contiguous += [d for d, step in zip(each.dims[-2:], each.strides[-2:], strict=False) if step == 1]
    return Product(
        data=first.data,
        flops=packed * 2 * batch * m * n * k,
        elements=batch * m * k + batch * m * n * (out_size or size) // size,
        weights=batch * k * n,
        size=size,
        batch=batch,
        m=m,
        n=n,
        k=packed * k,
        aligned=min(_power(each) for each in contiguous),
        constant=constant,
    )


def _power(number: int) -> int:
    """The largest power of 2, at most 64, that divides a number; 64 for 1, which is no length of a row."""
    return 64 if number == 1 else min(number & -number, 64)


def linear(given: Arguments) -> Work:
    x, w = given.tensor(0), given.tensor(1)
    if len(x.dims) < 2 or len(w.dims) != 2 or x.dims[-1] != w.dims[1]:
        raise ValueError("no linear layer")
    return of_product(product(x, w, 1, prod(x.dims[:-1]), w.dims[0], w.dims[1], constant=True))


def _vector(a: int, b: int) -> Reader:
    """A matrix and a vector: all of the matrix is read."""

    def read(given: Arguments) -> Work:
        matrix, vector = given.tensor(a), given.tensor(b)
        if len(matrix.dims) != 2 or len(vector.dims) != 1 or matrix.dims[1] != vector.dims[0]:
            raise ValueError("no matrix and vector that fit")
        m, k = matrix.dims
        return of_product(Product(matrix.data, 2 * m * k, m + k, m * k, matrix.size, 1, m, 1, k, constant=True))

    return read


def _dot(given: Arguments) -> Work:
    a, b = given.tensor(0), given.tensor(1)
    if len(a.dims) != 1 or a.dims != b.dims:
        raise ValueError("no two vectors that fit")
    return Work(2 * a.elements, a.bytes + b.bytes + a.size, a.data)


def _summed(given: Arguments) -> Work:
    """addbmm: products of a batch that are added up."""
    a, b = given.tensor(1), given.tensor(2)
    if len(a.dims) != 3 or len(b.dims) != 3 or a.dims[0] != b.dims[0] or a.dims[2] != b.dims[1]:
        raise ValueError("no two batches that fit")
    found = product(a, b, a.dims[0], a.dims[1], b.dims[2], a.dims[2], constant=False)
    return Work(found.flops, a.bytes + b.bytes + 2 * a.dims[1] * b.dims[2] * a.size, found.data, product=found)


def _scaled(out: int) -> Reader:
    """8-bit or 4-bit inputs with scales; the result has 16 bits where its type is not said."""

    def read(given: Arguments) -> Work:
        return matrices(0, 1, out_size=_out_size(given, out))(given)

    return read


#: c10::ScalarType, by number, in bytes; what _scaled_mm writes
_SCALAR_TYPES = {5: 2, 6: 4, 15: 2, 23: 1, 24: 1}


def _out_size(given: Arguments, at: int) -> int:
    text = given.concrete[at] if at < len(given.concrete) else ""
    return _SCALAR_TYPES.get(int(text), 2) if text.isdigit() else 2


def _grouped(given: Arguments) -> Work:
    """Products of a different length each. Weights of all groups are counted, which is at most what is read."""
    a, b = given.tensor(0), given.tensor(1)
    if len(a.dims) not in (2, 3) or len(b.dims) not in (2, 3) or a.dims[-1] != b.dims[-2]:
        raise ValueError("no groups that fit")
    k, n, m = a.dims[-1], b.dims[-1], a.dims[-2]
    ranks = len(a.dims), len(b.dims)
    if ranks == (2, 2):  # what is summed over is cut into groups
        offsets = next(
            given.tensor(at) for at in range(2, len(given)) if given.is_tensor(at) and given.types[at] == "int"
        )
        out = offsets.elements * m * n
        flops = 2 * m * n * k
    elif ranks in ((2, 3), (3, 2)):
        out, flops = m * n, 2 * m * n * k
    else:
        if a.dims[0] != b.dims[0]:
            raise ValueError("different groups")
        out, flops = a.dims[0] * m * n, 2 * a.dims[0] * m * n * k
    packed = 2 if a.kind in _PACKED else 1
    return Work(packed * flops, a.bytes + b.bytes + out * max(a.size, 2), a.data, Sure.BOUND)


def _of_packed(bits: int) -> Reader:
    """Weights of 8 or 4 bits, packed: the activation says what is summed over."""

    def read(given: Arguments) -> Work:
        x, w = given.tensor(0), given.tensor(1)
        if len(x.dims) != 2 or not w.elements:
            raise ValueError("no product with packed weights")
        m, k = x.dims
        values = w.elements * ELEMENT_BYTES[w.kind] * 8 // bits
        if not k or values % k:
            raise NotKnown(Unknown.NO_MODEL)
        n = values // k
        return Work(2 * m * n * k, x.bytes + w.bytes + m * n * x.size, x.data, Sure.DERIVED)

    return read


def _sparse(a: int, b: int) -> Reader:
    """2:4 sparse: the first matrix holds half of its row. FLOP are those of the dense product."""

    def read(given: Arguments) -> Work:
        packed, dense = given.tensor(a), given.tensor(b)
        if len(packed.dims) != 2 or len(dense.dims) != 2 or 2 * packed.dims[1] != dense.dims[0]:
            raise NotKnown(Unknown.NO_MODEL)
        m, k, n = packed.dims[0], dense.dims[0], dense.dims[1]
        return Work(2 * m * n * k, packed.bytes * 9 // 8 + dense.bytes + m * n * dense.size, dense.data, Sure.DERIVED)

    return read


def engine(given: Arguments) -> Work:
    """A product of an inference engine: its first two tensors of two dimensions, if only one reading fits."""
    found = [t for t in given.tensors() if len(t.dims) == 2]
    if len(found) < 2:
        raise NotKnown(Unknown.WEIGHTS)
    a, b = found[:2]
    outs = {b.dims[other] for own, other in ((0, 1), (1, 0)) if b.dims[own] == a.dims[1]}
    if len(outs) != 1:
        raise NotKnown(Unknown.NO_MODEL)
    m, k = a.dims
    n = outs.pop()
    return Work(2 * m * n * k, a.bytes + b.bytes + 2 * m * n, a.data, Sure.DERIVED)


MATRICES: Mapping[str, Reader] = MappingProxyType(
    {
        "aten::mm": matrices(0, 1),
        "aten::_int_mm": matrices(0, 1, out_size=4),
        "aten::_scaled_mm": _scaled(6),
        "aten::_scaled_mm_v2": _scaled(9),
        "aten::addmm": matrices(1, 2, bias=0),
        "aten::addmm_": matrices(1, 2, bias=0),
        "aten::_addmm_activation": matrices(1, 2, bias=0),
        "aten::bmm": matrices(0, 1, batched=True),
        "aten::baddbmm": matrices(1, 2, batched=True),
        "aten::baddbmm_": matrices(1, 2, batched=True),
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
        "aten::_cslt_sparse_mm": _sparse(0, 1),
    }
)
