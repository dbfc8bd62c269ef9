"""Operators without matmuls that do more than one thing to each element: copies, sums, norms, lookups, pools.

Bytes are a lower bound: each distinct element counts once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from types import MappingProxyType

from torch_tb_profiler.analysis.flops.matrices import Reader
from torch_tb_profiler.analysis.flops.work import (
    Certainty,
    OperatorArguments,
    OperatorWork,
    Tensor,
    UnknownReason,
    UnknownWorkError,
    broadcast,
    moves,
)


def _copy(given: OperatorArguments) -> OperatorWork:
    """Read argument 1 and write argument 0."""
    to, of = given.tensor(0), given.tensor(1)
    # an expanded source without recorded strides is not larger than the destination
    return moves(to.whole_bytes + min(of.bytes, to.elements * of.size))


def _clone(given: OperatorArguments) -> OperatorWork:
    x = given.tensor(0)
    return moves(x.bytes + x.whole_bytes)


def _parts(given: OperatorArguments) -> OperatorWork:
    return moves(2 * sum(each.whole_bytes for each in given.listed(0)), given.sure_of_lists)


def _split_copy(given: OperatorArguments) -> OperatorWork:
    return moves(2 * given.tensor(0).whole_bytes)


def _rows(table: int, index: int) -> Reader:
    """Read rows of a table by their numbers: at most all of it."""

    def read(given: OperatorArguments) -> OperatorWork:
        w, at = given.tensor(table), given.tensor(index)
        if not w.dims:
            raise ValueError("no table")
        row = prod(w.dims[1:]) * w.size
        return moves(min(at.elements * row, w.whole_bytes) + at.elements * row + at.bytes)

    return read


def _bags(given: OperatorArguments) -> OperatorWork:
    """Read rows of a table, summed or averaged for each bag."""
    w, at, bags = (given.tensor(each) for each in range(3))
    row = prod(w.dims[1:]) * w.size
    return moves(min(at.elements * row, w.whole_bytes) + bags.elements * row + at.bytes + bags.bytes)


def _selected(given: OperatorArguments) -> OperatorWork:
    """Read what index_select chooses along one dimension."""
    x, at = given.tensor(0), given.tensor(2)
    along = given.value(1) if len(given.concrete) > 1 else 0
    row = x.whole_bytes // max(x.dims[along], 1)
    return moves(min(at.elements * row, x.whole_bytes) + at.elements * row + at.bytes)


def _gathered(given: OperatorArguments) -> OperatorWork:
    x, at = given.tensor(0), given.tensor(2)
    return moves(min(at.elements * x.size, x.whole_bytes) + at.elements * x.size + at.bytes)


def _scattered(times: int) -> Reader:
    """Read places, values, and what they are added to; write the sums."""

    def read(given: OperatorArguments) -> OperatorWork:
        tensors = [given.tensor(at) for at in (2, 3) if given.is_tensor(at)]
        if len(tensors) != 2:
            raise ValueError("no source")
        at, source = tensors
        return moves(at.bytes + times * source.whole_bytes)

    return read


def _by_contents(_: OperatorArguments) -> OperatorWork:
    """Give up: which elements are read is not recorded, as tensors of indices in a list are not."""
    raise UnknownWorkError(UnknownReason.CONTENTS)


def _put(given: OperatorArguments) -> OperatorWork:
    """Count for index_put_ at least the values, read and written."""
    values = given.tensor(2)
    if not values.elements:
        raise ValueError("no values")
    return moves(2 * values.whole_bytes, Certainty.BOUND)


def _sum(given: OperatorArguments) -> OperatorWork:
    """Read all, and write little."""
    x = given.tensor(0)
    written = next((t for t in given.tensors(1) if t.dims and t.elements < x.elements), None)
    return moves(x.bytes + (written.whole_bytes if written else 0))


def _twice(given: OperatorArguments) -> OperatorWork:
    x = given.tensor(0)
    return moves(x.bytes + x.whole_bytes)


def _at_least_twice(given: OperatorArguments) -> OperatorWork:
    x = given.tensor(0)
    if not x.elements:
        raise ValueError("nothing to sort")
    return moves(x.bytes + x.whole_bytes, Certainty.BOUND)


def _searched(values: int) -> Reader:
    """Count where values stand among sorted ones, as numbers of 4 bytes at least."""

    def read(given: OperatorArguments) -> OperatorWork:
        x = given.tensor(values)
        if not x.dims:
            raise ValueError("nothing to look for")
        return moves(x.bytes + 4 * x.elements, Certainty.BOUND)

    return read


def _softmax(given: OperatorArguments) -> OperatorWork:
    """Count the result as it is, which may have 32 bits for an input of 16."""
    x = given.tensor(0)
    widened = bool(given.flags()) and given.flags()[-1][1]
    return moves(x.bytes + x.elements * (4 if widened else x.size))


def _of_gradient(*places: int) -> Reader:
    """Read some tensors and write one like the first of them."""

    def read(given: OperatorArguments) -> OperatorWork:
        tensors = [given.tensor(at) for at in places if given.is_tensor(at)]
        if not tensors or not tensors[0].dims:
            raise ValueError("no gradient")
        return moves(sum(each.bytes for each in tensors) + tensors[0].whole_bytes)

    return read


def _norm(*parameters: int) -> Reader:
    """Read x and the parameters, write y."""

    def read(given: OperatorArguments) -> OperatorWork:
        x = given.tensor(0)
        if not x.dims:
            raise ValueError("nothing to normalise")
        rest = sum(given.tensor(at).bytes for at in parameters if given.is_tensor(at))
        return moves(x.bytes + x.whole_bytes + rest)

    return read


def _norm_backward(given: OperatorArguments) -> OperatorWork:
    """Read all tensors, the gradient and x first, and write dx."""
    first, second = given.tensor(0), given.tensor(1)
    if not first.dims or first.dims != second.dims:
        raise ValueError("no gradient")
    return moves(first.bytes + second.bytes + second.whole_bytes)


def _pool(dimensions: int, indices: bool) -> Reader:
    """Read x; write y, and where it came from. Without its settings, as before 2023, y is unknown."""

    def read(given: OperatorArguments) -> OperatorWork:
        x = given.tensor(0)
        kernel = given.numbers(1, dimensions)
        step = given.value(2) if len(given.concrete) > 2 and given.concrete[2] not in ("", "[]") else kernel
        steps = list(step) * dimensions if len(step) == 1 else list(step)
        pads = given.numbers(3, dimensions)
        spread = given.numbers(4, dimensions) if indices else [1] * dimensions
        flags = [flag for _, flag in given.flags()]
        up = bool(flags and flags[0])
        outer = 1
        for size, k, s, p, d in zip(x.dims[-dimensions:], kernel, steps, pads, spread, strict=True):
            room = size + 2 * p - d * (k - 1) - 1
            windows = (room + s - 1 if up else room) // s + 1
            outer *= windows - (up and (windows - 1) * s >= size + p)  # none begins behind the input
        y = prod(x.dims[:-dimensions]) * outer
        return moves(x.bytes + y * (x.size + (8 if indices else 0)))

    return read


def _pool_or_at_least_input(dimensions: int, indices: bool) -> Reader:
    exact = _pool(dimensions, indices)

    def read(given: OperatorArguments) -> OperatorWork:
        if given.concrete:
            return exact(given)
        return moves(given.tensor(0).bytes, Certainty.BOUND)

    return read


def _adaptive(given: OperatorArguments) -> OperatorWork:
    return _adapted(given, 0)


def _adaptive_max(given: OperatorArguments) -> OperatorWork:
    """Count where each maximum came from, too."""
    return _adapted(given, 8)


def _adapted(given: OperatorArguments, index: int) -> OperatorWork:
    x = given.tensor(0)
    outer = given.numbers(1, len(given.value(1)))
    y = prod(x.dims[: -len(outer)]) * prod(outer)
    return moves(x.bytes + y * (x.size + index))


def _pool_backward(given: OperatorArguments) -> OperatorWork:
    """Count the gradient, indices where there are any, and the gradient of x."""
    dy, x = given.tensor(0), given.tensor(1)
    indices = [t for t in given.tensors(2) if t.kind in ("long", "long int") and t.dims]
    return moves(dy.bytes + x.whole_bytes + sum(t.bytes for t in indices))


def _upsample(given: OperatorArguments) -> OperatorWork:
    x = given.tensor(0)
    outer = given.value(1)
    if not isinstance(outer, list) or len(outer) != len(x.dims) - 2:
        raise ValueError("the size of the result is not recorded")
    return moves(x.bytes + prod(x.dims[:2]) * prod(outer) * x.size)


def _upsample_backward(given: OperatorArguments) -> OperatorWork:
    dy, x = given.tensor(0), given.value(2)
    return moves(dy.bytes + prod(x) * dy.size)


def _loss(reduction: int) -> Reader:
    """Read all tensors, and write the losses of all elements unless they are reduced to one number."""

    def read(given: OperatorArguments) -> OperatorWork:
        inputs = list(given.tensors(0, reduction))
        moved, text = sum(each.bytes for each in inputs), given.concrete[reduction : reduction + 1]
        if text == ["0"]:
            moved += inputs[0].size * prod(broadcast([each.dims for each in inputs[:2]]))
        return moves(moved, Certainty.EXACT if text else Certainty.BOUND)

    return read


def _nll_loss(given: OperatorArguments) -> OperatorWork:
    """Read of each target its class and the one log-probability that it names, nothing else of the rows."""
    x, target = given.tensor(0), given.tensor(1)
    return moves(target.bytes + prod(target.dims) * x.size)


def _all_inputs(given: OperatorArguments) -> OperatorWork:
    """Read all inputs of a loss; write one number, or as much as the first where a gradient comes in."""
    return moves(sum(each.bytes for each in given.tensors()))


def _embedding_backward(given: OperatorArguments) -> OperatorWork:
    """Read each row of the gradient, and add it to what is written once."""
    dy, at = given.tensor(0), given.tensor(1)
    return moves(2 * dy.bytes + at.bytes, Certainty.BOUND)


def _pad(given: OperatorArguments) -> OperatorWork:
    """Count for constant_pad_nd what a copy and a fill inside it do not do."""
    x, pads = given.tensor(0), given.value(1)
    sizes = list(x.dims)
    for place in range(len(pads) // 2):
        sizes[-1 - place] += pads[2 * place] + pads[2 * place + 1]
    return moves(x.bytes + prod(sizes) * x.size)


def _repeated(given: OperatorArguments) -> OperatorWork:
    """Count the result once: it is among the arguments, and written last."""
    tensors: Sequence[Tensor] = [given.tensor(at) for at in range(len(given)) if given.is_tensor(at)]
    if len(tensors) < 2:
        raise UnknownWorkError(UnknownReason.CONTENTS)
    return moves(sum(each.bytes for each in tensors), Certainty.BOUND)


def _nothing(_: OperatorArguments) -> OperatorWork:
    """Move nothing: views, and memory that is allocated without being written."""
    return moves(0)


def _named(names: str, reader: Reader) -> dict[str, Reader]:
    return {f"aten::{name}": reader for name in names.split()}


#: what is known of them needs the types of lists of tensors
OF_PARTS = frozenset({"aten::cat", "aten::_cat", "aten::stack", "aten::_stack"})
BANDWIDTH: Mapping[str, Reader] = MappingProxyType(
    {
        **_named(
            """view _unsafe_view as_strided t transpose permute expand squeeze unsqueeze select slice narrow detach
            detach_ alias unbind split split_with_sizes chunk swapaxes movedim flatten unflatten view_as expand_as
            empty empty_like empty_strided new_empty new_empty_strided resize_ _reshape_alias set_ numpy_T real_view
            squeeze_ unsqueeze_ transpose_ t_ result_type is_nonzero lift_fresh""",
            _nothing,
        ),
        **_named("copy_ _foreach_copy", _copy),
        **_named("clone _to_copy contiguous flip roll rot90 _conj_physical", _clone),
        **dict.fromkeys(OF_PARTS, _parts),
        **_named("split_with_sizes_copy", _split_copy),
        **_named("embedding", _rows(0, 1)),
        "aten::index_select": _selected,
        **_named("gather take_along_dim", _gathered),
        **_named("scatter_add_ scatter_add index_add_ index_add scatter_reduce_", _scattered(3)),
        **_named("scatter_ scatter index_copy_", _scattered(2)),
        **_named("index _index nonzero masked_select masked_scatter_ repeat_interleave bincount", _by_contents),
        **_named("index_put_ _index_put_impl_", _put),
        **_named(
            """sum nansum mean max min amax amin prod norm linalg_vector_norm var std var_mean std_mean any all argmax
            argmin count_nonzero logsumexp aminmax _linalg_check_errors _local_scalar_dense native_norm item""",
            _sum,
        ),
        **_named("cumsum cumprod cummax cummin logcumsumexp _cumsum cumsum_", _twice),
        **_named(
            "topk sort unique _unique2 unique_consecutive kthvalue median mode multinomial _fft_r2c _fft_c2c _fft_c2r",
            _at_least_twice,
        ),
        "aten::searchsorted": _searched(1),
        "aten::bucketize": _searched(0),
        **_named("_softmax _log_softmax _safe_softmax", _softmax),
        **_named("_softmax_backward_data _log_softmax_backward_data", _of_gradient(0, 1)),
        "aten::native_layer_norm": _norm(2, 3),
        **_named("native_group_norm", _norm(1, 2)),
        **_named("rms_norm _fused_rms_norm", _norm(2)),
        **_named(
            "native_batch_norm cudnn_batch_norm miopen_batch_norm _native_batch_norm_legit batch_norm_elemt "
            "_batch_norm_with_update _native_batch_norm_legit_no_training",
            _norm(1, 2, 3, 4),
        ),
        **_named(
            """native_layer_norm_backward native_group_norm_backward _fused_rms_norm_backward native_batch_norm_backward
            cudnn_batch_norm_backward miopen_batch_norm_backward batch_norm_backward_elemt batch_norm_backward""",
            _norm_backward,
        ),
        **_named("batch_norm_stats batch_norm_collect_statistics", _sum),
        "aten::batch_norm_backward_reduce": _of_gradient(0, 1),
        "aten::max_pool2d_with_indices": _pool_or_at_least_input(2, indices=True),
        "aten::max_pool3d_with_indices": _pool_or_at_least_input(3, indices=True),
        "aten::avg_pool2d": _pool_or_at_least_input(2, indices=False),
        "aten::avg_pool3d": _pool_or_at_least_input(3, indices=False),
        **_named("_adaptive_avg_pool2d _adaptive_avg_pool3d", _adaptive),
        **_named("adaptive_max_pool2d adaptive_max_pool3d", _adaptive_max),
        **_named(
            """max_pool2d_with_indices_backward max_pool3d_with_indices_backward avg_pool2d_backward
            avg_pool3d_backward _adaptive_avg_pool2d_backward _adaptive_avg_pool3d_backward adaptive_max_pool2d_backward
            """,
            _pool_backward,
        ),
        **_named(
            """upsample_nearest1d upsample_nearest2d upsample_nearest3d _upsample_nearest_exact2d upsample_bilinear2d
            upsample_bicubic2d upsample_linear1d upsample_trilinear3d _upsample_bilinear2d_aa _upsample_bicubic2d_aa""",
            _upsample,
        ),
        **_named(
            """upsample_nearest1d_backward upsample_nearest2d_backward upsample_nearest3d_backward
            upsample_bilinear2d_backward upsample_bicubic2d_backward upsample_linear1d_backward
            upsample_trilinear3d_backward""",
            _upsample_backward,
        ),
        **_named("nll_loss_forward nll_loss2d_forward", _nll_loss),
        **_named("binary_cross_entropy_with_logits kl_div poisson_nll_loss l1_loss _ctc_loss equal", _all_inputs),
        **_named("mse_loss smooth_l1_loss huber_loss", _loss(2)),
        "aten::binary_cross_entropy": _loss(3),
        **_named("nll_loss_backward nll_loss2d_backward", _of_gradient(1, 2)),
        **_named(
            "binary_cross_entropy_backward mse_loss_backward smooth_l1_loss_backward huber_loss_backward",
            _of_gradient(1, 2),
        ),
        "aten::embedding_dense_backward": _embedding_backward,
        **_named("_embedding_bag _embedding_bag_forward_only", _bags),
        "aten::constant_pad_nd": _pad,
        "aten::repeat": _repeated,
        **{f"fbgemm::asynchronous_{kind}_cumsum": _twice for kind in ("complete", "exclusive", "inclusive")},
        "fbgemm::bounds_check_indices": _all_inputs,
    }
)
