"""Attention: for each operator its layout, and where its arguments tell the mask.

FLOP are those of the scores that are computed: about half for a causal mask. A backward pass computes the scores again.
For sequences packed one behind the other the profiler records all rows together, the number of sequences and the
longest length: FLOP then lie between two bounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.analysis.flops.matrices import Reader
from torch_tb_profiler.analysis.flops.work import (
    Certainty,
    FlopBounds,
    OperatorArguments,
    OperatorWork,
    Tensor,
    UnknownReason,
    UnknownWorkError,
    unknown_work,
)
from torch_tb_profiler.analysis.text_format import whole_number
from torch_tb_profiler.lazy_pattern import lazy_pattern


class _PackedMask(msgspec.Struct, frozen=True):
    """The mask within each sequence.

    causal   None: unknown
    window   how many keys each query sees before and behind it; negative: all
    """

    causal: bool | None
    window: tuple[int, int] | None


def of_packed(given: OperatorArguments, first: int, lengths: int, mask: _PackedMask, backward: bool) -> OperatorWork:
    """Return the bytes moved and the bounds of the FLOP. Raises one of `ERRORS`, or UnknownWorkError.

    first      where q stands; k and v follow
    lengths    where the cumulated lengths of q stand; those of k, and the longest of either, follow
    backward   the gradient stands in front, and scores are computed again
    """
    q, k, v = (given.tensor(first + at) for at in range(3))
    if min(len(q.dims), len(k.dims), len(v.dims)) < 3 or q.kind != k.kind:
        raise UnknownWorkError(UnknownReason.CONTENTS)
    out = q.elements // max(q.dims[-1], 1) * v.dims[-1] * q.size
    moved = q.bytes + k.bytes + v.bytes + out
    size = 2 * moved + out if backward else moved
    work = replace(unknown_work(UnknownReason.CONTENTS), bytes=size, data=q.data, sure=Certainty.BOUND)
    pairs = _pairs(given, lengths, q, k, mask)
    if pairs is None or v.dims[:-1] != k.dims[:-1] or q.dims[-1] != k.dims[-1]:
        return work
    once = 2 * q.dims[-2]
    needs = once * (2 * (q.dims[-1] + v.dims[-1]) if backward else q.dims[-1] + v.dims[-1])
    does = once * (3 * q.dims[-1] + 2 * v.dims[-1]) if backward else needs
    least, most = pairs
    return replace(work, between=FlopBounds(does * least, does * most, needs * least, needs * most))


def _pairs(given: OperatorArguments, lengths: int, q: Tensor, k: Tensor, mask: _PackedMask) -> tuple[int, int] | None:
    """Return the least and the largest number of query-key pairs; None if unknown.

    Of sequences that attend to themselves the sum of squares is least where all are of one length, if no row is left
    over at the end. Where queries and keys differ there may be none.
    """
    if any(len(each.dims) > 3 and each.elements != _packed_elements(each) for each in (q, k)):
        return None
    causal, window = mask.causal, mask.window
    count = given.tensor(lengths).elements - 1 if len(given.tensor(lengths).dims) == 1 else 0
    queries, keys = q.dims[-3], k.dims[-3]
    longest_q, longest = (_longest(given, lengths + 2, queries), _longest(given, lengths + 3, keys))
    alike = queries == keys and longest_q == longest
    seen = longest
    if window is not None and min(window) >= 0:
        seen = min(seen, window[0] + (0 if causal else window[1]) + 1)
    most = queries * seen
    if not alike or count < 1 or queries > count * longest:
        return 0, most
    if causal:
        most = min(most, queries * (longest + 1) // 2)
    squares = queries * queries // count
    if window is not None and max(window) >= 0:
        squares = queries  # each sees itself
    least = squares if causal is False else (squares + queries) // 2
    return min(least, most), most


def _packed_elements(tensor: Tensor) -> int:
    """Return the elements of (1, rows, heads, size)."""
    rows, heads, size = tensor.dims[-3:]
    return rows * heads * size


def _longest(given: OperatorArguments, at: int, rows: int) -> int:
    """Return how long the longest sequence may be: a recorded number, or all rows."""
    text = given.concrete[at] if at < len(given.concrete) else ""
    found = whole_number(text) or 0
    return found if 0 < found < rows else rows


#: which corner the diagonal of a causal mask starts in
Corner = Literal["upper_left", "lower_right"]


class _Attention(msgspec.Struct, frozen=True):
    """The places of an attention operator's arguments.

    q           where q stands; k and v follow
    heads_last  (batch, length, heads, size) in place of (batch, heads, length, size)
    causal      which of the truth values says that it is causal, unless one stands right behind the part that is
                dropped, which says it in all versions; None: no one does
    number      the number before the first truth value says it: 1 the upper left corner, 2 the lower right one
    corner      of the diagonal
    bias        where a bias stands
    lengths     where cumulated lengths of sequences stand, if they may
    window      behind that truth value, so many arguments on, stand how many keys each query sees before and behind it
    backward    with the gradient in front
    """

    q: int = 0
    heads_last: bool = False
    causal: int | None = 0
    number: bool = False
    corner: Corner = "upper_left"
    bias: int | None = None
    lengths: int | None = None
    window: int | None = None
    backward: bool = False


def kept(queries: int, keys: int, corner: Corner) -> Fraction:
    """Return the part of the scores that a causal mask leaves.

    >>> kept(4, 4, "upper_left")
    Fraction(5, 8)
    """
    if corner == "upper_left":
        short = min(queries, keys)
        left = short * (short + 1) // 2 + max(0, queries - keys) * keys
    elif queries <= keys:
        left = queries * keys - queries * (queries - 1) // 2
    else:
        left = keys * (keys + 1) // 2
    return Fraction(left, queries * keys)


def _read(how: _Attention) -> Reader:
    def read(given: OperatorArguments) -> OperatorWork:
        q, k, v = (given.tensor(how.q + at) for at in range(3))
        if how.lengths is not None and given.is_tensor(how.lengths):
            corner, sure = _corner(how, given)
            causal = None if sure is Certainty.BOUND else corner is not None
            return of_packed(given, how.q, how.lengths, _PackedMask(causal, _window(how, given)), how.backward)
        if not len(q.dims) == len(k.dims) == len(v.dims) == 4 or q.data != k.data:
            raise UnknownWorkError(UnknownReason.CONTENTS if len(q.dims) == 3 else UnknownReason.NO_MODEL)
        head, length = (2, 1) if how.heads_last else (1, 2)
        batch, heads = q.dims[0], q.dims[head]
        queries, keys = q.dims[length], k.dims[length]
        size, out = q.dims[3], v.dims[3]
        if k.dims[:3] != v.dims[:3] or k.dims[3] != size or not heads or heads % max(k.dims[head], 1):
            raise ValueError("no attention")
        if k.dims[0] != batch:
            raise UnknownWorkError(UnknownReason.CONTENTS)  # pages of a cache
        if not batch * queries * keys * (size + out):
            raise ValueError("nothing to attend to")
        scores = batch * heads * queries * keys
        corner, sure = _corner(how, given)
        window = _window(how, given)
        part = Fraction(1) if corner is None else kept(queries, keys, corner)
        if window is not None and any(0 <= side < keys for side in window):
            part = seen(queries, keys, window[0], 0 if corner else window[1])
        row = batch * heads * queries
        moved = q.bytes + k.bytes + v.bytes + row * (out * q.size + 4)
        if how.bias is not None and given.is_tensor(how.bias):
            moved += given.tensor(how.bias).bytes
        if not how.backward:
            dense = 2 * scores * (size + out)
            return OperatorWork(int(part * dense), moved, q.data, sure, dense=dense)
        dense, model = 2 * scores * (3 * size + 2 * out), 2 * scores * (2 * size + 2 * out)
        moved = 2 * moved + row * out * q.size
        return OperatorWork(int(part * dense), moved, q.data, sure, model=int(part * model), dense=dense)

    return read


def seen(queries: int, keys: int, before: int, behind: int) -> Fraction:
    """Return the part of the scores that a window leaves, whose diagonal ends in the lower right corner.

    before   keys in front of its own that a query sees; negative: all. behind: those that follow it

    >>> seen(4, 4, 1, 0)
    Fraction(7, 16)
    """
    rows, shift = np.arange(min(queries, _LONGEST)), keys - queries
    if queries > _LONGEST:
        raise ValueError("too long to count")
    first = np.zeros_like(rows) if before < 0 else np.clip(rows + shift - before, 0, keys)
    after = np.full_like(rows, keys) if behind < 0 else np.clip(rows + shift + behind + 1, 0, keys)
    return Fraction(int(np.maximum(after - first, 0).sum()), queries * keys)


def _causal_place(how: _Attention, given: OperatorArguments) -> int | None:
    """Return the place of the truth value that tells whether it is causal; None if none was recorded."""
    flags = [at for at, _ in given.flags()]
    behind = next((at for at in flags if at and _NUMBER.fullmatch(given.concrete[at - 1])), None)
    if behind is not None or how.causal is None:
        return behind
    return flags[how.causal] if how.causal < len(flags) else None


def _window(how: _Attention, given: OperatorArguments) -> tuple[int, int] | None:
    at = _causal_place(how, given)
    if how.window is None or at is None or len(given.concrete) <= at + how.window + 1:
        return None
    texts = given.concrete[at + how.window : at + how.window + 2]
    return (int(texts[0]), int(texts[1])) if all(_INTEGER.fullmatch(text) for text in texts) else None


def _corner(how: _Attention, given: OperatorArguments) -> tuple[Corner | None, Certainty]:
    """Return the corner of the mask, None without one; a call that does not say it may compute half as much."""
    flags = given.flags()
    if how.number:
        before = given.concrete[flags[0][0] - 1] if flags and flags[0][0] else ""
        code = whole_number(before)
        if code is None and flags and len(given.concrete) > flags[0][0] + 1:
            code = whole_number(given.concrete[flags[0][0] + 1])  # as xFormers has it
        if code is None:
            return None, Certainty.BOUND
        corners: dict[int, Corner] = {1: "upper_left", 2: "lower_right"}
        return corners.get(code), Certainty.EXACT
    if how.causal is None:
        return None, Certainty.EXACT
    at = _causal_place(how, given)
    if at is None:
        return None, Certainty.BOUND
    return (how.corner if given.concrete[at] == "True" else None), Certainty.EXACT


def _like_arguments(heads_last: bool, backward: bool = False, number: bool = False) -> Reader:
    """Read attention of libraries: the first three tensors with four dimensions; `int` are lengths or pages."""

    def read(given: OperatorArguments) -> OperatorWork:
        if "int" in [kind for at, kind in enumerate(given.types) if given.is_tensor(at) and given.tensor(at).dims]:
            raise UnknownWorkError(UnknownReason.CONTENTS)
        places = [at for at in range(len(given)) if given.is_tensor(at) and len(given.tensor(at).dims) == 4]
        first = next((at for at in places if at + 1 in places and at + 2 in places), None)
        if first is None or len(places) < 3 + backward:
            raise UnknownWorkError(UnknownReason.CONTENTS)
        how = _Attention(first + backward, heads_last, corner="lower_right", number=number, window=1, backward=backward)
        return _read(how)(given)

    return read


def _unknown(_: OperatorArguments) -> OperatorWork:
    raise UnknownWorkError(UnknownReason.CONTENTS)


def _packed(q: int, flag_recorded: bool = True) -> Reader:
    """Read sequences of different length behind one another: (rows, heads, size).

    flag_recorded   whether the truth values among the arguments tell what is masked
    """

    def read(given: OperatorArguments) -> OperatorWork:
        tensors = [given.tensor(q + at) for at in range(3)]
        whole = [at for at in range(q + 3, len(given)) if given.is_tensor(at) and given.types[at] == "int"]
        lengths = [at for at in whole if len(given.tensor(at).dims) == 1]
        pages = any(len(given.tensor(at).dims) > 1 for at in whole)
        if pages or not lengths or any(len(each.dims) != 3 for each in tensors):
            raise UnknownWorkError(UnknownReason.CONTENTS)
        how = _Attention(q, heads_last=True, corner="lower_right", window=1 if flag_recorded else None, backward=q > 0)
        corner, sure = _corner(how, given)
        causal = None if sure is Certainty.BOUND or not flag_recorded else corner is not None
        return of_packed(given, q, lengths[0], _PackedMask(causal, _window(how, given)), q > 0)

    return read


def _dense(given: OperatorArguments) -> OperatorWork:
    return _read(_Attention(causal=None, bias=3))(given)


_FLASH = _Attention()
#: how texts of a number with a fraction, and of one without, look
_NUMBER, _INTEGER = lazy_pattern(r"-?\d+\.\d*(?:e-?\d+)?|\d+e-\d+"), lazy_pattern(r"-?\d{1,15}")
#: queries, of windows whose rows are counted one by one
_LONGEST = 2**22
_BIASED = _Attention(causal=1, bias=3)
ATTENTION: Mapping[str, Reader] = MappingProxyType(
    {
        **{
            f"aten::_scaled_dot_product_{name}": _read(_FLASH)
            for name in ("flash_attention", "flash_attention_for_cpu", "fused_attention_overrideable")
        },
        "aten::_scaled_dot_product_efficient_attention": _read(_BIASED),
        "aten::_scaled_dot_product_cudnn_attention": _read(_BIASED),
        "aten::_flash_attention_forward": _read(_Attention(heads_last=True, corner="lower_right", lengths=3, window=3)),
        "aten::_efficient_attention_forward": _read(_Attention(heads_last=True, number=True, bias=3, lengths=4)),
        "aten::_cudnn_attention_forward": _read(_Attention(causal=1, bias=3, lengths=4)),
        **{
            f"aten::_scaled_dot_product_{name}_backward": _read(_Attention(1, backward=True))
            for name in (
                "flash_attention",
                "flash_attention_for_cpu",
                "cudnn_attention",
                "fused_attention_overrideable",
            )
        },
        "aten::_flash_attention_backward": _read(
            _Attention(1, heads_last=True, corner="lower_right", lengths=6, window=4, backward=True)
        ),
        "aten::_cudnn_attention_backward": _read(_Attention(1, lengths=9, backward=True)),
        "aten::_scaled_dot_product_efficient_attention_backward": _read(_Attention(1, bias=4, backward=True)),
        "aten::_efficient_attention_backward": _read(
            _Attention(1, heads_last=True, number=True, bias=4, lengths=6, backward=True)
        ),
        **{
            name: _like_arguments(True)
            for name in (
                "flash_attn::_flash_attn_forward",
                "FlashAttnFunc",
                "flash_attn_3::fwd",
                "flash_attn_3::_flash_attn_forward",
                "aiter::mha_fwd",
                "aiter::fmha_v3_fwd",
            )
        },
        "xformers::efficient_attention_forward_cutlass": _like_arguments(True, number=True),
        **{
            name: _like_arguments(True, backward=True)
            for name in (
                "flash_attn::_flash_attn_backward",
                "FlashAttnFuncBackward",
                "flash_attn_3::bwd",
                "flash_attn_3::_flash_attn_backward",
                "aiter::mha_bwd",
                "aiter::fmha_v3_bwd",
            )
        },
        "customflash::custom_flash_aligned": _dense,
        **dict.fromkeys(("flash_attn::_flash_attn_varlen_forward", "torch_attn::_varlen_attn"), _packed(0)),
        "flash_attn::_flash_attn_varlen_backward": _packed(1),
        "aiter::mha_varlen_fwd": _packed(0, flag_recorded=False),
        **dict.fromkeys(
            (
                "aiter::mha_batch_prefill",
                "vllm::unified_attention",
                "vllm::unified_attention_with_output",
            ),
            _unknown,
        ),
    }
)
