"""Work that the arguments of a call leave open, and another event of the trace tells.

Before 2024 strides were not recorded: a copy inside an operator that repeats its input reads each element once.

Before 2023 the settings of a convolution were not recorded: its backward, which has the same sequence number, tells the
size of its result. A list of more than 30 tensors is recorded as an empty one: the backward pass, which accumulates a
gradient for each, tells how many parameters there are.

Attention of inference engines reads pages of a cache: the name of the engine's step tells how many keys it sees.

Lookups of FBGEMM and their backward complete each other: the lookup tells how many rows it reads, the gradient how wide
all tables are together. Rows are taken to have the mean width.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.flops.convolutions import FORWARD, forward_with
from torch_tb_profiler.analysis.flops.elementwise import LISTS, of_parameters
from torch_tb_profiler.analysis.flops.operators import arguments_of, work_of
from torch_tb_profiler.analysis.flops.work import (
    ERRORS,
    Certainty,
    OperatorArguments,
    OperatorWork,
    Tensor,
    UnknownReason,
    UnknownWorkError,
    matmul_work,
    moves,
)
from torch_tb_profiler.analysis.shared.vllm_steps import StepSums, step_sums
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model


class RecordedArguments(msgspec.Struct, frozen=True):
    """The recorded arguments of the operators of a trace, by position in the call tree."""

    model: Model

    def of(self, node: int) -> tuple[str, str, str, str]:
        """Return dimensions, types, values, strides; "" for missing."""
        operators, strings = self.model.trace.operators, self.model.trace.strings
        at = int(self.model.tree.operator[node])
        if at < 0:
            return "", "", "", ""
        codes = (operators.input_dims, operators.input_type, operators.concrete_inputs, operators.input_strides)
        dims, types, concrete, strides = (str(strings[int(code[at])]) for code in codes)
        return dims, types, concrete, strides

    def arguments(self, node: int) -> OperatorArguments | None:
        return arguments_of(*self.of(node))

    def name(self, node: int) -> str:
        return str(self.model.trace.strings[int(self.model.tree.name[node])])


#: the backward of a lookup, and lookups; what kind it is stands in the names of both
_BACKWARD = lazy_pattern(r"torch::autograd::CppNode<SplitLookupFunction_(\w+)_Op>")
_LOOKUP = lazy_pattern(r"fbgemm::split_embedding_codegen_lookup_(\w+)_function")
_DENSE = "fbgemm::dense_embedding_codegen_lookup_function"
#: what sorting moves of each index at least: a key of 8 bytes and its place
_SORTED = 12


class _Lookup(msgspec.Struct, frozen=True):
    """What is recorded of a lookup.

    rows     that it reads
    tables   how many tables
    bags     rows that are summed to one, over all tables
    size     bytes of an element of the tables
    indices  bytes of what says which rows these are
    """

    rows: int
    tables: int
    bags: int
    size: int
    indices: int


def by_each_other(model: Model, texts: RecordedArguments, nodes: Sequence[int]) -> dict[int, OperatorWork]:
    """Return what lookups and their backward say of each other. nodes: positions in `Model.tree`."""
    tree, strings = model.tree, model.trace.strings
    names = strings.where(lambda name: _kind(name) is not None, tree.name)[tree.name]
    every = np.flatnonzero(names & tree.is_operator)
    every = every[np.argsort(tree.start[every], kind="stable")]
    number = take_known(model.trace.operators.sequence, tree.operator[every]).tolist()
    wanted = set(nodes)
    known: dict[int, OperatorWork] = {}
    waiting: dict[str, list[tuple[int, int, _Lookup]]] = {}
    for node, sequence in zip(every.tolist(), number, strict=True):
        name, given = texts.name(node), texts.arguments(node)
        kind = _kind(name)
        before = waiting.setdefault(kind or "", [])
        if given is None:
            continue
        if not _BACKWARD.fullmatch(name):
            lookup = _lookup_of(name, given)
            if lookup is not None:
                before.append((node, sequence, lookup))
            continue
        gradient = _gradient_of(given)
        at = None if gradient is None else _fitting(before, sequence, gradient)
        if at is None or gradient is None:
            continue
        forward, _, lookup = before.pop(at)
        read = lookup.rows * gradient.dims[1] * lookup.size // lookup.tables
        works = {
            forward: moves(read + lookup.indices + gradient.whole_bytes, Certainty.ESTIMATE),
            node: moves(gradient.whole_bytes + 2 * read + _SORTED * lookup.rows, Certainty.ESTIMATE),
        }
        known |= {each: work for each, work in works.items() if each in wanted}
    return known


def _kind(operator: str) -> str | None:
    """Return the kind of a lookup or its backward, such as `adagrad`, `Dense`; None for other operators."""
    if operator == _DENSE:
        return "Dense"
    found = _LOOKUP.fullmatch(operator) or _BACKWARD.fullmatch(operator)
    return None if found is None else found[1]


def _fitting(before: Sequence[tuple[int, int, _Lookup]], sequence: int, gradient: Tensor) -> int | None:
    """Return the lookup that this is the gradient of: of one number, else the last that has as many bags."""
    for at in reversed(range(len(before))):
        _, number, lookup = before[at]
        fits = lookup.bags == gradient.dims[0] * lookup.tables and gradient.dims[1] >= lookup.tables
        if fits and (number == sequence or min(number, sequence) < 0):
            return at
    return None


def _lookup_of(name: str, given: OperatorArguments) -> _Lookup | None:
    weights, tables, indices, offsets = (0, 1, 7, 8) if name == _DENSE else (1, 5, 11, 12)
    try:
        rows, ends, count = given.tensor(indices), given.tensor(offsets), given.tensor(tables).elements
        if len(rows.dims) != 1 or len(ends.dims) != 1 or not count:
            return None
        size = given.tensor(weights).size
        return _Lookup(rows.elements, count, ends.elements - 1, size, rows.bytes + ends.bytes)
    except (UnknownWorkError, *ERRORS):
        return None


def _gradient_of(given: OperatorArguments) -> Tensor | None:
    try:
        found = given.tensor(0)
        return found if len(found.dims) == 2 and found.size else None
    except (UnknownWorkError, *ERRORS):
        return None


#: they take the new rows of q, k and v; the cache is no argument
SERVED = frozenset(("vllm::unified_attention", "vllm::unified_attention_with_output"))


def of_steps(model: Model, texts: RecordedArguments, nodes: Sequence[int]) -> dict[int, OperatorWork]:
    """Return what the range of the engine around some calls says of them. nodes: positions in `Model.tree`."""
    tree, strings = model.tree, model.trace.strings
    tells = ~tree.is_operator & strings.where(step_sums, tree.name)[tree.name]
    around = nearest(tree.parent, tells, np.array(nodes, np.int32))
    found = {}
    for node, step in zip(nodes, around.tolist(), strict=True):
        sums, given = step_sums(texts.name(step)) if step >= 0 else None, texts.arguments(node)
        work = None if sums is None or given is None else _attention(given, sums)
        if work is not None:
            found[node] = work
    return found


def _attention(given: OperatorArguments, sums: StepSums) -> OperatorWork | None:
    """Bound the work from above: layers that see a window of keys do not say so. The cache holds what k and v do."""
    try:
        q, k, v = (given.tensor(at) for at in range(3))
        (rows, heads, size), (_, kept, key), (_, values, out) = q.dims, k.dims, v.dims
        if rows < sums.tokens or key != size or kept != values or not kept or heads % kept:
            return None
        flops = 2 * heads * (size + out) * sums.pairs
        moved = sums.tokens * heads * (size + out) * q.size + sums.keys * kept * (size + out) * k.size
        return OperatorWork(flops, moved, q.data, Certainty.BOUND)
    except (UnknownWorkError, *ERRORS):
        return None


_CONVOLUTION_BACKWARD = lazy_pattern(r"(?:(?!Conv)\w)*Conv(?:(?!Backward)\w)*Backward\w*")
_ONE_GRADIENT = lazy_pattern(r"aten::(?:cudnn|miopen)_convolution_backward_(?:weight|input)")
_REPEATS = frozenset(f"aten::{name}" for name in ("repeat_interleave", "repeat", "expand", "contiguous", "tile"))
_ACCUMULATE = "torch::autograd::AccumulateGrad"


def derived(model: Model, node: Int64, work: Mapping[int, OperatorWork]) -> dict[int, OperatorWork]:
    """Return what other events of the trace say of some calls.

    node   positions in `Model.tree`
    work   what their arguments say, by position
    """
    texts, names = RecordedArguments(model), model.trace.strings
    known: dict[int, OperatorWork] = {}
    node = node[model.trace.operators.input_dims[model.tree.operator[node]] > 0]
    known |= {place: of_result(work[place], texts, place) for place in node[repeats(model, node)].tolist()}
    by_contents = [place for place in node.tolist() if work[place].why is UnknownReason.CONTENTS]
    served = [place for place in by_contents if texts.name(place) in SERVED]
    if served:
        known |= of_steps(model, texts, served)
    if len(by_contents) > len(served):
        known |= by_each_other(model, texts, by_contents)
    open_reasons = (UnknownReason.SHAPES_OFF, UnknownReason.LONG_LIST)
    waiting = [place for place in node.tolist() if work[place].why in open_reasons]
    by_name: dict[str, list[int]] = {}
    for place in waiting:
        by_name.setdefault(str(names[int(model.tree.name[place])]), []).append(place)
    forward = [place for name in FORWARD & by_name.keys() for place in by_name[name]]
    if forward:
        known |= _by_backward(model, texts, np.array(sorted(forward), np.int64))
    for name, nodes in by_name.items():
        if _ONE_GRADIENT.fullmatch(name):
            known |= _by_enclosing(model, texts, nodes)
    listed = [place for name in LISTS.keys() & by_name.keys() for place in by_name[name]]
    if listed:
        known |= _by_parameters(model, texts, listed)
    return known


def repeats(model: Model, node: Int64) -> Bool:
    """Return which calls copy an expanded input, where strides were not recorded, shape (n,): see `of_result`."""
    tree, strings, operators = model.tree, model.trace.strings, model.trace.operators
    copies: Bool = (tree.name[node] == strings.code("aten::copy_")) & (
        operators.input_strides[tree.operator[node]] == 0
    )
    if not copies.any():
        return copies
    repeating = strings.where(_REPEATS.__contains__, tree.name)[tree.name]
    copies[copies] = nearest(tree.parent, repeating, node[copies].astype(np.int32)) >= 0
    return copies


def of_result(work: OperatorWork, texts: RecordedArguments, node: int) -> OperatorWork:
    """Count only what a copy of an expanded input writes, a lower bound of what it moves."""
    given = texts.arguments(node)
    try:
        return work if given is None else moves(given.tensor(0).whole_bytes, Certainty.BOUND)
    except (UnknownWorkError, *ERRORS):
        return work


def _by_backward(model: Model, texts: RecordedArguments, node: Int64) -> dict[int, OperatorWork]:
    """Derive forward convolutions: the first argument of their backward is the gradient of their result."""
    tree, strings = model.tree, model.trace.strings
    sequence = take_known(model.trace.operators.sequence, tree.operator)
    is_backward = strings.where(_CONVOLUTION_BACKWARD.fullmatch, tree.name)[tree.name] & (sequence >= 0)
    numbered = nearest(tree.parent, (sequence >= 0) & ~is_backward, node.astype(np.int32))
    backward = {int(sequence[place]): int(place) for place in np.flatnonzero(is_backward).tolist()}
    known: dict[tuple[str, ...], OperatorWork | None] = {}
    results = {}
    for place, outer in zip(node.tolist(), numbered.tolist(), strict=True):
        passed = backward.get(int(sequence[outer])) if outer >= 0 else None
        if passed is None:
            continue
        key = (*texts.of(place)[:2], texts.of(passed)[0])
        if key not in known:
            known[key] = _forward(texts, place, passed)
        work = known[key]
        if work is not None:
            results[place] = work
    return results


def _forward(texts: RecordedArguments, node: int, backward: int) -> OperatorWork | None:
    given, passed = texts.arguments(node), texts.arguments(backward)
    try:
        if given is None or passed is None:
            return None
        return forward_with(given, tuple(passed.dims[0])).surely(Certainty.DERIVED)
    except (UnknownWorkError, *ERRORS):
        return None


def _by_enclosing(model: Model, texts: RecordedArguments, nodes: list[int]) -> dict[int, OperatorWork]:
    """Derive one gradient of a convolution, half of what both take: the backward around it knows all sizes."""
    known = {}
    for place in nodes:
        outer = int(model.tree.parent[place])
        name = str(model.trace.strings[int(model.tree.name[outer])]) if outer >= 0 else ""
        if not name.endswith("_convolution_backward"):
            continue
        both = work_of(name, *texts.of(outer))
        product = both.product
        if product is not None:
            sizes = {name: getattr(product, name) // 2 for name in ("flops", "elements", "weights")}
            known[place] = matmul_work(replace(product, **sizes)).surely(Certainty.DERIVED)
    return known


def _by_parameters(model: Model, texts: RecordedArguments, nodes: list[int]) -> dict[int, OperatorWork]:
    """Bound optimizers that go over all parameters in one call: at most all of them if there are several calls."""
    parameters, passes = _parameters(model, texts)
    if not parameters:
        return {}
    known = {}
    for at in nodes:
        given = texts.arguments(at)
        name = str(model.trace.strings[int(model.tree.name[at])])
        alone = "_fused" in name and len(nodes) <= passes
        try:
            if given is not None:
                known[at] = of_parameters(name, given, parameters).surely(
                    Certainty.DERIVED if alone else Certainty.BOUND
                )
        except ERRORS:
            continue
    return known


def _parameters(model: Model, texts: RecordedArguments) -> tuple[int, int]:
    """Return Σ elements of the gradients that one backward pass accumulates, one pass to a step, and how many passes.

    (0, 0) where unknown: gradients that are accumulated over several passes do not divide by the steps.
    """
    tree, strings, passes = model.tree, model.trace.strings, len(model.steps)
    if not len(tree) or not passes:
        return 0, 0
    nodes = np.flatnonzero(strings.where(lambda name: name == _ACCUMULATE, tree.name)[tree.name])
    total = 0
    for at in nodes.tolist():
        given = texts.arguments(at)
        try:
            total += 0 if given is None else given.tensor(0).elements
        except ERRORS:
            return 0, 0
    return (0, 0) if len(nodes) % passes or total % passes else (total // passes, passes)
