"""More programs that train and were not made for the rules: faults of what runs on the device, and healthy ones."""

# What is inside of what is seen by the indentation.
# ruff: noqa: SIM117
from __future__ import annotations

from collections.abc import Callable

from tests.held_out.layers import (
    FLASH,
    TYPE,
    block,
    convert,
    convolution,
    linear,
    loss,
    node,
    pointwise,
    product,
    reduction,
)
from tests.held_out.machine import Machine
from tests.held_out.parts import adam, load, run_backward
from tests.held_out.training import clear, model, plain, training

TUNED = "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize{0}x{1}x64_stage3__cudnn"


def casts(s: Machine) -> None:
    """Each layer converts its activations to 32 bits and back around a single operator."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(12):
            block(s, 4096, 1024, 16, "bf16")
            if s.faulty:
                with s.frame("model.py(52): forward"):
                    for _ in range(4):
                        convert(s, 4096 * 1024, "fp32")
                        convert(s, 4096 * 1024, "bf16")
        linear(s, 4096, 8000, 1024, "bf16", bias=False)
        loss(s, 4096, 8000, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def single_tensor_sgd(s: Machine) -> None:
    """SGD with momentum and `foreach=False` over 400 parameters."""

    def body(_: int) -> None:
        load(s, 65536)
        model(s, tokens=2048, classes=8000)
        run_backward(s)
        with s.annotate("Optimizer.step#SGD.step"), s.frame("torch/optim/sgd.py(140): step"):
            if s.faulty:
                for _ in range(400):
                    s.host(4)
                    for name in ("aten::add", "aten::mul_", "aten::add_", "aten::add_"):
                        pointwise(s, name, 100_000, "fp32", 3)
            else:
                with s.op("aten::_fused_sgd_", [[]], cost=30):
                    s.kernel(
                        "void at::native::multi_tensor_apply_kernel<...FusedSgdMathFunctor>(...)",
                        400 * 100_000 * 20 / s.gpu.bandwidth,
                    )
        clear(s)

    training(s, body)


def tuned_again(s: Machine) -> None:
    """`cudnn.benchmark` with images of another size in each batch."""

    def body(number: int) -> None:
        load(s, 2_000_000)
        if s.faulty:
            for _ in range(6):
                shape = [64, 128, 50 + number, 50 + number]
                with s.op("aten::cudnn_convolution", [shape, [128, 128, 3, 3]], TYPE["bf16"], cost=900):
                    for at in range(16):
                        s.kernel(TUNED.format(64 << at % 3, 32 << at % 4), 120 + 11 * at)
                    s.synchronize()
                    s.kernel(TUNED.format(128, 128), 120)
        for _ in range(6):
            convolution(s, 64, 128, 56, "bf16")
        loss(s, 64, 1000, "bf16")
        run_backward(s)
        adam(s, 60, 20_000_000)
        clear(s)

    training(s, body)


def norms_of_a_module(s: Machine) -> None:
    """An RMS norm in 32 bits whose backward autograd makes of single operators, too."""

    def rms_norm(rows: int, width: int) -> None:
        size = rows * width
        forward: list[tuple[str, Callable[[], None]]] = [
            ("ToCopyBackward0", lambda: convert(s, size, "fp32")),
            ("PowBackward0", lambda: pointwise(s, "aten::pow", size, "fp32")),
            ("MeanBackward1", lambda: reduction(s, "aten::mean", size, "fp32")),
            ("AddBackward0", lambda: pointwise(s, "aten::add", rows, "fp32")),
            ("RsqrtBackward0", lambda: pointwise(s, "aten::rsqrt", rows, "fp32")),
            ("MulBackward0", lambda: pointwise(s, "aten::mul", size, "fp32")),
            ("ToCopyBackward0", lambda: convert(s, size, "bf16")),
            ("MulBackward0", lambda: pointwise(s, "aten::mul", size, "bf16")),
        ]
        with s.module("RMSNorm", "model.py(31): forward"):
            for name, operator in forward:
                number = s.next_node()
                operator()
                full, kind = name[:3] not in ("Add", "Rsq"), "bf16" if name.startswith("To") else "fp32"

                def back(
                    name: str = name, number: int = number, n: int = size if full else rows, kind: str = kind
                ) -> None:
                    def inner() -> None:
                        pointwise(s, "aten::mul", n, kind, 3)
                        if name.startswith(("Mul", "Pow")):
                            reduction(s, "aten::sum", n, kind)

                    node(s, name, number, inner)

                s.tape.append(back)

    def fused(rows: int, width: int) -> None:
        number = s.next_node()
        with s.module("RMSNorm", "model.py(31): forward"):
            with s.op("aten::_fused_rms_norm", [[rows, width], [width]], TYPE["bf16"], cost=10):
                s.kernel(
                    "void at::native::vectorized_layer_norm_kernel<...>(...)", 2 + rows * width * 4 / s.gpu.bandwidth
                )
        s.tape.append(
            lambda: node(
                s,
                "FusedRmsNormBackward0",
                number,
                lambda: pointwise(s, "aten::rms_norm_backward", rows * width, "bf16", 4),
            )
        )

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(6):
            block(s, 8192, 1024, 16, "bf16")
            (rms_norm if s.faulty else fused)(8192, 1024)
            product(s, 8192, 1024, 1024, "bf16")
        loss(s, 8192, 8000, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def padded_batches(s: Machine) -> None:
    """Half of the tokens are padding: nothing in a trace tells them from others."""
    plain(s, tokens=8192 if s.faulty else 4096)


def full_precision_on_hopper(s: Machine) -> None:
    plain(s, dtype="fp32" if s.faulty else "bf16", tokens=4096, classes=8000)


def healthy_adapters(s: Machine) -> None:
    """LoRA: few parameters, large products."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(8):
            block(s, 8192, 1024, 16, "bf16")
            linear(s, 8192, 64, 1024, "bf16", bias=False)
        loss(s, 8192, 32000, "bf16")
        run_backward(s)
        adam(s, 120, 2_000_000)
        clear(s)

    training(s, body)


def healthy_images(s: Machine) -> None:
    """Channels last, workers, pinned memory."""

    def body(_: int) -> None:
        load(s, 6_000_000, 400)
        for _ in range(16):
            convolution(s, 128, 128, 56, "bf16")
        loss(s, 128, 1000, "bf16")
        run_backward(s)
        adam(s, 60, 20_000_000, "foreach")
        clear(s)

    training(s, body)


def healthy_checkpointing(s: Machine) -> None:
    """Activations are computed again in the backward pass, as memory asks for."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(6):
            block(s, 8192, 1024, 16, "bf16")
        loss(s, 8192, 8000, "bf16")

        def again(at: int) -> None:
            if at % 10 == 5:
                product(s, 8192, 1024, 1024, "bf16")
                with s.op("aten::_flash_attention_forward", [[4, 16, 2048, 64]], TYPE["bf16"]):
                    s.kernel(FLASH, 200)

        run_backward(s, again)
        adam(s, 120, 30_000_000)
        clear(s)

    training(s, body)
