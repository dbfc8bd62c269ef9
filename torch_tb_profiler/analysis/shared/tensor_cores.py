"""Which kernels use tensor cores (or matrix cores), and which operators could.

No trace says it, so it is read from names. The tables below are data: families of kernel names known to use
them, known not to, and known to leave it open. The answer has three values; "unknown" is never taken for "no".
"""

from __future__ import annotations

import re
from enum import IntEnum

import numpy as np

from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.types import Int8
from torch_tb_profiler.model import Model


class Use(IntEnum):
    """Whether a kernel uses tensor cores."""

    NO = 0
    YES = 1
    UNKNOWN = 2

    @property
    def known(self) -> bool | None:
        """True, False, or None for unknown."""
        return None if self is Use.UNKNOWN else self is Use.YES


# Ordinary arithmetic although the family is named like one of tensor cores.
PLAIN_ARITHMETIC = (
    "simt",
    "ffma",
    r"fmha_cutlass[FB]_\w*sm(?:50|60|61)",
    r"fmha_cutlass[FB]_f32_\w*sm7\d",
    # what surrounds a product: they move or add, they do not multiply matrices
    "splitKreduce",
    "ReduceSplitK",
    "computeOffsets",
    "im2col",
)

# Volta, Turing and early Ampere: the names the old plugin knew.
TENSOR_CORES_2021 = (
    "h884",
    "s884",
    "h1688",
    "s1688",
    "hmma",
    "i8816",
    "16816",
    "dgrad_1x1_stride_2x2",
    "first_layer_wgrad_kernel",
    "conv1x1",
    "conv2d_c1_k1",
    "direct_group",
    "xmma_implicit_gemm",
    "xmma_sparse_conv",
    "xmma_warp_specialized_implicit_gemm",
    "xmma_gemm",
    "xmma_sparse_gemm",
    "c1688",
)

TENSOR_CORES_MODERN = (
    "tensorop",  # CUTLASS
    r"(?<![a-z])[sdhi](?:884|161616|1684|16864|168128|16832)(?![0-9])",  # shape of one instruction
    r"sm\d+_xmma_(?:fprop|dgrad|wgrad)",  # cuDNN
    "nvjet",  # cuBLAS since 12.x
    "gmma",  # Hopper: wgmma, gmma
    "tcgen05",  # Blackwell
    r"(?i:flash_(?:fwd|bwd)|flash_?attn_?(?:fwd|bwd)|flashattn)",
    r"(?i:sdpa_sm\d+_flash|cudnn\w*sdpa)",
    r"fmha_cutlass[FB]_",
    r"fmha_(?:v2_)?flash",
    r"(?i:device_?gemm|grouped_gemm|Fmha\w*Kernel)\w*.*(?:sm90|sm100|Sm90|Sm100)",
    r"\bcutlass3x_sm(?:90|100)",
    # AMD: Tensile names carry the matrix instruction, Composable Kernel the pipeline
    r"Cijk_\w*_MI\d+x\d+",
    r"(?i:mfma|xdlops|_xdl)",
    r"ck_tile::\w*Fmha|FmhaFwd|FmhaBwd",
)

# A product by name, in ordinary arithmetic.
PLAIN_PRODUCTS = (
    r"(?i:[sdcz]gemm)",
    r"(?i:scudnn)",
    r"(?i:gemv|gemmSN|gemmk1|dot_kernel)",
    r"(?:implicit|precomputed)_convolve",
    r"(?:dgrad|wgrad)\w*_engine|dgrad2d|wgrad2d|reduce_wgrad",
    r"(?i:winograd|fft2d|fft1d)",
    r"(?i:depthwise)",
    r"\bat::native::|^void \(anonymous namespace\)::|at_cuda_detail|at::cuda::",
    r"(?i:nccl|rccl)",
)

# Compiled or composed kernels that may or may not use them.
UNDECIDED = (
    r"(?i:gemm|matmul|conv(?!ert)|dgrad|wgrad|fprop|mma|attention|attn|fmha|flash)",
    r"(?i:triton|cutlass|cijk|composable|(?<![a-z])ck(?:_tile)?::|tilelang|(?<![a-z])(?:fwd|bwd)_kernel)",
)

_RULES = tuple(
    (use, re.compile("|".join(patterns)))
    for use, patterns in (
        (Use.NO, PLAIN_ARITHMETIC),
        (Use.YES, TENSOR_CORES_2021 + TENSOR_CORES_MODERN),
        (Use.NO, PLAIN_PRODUCTS),
        (Use.UNKNOWN, UNDECIDED),
    )
)

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


def use_of(kernel: str) -> Use:
    """What the name of a kernel says; the first rule that matches decides, and no rule means no product."""
    for use, pattern in _RULES:
        if pattern.search(kernel):
            return use
    return Use.NO


@remembered
def use_of_device_work(model: Model) -> Int8:
    """`Use` of every row of `model.device_work`, shape (device_work,); meaningful for kernels only."""
    trace = model.trace
    name = trace.events.name[model.device_work.row]
    by_code = np.zeros(len(trace.strings), np.int8)
    for code in distinct(name).tolist():
        by_code[code] = use_of(trace.strings[code])
    return by_code[name]
