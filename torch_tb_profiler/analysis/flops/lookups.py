"""Lookups in tables of FBGEMM and their backward: each tells what the other's arguments leave open.

The lookup knows how many rows it reads, the gradient how wide all tables are together. Rows are of a mean width.
"""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.flops.arguments import ERRORS, Arguments, Tensor
from torch_tb_profiler.analysis.flops.texts import Texts
from torch_tb_profiler.analysis.flops.work import NotKnown, Sure, Work, moves
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model

#: the backward of a lookup, and lookups; what kind it is stands in the names of both
_BACKWARD = lazy_pattern(r"torch::autograd::CppNode<SplitLookupFunction_(\w+)_Op>")
_LOOKUP = lazy_pattern(r"fbgemm::split_embedding_codegen_lookup_(\w+)_function")
_DENSE = "fbgemm::dense_embedding_codegen_lookup_function"
#: what sorting moves of each index at least: a key of 8 bytes and its place
_SORTED = 12


class _Lookup(msgspec.Struct, frozen=True):
    """What a lookup says of itself.

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


def by_each_other(model: Model, texts: Texts, nodes: Sequence[int]) -> dict[int, Work]:
    """What is known of some lookups and their backward. nodes: positions in `Model.tree`."""
    tree, strings = model.tree, model.trace.strings
    names = strings.where(lambda name: _kind(name) is not None, tree.name)[tree.name]
    every = np.flatnonzero(names & tree.is_operator)
    every = every[np.argsort(tree.start[every], kind="stable")]
    number = take_known(model.trace.operators.sequence, tree.operator[every]).tolist()
    wanted = set(nodes)
    found: dict[int, Work] = {}
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
            forward: moves(read + lookup.indices + gradient.whole_bytes, Sure.ESTIMATE),
            node: moves(gradient.whole_bytes + 2 * read + _SORTED * lookup.rows, Sure.ESTIMATE),
        }
        found |= {each: work for each, work in works.items() if each in wanted}
    return found


def _kind(operator: str) -> str | None:
    """`adagrad`, `Dense`; None of what is neither a lookup nor its backward."""
    if operator == _DENSE:
        return "Dense"
    found = _LOOKUP.fullmatch(operator) or _BACKWARD.fullmatch(operator)
    return None if found is None else found[1]


def _fitting(before: Sequence[tuple[int, int, _Lookup]], sequence: int, gradient: Tensor) -> int | None:
    """Which of the lookups so far this is the gradient of: of one number, else the last that has as many bags."""
    for at in reversed(range(len(before))):
        _, number, lookup = before[at]
        fits = lookup.bags == gradient.dims[0] * lookup.tables and gradient.dims[1] >= lookup.tables
        if fits and (number == sequence or min(number, sequence) < 0):
            return at
    return None


def _lookup_of(name: str, given: Arguments) -> _Lookup | None:
    weights, tables, indices, offsets = (0, 1, 7, 8) if name == _DENSE else (1, 5, 11, 12)
    try:
        rows, ends, count = given.tensor(indices), given.tensor(offsets), given.tensor(tables).elements
        if len(rows.dims) != 1 or len(ends.dims) != 1 or not count:
            return None
        size = given.tensor(weights).size
        return _Lookup(rows.elements, count, ends.elements - 1, size, rows.bytes + ends.bytes)
    except (NotKnown, *ERRORS):
        return None


def _gradient_of(given: Arguments) -> Tensor | None:
    try:
        found = given.tensor(0)
        return found if len(found.dims) == 2 and found.size else None
    except (NotKnown, *ERRORS):
        return None
