"""The operators of known work, by name; each family has a module of its own."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType

from torch_tb_profiler.analysis.flops.attention import ATTENTION
from torch_tb_profiler.analysis.flops.bandwidth import BANDWIDTH
from torch_tb_profiler.analysis.flops.convolutions import CONVOLUTIONS
from torch_tb_profiler.analysis.flops.elementwise import ELEMENTWISE, LISTS
from torch_tb_profiler.analysis.flops.generated import OPAQUE, reader_of
from torch_tb_profiler.analysis.flops.matrices import MATRICES, RECURRENT, Reader
from torch_tb_profiler.analysis.flops.work import (
    ERRORS,
    OperatorArguments,
    OperatorWork,
    UnknownReason,
    UnknownWorkError,
    read_arguments,
    unknown_work,
)

READERS: Mapping[str, Reader] = MappingProxyType(
    {
        **ELEMENTWISE,
        **BANDWIDTH,
        **LISTS,
        **RECURRENT,
        **ATTENTION,
        **CONVOLUTIONS,
        **MATRICES,
        **OPAQUE,
    }
)
#: they multiply no matrices, whatever their arguments
NO_PRODUCTS = frozenset((*ELEMENTWISE, *BANDWIDTH, *LISTS))


@lru_cache(maxsize=4096)
def reader(operator: str) -> Reader | None:
    """Return the reader of an operator's arguments; None for an operator without a model."""
    return READERS.get(operator) or reader_of(operator)


def work_of(
    operator: str, dims: str, types: str, concrete: str = "", strides: str = "", kernel: str = ""
) -> OperatorWork:
    """Return the work of one call. Where it is unknown, FLOP or bytes are None and `why` says what is missing.

    operator   its name
    kernel     name of the first kernel that it launched itself; "" without
    others     see `read_arguments`
    """
    read = reader(operator)
    if read is None:
        return unknown_work(UnknownReason.NO_MODEL)
    flops = 0 if operator in NO_PRODUCTS else None
    if not dims:
        return unknown_work(UnknownReason.SHAPES_OFF, flops)
    try:
        return _sound(read(read_arguments(dims, types, concrete, strides, kernel)))
    except UnknownWorkError as reason:
        return unknown_work(reason.why, flops)
    except ERRORS:
        return unknown_work(UnknownReason.NO_MODEL, flops)


def _sound(work: OperatorWork) -> OperatorWork:
    """Return the work unchanged. Raises ValueError for numbers that no call has, which hostile arguments lead to."""
    if not all(each is None or (type(each) is int and each >= 0) for each in (work.flops, work.bytes)):
        raise ValueError("no amount of work")
    return work


def arguments_of(dims: str, types: str, concrete: str, strides: str) -> OperatorArguments | None:
    """Read arguments; None if they cannot be read."""
    try:
        return read_arguments(dims, types, concrete, strides)
    except ERRORS:
        return None
