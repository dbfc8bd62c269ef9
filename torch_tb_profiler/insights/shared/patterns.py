"""Parts of a program that one kernel could do, by the order of its operators: attention, norms, softmax, chains."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from math import prod

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import begins_run, distinct_places
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.shared.fused_time import attention_ns, shortest_whole_ns, streamed_ns
from torch_tb_profiler.insights.shared.operator_line import (
    ELEMENTWISE,
    OperatorLine,
    backward_kernels,
    input_dims,
    operator_line,
)
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.program_tree import ACCUMULATE
from torch_tb_profiler.trace import Category

#: share of the time of all kernels but the longest that remains in a fused kernel
LEFT = 0.15

#: a softmax between two batched products, with scaling, masks and dropout between
_ATTENTION = r"G[asudrpc]{0,6}S[oascudrp]{0,3}G"
#: its backward: two products for the values, the backward of the softmax, two for queries and keys
_ATTENTION_BACKWARD = r"GG[asudrpoc]{0,5}B[asudrpc]{0,5}GG"
_SDPA = ("aten::scaled_dot_product_attention", "aten::_scaled_dot_product")
#: norms by hand: x² is a power or a product, the weight may be converted, and 1 may be added to it. Computing in
#: another type adds a conversion at the beginning and at the end.
_NORMS: Mapping[str, str] = {
    "rms_norm": r"c?[2u]ma?qr?[ud](?:c?u|cau)?c?",
    "layer_norm": r"c?m(?:s[2u]m|sv|vs|v)a?q?r?s?[ud]a?[ud]?u?a?c?",
    "softmax": r"Xsx(?:t)d",
}
#: time of the backward ÷ time of the forward, both fused: it reads two tensors instead of one, and sums for weights
_BACKWARD: Mapping[str, float] = {"rms_norm": 2.0, "layer_norm": 2.0, "softmax": 1.5}
_CONVERSION = "aten::_to_copy"
#: nodes with these names, and nodes inside them, are in no chain: other rules or compilers handle them
_NOT_CHAINED = ("Optimizer.", "Torch-Compiled Region", "## Call CompiledFxGraph", ACCUMULATE, "CompiledFunction")


class Group(msgspec.Struct, frozen=True):
    """Kernels that one kernel could replace.

    rows       their events, in order
    target_ns  how long the one would take
    """

    rows: Int32
    target_ns: int


def fused_ns(duration: Int64) -> int:
    """Return the time of a kernel that replaces several, ns: the longest, and `LEFT` of the others."""
    longest = int(duration.max(initial=0))
    return round(longest + LEFT * (int(duration.sum()) - longest))


@cached
def _kernel_rows(model: Model) -> Bool:
    """Shape (events,): the kernels that are not communication's."""
    found = np.zeros(len(model.trace.events), np.bool_)
    work, links = model.device_work, model.device_links
    found[work.row[(model.device_category == Category.KERNEL) & ~links.is_communication]] = True
    return found


@cached
def attention(model: Model) -> tuple[tuple[int, int], ...]:
    """Places of the operator line where attention is made of products and a softmax, forward and backward."""
    line = operator_line(model)
    found = [*line.matches(_ATTENTION), *line.matches(_ATTENTION_BACKWARD)]
    return tuple(sorted(found))


def inside(model: Model, names: tuple[str, ...]) -> Bool:
    """Mark nodes whose names have one of these prefixes, and nodes inside them, shape (call tree,)."""
    tree = model.tree
    named = model.trace.strings.where(lambda name: name.startswith(names), tree.name)
    found: Bool = nearest(tree.parent, named[tree.name] if len(tree) else named[:0], np.arange(len(tree))) >= 0
    return found


