"""Convolutions: for each operator the places of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from types import MappingProxyType

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.flops.matrices import Reader
from torch_tb_profiler.analysis.flops.work import (
    Dims,
    Matmul,
    OperatorArguments,
    OperatorWork,
    UnknownReason,
    UnknownWorkError,
    matmul_work,
)


class _Places(msgspec.Struct, frozen=True):
    """Places of the settings of a convolution among its arguments; x is argument 0, w argument 1.

    turned   whether it is a transposed one, or where that stands
    outer    where `output_padding` stands; None: there is none
    groups   where their number stands, of transposed ones; None: one group
    """

    stride: int
    padding: int
    dilation: int | None = None
    turned: int | bool = False
    outer: int | None = None
    groups: int | None = None


def _forward(places: _Places) -> Reader:
    def read(given: OperatorArguments) -> OperatorWork:
        x, w = given.tensor(0).dims, given.tensor(1).dims
        spatial = len(x) - 2
        if spatial < 1 or len(w) != len(x):
            raise ValueError("no convolution")
        if len(given.concrete) <= places.stride:
            raise UnknownWorkError(UnknownReason.SHAPES_OFF)
        turned = places.turned if isinstance(places.turned, bool) else given.value(places.turned) is True
        steps, pads = given.numbers(places.stride, spatial), given.numbers(places.padding, spatial)
        spread = [1] * spatial if places.dilation is None else given.numbers(places.dilation, spatial)
        more = [0] * spatial if not turned or places.outer is None else given.numbers(places.outer, spatial)
        sizes = zip(x[2:], w[2:], steps, pads, spread, more, strict=True)
        if turned:
            outer = [(a - 1) * s - 2 * p + d * (k - 1) + o + 1 for a, k, s, p, d, o in sizes]
            channels = w[1] * (1 if places.groups is None else given.value(places.groups))
        else:
            outer = [(a + 2 * p - d * (k - 1) - 1) // s + 1 for a, k, s, p, d, _ in sizes]
            channels = w[0]
        return matmul_work(convolved(given, 0, x, w, (x[0], channels, *outer), (True,), turned))

    return read


def _pointwise(given: OperatorArguments) -> OperatorWork:
    """Read a convolution; one more input behind the first is added to, or multiplied with, the result."""
    if not given.is_tensor(2) or len(given.tensor(2).dims) != len(given.tensor(0).dims):
        return _forward(_Places(4, 3, 5))(given)
    dims, types, concrete, strides = (
        [*each[:1], *each[2:]] for each in (given.dims, given.types, given.concrete, given.strides)
    )
    rest = OperatorArguments(dims, types, concrete, strides)
    work = _forward(_Places(4, 3, 5))(rest)
    return replace(work, bytes=(work.bytes or 0) + given.tensor(1).bytes)


def forward_with(given: OperatorArguments, y: Dims) -> OperatorWork:
    """Count a convolution without recorded settings by the dimensions of its result."""
    return matmul_work(convolved(given, 0, given.tensor(0).dims, given.tensor(1).dims, y, (True,)))


def convolved(
    given: OperatorArguments, typed: int, x: Dims, w: Dims, y: Dims, parts: tuple[bool, ...], turned: bool = False
) -> Matmul:
    """Return the convolution y of x with w.

    typed    the argument that says the type
    parts    which products of this size there are: forward one; backward of the input and of the weights
    turned   a transposed one: x is what the convolution would give
    """
    inner, outer = (y, x) if turned else (x, y)
    if not len(x) == len(w) == len(y) >= 3 or x[0] != y[0] or min(*x, *w, *y) <= 0:
        raise ValueError("no convolution")
    if outer[1] != w[0] or inner[1] % w[1]:
        raise ValueError("channels that do not fit")
    kind = given.tensor(typed)
    times = sum(parts)
    if not times:
        raise ValueError("nothing to multiply")
    flops = 2 * outer[0] * prod(outer[2:]) * prod(w)
    elements, weights = times * (prod(x) + prod(y)), times * prod(w)
    return Matmul(kind.data, times * flops, elements, weights, kind.size, groups=inner[1] // w[1])


def _backward(given: OperatorArguments) -> OperatorWork:
    return _gradients(given, turned=7, mask=10)


def _backward_overrideable(given: OperatorArguments) -> OperatorWork:
    return _gradients(given, turned=6, mask=9)


def _gradients(given: OperatorArguments, turned: int, mask: int) -> OperatorWork:
    """Count the gradients of input and weights; both are computed where the trace does not say."""
    dy, x, w = (given.tensor(at).dims for at in range(3))
    parts = tuple(bool(each) for each in given.value(mask)[:2]) if len(given.concrete) > mask else (True, True)
    is_turned = len(given.concrete) > turned and given.value(turned) is True
    return matmul_work(convolved(given, 0, x, w, dy, parts, is_turned))


def _backward_of_2021(given: OperatorArguments) -> OperatorWork:
    x, dy, w = (given.tensor(at).dims for at in range(3))
    return matmul_work(convolved(given, 0, x, w, dy, (True, True)))


def _input_of_2021(given: OperatorArguments) -> OperatorWork:
    """Count the gradient of the input alone, whose size was not recorded."""
    dy, w = given.tensor(1), given.tensor(2)
    if len(dy.dims) != len(w.dims) or len(w.dims) < 3 or dy.dims[1] != w.dims[0]:
        raise ValueError("no convolution")
    flops = 2 * dy.dims[0] * prod(dy.dims[2:]) * prod(w.dims)
    return OperatorWork(flops, None, dy.data, why=UnknownReason.SHAPES_OFF)


def _weight_of_2021(_: OperatorArguments) -> OperatorWork:
    """Leave the gradient of the weights alone open: the convolution around it tells their size (`derived`)."""
    raise UnknownWorkError(UnknownReason.SHAPES_OFF)


CUDNN_2021 = "aten::cudnn_convolution_backward"
CONVOLUTIONS: Mapping[str, Reader] = MappingProxyType(
    {
        **{
            f"aten::{name}": _forward(_Places(3, 4, 5, 6, 7, 8))
            for name in ("convolution", "_convolution", "convolution_overrideable")
        },
        "aten::cudnn_convolution": _forward(_Places(3, 2, 4)),
        "aten::cudnn_convolution_transpose": _forward(_Places(4, 2, 5, True, 3, 6)),
        **{
            f"aten::{name}": _forward(_Places(4, 3, 5))
            for name in ("miopen_convolution", "miopen_depthwise_convolution", "mkldnn_convolution")
        },
        "mkldnn::_convolution_pointwise": _pointwise,
        "aten::miopen_convolution_transpose": _forward(_Places(5, 3, 6, True, 4, 7)),
        **{f"aten::{name}_convolution_relu": _forward(_Places(3, 4, 5)) for name in ("cudnn", "miopen")},
        **{f"aten::{name}_convolution_add_relu": _forward(_Places(5, 6, 7)) for name in ("cudnn", "miopen")},
        **{
            f"aten::{name}": _forward(_Places(4, 5, 6))
            for name in ("_conv_depthwise2d", "conv_depthwise3d", "slow_conv_dilated2d", "slow_conv_dilated3d")
        },
        **{
            f"aten::{name}": _forward(_Places(4, 5))
            for name in ("_slow_conv2d_forward", "thnn_conv2d", "slow_conv3d_forward")
        },
        "aten::slow_conv_transpose2d": _forward(_Places(4, 5, 7, True, 6)),
        "aten::convolution_backward": _backward,
        "aten::convolution_backward_overrideable": _backward_overrideable,
        CUDNN_2021: _backward_of_2021,
        "aten::miopen_convolution_backward": _backward_of_2021,
        **{f"aten::{name}_convolution_backward_input": _input_of_2021 for name in ("cudnn", "miopen")},
        **{f"aten::{name}_convolution_backward_weight": _weight_of_2021 for name in ("cudnn", "miopen")},
    }
)
#: forward ones, whose result is known by their backward where their settings were not recorded
FORWARD = frozenset(name for name in CONVOLUTIONS if "backward" not in name)
