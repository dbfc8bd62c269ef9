"""Layers of programs on the machine: forward at once, backward onto its tape."""

# Names of kernels are as torch writes them, and what is inside of what is seen by the indentation.
# ruff: noqa: E501, SIM117
from __future__ import annotations

from collections.abc import Callable

from tests.held_out.machine import Machine

BYTES = {"bf16": 2, "tf32": 4, "fp32": 4}
TYPE = {"bf16": "c10::BFloat16", "tf32": "float", "fp32": "float"}
GEMMS = {
    "bf16": "ampere_bf16_s16816gemm_bf16_128x128_ldg8_relu_f2f_stages_32x5_tn",
    "tf32": "cutlass_80_tensorop_s1688gemm_128x128_32x3_tn_align4",
    "fp32": "ampere_sgemm_128x64_tn",
}
HOPPER = {
    "bf16": "nvjet_tst_128x256_64x4_1x2_h_bz_coopA_TNT",
    "tf32": "sm90_xmma_gemm_f32f32_tf32f32_f32_tn_n_tilesize128x128x32_execute_kernel__5x_cublas",
    "fp32": "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x128x8_stage3_ffma_execute_kernel__51_cublas",
}
FLASH = "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 64, 4>>(pytorch_flash::Flash_fwd_params)"
VOLTA = {"bf16": "volta_h884gemm_128x128_tn", "tf32": "volta_sgemm_128x64_tn", "fp32": "volta_sgemm_128x64_tn"}
CDNA = {
    "bf16": "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN_LDSB1_AFC1_AG0",
    "tf32": "Cijk_Alik_Bljk_SB_MT128x128x32_MI16x16x4x1_SN_1LDSB1",
    "fp32": "Cijk_Alik_Bljk_SB_MT128x128x32_MI16x16x4x1_SN_1LDSB1",
}


