"""Attention: operator → its layout and where it says what is masked.

FLOP are those of the scores that are computed: of a causal mask about half. A backward pass computes the scores again.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from types import MappingProxyType
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.flops.arguments import Arguments
from torch_tb_profiler.analysis.flops.matrices import Reader
from torch_tb_profiler.analysis.flops.work import NotKnown, Sure, Unknown, Work

#: which corner the diagonal of a causal mask starts in
Corner = Literal["upper_left", "lower_right"]


class _Attention(msgspec.Struct, frozen=True):
    """How an operator takes its arguments.

    q           where q stands; k and v follow
    heads_last  (batch, length, heads, size) in place of (batch, heads, length, size)
    causal      which of the truth values says that it is causal; None: no one does
    number      the number before the first truth value says it: 1 the upper left corner, 2 the lower right one
    corner      of the diagonal
    bias        where a bias stands
    lengths     where cumulated lengths of sequences stand, if they may
    backward    with the gradient in front
    """

    q: int = 0
    heads_last: bool = False
    causal: int | None = 0
    number: bool = False
    corner: Corner = "upper_left"
    bias: int | None = None
    lengths: int | None = None
    backward: bool = False


def kept(queries: int, keys: int, corner: Corner) -> Fraction:
    """Which part of the scores a causal mask leaves.

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
    def read(given: Arguments) -> Work:
        q, k, v = (given.tensor(how.q + at) for at in range(3))
        if how.lengths is not None and given.is_tensor(how.lengths):
            raise NotKnown(Unknown.CONTENTS)  # how long each sequence is, is no shape
        if not len(q.dims) == len(k.dims) == len(v.dims) == 4 or q.data != k.data:
            raise NotKnown(Unknown.CONTENTS if len(q.dims) == 3 else Unknown.NO_MODEL)
        head, length = (2, 1) if how.heads_last else (1, 2)
        batch, heads = q.dims[0], q.dims[head]
        queries, keys = q.dims[length], k.dims[length]
        size, out = q.dims[3], v.dims[3]
        if k.dims[3] != size or v.dims[length] != keys or not heads or heads % max(k.dims[head], 1):
            raise ValueError("no attention")
        if not batch * queries * keys * (size + out):
            raise ValueError("nothing to attend to")
        scores = batch * heads * queries * keys
        corner, sure = _corner(how, given)
        part = Fraction(1) if corner is None else kept(queries, keys, corner)
        row = batch * heads * queries
        moved = q.bytes + k.bytes + v.bytes + row * (out * q.size + 4)
        if how.bias is not None and given.is_tensor(how.bias):
            moved += given.tensor(how.bias).bytes
        if not how.backward:
            dense = 2 * scores * (size + out)
            return Work(int(part * dense), moved, q.data, sure, dense=dense)
        dense, model = 2 * scores * (3 * size + 2 * out), 2 * scores * (2 * size + 2 * out)
        moved = 2 * moved + row * out * q.size
        return Work(int(part * dense), moved, q.data, sure, model=int(part * model), dense=dense)

    return read


def _corner(how: _Attention, given: Arguments) -> tuple[Corner | None, Sure]:
    """Of the mask, None without one; a call that does not say it may compute half as much."""
    flags = given.flags()
    if how.number:
        before = given.concrete[flags[0][0] - 1] if flags and flags[0][0] else ""
        if not before.isdigit():
            return None, Sure.BOUND
        corners: dict[int, Corner] = {1: "upper_left", 2: "lower_right"}
        return corners.get(int(before)), Sure.EXACT
    if how.causal is None or len(flags) <= how.causal:
        return None, Sure.EXACT if how.causal is None else Sure.BOUND
    return (how.corner if flags[how.causal][1] else None), Sure.EXACT


def _like_arguments(heads_last: bool, backward: bool = False) -> Reader:
    """Of libraries: the first three tensors with four dimensions."""

    def read(given: Arguments) -> Work:
        places = [at for at in range(len(given)) if given.is_tensor(at) and len(given.tensor(at).dims) == 4]
        first = next((at for at in places if at + 1 in places and at + 2 in places), None)
        if first is None or len(places) < 3 + backward:
            raise NotKnown(Unknown.CONTENTS)
        how = _Attention(first + backward, heads_last, corner="lower_right", backward=backward)
        return _read(how)(given)

    return read


def _unknown(_: Arguments) -> Work:
    raise NotKnown(Unknown.CONTENTS)


def _dense(given: Arguments) -> Work:
    return _read(_Attention(causal=None, bias=3))(given)


_FLASH = _Attention()
_BIASED = _Attention(causal=1, bias=3)
ATTENTION: Mapping[str, Reader] = MappingProxyType(
    {
        **{
            f"aten::_scaled_dot_product_{name}": _read(_FLASH)
            for name in ("flash_attention", "flash_attention_for_cpu", "fused_attention_overrideable")
        },
        "aten::_scaled_dot_product_efficient_attention": _read(_BIASED),
        "aten::_scaled_dot_product_cudnn_attention": _read(_BIASED),
        "aten::_flash_attention_forward": _read(_Attention(heads_last=True, corner="lower_right", lengths=3)),
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
            _Attention(1, heads_last=True, corner="lower_right", lengths=6, backward=True)
        ),
        "aten::_cudnn_attention_backward": _read(_Attention(1, backward=True)),
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
                "xformers::efficient_attention_forward_cutlass",
            )
        },
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
        **dict.fromkeys(
            (
                "flash_attn::_flash_attn_varlen_forward",
                "flash_attn::_flash_attn_varlen_backward",
                "torch_attn::_varlen_attn",
                "aiter::mha_varlen_fwd",
                "aiter::mha_batch_prefill",
                "vllm::unified_attention",
                "vllm::unified_attention_with_output",
            ),
            _unknown,
        ),
    }
)
