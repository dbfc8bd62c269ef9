"""Estimate the time of a fused kernel from its reads, writes and multiplications.

What is between its operators goes through memory no more. It reads its inputs and writes its result once, as quickly as
the kernels that it replaces move their tensors; attention multiplies as fast as such kernels do on their device. Where
shapes or types were not recorded, the time of the kernels themselves has to tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.work import (
    ERRORS,
    Tensor,
    UnknownWorkError,
    broadcast,
    read_arguments,
    result_kind,
)
from torch_tb_profiler.analysis.shared.peaks import ElementType, peaks_of
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.shared.operator_line import REDUCTIONS, operator_line
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace.schema import OperatorRanges

#: of the least time by the peaks, what kernels of attention come near to
ATTENTION_REACHES = 0.5
#: of the bandwidth of the memory, what a kernel reaches that only moves data
MEMORY_REACHES = 0.8
#: no kernel is expected to be shorter, ns
SHORTEST_NS = 3_000
#: a kernel that moves, or takes, less than this part of the most of its group works on something else than its tensor
FULL_SIZE = 0.3
#: what attention multiplies, by `Input type`
_ELEMENTS: Mapping[str, ElementType] = {"float": "fp32", "c10::BFloat16": "bf16", "c10::Half": "fp16"}


class Moved(msgspec.Struct, frozen=True):
    """What an operator moves: bytes of its inputs, of the first of them, and of its result."""

    inputs: int
    first: int
    result: int

    @property
    def bytes(self) -> int:
        """All of it."""
        return self.inputs + self.result


class _Reader(msgspec.Struct, frozen=True):
    """Arguments of operators of one trace, each kind of them read once."""

    model: Model
    known: dict[tuple[int, ...], tuple[Tensor, ...] | None] = msgspec.field(default_factory=dict)

    def tensors(self, node: int) -> tuple[Tensor, ...] | None:
        """Return the tensors among the arguments of an operator; None if unknown."""
        place = int(self.model.tree.operator[node])
        if place < 0:
            return None
        operators: OperatorRanges = self.model.trace.operators
        columns = (operators.input_dims, operators.input_type, operators.input_strides)
        codes = tuple(int(column[place]) for column in columns)
        if codes not in self.known:
            self.known[codes] = _tensors(*(str(self.model.trace.strings[code]) if code else "" for code in codes))
        return self.known[codes]


def _tensors(dims: str, types: str, strides: str) -> tuple[Tensor, ...] | None:
    try:
        given = read_arguments(dims, types, "", strides)
        found = tuple(given.tensor(at) for at in range(len(given)) if given.is_tensor(at) and given.dims[at])
        return found if found and all(each.size for each in found) else None
    except (*ERRORS, UnknownWorkError):
        return None


@cached
def _reader(model: Model) -> _Reader:
    return _Reader(model)


def _moved(model: Model, place: int) -> Moved | None:
    """Return what the operator at a place of the line moves; None if its shapes or types were not recorded."""
    line = operator_line(model)
    tensors = _reader(model).tensors(int(line.node[place]))
    if tensors is None:
        return None
    inputs = sum(each.bytes for each in tensors)
    if line.text[place] in REDUCTIONS:
        return Moved(inputs, tensors[0].bytes, 0)  # a number for each row
    if line.text[place] == "c":
        target, source = _copied(model, int(line.node[place])) or (tensors[0], tensors[0])
        return Moved(source.bytes, source.bytes, target.whole_bytes)
    try:
        result = Tensor(broadcast([each.dims for each in tensors]), result_kind(tensors))
        return Moved(inputs, tensors[0].bytes, result.whole_bytes)
    except (*ERRORS, UnknownWorkError):
        return None


def _copied(model: Model, node: int) -> tuple[Tensor, Tensor] | None:
    """Return what a copy writes and reads, which may be of two types: the inner `copy_` has both."""
    tree, copy = model.tree, model.trace.strings.code("aten::copy_")
    for inner in range(node, min(node + 4, len(tree))):
        if tree.start[inner] < tree.end[node] and tree.name[inner] == copy:
            tensors = _reader(model).tensors(inner)
            return None if tensors is None or len(tensors) < 2 else (tensors[0], tensors[1])
    return None


def streamed_ns(facts: Facts, places: Sequence[int], duration: Sequence[int]) -> int | None:
    """How long one kernel takes that reads the input of the first of some operators and writes the result of the last,
    ns, and nothing else of that size; None if their shapes or types are unknown.

    places     of the line, one for each kernel
    duration   of the kernels, ns
    """
    moved = [_moved(facts.model, place) for place in places]
    known = [operator for operator in moved if operator is not None]
    if not known or len(known) < len(moved):
        return None
    most = max(operator.bytes for operator in known)
    large = [(operator, ns) for operator, ns in zip(known, duration, strict=True) if operator.bytes >= FULL_SIZE * most]
    spent = sum(ns for _, ns in large)
    if not spent or not most:
        return None
    rate = sum(operator.bytes for operator, _ in large) / spent
    whole = [operator for operator, _ in large]
    ends = [operator for operator in whole if operator.result] or whole
    least = whole[0].first + ends[-1].result
    return min(round(max(least / rate, min(duration))), sum(duration))


def shortest_whole_ns(facts: Facts, places: Sequence[int], duration: Int64) -> int:
    """Return the shortest kernel that reads and writes all of a tensor, ns: a norm in one kernel does that once."""
    text = operator_line(facts.model).text
    least = FULL_SIZE * int(duration.max(initial=0))
    whole = [int(ns) for place, ns in zip(places, duration.tolist(), strict=True) if text[place] not in REDUCTIONS]
    return min((ns for ns in whole if ns >= least), default=int(duration.max(initial=0)))


def attention_ns(facts: Facts, first: int, after: int, rows: Int32) -> int | None:
    """Return the time of a fused attention kernel, ns, by the shapes of its batched products; None if unknown.

    first, after   places of the operator line: the products, and a softmax or its backward
    rows           the kernels
    """
    model = facts.model
    line = operator_line(model)
    letters = line.text[first:after]
    scores = next((place for place in range(first, after) if line.text[place] in "SB"), None)
    weights = None if scores is None else _reader(model).tensors(int(line.node[scores]))
    products = [_reader(model).tensors(int(line.node[at])) for at in range(first, after) if line.text[at] == "G"]
    devices = distinct(model.device_work.device[np.isin(model.device_work.row, rows)])
    peaks = peaks_of(facts.trace.header.device(int(devices[0]))) if len(devices) == 1 else None
    if weights is None or peaks is None or not products:
        return None
    flops = moved = 0.0
    element = None
    for pair in products:
        if pair is None or len(pair) < 2 or any(len(each.dims) != 3 for each in pair[-2:]):
            return None
        left, right = pair[-2:]
        batch, m, k = left.dims
        n = right.dims[2]
        if right.dims[:2] != (batch, k) or left.kind not in _ELEMENTS:
            return None
        flops += 2 * batch * m * n * k
        moved += (batch * (m * k + k * n + m * n) - weights[0].elements) * left.size
        element = _ELEMENTS[left.kind]
    rate = None if element is None else peaks.flops.get(element)
    if not rate:
        return None
    # a backward multiplies five times in place of four: it computes the weights again
    again = 1.25 if "B" in letters else 1.0
    least = max(again * flops / rate / ATTENTION_REACHES, moved / peaks.bandwidth / MEMORY_REACHES)
    return max(round(1e9 * least), SHORTEST_NS)