def gemm_blocks(m: int, n: int) -> int:
    """Tiles of 128 × 128; libraries take narrow ones where there are few rows, as in a decode."""
    return max(-(-m // 128) * -(-n // (128 if m >= 128 else 32)), 1)


def gemm_name(s: Machine, dtype: str) -> str:
    if s.gpu.vendor == "hip":
        return CDNA[dtype]
    return (HOPPER if s.gpu.major == 9 else VOLTA if s.gpu.major == 7 else GEMMS)[dtype]


def gemm_us(s: Machine, m: int, n: int, k: int, dtype: str, batch: int = 1) -> float:
    size = BYTES[dtype]
    moved = batch * size * (m * k + k * n + m * n)
    return 2 + max(2 * batch * m * n * k / s.gpu.flops[dtype], moved / s.gpu.bandwidth)


def pointwise_us(s: Machine, elements: int, dtype: str, tensors: int = 2) -> float:
    return 1.6 + elements * BYTES[dtype] * tensors / (0.85 * s.gpu.bandwidth)


def product(
    s: Machine, m: int, n: int, k: int, dtype: str, name: str = "aten::mm", slow: float = 1, kernel: str = ""
) -> None:
    with s.op(name, [[m, k], [k, n]], TYPE[dtype], cost=8):
        blocks = gemm_blocks(m, n)
        s.kernel(kernel or gemm_name(s, dtype), slow * gemm_us(s, m, n, k, dtype), blocks=blocks)


def pointwise(s: Machine, name: str, elements: int, dtype: str, tensors: int = 2, functor: str = "") -> None:
    functor = functor or name.removeprefix("aten::").strip("_")
    kernel = (
        f"void at::native::vectorized_elementwise_kernel<4, at::native::{functor}_functor<{TYPE[dtype]}>, "
        "std::array<char*, 3ul> >(int, at::native::functor, std::array<char*, 3ul>)"
    )
    with s.op(name, [[elements], [elements]], TYPE[dtype], cost=4):
        s.kernel(kernel, pointwise_us(s, elements, dtype, tensors), blocks=max(elements // 1024, 1))


def convert(s: Machine, elements: int, dtype: str) -> None:
    """To another type."""
    with s.op("aten::to", [[elements]]), s.op("aten::_to_copy", [[elements]], cost=4):
        pointwise(s, "aten::copy_", elements, dtype)


def reduction(s: Machine, name: str, elements: int, dtype: str) -> None:
    kernel = (
        f"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<{TYPE[dtype]}, at::native::{name[6:]}Ops> >(...)"
    )
    with s.op(name, [[elements]], TYPE[dtype], cost=6):
        s.kernel(kernel, pointwise_us(s, elements, dtype, 1), blocks=max(elements // 4096, 1))


def node(s: Machine, name: str, number: int, inner: Callable[[], None]) -> None:
    """A node of the backward pass."""
    s.host(3)
    args = {"Sequence number": number, "Fwd thread id": 1}
    with s.op(f"autograd::engine::evaluate_function: {name}", cost=3, **args):
        with s.op(name, cost=3, **args):
            s.arrow("f", number)
            inner()
        if s.after_node is not None:
            s.after_node()


def linear(
    s: Machine,
    m: int,
    n: int,
    k: int,
    dtype: str,
    train: bool = True,
    bias: bool = True,
    slow: float = 1,
    kernel: str = "",
) -> None:
    number = s.next_node()
    with s.module("Linear", "torch/nn/modules/linear.py(134): forward"):
        with s.op("aten::linear", [[m, k], [n, k], [n]], TYPE[dtype]):
            with s.op("aten::t", [[n, k]], TYPE[dtype], cost=1), s.op("aten::transpose", [[n, k]], TYPE[dtype], cost=1):
                pass
            args = {"Sequence number": number} if train else {}
            name, dims = ("aten::addmm", [[n], [m, k], [k, n]]) if bias else ("aten::mm", [[m, k], [k, n]])
            with s.op(name, dims, TYPE[dtype], cost=8, **args):
                blocks = gemm_blocks(m, n)
                s.kernel(kernel or gemm_name(s, dtype), slow * gemm_us(s, m, n, k, dtype), blocks=blocks)

    def back() -> None:
        product(s, m, k, n, dtype, slow=slow, kernel=kernel)
        product(s, n, k, m, dtype, slow=slow, kernel=kernel)

    if train:
        s.tape.append(lambda: node(s, "AddmmBackward0", number, back))


def activation(s: Machine, elements: int, dtype: str, train: bool = True, kind: str = "gelu") -> None:
    number = s.next_node()
    with s.module(kind.upper(), "torch/nn/modules/activation.py(711): forward"):
        pointwise(s, f"aten::{kind}", elements, dtype)
    if train:
        s.tape.append(
            lambda: node(
                s,
                f"{kind.title()}Backward0",
                number,
                lambda: pointwise(s, f"aten::{kind}_backward", elements, dtype, 3),
            )
        )


def residual(s: Machine, elements: int, dtype: str) -> None:
    pointwise(s, "aten::add", elements, dtype, 3)


def norm(s: Machine, rows: int, width: int, dtype: str, train: bool = True, by_hand: bool = False) -> None:
    number = s.next_node()
    elements = rows * width
    with (
        s.module("LayerNorm", "torch/nn/modules/normalization.py(229): forward")
        if not by_hand
        else s.module("RMSNorm", "model.py(31): forward")
    ):
        if by_hand:
            convert(s, elements, "fp32")
            pointwise(s, "aten::pow", elements, "fp32")
            reduction(s, "aten::mean", elements, "fp32")
            pointwise(s, "aten::add", rows, "fp32")
            pointwise(s, "aten::rsqrt", rows, "fp32")
            pointwise(s, "aten::mul", elements, "fp32", 3)
            convert(s, elements, dtype)
            pointwise(s, "aten::mul", elements, dtype, 3)
        else:
            with s.op("aten::native_layer_norm", [[rows, width], [], [width], [width], []], TYPE[dtype], cost=10):
                s.kernel(
                    f"void at::native::(anonymous namespace)::vectorized_layer_norm_kernel<{TYPE[dtype]}, float>(int, float)",
                    pointwise_us(s, elements, dtype),
                    blocks=rows,
                )

    def back() -> None:
        with s.op("aten::native_layer_norm_backward", [[rows, width]], TYPE[dtype], cost=12):
            s.kernel(
                f"void at::native::(anonymous namespace)::layer_norm_grad_input_kernel<{TYPE[dtype]}, float>(...)",
                pointwise_us(s, elements, dtype, 3),
                blocks=rows,
            )
            s.kernel(
                f"void at::native::(anonymous namespace)::GammaBetaBackwardCUDAKernel<{TYPE[dtype]}, float>(...)",
                pointwise_us(s, elements, dtype, 1),
                blocks=128,
            )

    if train:
        s.tape.append(lambda: node(s, "NativeLayerNormBackward0", number, back))


def attention(
    s: Machine, batch: int, heads: int, length: int, width: int, dtype: str, train: bool = True, fused: bool = True
) -> None:
    number = s.next_node()
    shape = [batch, heads, length, width]
    flop_us = 4 * batch * heads * length * length * width / s.gpu.flops[dtype]
    scores = batch * heads * length * length
    flash, sm = dtype == "bf16" and s.gpu.major > 7, 10 * s.gpu.major
    of = "flash" if flash else "efficient"
    with s.frame("model.py(64): attend"):
        if fused:
            with (
                s.op("aten::scaled_dot_product_attention", [shape] * 3, TYPE[dtype]),
                s.op(f"aten::_scaled_dot_product_{of}_attention", [shape] * 3, TYPE[dtype]),
                s.op(
                    "aten::_flash_attention_forward" if flash else "aten::_efficient_attention_forward",
                    [shape] * 3,
                    TYPE[dtype],
                    cost=15,
                ),
            ):
                s.kernel(
                    FLASH
                    if flash
                    else f"fmha_cutlassF_f32_aligned_64x64_rf_sm{sm}(PyTorchMemEffAttention::AttentionKernel<float>::Params)",
                    3 + 1.4 * flop_us,
                    blocks=batch * heads * 8,
                )
        else:
            _bmm(s, batch * heads, length, length, width, dtype)
            divided = s.next_node()
            pointwise(s, "aten::div", scores, dtype)
            softened = s.next_node()
            with (
                s.op("aten::softmax", [[batch, heads, length, length]], TYPE[dtype]),
                s.op("aten::_softmax", [[batch, heads, length, length]], TYPE[dtype], cost=6),
            ):
                s.kernel(
                    f"void (anonymous namespace)::softmax_warp_forward<{TYPE[dtype]}, {TYPE[dtype]}, float, 10, false, false>(...)",
                    pointwise_us(s, scores, dtype),
                )
            weighted = s.next_node()
            _bmm(s, batch * heads, length, width, length, dtype)

    def back() -> None:
        with s.op(f"aten::_scaled_dot_product_{of}_attention_backward", [shape] * 6, TYPE[dtype], cost=20):
            s.kernel(
                FLASH.replace("fwd_kernel", "bwd_dq_dk_dv_loop_seqk_parallel_kernel")
                if flash
                else f"fmha_cutlassB_f32_aligned_64x64_k64_sm{sm}(...)",
                5 + 3.5 * flop_us,
                blocks=batch * heads * 8,
            )

    def plain_back() -> None:
        _bmm(s, batch * heads, length, length, width, dtype)
        _bmm(s, batch * heads, length, width, length, dtype)

    def soft_back() -> None:
        with s.op("aten::_softmax_backward_data", [[batch, heads, length, length]] * 2, TYPE[dtype], cost=6):
            s.kernel(
                f"void (anonymous namespace)::softmax_warp_backward<{TYPE[dtype]}, {TYPE[dtype]}, float, 10, false, false>(...)",
                pointwise_us(s, scores, dtype, 3),
            )

    if train and fused:
        s.tape.append(lambda: node(s, "ScaledDotProductFlashAttentionBackward0", number, back))
    elif train:
        s.tape.append(lambda: node(s, "BmmBackward0", number, plain_back))
        s.tape.append(lambda: node(s, "DivBackward0", divided, lambda: pointwise(s, "aten::div", scores, dtype)))
        s.tape.append(lambda: node(s, "SoftmaxBackward0", softened, soft_back))
        s.tape.append(lambda: node(s, "BmmBackward0", weighted, plain_back))


def _bmm(s: Machine, batch: int, m: int, n: int, k: int, dtype: str) -> None:
    with s.op("aten::bmm", [[batch, m, k], [batch, k, n]], TYPE[dtype], cost=8):
        s.kernel(
            gemm_name(s, dtype), gemm_us(s, m, n, k, dtype, batch), blocks=batch * max(m // 128, 1) * max(n // 128, 1)
        )


def block(
    s: Machine,
    tokens: int,
    width: int,
    heads: int,
    dtype: str,
    train: bool = True,
    fused: bool = True,
    by_hand: bool = False,
    batch: int = 4,
) -> None:
    """A layer of a transformer."""
    length = max(tokens // batch, 1)
    with s.module("Block", "model.py(80): forward"):
        norm(s, tokens, width, dtype, train, by_hand)
        linear(s, tokens, 3 * width, width, dtype, train)
        attention(s, batch, heads, length, width // heads, dtype, train, fused)
        linear(s, tokens, width, width, dtype, train)
        residual(s, tokens * width, dtype)
        norm(s, tokens, width, dtype, train, by_hand)
        linear(s, tokens, 4 * width, width, dtype, train)
        activation(s, 4 * tokens * width, dtype, train)
        linear(s, tokens, width, 4 * width, dtype, train)
        residual(s, tokens * width, dtype)


def loss(s: Machine, tokens: int, classes: int, dtype: str) -> None:
    number = s.next_node()
    with (
        s.frame("torch/nn/functional.py(3479): cross_entropy"),
        s.op("aten::cross_entropy_loss", [[tokens, classes], [tokens]], TYPE[dtype]),
    ):
        with s.op("aten::_log_softmax", [[tokens, classes]], TYPE[dtype], cost=6):
            s.kernel(
                f"void at::native::(anonymous namespace)::cunn_SoftMaxForward<4, {TYPE[dtype]}, float, float, at::native::(anonymous namespace)::LogSoftMaxForwardEpilogue>(...)",
                pointwise_us(s, tokens * classes, dtype),
                blocks=tokens,
            )
        with s.op("aten::nll_loss_forward", [[tokens, classes], [tokens]], TYPE[dtype], cost=6):
            s.kernel(
                "void at::native::(anonymous namespace)::nll_loss_forward_reduce_cuda_kernel_2d<float, float, long>(...)",
                6,
                blocks=1,
            )

    def back() -> None:
        with s.op("aten::_log_softmax_backward_data", [[tokens, classes]], TYPE[dtype], cost=6):
            s.kernel(
                "void at::native::(anonymous namespace)::cunn_SoftMaxBackward<4, float, float, float, at::native::(anonymous namespace)::LogSoftMaxBackwardEpilogue>(...)",
                pointwise_us(s, tokens * classes, dtype),
                blocks=tokens,
            )

    s.tape.append(lambda: node(s, "NllLossBackward0", number, back))


def convolution(
    s: Machine, batch: int, channels: int, size: int, dtype: str, train: bool = True, layout: bool = False
) -> None:
    """A 3 × 3 convolution, batch norm and ReLU; layout: cuDNN converts between orders of its tensors."""
    number = s.next_node()
    elements = batch * channels * size * size
    us = 2 + 2 * elements * channels * 9 / (0.8 * s.gpu.flops[dtype])
    shape = [batch, channels, size, size]

    def conv(name: str, kernel: str) -> None:
        with s.op(name, [shape, [channels, channels, 3, 3]], TYPE[dtype], cost=25):
            if layout:
                s.kernel(
                    "void cudnn::ops::nchwToNhwcKernel<__nv_bfloat16, __nv_bfloat16, float, false, true, (cudnnKernelDataType_t)9>(...)",
                    pointwise_us(s, elements, dtype),
                )
            s.kernel(kernel, us, blocks=max(elements // 16384, 1))
            if layout:
                s.kernel(
                    "void cudnn::ops::nhwcToNchwKernel<__nv_bfloat16, __nv_bfloat16, float, true, false, (cudnnKernelDataType_t)0>(...)",
                    pointwise_us(s, elements, dtype),
                )

    with s.module("Conv2d", "torch/nn/modules/conv.py(554): forward"):
        with (
            s.op("aten::conv2d", [shape], TYPE[dtype]),
            s.op("aten::convolution", [shape], TYPE[dtype]),
            s.op("aten::_convolution", [shape], TYPE[dtype]),
        ):
            conv(
                "aten::cudnn_convolution",
                "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_stage3_warpsize2x2x1_g1_tensor16x8x16_execute_kernel__5x_cudnn",
            )
    normed = s.next_node()
    with s.module("BatchNorm2d", "torch/nn/modules/batchnorm.py(193): forward"):
        with s.op("aten::cudnn_batch_norm", [shape], TYPE[dtype], cost=15):
            s.kernel(
                "void cudnn::batchnorm_fwtr_nhwc_semiPersist<__nv_bfloat16, __nv_bfloat16, float, float, 512, true, 1>(...)",
                pointwise_us(s, elements, dtype, 3),
            )
    activated = s.next_node()
    with s.module("ReLU", "torch/nn/modules/activation.py(143): forward"):
        pointwise(s, "aten::clamp_min_", elements, dtype)

    def back() -> None:
        conv(
            "aten::convolution_backward",
            "sm80_xmma_dgrad_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_g1_tensor16x8x16_execute_kernel__5x_cudnn",
        )
        s.kernel(
            "sm80_xmma_wgrad_implicit_gemm_indexed_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize128x128x64_g1_tensor16x8x16_execute_kernel__5x_cudnn",
            us,
        )

    def norm_back() -> None:
        with s.op("aten::cudnn_batch_norm_backward", [shape], TYPE[dtype], cost=15):
            s.kernel(
                "void cudnn::batchnorm_bwtr_nhwc_semiPersist<__nv_bfloat16, __nv_bfloat16, float, float, 512, true, 1>(...)",
                pointwise_us(s, elements, dtype, 4),
            )

    if train:
        s.tape.append(lambda: node(s, "ConvolutionBackward0", number, back))
        s.tape.append(lambda: node(s, "CudnnBatchNormBackward0", normed, norm_back))
        s.tape.append(
            lambda: node(
                s, "ReluBackward0", activated, lambda: pointwise(s, "aten::threshold_backward", elements, dtype, 3)
            )
        )
