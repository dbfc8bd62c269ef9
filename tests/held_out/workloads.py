"""More programs that the rules were not made with: training as people write it, one fault each, and healthy ones."""

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
from tests.held_out.machine import COMM, COMPUTE, Machine
from tests.held_out.parts import adam, item, load, move, run_backward
from tests.held_out.training import clear, collective, model, plain, training

TUNED = "sm80_xmma_fprop_implicit_gemm_bf16bf16_bf16f32_f32_nhwckrsc_nhwc_tilesize{0}x{1}x64_stage3__cudnn"


def unprefetched_weights(s: Machine) -> None:
    """FSDP gathers each layer when it is needed; without the fault the next one beside this."""

    def gather() -> None:
        with s.annotate("FSDP::all_gather"):
            collective(s, "_allgather_base", 60_000_000, 700)

    def body(_: int) -> None:
        load(s, 65536)
        gather()
        for number in range(8):
            s.wait_for(COMPUTE, COMM)
            with s.annotate(f"FSDP::pre_forward (layers.{number})"):
                s.host(10)
            if not s.faulty:
                gather()
            block(s, 8192, 1024, 16, "bf16")
            if s.faulty:
                s.wait_for(COMM, COMPUTE)
                gather()
        loss(s, 8192, 8000, "bf16")
        run_backward(s)
        adam(s, 120, 30_000_000)
        clear(s)

    training(s, body)


def reduced_each_microbatch(s: Machine) -> None:
    """Gradient accumulation without `no_sync()`: gradients are reduced after each of four batches, not of the last."""

    def body(_: int) -> None:
        for number in range(4):
            load(s, 65536)
            with s.annotate("DistributedDataParallel.forward"):
                model(s, tokens=2048, classes=8000)
            run_backward(s)
            if s.faulty or number == 3:
                for _ in range(4):
                    collective(s, "allreduce", 40_000_000, 600)
                s.wait_for(COMPUTE, COMM)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def unpinned_tensors(s: Machine) -> None:
    """A batch of six tensors of 12 MB, which `pin_memory=False` leaves in pageable memory."""

    def body(_: int) -> None:
        load(s, 65536)
        with s.frame("train.py(33): to_device"):
            for _ in range(6):
                move(s, 12_000_000, pinned=not s.faulty)
        model(s, tokens=3072, classes=8000)
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


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


def images_logged(s: Machine) -> None:
    """Each step writes images to TensorBoard."""

    def after(_: int) -> None:
        if s.faulty:
            with s.frame("torch/utils/tensorboard/writer.py(595): add_image"):
                with s.op("aten::to", [[196608]]), s.op("aten::_to_copy", [[196608]]), s.op("aten::copy_", [[196608]]):
                    s.copy("Device", "Pageable", 786_432)
                    s.synchronize("cudaStreamSynchronize", COMPUTE)
                with s.frame("PIL/Image.py(2500): save"):
                    s.idle(18_000)

    plain(s, tokens=2048, classes=8000, after=after)


def saved_often(s: Machine) -> None:
    """Every other step writes a checkpoint."""

    def after(number: int) -> None:
        if s.faulty and number % 2:
            with s.frame("train.py(80): save_checkpoint"), s.frame("torch/serialization.py(965): save"):
                for _ in range(40):
                    with (
                        s.op("aten::to", [[500_000]]),
                        s.op("aten::_to_copy", [[500_000]]),
                        s.op("aten::copy_", [[500_000]]),
                    ):
                        s.copy("Device", "Pageable", 2_000_000)
                    with s.frame("<built-in method write_record of PyTorchFileWriter object>"):
                        s.idle(900)

    plain(s, tokens=3072, classes=8000, after=after)


