"""What a family of kernels is."""

from __future__ import annotations

from enum import Enum

import msgspec


class Kind(str, Enum):
    """The kind of work of a kernel. A helper prepares or finishes the work of another kernel."""

    ACTIVATION = "activation"
    ATTENTION = "attention"
    ATTENTION_HELPER = "attention helper"
    COMMUNICATION = "communication"
    COMPUTE = "compute"
    CONCATENATE = "concatenate"
    CONV = "conv"
    CONV_HELPER = "conv helper"
    COPY = "copy"
    EMBEDDING = "embedding"
    FILL = "fill"
    GEMM = "gemm"
    GEMM_HELPER = "gemm helper"
    GEMV = "gemv"
    IMAGE = "image"
    INDEX = "index"
    KV_CACHE = "kv cache"
    LAYOUT = "layout"
    LINEAR_ALGEBRA = "linear algebra"
    LINEAR_ATTENTION = "linear attention"
    LOSS = "loss"
    NORM = "norm"
    OPTIMIZER = "optimizer"
    POINTWISE = "pointwise"
    POOLING = "pooling"
    QUANTIZE = "quantize"
    RANDOM = "random"
    REDUCTION = "reduction"
    ROTARY = "rotary"
    ROUTING = "routing"
    SAMPLER = "sampler"
    SOFTMAX = "softmax"
    SORT = "sort"
    SPIN = "spin"
    WAIT = "wait"


#: what a family says of tensor cores
YES, NO, OPEN = True, False, None

#: kinds that multiply matrices: tensor cores could do their work
PRODUCTS = frozenset({Kind.GEMM, Kind.CONV, Kind.ATTENTION})


class Family(msgspec.Struct, frozen=True):
    """Kernels that are named alike.

    tensor_cores  whether they use tensor cores (matrix cores on AMD); None: the name leaves it open
    also          what such a kernel does beside its kind
    patterns      regular expressions without a `|` outside of groups; one of them is found in the plain name
    """

    kind: Kind
    library: str
    tensor_cores: bool | None
    patterns: tuple[str, ...]
    also: Kind | None = None

    @property
    def label(self) -> str:
        """`gemm`; `communication + norm`."""
        return self.kind.value if self.also is None else f"{self.kind.value} + {self.also.value}"


def of_kind(kind: Kind, library: str, tensor_cores: bool | None, patterns: str, also: Kind | None = None) -> Family:
    """A family, with its patterns in one text."""
    return Family(kind, library, tensor_cores, tuple(patterns.split()), also)
