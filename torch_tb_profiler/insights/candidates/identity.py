"""Ids of work that are the same in another recording of the program: of the operator and its arguments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

import msgspec

from torch_tb_profiler.analysis.flops.operators import arguments_of
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.lazy_pattern import lazy_pattern

#: changes with what an id is made of: ids of two versions are not compared
VERSION = 1
_HEX = 12
#: types of arguments that are no tensors
_SCALARS = frozenset({"Scalar", "ScalarList"})
_INTEGER = lazy_pattern(r"-?\d{1,19}")


class CandidateInput(msgspec.Struct, frozen=True):
    """One tensor that a call was given.

    dims     how many elements it has along each dimension
    type     its element type, as PyTorch names it in C++; empty where it was not recorded
    strides  how many elements lie between neighbours; null where they were not recorded
    """

    dims: Sequence[int]
    type: str
    strides: Sequence[int] | None


class CallArguments(msgspec.Struct, frozen=True):
    """The arguments of a call as far as they were recorded.

    inputs    tensors, those of lists too, in order; None where no shapes were recorded
    scalars   place of the argument → an integer, a boolean, or a list of integers as text
    lacking   what was not recorded of `dims`, `type`, `strides`, `scalars`
    """

    inputs: Sequence[CandidateInput] | None
    scalars: Mapping[str, int | bool | str]
    lacking: Sequence[str]


def call_arguments(dims: str, types: str, concrete: str, strides: str) -> CallArguments:
    """Read `Input Dims`, `Input type`, `Concrete Inputs`, `Input Strides`, JSON texts; "" for missing."""
    given = arguments_of(dims, types, concrete, strides)
    texts = {"dims": dims, "type": types, "strides": strides, "scalars": concrete}
    lacking = [name for name, text in texts.items() if not text]
    if given is None or not dims:
        return CallArguments(None, {}, lacking or ["dims"])
    inputs: list[CandidateInput] = []
    for place, sizes in enumerate(given.dims):
        kind = given.types[place] if place < len(given.types) else ""
        steps = given.strides[place] if place < len(given.strides) else None
        if kind in _SCALARS:
            continue
        if _are_numbers(sizes) and (sizes or kind):
            inputs.append(_input(sizes, kind, steps))
        elif isinstance(sizes, list):
            # the types of the tensors of a list are not recorded
            listed = steps if isinstance(steps, list) and len(steps) == len(sizes) else [None] * len(sizes)
            inputs += [_input(one, "", step) for one, step in zip(sizes, listed, strict=True) if _are_numbers(one)]
    scalars = {str(place): value for place, text in enumerate(given.concrete) if (value := _scalar(text)) is not None}
    return CallArguments(inputs, scalars, lacking)


def _input(dims: list[int], kind: str, strides: Any) -> CandidateInput:
    return CandidateInput(dims, kind, strides if _are_numbers(strides) and len(strides) == len(dims) else None)


def _are_numbers(values: Any) -> bool:
    return isinstance(values, list) and all(type(value) is int for value in values)


def _scalar(text: str) -> int | bool | str | None:
    """Return an integer, a boolean or a list of integers; None for all else: floats differ from step to step."""
    if text in ("True", "False"):
        return text == "True"
    if _INTEGER.fullmatch(text):
        return int(text)
    listed = text.removeprefix("[").removesuffix("]")
    if text.startswith("[") and all(_INTEGER.fullmatch(one.strip()) for one in listed.split(",")):
        return text
    return None


def layout(dims: Sequence[int], strides: Sequence[int] | None) -> str:
    """Return how a tensor lies in memory: what matters to a kernel of its strides.

    >>> layout([2, 3, 4], [12, 4, 1]), layout([2, 3], [1, 2]), layout([8, 3], [0, 1]), layout([2, 3], None)
    ('contiguous', 'transposed', 'expanded', '')
    >>> layout([2, 3, 8, 8], [192, 1, 24, 3]), layout([2, 3], [7, 1])
    ('channels_last', '7,1')
    """
    if strides is None:
        return ""
    axes = [axis for axis, size in enumerate(dims) if size != 1]
    if any(strides[axis] == 0 and dims[axis] > 1 for axis in axes):
        return "expanded"
    last_first = list(reversed(range(len(dims))))
    swapped = [len(dims) - 2, len(dims) - 1, *last_first[2:]] if len(dims) >= 2 else last_first
    channels = [1, *(axis for axis in last_first if axis > 1), 0] if len(dims) in (4, 5) else last_first
    for name, order in (("contiguous", last_first), ("channels_last", channels), ("transposed", swapped)):
        expected, fits = 1, True
        for axis in order:
            if axis in axes:
                fits = fits and strides[axis] == expected
                expected *= dims[axis]
        if fits:
            return name
    return ",".join(map(str, strides))


def identify(kind: str, name: str, *parts: Any) -> str:
    """Return the id of work of a kind: `c` and 12 hexadecimal digits of a hash of all that is given, plain values."""
    return "c" + sha256(dumps([VERSION, kind, name, *parts])).hexdigest()[:_HEX]


def identify_call(kind: str, operator: str, arguments: CallArguments) -> str:
    """Return the id of calls of an operator with such arguments: their floats, module and line do not count."""
    inputs = [[one.dims, one.type, layout(one.dims, one.strides)] for one in arguments.inputs or ()]
    return identify(kind, operator.partition(".")[0], inputs, dict(arguments.scalars))
