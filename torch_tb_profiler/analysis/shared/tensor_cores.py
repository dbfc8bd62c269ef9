"""Which kernels use tensor cores (or matrix cores), and which operators could.

No trace says it, so it is read from the names of kernels (`model.kernel_names.families`), and where these leave it
open, from the device and the operator. The answer has three values; "unknown" is never taken for "no".
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from enum import IntEnum
from typing import Any

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import MATMULS
from torch_tb_profiler.trace import Category


class Use(IntEnum):
    """Whether a kernel uses tensor cores."""

    NO = 0
    YES = 1
    UNKNOWN = 2

    @property
    def known(self) -> bool | None:
        """True, False, or None for unknown."""
        return None if self is Use.UNKNOWN else self is Use.YES


ELIGIBLE_2021 = (
    *(
        "aten::" + name
        for name in (
            "_convolution conv1d conv2d conv3d conv_tbc conv_transpose1d conv_transpose2d conv_transpose3d "
            "convolution cudnn_convolution cudnn_convolution_transpose prelu addmm addmv addr matmul mm mv linear "
            "addbmm baddbmm bmm chain_matmul linalg_multi_dot _thnn_fused_lstm_cell _thnn_fused_gru_cell lstm_cell "
            "gru_cell rnn_tanh_cell rnn_relu_cell addmm_ cudnn_convolution_backward cudnn_convolution_backward_input "
            "cudnn_convolution_backward_weight cudnn_convolution_transpose_backward "
            "cudnn_convolution_transpose_backward_input cudnn_convolution_transpose_backward_weight"
        ).split()
    ),
    "CudnnConvolutionBackward",
    "CudnnConvolutionTransposeBackward",
    "BmmBackward0",
    "MmBackward",
    "MvBackward",
    "AddmmBackward",
    "AddmvBackward",
    "AddbmmBackward",
)

ELIGIBLE_MODERN = (
    *(
        "aten::" + name
        for name in (
            "convolution_backward convolution_overrideable _convolution_mode cudnn_convolution_relu "
            "cudnn_convolution_add_relu miopen_convolution miopen_convolution_transpose baddbmm_ addbmm_ "
            "_addmm_activation _scaled_mm _scaled_grouped_mm _grouped_mm _int_mm linear_backward einsum "
            "scaled_dot_product_attention _scaled_dot_product_flash_attention "
            "_scaled_dot_product_flash_attention_backward _scaled_dot_product_efficient_attention "
            "_scaled_dot_product_efficient_attention_backward _scaled_dot_product_cudnn_attention "
            "_scaled_dot_product_cudnn_attention_backward _flash_attention_forward _flash_attention_backward "
            "_efficient_attention_forward _efficient_attention_backward _cudnn_attention_forward "
            "_cudnn_attention_backward _cudnn_rnn _cudnn_rnn_backward miopen_rnn miopen_rnn_backward"
        ).split()
    ),
    "ConvolutionBackward0",
    "AddmmBackward0",
    "MmBackward0",
    "MvBackward0",
    "AddmvBackward0",
    "AddbmmBackward0",
    "BaddbmmBackward0",
    "LinearBackward0",
    "flash_attn::_flash_attn_forward",
    "flash_attn::_flash_attn_backward",
)

ELIGIBLE_OPERATORS = frozenset(ELIGIBLE_2021 + ELIGIBLE_MODERN)


#: the first compute capability with tensor cores, and the first whose tensor cores multiply a type (`Input type`);
#: `float` as TF32
FIRST_CAPABILITY = (7, 0)
_FIRST_WITH = {
    **dict.fromkeys(("half", "c10::half"), (7, 0)),
    **dict.fromkeys(("signed char", "unsigned char", "char", "byte"), (7, 2)),
    **dict.fromkeys(("float", "double", "bfloat16", "c10::bfloat16"), (8, 0)),
    **dict.fromkeys(("c10::complex<float>", "c10::complex<double>", "complexfloat", "complexdouble"), (8, 0)),
}
_NEVER = frozenset({"bool", "int", "long", "long int", "long long", "short", "short int"})


def use_of(kernel: str) -> Use:
    """Judge a kernel by its name; a name that no family matches says nothing."""
    family = family_of(kernel)
    if family is None or family.tensor_cores is None:
        return Use.UNKNOWN
    return Use.YES if family.tensor_cores else Use.NO


def is_product(kernel: str) -> bool:
    """Return whether a kernel, by its name, multiplies matrices, convolves or attends: tensor cores could do it."""
    family = family_of(kernel)
    return family is not None and family.kind in MATMULS


@cached
def use_of_device_work(model: Model) -> Int8:
    """Return `Use` of every row of `model.device_work`, shape (device_work,); meaningful for kernels only.

    Where the name leaves it open, what else the trace knows may exclude it: see `_excluded`.
    """
    use = _of_names(model, use_of)
    open_rows = np.flatnonzero((use == Use.UNKNOWN) & (model.device_category == Category.KERNEL))
    if len(open_rows):
        use[open_rows[_excluded(model, open_rows)]] = Use.NO
    return use


@cached
def eligible_device_work(model: Model) -> Bool:
    """Compute kernels whose work tensor cores could do, shape (device_work,): by their own kind, or by their operator.

    Inside graphs and compiled functions no operator tells it, so the kind of the kernel counts as well.
    """
    tree, node = model.tree, model.device_links.operator_node
    found = _of_names(model, is_product).astype(np.bool_)
    if len(tree):
        named = model.trace.strings.where(ELIGIBLE_OPERATORS.__contains__, tree.name)
        found |= (node >= 0) & named[tree.name[node]]
    kernels = model.device_category == Category.KERNEL
    compute: Bool = found & kernels & ~model.device_links.is_communication
    return compute


def _of_names(model: Model, judge: Callable[[str], int]) -> Int8:
    """Return `judge(name)` of every row of device work; every distinct name is asked once."""
    trace = model.trace
    name = trace.events.name[model.device_work.row]
    by_code = np.zeros(len(trace.strings), np.int8)
    for code in distinct(name).tolist():
        by_code[code] = judge(trace.strings[code])
    return by_code[name]


def _excluded(model: Model, rows: Int64) -> Bool:
    """Mark those of the kernels whose name leaves it open that cannot use tensor cores, shape (rows,).

    The device has none, or none for the types of the inputs of the product that launched the kernel.
    """
    trace, tree = model.trace, model.tree
    device = model.device_work.device[rows]
    capability = {number: nvidia_capability(trace.header.device(number)) for number in distinct(device).tolist()}
    node = model.device_links.operator_node[rows]
    types = np.zeros(len(rows), np.int32)  # no text
    if len(tree):
        of_product = (node >= 0) & trace.strings.where(ELIGIBLE_OPERATORS.__contains__, tree.name)[tree.name[node]]
        types[of_product] = trace.operators.input_type[tree.operator[node[of_product]]]
    pairs = list(zip(device.tolist(), types.tolist(), strict=True))
    cannot = {(number, code): _cannot(capability[number], trace.strings[code]) for number, code in set(pairs)}
    return np.array([cannot[pair] for pair in pairs], np.bool_)


def nvidia_capability(device: Mapping[str, Any] | None) -> tuple[int, int] | None:
    """Return the compute capability of an NVIDIA GPU; None for others, and where the trace does not say."""
    device = device or {}
    major, minor, name = (device.get(key) for key in ("computeMajor", "computeMinor", "name"))
    if not isinstance(major, int) or not isinstance(minor, int) or not isinstance(name, str):
        return None
    return None if not name or re.search(r"AMD|Radeon", name) else (major, minor)


def _cannot(capability: tuple[int, int] | None, types: str) -> bool:
    """Return whether the device has no tensor cores for these inputs of a matmul: a list in JSON, `""`: unknown."""
    if capability is None or capability < FIRST_CAPABILITY:
        return capability is not None
    try:
        inputs = json.loads(types or "[]")
    except ValueError:
        return False
    if not isinstance(inputs, list):
        return False
    tensors = [str(each).lower() for each in inputs if each not in ("", "Scalar")]
    return bool(tensors) and all(t in _NEVER or capability < _FIRST_WITH.get(t, FIRST_CAPABILITY) for t in tensors)
