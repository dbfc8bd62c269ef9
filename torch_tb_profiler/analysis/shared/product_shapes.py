"""How much a product of matrices or a convolution has to multiply and to move, by the shapes of its operator.

A multiplication with its addition counts two FLOP; what is added to a product or applied to it afterwards counts
nothing. Bytes are the least: each input read once, each output written once. Shapes that an operator of the name cannot
have give nothing.
"""

from __future__ import annotations

import ast
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from types import MappingProxyType
from typing import Any

from torch_tb_profiler.analysis.shared.peaks import ElementType, Peaks
from torch_tb_profiler.analysis.shared.tensor_bytes import ELEMENT_BYTES, LARGEST_DIMENSION

#: what an `Input type` is called in names of kernels
_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "double": "fp64",
        "float": "fp32",
        "c10::Half": "fp16",
        "c10::BFloat16": "bf16",
        "signed char": "int8",
        **{f"c10::Float8_{kind}": "fp8" for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")},
    }
)

Dims = tuple[int, ...]


@dataclass(frozen=True)
class Product:
    """What an operator multiplies: (batch) × (m, k) × (k, n), or a convolution.

    data      what the inputs hold: fp64, fp32, fp16, bf16, fp8, int8
    flops     FLOP
    elements  how many elements are read and written at least, without those of the second matrix
    weights   elements of the second matrix, or of the filters
    size      bytes of an element of the inputs
    batch     products; 0 of a convolution
    m, n, k   of a product; 0 of a convolution
    aligned   how many elements every row that kernels load or store begins at a multiple of: the largest power of 2, at
              most 64, that divides the dimensions that lie one behind the other in memory. Without strides only the
              output, whose rows are n long, is known to lie so. 64 of a convolution
    constant  the second matrix has two dimensions, as weights have
    """

    data: str
    flops: int
    elements: int
    weights: int
    size: int
    batch: int = 0
    m: int = 0
    n: int = 0
    k: int = 0
    aligned: int = 64
    constant: bool = False

    @property
    def bytes(self) -> int:
        """The least that is read and written."""
        return self.size * (self.elements + self.weights)


def minimal_ns(product: Product, peaks: Peaks, multiplied: ElementType, size: int | None = None) -> float | None:
    """How long a device needs at least, ns: the longer of multiplying and moving. None where it has no such units.

    multiplied   the element type that it would multiply
    size         bytes that an element would have; by default as it is
    """
    rate = peaks.flops.get(multiplied)
    if rate is None:
        return None
    moved = product.bytes if size is None else size * (product.elements + product.weights)
    return 1e9 * max(product.flops / rate, moved / peaks.bandwidth)


