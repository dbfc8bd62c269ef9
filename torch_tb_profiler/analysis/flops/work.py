"""The work of one call of an operator and how certain it is; its recorded arguments, read without running anything."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator, Mapping, Sequence
from enum import Enum
from functools import lru_cache
from math import prod
from types import MappingProxyType
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.lazy_pattern import lazy_pattern


class UnknownReason(str, Enum):
    """Why FLOP or bytes are unknown."""

    SHAPES_OFF = "shapes_off"
    GRAPH_REPLAY = "graph_replay"
    COMPILED_REGION = "compiled_region"
    BEFORE_RECORDING = "before_recording"
    NO_OPERATOR = "no_operator"
    CONTENTS = "contents"
    LONG_LIST = "long_list"
    WEIGHTS = "weights"
    NO_MODEL = "no_model"
    GENERATED = "generated"


class Certainty(str, Enum):
    """How certain a number is.

    EXACT       from the arguments of the call
    DERIVED     with what another event of the trace says
    BOUND       at least, or at most, that much: the arguments leave a part open
    ESTIMATE    from the grid of a kernel, or a mean
    RECORDED    the trace says it
    """

    EXACT = "exact"
    DERIVED = "derived"
    BOUND = "bound"
    ESTIMATE = "estimate"
    RECORDED = "recorded"


class UnknownWorkError(Exception):
    """The arguments do not tell the work; `why` says what is missing."""

    def __init__(self, why: UnknownReason) -> None:
        super().__init__(why.value)
        self.why = why


class Matmul(msgspec.Struct, frozen=True):
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
    groups    of a convolution
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
    groups: int = 1

    @property
    def bytes(self) -> int:
        """The least that is read and written."""
        return self.size * (self.elements + self.weights)


class FlopBounds(msgspec.Struct, frozen=True):
    """Bounds of FLOP that cannot be counted exactly.

    least, most               of those that are executed
    model_least, model_most   of those that the model needs
    """

    least: int
    most: int
    model_least: int
    model_most: int


class OperatorWork(msgspec.Struct, frozen=True):
    """The work of one call. A multiply-add counts two FLOP; softmax, bias, activation and norm none.

    flops     matrix FLOP that are executed; None: unknown
    model     those that the model needs: without what attention computes again in its backward pass
    dense     as `flops`, attention counted as if nothing were masked
    bytes     the least that is read and written, each different element once; None: unknown
    data      what the inputs hold, as `Product.data`; empty if that does not matter
    sure      how FLOP and bytes are known
    product   of products of matrices and convolutions
    why       why one of them is unknown
    between   what FLOP lie between; None if they are known, or nothing can be said
    """

    flops: int | None
    bytes: int | None
    data: str = ""
    sure: Certainty = Certainty.EXACT
    model: int | None = None
    dense: int | None = None
    product: Matmul | None = None
    why: UnknownReason | None = None
    between: FlopBounds | None = None

    @property
    def model_flops(self) -> int | None:
        return self.flops if self.model is None else self.model

    @property
    def dense_flops(self) -> int | None:
        return self.flops if self.dense is None else self.dense

    @property
    def limits(self) -> FlopBounds | None:
        """Bounds of the FLOP, where they are not exact."""
        return self.between if self.flops is None else None

    def surely(self, sure: Certainty) -> OperatorWork:
        """Return the same work, known in another way."""
        return replace(self, sure=sure)


def moves(size: int, sure: Certainty = Certainty.EXACT) -> OperatorWork:
    """Return work without matmuls. size: bytes."""
    return OperatorWork(0, size, sure=sure)


def matmul_work(product: Matmul) -> OperatorWork:
    return OperatorWork(product.flops, product.bytes, product.data, product=product)


def unknown_work(why: UnknownReason, flops: int | None = None) -> OperatorWork:
    """Return work that is unknown. flops: where these are known though bytes are not."""
    return OperatorWork(flops, None, why=why)


Dims = tuple[int, ...]

#: bytes of an element by `Input type`
ELEMENT_BYTES: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("double", "long int", "long", "c10::complex<float>"), 8),
        **dict.fromkeys(("float", "int", "c10::complex<c10::Half>", "unsigned int"), 4),
        **dict.fromkeys(("c10::Half", "c10::BFloat16", "short", "short int"), 2),
        **dict.fromkeys(("bool", "signed char", "unsigned char"), 1),
        **{f"c10::Float8_{kind}": 1 for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz", "e8m0fnu")},
        "c10::Float4_e2m1fn_x2": 1,
        "c10::complex<double>": 16,
    }
)
#: what an `Input type` is called in names of kernels
ELEMENT_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "double": "fp64",
        "float": "fp32",
        "c10::Half": "fp16",
        "c10::BFloat16": "bf16",
        "signed char": "int8",
        **{f"c10::Float8_{kind}": "fp8" for kind in ("e4m3fn", "e5m2", "e4m3fnuz", "e5m2fnuz")},
        "c10::Float4_e2m1fn_x2": "fp4",
    }
)
#: of the two types of a pair the one that stands later is the type of the result
_RANKS = (
    *("bool", "unsigned char", "signed char", "short", "short int", "int", "long", "long int"),
    *("c10::Half", "c10::BFloat16", "float", "double", "c10::complex<float>", "c10::complex<double>"),
)
_INTEGERS = frozenset(_RANKS[:8])
#: no real tensor has more elements in a dimension
LARGEST_DIMENSION = 2**48
#: what reading arguments that are damaged may raise
ERRORS = (ArithmeticError, ValueError, IndexError, TypeError, SyntaxError, MemoryError, RecursionError)
_OPAQUE = lazy_pattern(r"OpaqueType<(\d+)")
_OF_SIZE = {1: "signed char", 2: "short", 4: "int", 8: "long"}
_TEMPLATE = lazy_pattern(r"[<, ](float|double|c10::BFloat16|c10::Half|bool|unsigned char|signed char|long|int)[,>]")


class Tensor(msgspec.Struct, frozen=True):
    """dims, strides: () of a number of its own, strides () where they were not recorded; kind: its `Input type`."""

    dims: Dims
    kind: str
    strides: Dims = ()

    @property
    def elements(self) -> int:
        return prod(self.dims)

    @property
    def distinct(self) -> int:
        """Elements that lie apart in memory: an expanded dimension (stride 0) counts once."""
        if len(self.strides) != len(self.dims):
            return self.elements
        return prod(d for d, step in zip(self.dims, self.strides, strict=True) if step or not d)

    @property
    def size(self) -> int:
        """Bytes of an element. Raises UnknownWorkError."""
        size = ELEMENT_BYTES.get(self.kind)
        if size is None:
            raise UnknownWorkError(UnknownReason.NO_MODEL)
        return size

    @property
    def data(self) -> str:
        """Element type as kernel names write it. Raises ValueError for an unknown type."""
        if self.kind not in ELEMENT_NAMES:
            raise ValueError(f"nothing multiplies {self.kind!r}")
        return ELEMENT_NAMES[self.kind]

    @property
    def bytes(self) -> int:
        """Of its distinct elements."""
        return self.distinct * self.size

    @property
    def whole_bytes(self) -> int:
        """Of all elements, as of one that is written."""
        return self.elements * self.size


class OperatorArguments(msgspec.Struct, frozen=True):
    """Parallel, shape (arguments,): as the trace has them. Readers raise one of ERRORS, or UnknownWorkError.

    kernel   name of the first kernel that the call launched itself; empty without
    """

    dims: Sequence[Any]
    types: Sequence[str]
    concrete: Sequence[str]
    strides: Sequence[Any]
    kernel: str = ""

    def __len__(self) -> int:
        return len(self.dims)

    def is_tensor(self, at: int) -> bool:
        return at < len(self.dims) and at < len(self.types) and self.types[at] in ELEMENT_BYTES

    def tensor(self, at: int) -> Tensor:
        """Return the tensor at an argument. Raises ValueError if it is none, and IndexError."""
        dims = _dims(self.dims[at])
        steps = self.strides[at] if at < len(self.strides) else ()
        strides = tuple(steps) if isinstance(steps, list) and all(isinstance(s, int) for s in steps) else ()
        return Tensor(dims, self.types[at] if at < len(self.types) else "", strides)

    def tensors(self, first: int = 0, after: int | None = None) -> Iterator[Tensor]:
        """Yield the tensors among the arguments. Raises UnknownWorkError for a list whose tensors were not recorded."""
        for at in range(first, len(self.dims) if after is None else min(after, len(self.dims))):
            if self.is_tensor(at):
                yield self.tensor(at)
            elif at < len(self.types) and self.types[at] == "TensorList":
                yield from self.listed(at)
            elif isinstance(self.dims[at], list) and self.dims[at] and self.types[at : at + 1] != [""]:
                raise UnknownWorkError(UnknownReason.NO_MODEL)  # a tensor of a type that nothing is known of

    def listed(self, at: int) -> list[Tensor]:
        """Return a list of tensors. Types are not recorded: they are those of the kernel, another tensor, or float."""
        dims = self.dims[at]
        if not isinstance(dims, list) or not dims:
            raise UnknownWorkError(UnknownReason.LONG_LIST)
        kind = self._kind_of_kernel() or self._kind_of_others() or "float"
        strides = self.strides[at] if at < len(self.strides) and isinstance(self.strides[at], list) else []
        return [Tensor(_dims(each), kind, _dims(strides[i]) if i < len(strides) else ()) for i, each in enumerate(dims)]

    @property
    def sure_of_lists(self) -> Certainty:
        """Whether the types of lists are known."""
        return Certainty.EXACT if self._kind_of_kernel() or self._kind_of_others() else Certainty.ESTIMATE

    def _kind_of_others(self) -> str | None:
        return next((kind for kind in self.types if kind in ELEMENT_BYTES), None)

    def _kind_of_kernel(self) -> str | None:
        opaque = _OPAQUE.search(self.kernel)
        if opaque:
            return _OF_SIZE.get(int(opaque[1]))
        named = _TEMPLATE.search(self.kernel)
        return named[1] if named else None

    def value(self, at: int) -> Any:
        """Return the value of an argument. Raises IndexError where it was not recorded."""
        return ast.literal_eval(self.concrete[at])

    def numbers(self, at: int, count: int) -> list[int]:
        """Return one number for each dimension, as strides of a convolution are."""
        found = self.value(at)
        if not isinstance(found, list) or not all(isinstance(each, int) for each in found):
            raise ValueError(f"argument {at} is not a list")
        found = found * count if len(found) == 1 else found
        if len(found) != count:
            raise ValueError(f"argument {at} is not of {count} dimensions")
        return found

    def flags(self) -> list[tuple[int, bool]]:
        """Return the booleans among the arguments with their places: signatures moved from version to version."""
        return [(at, text == "True") for at, text in enumerate(self.concrete) if text in ("True", "False")]


def _dims(found: object) -> Dims:
    if not isinstance(found, list) or not all(type(d) is int and 0 <= d < LARGEST_DIMENSION for d in found):
        raise ValueError("no dimensions of a tensor")
    return tuple(found)


def result_kind(tensors: Sequence[Tensor]) -> str:
    """Return the type that torch promotes these tensors to: scalar tensors matter only among themselves."""
    kinds = [each.kind for each in tensors if each.dims] or [each.kind for each in tensors]
    if set(kinds) == {"c10::Half", "c10::BFloat16"}:
        return "float"
    return max(kinds, key=lambda kind: _RANKS.index(kind) if kind in _RANKS else len(_RANKS))


def is_integer(kind: str) -> bool:
    return kind in _INTEGERS


def broadcast(shapes: Sequence[Dims]) -> Dims:
    """Return the broadcast shape. Raises ValueError."""
    rank = max((len(each) for each in shapes), default=0)
    found = []
    for place in range(-rank, 0):
        sizes = {each[place] for each in shapes if len(each) >= -place} - {1}
        if len(sizes) > 1:
            raise ValueError("shapes that do not fit")
        found.append(sizes.pop() if sizes else 1)
    return tuple(found)


@lru_cache(maxsize=8192)
def _list(text: str) -> list[Any]:
    found = json.loads(text or "[]")
    return found if isinstance(found, list) else []


def read_arguments(dims: str, types: str, concrete: str, strides: str, kernel: str = "") -> OperatorArguments:
    """Read `Input Dims`, `Input type`, `Concrete Inputs`, `Input Strides`, JSON texts; "" for missing.

    Raises one of ERRORS.
    """
    kinds, values = ([str(each) for each in _list(text)] for text in (types, concrete))
    return OperatorArguments(_list(dims), kinds, values, _list(strides), kernel)
