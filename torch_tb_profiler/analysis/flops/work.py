"""What one call of an operator has to do, and how sure that is."""

from __future__ import annotations

from enum import Enum

import msgspec
from msgspec.structs import replace


class Unknown(str, Enum):
    """Why FLOP or bytes are not known."""

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


class Sure(str, Enum):
    """How a number is known.

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


class NotKnown(Exception):
    """The arguments do not say it; `why` says what would."""

    def __init__(self, why: Unknown) -> None:
        super().__init__(why.value)
        self.why = why


class Product(msgspec.Struct, frozen=True):
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


class Between(msgspec.Struct, frozen=True):
    """What FLOP lie between where they are not known.

    least, most               of those that are executed
    model_least, model_most   of those that the model needs
    """

    least: int
    most: int
    model_least: int
    model_most: int


class Work(msgspec.Struct, frozen=True):
    """What one call does. A multiplication with its addition counts two FLOP; softmax, bias, activation and norm none.

    flops     matrix FLOP that are executed; None: not known
    model     those that the model needs: without what attention computes again in its backward pass
    dense     as `flops`, attention counted as if nothing were masked
    bytes     the least that is read and written, each different element once; None: not known
    data      what the inputs hold, as `Product.data`; empty if that does not matter
    sure      how FLOP and bytes are known
    product   of products of matrices and convolutions
    why       why one of them is not known
    between   what FLOP lie between; None if they are known, or nothing can be said
    """

    flops: int | None
    bytes: int | None
    data: str = ""
    sure: Sure = Sure.EXACT
    model: int | None = None
    dense: int | None = None
    product: Product | None = None
    why: Unknown | None = None
    between: Between | None = None

    @property
    def model_flops(self) -> int | None:
        return self.flops if self.model is None else self.model

    @property
    def dense_flops(self) -> int | None:
        return self.flops if self.dense is None else self.dense

    @property
    def limits(self) -> Between | None:
        """What FLOP lie between, where they are not known."""
        return self.between if self.flops is None else None

    def surely(self, sure: Sure) -> Work:
        """The same, known in another way."""
        return replace(self, sure=sure)


def moves(size: int, sure: Sure = Sure.EXACT) -> Work:
    """Work that multiplies no matrices. size: bytes."""
    return Work(0, size, sure=sure)


def of_product(product: Product) -> Work:
    return Work(product.flops, product.bytes, product.data, product=product)


def not_known(why: Unknown, flops: int | None = None) -> Work:
    """flops: where these are known though bytes are not."""
    return Work(flops, None, why=why)