def product_of(operator: str, dims: str, types: str, concrete: str, strides: str) -> Product | None:
    """What an operator multiplies; None for one that is no product, or whose shapes do not say it.

    operator   its name
    others     the arguments `Input Dims`, `Input type`, `Concrete Inputs`, `Input Strides`, JSON texts; "" for missing
    """
    read = _READERS.get(operator)
    if read is None:
        return None
    try:
        arguments = _Arguments(
            [_tensor(each) for each in _list(dims)],
            [str(each) for each in _list(types)],
            [str(each) for each in _list(concrete)],
            [_tensor(each) for each in _list(strides)],
        )
        return read(arguments)
    except (ArithmeticError, ValueError, IndexError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _list(text: str) -> list[Any]:
    found = json.loads(text or "[]")
    return found if isinstance(found, list) else []


def _tensor(dims: object) -> Dims:
    """The dimensions of a tensor; () for all that is none."""
    if not isinstance(dims, list) or not all(isinstance(d, int) and 0 <= d < LARGEST_DIMENSION for d in dims):
        return ()
    return tuple(dims)


@dataclass(frozen=True)
class _Arguments:
    """Parallel, shape (arguments,)."""

    dims: Sequence[Dims]
    types: Sequence[str]
    concrete: Sequence[str]
    strides: Sequence[Dims]

    def type_of(self, at: int) -> tuple[int, str]:
        """Raises ValueError for a type that nothing is known of, or that was not recorded."""
        kind = self.types[at] if at < len(self.types) else ""
        if kind not in _NAMES:
            raise ValueError(f"argument {at} has no known type")
        return ELEMENT_BYTES[kind], _NAMES[kind]

    def value(self, at: int) -> Any:
        """Raises IndexError where it was not recorded."""
        return ast.literal_eval(self.concrete[at])

    def numbers(self, at: int, count: int) -> list[int]:
        """One for each dimension, as strides of a convolution are."""
        found = self.value(at)
        if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
            raise ValueError(f"argument {at} is no list")
        found = found * count if len(found) == 1 else found
        if len(found) != count:
            raise ValueError(f"argument {at} is not of {count} dimensions")
        return found


def _matrices(a: int, b: int, batched: bool = False, out_size: int | None = None) -> Callable[[_Arguments], Product]:
    """A product of the arguments a and b; `out_size`: bytes of an element of the result, where it is another."""

    def read(given: _Arguments) -> Product:
        first, second = given.dims[a], given.dims[b]
        if len(first) != 2 + batched or len(second) != 2 + batched or first[-1] != second[-2]:
            raise ValueError("no two matrices that fit")
        if batched and first[0] != second[0]:
            raise ValueError("different batches")
        return _product(
            given, a, b, first[0] if batched else 1, first[-2], second[-1], first[-1], not batched, out_size
        )

    return read


def _linear(given: _Arguments) -> Product:
    x, w = given.dims[0], given.dims[1]
    if len(x) < 2 or len(w) != 2 or x[-1] != w[1]:
        raise ValueError("no linear layer")
    # both lie with k behind each other, unless strides say that they do not
    return _product(given, 0, 1, 1, prod(x[:-1]), w[0], w[1], True, None)


def _vector(a: int, b: int) -> Callable[[_Arguments], Product]:
    def read(given: _Arguments) -> Product:
        matrix, vector = given.dims[a], given.dims[b]
        if len(matrix) != 2 or len(vector) != 1 or matrix[1] != vector[0]:
            raise ValueError("no matrix and vector that fit")
        size, data = given.type_of(a)
        m, k = matrix
        return Product(data, 2 * m * k, m + k, m * k, size, 1, m, 1, k, aligned=64, constant=True)

    return read


def _product(
    given: _Arguments, a: int, b: int, batch: int, m: int, n: int, k: int, constant: bool, out_size: int | None
) -> Product:
    if not batch * m * n * k:
        raise ValueError("nothing to multiply")
    size, data = given.type_of(a)
    if given.type_of(b)[0] != size:
        raise ValueError("different types")
    output = batch * m * n * (out_size or size) // size
    contiguous = [n]
    for at in (a, b):
        dims, strides = given.dims[at], given.strides[at] if at < len(given.strides) else ()
        contiguous += [d for d, stride in zip(dims[-2:], strides[-2:], strict=False) if stride == 1]
    return Product(
        data=data,
        flops=2 * batch * m * n * k,
        elements=batch * m * k + output,
        weights=batch * k * n,
        size=size,
        batch=batch,
        m=m,
        n=n,
        k=k,
        aligned=min(_power(each) for each in contiguous),
        constant=constant,
    )


def _power(number: int) -> int:
    """The largest power of 2, at most 64, that divides a number; 64 for 1, which is no length of a row."""
    return 64 if number == 1 else min(number & -number, 64)


def _convolution(stride: int, padding: int, dilation: int, transposed: int | None = None) -> Callable[..., Product]:
    """A convolution of the arguments 0 and 1; the others say where its settings stand."""

    def read(given: _Arguments) -> Product:
        x, w = given.dims[0], given.dims[1]
        spatial = len(x) - 2
        if spatial < 1 or len(w) != len(x):
            raise ValueError("no convolution")
        if transposed is not None and given.value(transposed) is not False:
            raise ValueError("not told of transposed ones")
        steps, pads, spread = (given.numbers(at, spatial) for at in (stride, padding, dilation))
        outer = [
            (size + 2 * pad - wide * (length - 1) - 1) // step + 1
            for size, length, step, pad, wide in zip(x[2:], w[2:], steps, pads, spread, strict=True)
        ]
        return _convolved(given, 0, x, w, (x[0], w[0], *outer), 1)

    return read


def _backward(given: _Arguments) -> Product:
    """Of the gradient, the input and the weights; both of these have gradients where the trace does not say."""
    dy, x, w = given.dims[0], given.dims[1], given.dims[2]
    mask = given.value(10)[:2] if len(given.concrete) > 10 else [True, True]
    if len(given.concrete) > 7 and given.value(7) is not False:
        raise ValueError("not told of transposed ones")
    return _convolved(given, 0, x, w, dy, sum(bool(each) for each in mask))


def _backward_of_2021(given: _Arguments) -> Product:
    x, dy, w = given.dims[0], given.dims[1], given.dims[2]
    return _convolved(given, 0, x, w, dy, 2)


def _convolved(given: _Arguments, typed: int, x: Dims, w: Dims, y: Dims, times: int) -> Product:
    """y is the convolution of x with w; times: how many products of this size there are."""
    fits = len(x) == len(w) == len(y) >= 3 and x[0] == y[0] and y[1] == w[0] and w[1] and x[1] % w[1] == 0
    if not fits or not times or min(*x, *w, *y) <= 0:
        raise ValueError("no convolution")
    size, data = given.type_of(typed)
    flops = 2 * y[0] * prod(y[2:]) * prod(w)
    return Product(data, times * flops, times * (prod(x) + prod(y)), times * prod(w), size)


_READERS: Mapping[str, Callable[[_Arguments], Product]] = MappingProxyType(
    {
        "aten::mm": _matrices(0, 1),
        "aten::_int_mm": _matrices(0, 1, out_size=4),
        "aten::_scaled_mm": _matrices(0, 1, out_size=2),
        "aten::addmm": _matrices(1, 2),
        "aten::_addmm_activation": _matrices(1, 2),
        "aten::bmm": _matrices(0, 1, batched=True),
        "aten::baddbmm": _matrices(1, 2, batched=True),
        "aten::mv": _vector(0, 1),
        "aten::addmv": _vector(1, 2),
        "aten::linear": _linear,
        "aten::convolution": _convolution(3, 4, 5, 6),
        "aten::_convolution": _convolution(3, 4, 5, 6),
        "aten::cudnn_convolution": _convolution(3, 2, 4),
        "aten::cudnn_convolution_relu": _convolution(3, 4, 5),
        "aten::cudnn_convolution_add_relu": _convolution(5, 6, 7),
        "aten::miopen_convolution": _convolution(4, 3, 5),
        "aten::convolution_backward": _backward,
        "aten::cudnn_convolution_backward": _backward_of_2021,
    }
)
#: operators that are products by themselves; what they call belongs to them
PRODUCT_OPERATORS = frozenset(_READERS)