def attention_written_out(model: Model, spans: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Select the spans of the operator line that are not inside torch's own attention operator.

    Its backward may run as single operators and look like one by hand: if the forward is torch's, so is the backward.
    """
    line = operator_line(model)
    apart = inside(model, _SDPA)
    own = [(first, after) for first, after in spans if not apart[line.node[first]]]
    forward = [span for span in own if "S" in line.text[slice(*span)]]
    return own if forward else []


def in_backward_of_attention(facts: Facts) -> list[Group]:
    """Find the backward of attention, where none is by hand."""
    spans = attention(facts.model)
    if attention_written_out(facts.model, spans):
        return []
    text = operator_line(facts.model).text
    return [attention_group(facts, *span) for span in spans if "B" in text[slice(*span)]]


def attention_group(facts: Facts, first: int, after: int) -> Group:
    """Return the kernels of one attention, from a place of the operator line to another."""
    line = operator_line(facts.model)
    rows = kernels_of(facts.model, line.rows(first, after))
    # without shapes, the time of the products is the only estimate of the multiplying in the fused kernel
    as_they_are = products_left(facts, rows, "B" in line.text[first:after], left=0.0)
    by_shape = attention_ns(facts, first, after, rows)
    whole = int(facts.duration(rows).sum())
    return Group(rows, as_they_are if by_shape is None else min(by_shape, whole))


def products_left(facts: Facts, rows: Int32, backward: bool = False, left: float = LEFT) -> int:
    """Return the time of a fused kernel with products, ns: its products unchanged, and `left` of the rest.

    A backward multiplies five times in place of four: it computes the weights again.
    """
    strings, names = facts.trace.strings, facts.trace.events.name
    products = strings.where(_is_product, names[rows])[names[rows]] if len(rows) else np.zeros(0, np.bool_)
    duration = facts.duration(rows)
    whole, multiplying = int(duration.sum()), int(duration[products].sum())
    if backward:
        multiplying = round(1.25 * multiplying)
    return min(round(multiplying + left * max(whole - multiplying, 0)), whole)


def _is_product(name: str) -> bool:
    family = family_of(name)  # unknown kernels stay as they are
    return family is None or family.kind in (KernelKind.GEMM, KernelKind.GEMM_HELPER, KernelKind.GEMV)


def norms(facts: Facts, kind: str) -> list[Group]:
    """Norms or softmax that are written out, forward; kinds: rms_norm, layer_norm, softmax."""
    model, line = facts.model, operator_line(facts.model)
    groups: list[Group] = []
    spans: list[tuple[int, int]] = []
    for first, after in norm_spans(model, kind):
        rows = line.rows(first, after)
        place = np.repeat(np.arange(first, after), np.diff(line.first[first : after + 1]))[_kernel_rows(model)[rows]]
        rows = kernels_of(model, rows)
        if len(rows) >= 3:
            duration = facts.duration(rows)
            target = streamed_ns(facts, place.tolist(), duration.tolist())
            groups.append(Group(rows, shortest_whole_ns(facts, place.tolist(), duration) if target is None else target))
            spans.append((first, after))
    return [*groups, *_backward_of_norms(facts, kind, groups, spans)]


def norm_spans(model: Model, kind: str) -> list[tuple[int, int]]:
    """Places of the operator line where a norm or softmax is written out, forward; kinds as of `norms`."""
    return [_without_copies(model, *span) for span in operator_line(model).matches(_NORMS[kind])]


def _backward_of_norms(
    facts: Facts, kind: str, forward: Sequence[Group], spans: Sequence[tuple[int, int]]
) -> list[Group]:
    """Find the backward of norms that are written out: many kernels, where torch's operator has one or two."""
    found = []
    for group, of_nodes in zip(forward, backward_kernels(facts.model, spans), strict=True):
        rows = kernels_of(facts.model, of_nodes)
        if len(rows) >= 3:
            spent = int(facts.duration(rows).sum())
            found.append(Group(rows, min(round(_BACKWARD[kind] * group.target_ns), spent)))
    return found


def _without_copies(model: Model, first: int, after: int) -> tuple[int, int]:
    """Shorten a span of the operator line by the copies at its ends that are not part of it.

    A conversion to another type at the beginning is part of it, and then so is a conversion at the end.
    """
    line, conversion = operator_line(model), model.trace.strings.code(_CONVERSION)

    def is_copy(place: int) -> bool:
        return line.text[place] == "c"

    def converts(place: int) -> bool:
        return is_copy(place) and int(model.tree.name[line.node[place]]) == conversion

    begins = converts(first)
    ends = begins and converts(after - 1)
    return first + (is_copy(first) and not begins), after - (is_copy(after - 1) and not ends)


def kernels_of(model: Model, rows: Int32) -> Int32:
    """Select the rows that are kernels, other than those of communication."""
    found: Int32 = rows[_kernel_rows(model)[rows]]
    return found


def chains(facts: Facts, taken: Iterable[Int32], least: int) -> list[Group]:
    """Successive elementwise kernels of one size on a stream that different operators launched.

    taken   rows of kernels that belong to another pattern
    least   fewest kernels in a chain

    Repetitions of one operator, and in-place operators, are no chain: they update parameters.
    """
    model = facts.model
    line, work, events = operator_line(model), model.device_work, facts.trace.events
    fits = _may_be_in_a_chain(model, line, taken)
    if not fits.any():
        return []
    size = np.zeros(len(work), np.int64)
    size[fits] = _sizes(model, line, np.flatnonzero(fits))
    chosen = np.flatnonzero(model.is_work)
    order = chosen[np.lexsort((events.start[work.row[chosen]], work.stream[chosen], work.device[chosen]))]
    heads = np.flatnonzero(begins_run(work.device[order], work.stream[order], fits[order], size[order]))
    ends = np.append(heads[1:], len(order))
    names = model.tree.name[line.node[line.place[order]]]
    in_place = facts.trace.strings.where(lambda name: name.endswith("_"), names)[names]
    differs = np.append(names[1:] != names[:-1], False)
    differs[ends - 1] = False
    several, plain = (np.logical_or.reduceat(each, heads) for each in (differs, ~in_place))
    long = np.flatnonzero(fits[order[heads]] & (ends - heads >= least) & several & plain)
    rows = work.row[order]
    found = [rows[head:end] for head, end in zip(heads[long].tolist(), ends[long].tolist(), strict=True)]
    return [Group(each, fused_ns(facts.duration(each))) for each in found]


def _may_be_in_a_chain(model: Model, line: OperatorLine, taken: Iterable[Int32]) -> Bool:
    """Shape (device work,): elementwise kernels of eager operators."""
    letters = np.frombuffer(line.text.encode("ascii"), np.uint8)
    elementwise = np.isin(letters, np.frombuffer(ELEMENTWISE.encode("ascii"), np.uint8))
    node = np.where(line.place >= 0, line.node[line.place], -1) if len(line.node) else line.place
    apart = np.append(inside(model, _NOT_CHAINED), True)
    fits: Bool = np.append(elementwise, False)[line.place] & ~apart[node] & (model.device_category == Category.KERNEL)
    gone = np.zeros(len(model.trace.events), np.bool_)
    for rows in taken:
        gone[rows] = True
    return fits & ~gone[model.device_work.row]


def _sizes(model: Model, line: OperatorLine, work_index: Int64) -> Int64:
    """Return equal numbers for work on equally many elements, by shapes, else by grid and block; shape (n,).

    work_index   shape (n,): indices into the device work, of work with a place
    """
    work = model.device_work
    codes, which = distinct_places(input_dims(model, line.node[line.place[work_index]]))
    texts = model.trace.strings.texts(codes)
    elements = np.array([largest(text) for text in texts], np.int64)[which]
    grid, block = work.grid[work_index].astype(np.int64), work.block[work_index]
    by_grid = grid * (int(block.max(initial=0)) + 1) + block
    # unknown sizes equal no other
    unknown = (grid <= 0) | (block <= 0)
    by_grid[unknown] = int(by_grid.max(initial=0)) + 1 + np.flatnonzero(unknown)
    sizes: Int64 = np.where(elements > 0, elements, -1 - by_grid)
    return sizes


def largest(dims: str) -> int:
    """Return the elements of the largest input; 0 if unknown.

    >>> largest("[[8, 4], [], [4]]")
    32
    """
    return max((prod(shape) for shape in shapes(dims)), default=0)


def shapes(dims: str) -> list[list[int]]:
    """Read the shapes of the inputs, [] of what is no tensor; none where they cannot be read.

    >>> shapes("[[8, 4], []]")
    [[8, 4], []]
    """
    try:
        found = json.loads(dims)
    except ValueError:
        return []
    if not isinstance(found, list):
        return []
    return [each if isinstance(each, list) and each and all(isinstance(n, int) for n in each) else [] for each in found]