def compiled_anew(s: Machine) -> None:
    """A guard on a Python number fails in each step."""

    def body(number: int) -> None:
        load(s, 65536)
        if s.faulty:
            with s.op("_compile.compile_inner (dynamo_timed)"):
                s.idle(9_000)
                with s.op("compile_fx.<locals>.fw_compiler_base (dynamo_timed)"):
                    s.idle(16_000)
        with s.op(f"Torch-Compiled Region: 0/{number if s.faulty else 0}"), s.annotate("## Call CompiledFxGraph f3 ##"):
            model(s, tokens=4096, classes=8000)
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def masked_loss(s: Machine) -> None:
    """The loss takes the tokens of a mask, in a model that leaves the host little time."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(6):
            block(s, 2048, 1024, 16, "bf16")
        if s.faulty:
            with s.frame("loss.py(12): masked"):
                for _ in range(3):
                    with s.op("aten::masked_select", [[2048, 1024], [2048, 1024]], TYPE["bf16"]), s.op("aten::nonzero"):
                        s.kernel("void at_cuda_detail::cub::DeviceSelectSweepKernel<...>(...)", 4)
                        s.copy("Device", "Pinned", 8)
                        s.synchronize("cudaStreamSynchronize", COMPUTE)
        loss(s, 2048, 8000, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def offloaded_optimizer(s: Machine) -> None:
    """Adam runs on the CPU, between copies of gradients and weights."""

    def body(_: int) -> None:
        load(s, 65536)
        model(s, tokens=4096, classes=8000)
        run_backward(s)
        with s.annotate("Optimizer.step#CPUAdam.step"), s.frame("offload/cpu_adam.py(90): step"):
            if s.faulty:
                for _ in range(8):
                    with s.op("aten::copy_", [[5_000_000], [5_000_000]]):
                        s.copy("Device", "Pinned", 20_000_000)
                s.synchronize()
                for _ in range(8):
                    with s.op("aten::_fused_adamw_", [[5_000_000]]):
                        s.idle(4_000)
                    with s.op("aten::copy_", [[5_000_000], [5_000_000]]):
                        s.copy("Pinned", "Device", 10_000_000)
            else:
                with s.op("aten::_fused_adamw_", [[]], cost=30):
                    s.kernel("void at::native::multi_tensor_apply_kernel<...FusedAdamMathFunctor>(...)", 800)
        clear(s)

    training(s, body)


def tokenized_on_main(s: Machine) -> None:
    """Text is tokenized by the thread that runs the steps."""

    def before(_: int) -> None:
        if s.faulty:
            with s.frame("data/collate.py(41): encode_batch"):
                with s.frame("<built-in method encode_batch of tokenizers.Tokenizer object at 0x55>"):
                    s.idle(14_000)

    plain(s, tokens=2048, classes=8000, before=before)


def contended_interpreter(s: Machine) -> None:
    """A thread of Python holds the interpreter: all that the main thread does takes three times as long."""
    if s.faulty:
        s.host_factor *= 3
    plain(s, tokens=1536, layers=8, classes=8000)


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


def embedded_on_cpu(s: Machine) -> None:
    """The table of an embedding lies on the CPU."""

    def before(_: int) -> None:
        if s.faulty:
            with s.frame("model.py(20): embed"):
                with s.op("aten::embedding", [[4_000_000, 256], [65536]], cost=2):
                    with s.op("aten::index_select", [[4_000_000, 256], [], [65536]], cost=9_000):
                        pass
                move(s, 67_000_000, pinned=False)

    plain(s, tokens=2048, classes=8000, before=before)


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


def allocator_retries(s: Machine) -> None:
    """In every third step the cache has no room: it is given back when the device is done, and asked for anew."""

    def before(number: int) -> None:
        if s.faulty and number % 3 == 1:
            with s.frame("model.py(70): forward"):
                with s.op("aten::empty", [[]]):
                    s.call("cudaMalloc", 60)
                    s.synchronize()
                    for _ in range(12):
                        s.call("cudaFree", 300)
                    s.call("cudaMalloc", 800)

    def body(number: int) -> None:
        load(s, 65536)
        block(s, 8192, 1024, 16, "bf16")
        before(number)
        model(s, tokens=4096, classes=8000)
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def progress_bar(s: Machine) -> None:
    """The loss is shown in a bar after each batch."""

    def after(_: int) -> None:
        if s.faulty:
            with s.frame("tqdm/std.py(1430): set_postfix"):
                item(s, line="tqdm/std.py(1440): set_postfix")
                s.host(400)

    plain(s, tokens=1536, layers=8, classes=8000, after=after)


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
