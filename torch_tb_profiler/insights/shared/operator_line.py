"""The operators in order as a text, one letter for each operator, so that regular expressions find patterns.

A letter stands for one operator that does something itself: the outermost that is known (`LETTERS`), else an innermost
one (`OTHER`). Views and allocations have none, and where work of a device is recorded, neither has what starts none.
Threads are parted by `END`. The kernels of an interval are its own, or those of its backward (`backward_kernels`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import begins_run, distinct
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.model import Model

#: parts threads; no operator has it
END = "\n"
#: an operator that no pattern asks for
OTHER = "."

_NAMES: Mapping[str, str] = {
    # products
    "G": "bmm baddbmm",
    "g": "mm addmm linear _scaled_mm _grouped_mm mkldnn_linear",
    # softmax, and its backward
    "S": "_softmax",
    "B": "_softmax_backward_data",
    # elementwise
    "a": "add add_",
    "s": "sub sub_ rsub",
    "u": "mul mul_",
    "d": "div div_",
    "r": "reciprocal reciprocal_",
    "2": "pow square",
    "q": "rsqrt sqrt rsqrt_ sqrt_",
    "x": "exp exp_",
    "o": "native_dropout fused_dropout _fused_dropout native_dropout_backward",
    "c": "copy_ clone _to_copy",
    "p": """abs neg sigmoid sigmoid_ tanh tanh_ relu relu_ silu silu_ gelu gelu_ elu leaky_relu hardtanh hardswish
    softplus clamp clamp_ clamp_min clamp_max where masked_fill masked_fill_ sin cos log log1p expm1 erf sign floor ceil
    round eq ne gt ge lt le logical_and logical_or logical_not bitwise_and bitwise_or bitwise_not minimum maximum
    addcmul addcdiv lerp threshold threshold_backward gelu_backward silu_backward sigmoid_backward tanh_backward
    hardtanh_backward elu_backward leaky_relu_backward hardswish_backward softplus_backward""",
    # reductions
    "m": "mean",
    "v": "var std var_mean std_mean",
    "t": "sum",
    "X": "amax max",
    # convolutions and batch norms
    "V": """cudnn_convolution miopen_convolution mkldnn_convolution slow_conv2d_forward _slow_conv2d_forward
    _conv_depthwise2d conv_depthwise3d slow_conv3d_forward slow_conv_dilated2d""",
    "b": "cudnn_batch_norm miopen_batch_norm native_batch_norm _native_batch_norm_legit _batch_norm_with_update",
    # indices
    "I": "index index_select gather",
    "A": "index_add_ index_add scatter_add_ scatter_add _index_put_impl_ index_put_",
    "N": "nonzero",
    "K": "topk",
}
#: letter of each known operator
LETTERS: Mapping[str, str] = {f"aten::{name}": letter for letter, names in _NAMES.items() for name in names.split()}
ELEMENTWISE = "asudr2qxocp"
REDUCTIONS = "mvtX"

_NOTHING = frozenset(
    f"aten::{name}"
    for name in """view reshape _reshape_alias expand expand_as transpose t permute slice select unsqueeze squeeze
    as_strided narrow split split_with_sizes chunk unbind alias detach detach_ flatten unflatten view_as _unsafe_view
    empty empty_like empty_strided resize_ set_ result_type resolve_conj resolve_neg is_nonzero item _local_scalar_dense
    movedim swapaxes numpy_T mT contiguous lift_fresh to type_as dropout dropout_ alpha_dropout feature_dropout
    feature_alpha_dropout unsafe_split unsafe_chunk squeeze_ unsqueeze_ positive real""".split()
)
#: wrappers of the autograd engine: what they do is inside them
_NO_WORK = ("autograd::", "torch::autograd::", "torch::dynamo::")


class OperatorLine(msgspec.Struct, frozen=True):
    """The operators, thread by thread in order of start; a place is a position in `text`.

    text     a letter for each
    node     shape (len(text),): position in the call tree, -1 for END
    work     rows of the events of devices, by place
    first    shape (len(text) + 1,): where the work of each place begins in `work`
    place    shape (device work,): the place of each piece of device work, -1 for none
    """

    text: str
    node: Int64
    work: Int32
    first: Int64
    place: Int64

    def matches(self, pattern: str) -> Iterator[tuple[int, int]]:
        """Where a pattern is found: from a place to another, which is excluded."""
        return (found.span() for found in re.finditer(pattern, self.text))

    def is_soon_after(self, letter: str, place: int, most: int) -> bool:
        """Tell whether one of the operators before a place, at most so many, has a letter; on the same thread."""
        return letter in self.text[max(place - most, 0) : place].rpartition(END)[2]

    def rows(self, first: int, after: int) -> Int32:
        """Return the device work of the places from one to another, in the order of its operators."""
        found: Int32 = self.work[self.first[first] : self.first[after]]
        return found


@cached
def operator_line(model: Model) -> OperatorLine:
    """Write the line of all selected operators; those of a convolution that add its bias have the letter `i`."""
    tree, strings = model.tree, model.trace.strings
    codes = distinct(tree.name)
    names = [str(strings[code]) for code in codes.tolist()]
    letter_of = np.array([ord(LETTERS.get(name, OTHER)) for name in names], np.uint8)
    does_of = np.array(["::" in name and not name.startswith(_NO_WORK) and name not in _NOTHING for name in names])
    at = np.searchsorted(codes, tree.name)
    letter = letter_of[at] if len(at) else np.empty(0, np.uint8)
    known = tree.is_operator & (letter != ord(OTHER))
    does = tree.is_operator & (does_of.astype(np.bool_)[at] if len(at) else known)
    above = nearest(tree.parent, does, tree.parent)
    holds = np.zeros(len(tree) + 1, np.bool_)  # the last is for "none"
    holds[above[does]] = True
    in_known = nearest(tree.parent, known, tree.parent) >= 0
    kept = ~in_known & (known | (does & ~holds[:-1]))
    inner = nearest(tree.parent, kept, model.device_links.operator_node)
    if model.has_device_work:
        works = np.zeros(len(tree) + 1, np.bool_)  # the last is for "none"
        works[inner] = True
        kept &= works[:-1]
    node = np.flatnonzero(kept)
    letter[_adds_bias(model, known)] = ord("i")

    thread = tree.track[node]
    begins = np.flatnonzero(begins_run(thread))
    place_of = np.arange(len(node)) + np.cumsum(begins_run(thread)) if len(node) else np.empty(0, np.int64)
    size = len(node) + len(begins)
    text = np.full(size, ord(END), np.uint8)
    text[place_of] = letter[node]
    nodes = np.full(size, -1, np.int64)
    nodes[place_of] = node
    places = np.full(len(tree) + 1, -1, np.int64)
    places[node] = place_of
    place: Int64 = places[inner]  # the last is for "none"
    owned = np.flatnonzero((place >= 0) & model.is_work)
    start = model.trace.events.start[model.device_work.row[owned]]
    owned = owned[np.lexsort((start, place[owned]))]
    first = np.searchsorted(place[owned], np.arange(size + 1)).astype(np.int64)
    return OperatorLine(text.tobytes().decode("ascii"), nodes, model.device_work.row[owned], first, place)


def _adds_bias(model: Model, known: Bool) -> Int64:
    """Nodes that add the bias of a convolution."""
    tree, strings = model.tree, model.trace.strings
    adds = np.flatnonzero(known & (tree.name == strings.code("aten::add_")) & (tree.parent >= 0))
    found: Int64 = adds[tree.name[tree.parent[adds]] == strings.code("aten::_convolution")]
    return found


def input_dims(model: Model, node: Int64) -> Int32:
    """Shape (n,): the code of the shapes of the inputs of some nodes of the call tree; 0 where not recorded."""
    operator = take_known(model.tree.operator, node).astype(np.int64)
    found: Int32 = take_known(model.trace.operators.input_dims, operator, missing=0)
    return found


def input_types(model: Model, node: Int64) -> Int32:
    """Return the codes of the types of the inputs. Shape (n,); 0 where not recorded."""
    operator = take_known(model.tree.operator, node).astype(np.int64)
    found: Int32 = take_known(model.trace.operators.input_type, operator, missing=0)
    return found


#: how the nodes of autograd begin
EVALUATE = "autograd::engine::evaluate_function: "


def backward_kernels(model: Model, spans: Sequence[tuple[int, int]]) -> list[Int32]:
    """Rows of the device work of the nodes of autograd that belong to intervals of the operator line; none where no
    arrows join forward and backward.

    spans   places of the line, from one to another, which is excluded
    """
    tree, line, pairs = model.tree, operator_line(model), model.forward_backward
    if not spans or not len(pairs.forward):
        return [np.empty(0, np.int32) for _ in spans]
    is_node = model.trace.strings.where(lambda name: name.startswith(EVALUATE), tree.name)[tree.name]
    node = nearest(tree.parent, is_node, pairs.backward)
    # operators of one thread follow one another in the tree
    order = np.argsort(pairs.forward, kind="stable")
    forward, node = pairs.forward[order], node[order]
    work = np.flatnonzero(model.is_work & (model.device_links.operator_node >= 0))
    owner = nearest(tree.parent, is_node, model.device_links.operator_node[work])
    by_owner = np.argsort(owner, kind="stable")
    work, owner = work[by_owner], owner[by_owner]
    kernels = []
    for first, after in spans:
        # an operator that hands over to the first of them, as `to` does to `_to_copy`, is joined in its place
        begin, until = int(line.node[first]), int(tree.end[line.node[after - 1]])
        before = int(line.node[first - 1]) if first else -1
        while (above := int(tree.parent[begin])) > before and tree.is_operator[above] and int(tree.end[above]) <= until:
            begin = above
        low, high = np.searchsorted(forward, [begin, int(line.node[after - 1]) + 1]).tolist()
        nodes = np.unique(node[low:high][node[low:high] >= 0])
        at = [work[slice(*np.searchsorted(owner, [each, each + 1]).tolist())] for each in nodes.tolist()]
        kernels.append(model.device_work.row[np.concatenate(at)] if at else np.empty(0, np.int32))
    return kernels
