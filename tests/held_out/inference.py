"""Programs that infer, one fault each, and programs on the CPU."""

from __future__ import annotations

from collections.abc import Callable

from tests.held_out.layers import activation, attention, block, convolution, linear, norm, pointwise, product
from tests.held_out.machine import COMPUTE, Machine
from tests.held_out.parts import item, move
from tests.held_out.training import training


def serving(s: Machine, body: Callable[[int], None], count: int = 0) -> None:
    with s.frame("serve.py(61): <module>"), s.frame("serve.py(40): run"):
        for number in range(count or s.steps):
            with s.step(number):
                body(number)


def decode_layers(s: Machine, batch: int, layers: int, width: int = 2048) -> None:
    with s.module("Decoder", "modeling.py(420): forward"):
        for _ in range(layers):
            decoder_layer(s, batch, width)


def decoder_layer(s: Machine, batch: int, width: int) -> None:
    with s.module("DecoderLayer", "modeling.py(310): forward"):
        norm(s, batch, width, "bf16", False)
        linear(s, batch, 3 * width, width, "bf16", False, False)
        attention(s, batch, 16, 64, width // 16, "bf16", False)
        linear(s, batch, width, width, "bf16", False, False)
        pointwise(s, "aten::add", batch * width, "bf16", 3)
        norm(s, batch, width, "bf16", False)
        linear(s, batch, 4 * width, width, "bf16", False, False)
        activation(s, 4 * batch * width, "bf16", False, "silu")
        linear(s, batch, width, 4 * width, "bf16", False, False)
        pointwise(s, "aten::add", batch * width, "bf16", 3)


def sample(s: Machine, batch: int, read: bool = True) -> None:
    with s.frame("sampling.py(22): sample"):
        with s.op("aten::argmax", [[batch, 32000]], cost=6):
            s.kernel("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float, ArgMaxOps<float> > >(...)", 12)
        if read:
            with s.op("aten::to", [[batch]]), s.op("aten::_to_copy", [[batch]]), s.op("aten::copy_", [[batch]]):
                s.copy("Device", "Pageable", 8 * batch)
                s.synchronize("cudaStreamSynchronize", COMPUTE)


def eager_decode(s: Machine) -> None:
    """Tokens of one request, eager: the host launches kernels of a few µs."""

    def body(_: int) -> None:
        with s.frame("generate.py(88): decode_step"):
            if s.faulty:
                decode_layers(s, 1, 16, 1024)
            else:
                with s.graph():
                    decode_layers(s, 1, 16, 1024)
            sample(s, 1)

    serving(s, body)


def graph_decode(s: Machine) -> None:
    """Healthy: large weights, one graph a token."""

    def body(_: int) -> None:
        with s.frame("generate.py(88): decode_step"):
            with s.graph():
                decode_layers(s, 8, 24, 4096)
            sample(s, 8)

    serving(s, body)


def slow_scheduler(s: Machine) -> None:
    """A server whose scheduler takes as long as the graph of a step."""

    def body(_: int) -> None:
        with s.frame("engine/core.py(310): step"):
            with s.frame("engine/scheduler.py(145): schedule"):
                s.idle(9_000 if s.faulty else 300)
            with (
                s.annotate("execute_context_0(0)_generation_8(8)"),
                s.frame("worker/gpu_model_runner.py(2100): execute_model"),
            ):
                with s.annotate("gpu_model_runner: preprocess"):
                    move(s, 256)
                with s.annotate("gpu_model_runner: forward"), s.graph():
                    decode_layers(s, 8, 24, 4096)
                with s.annotate("gpu_model_runner: sample"):
                    sample(s, 8)

    serving(s, body, 10)


def half_precision_missing(s: Machine) -> None:
    """Batches of inference in FP32 on V100."""
    dtype = "fp32" if s.faulty else "bf16"

    def body(_: int) -> None:
        with s.frame("predict.py(30): predict"):
            move(s, 400_000)
            with s.module("Encoder", "model.py(150): forward"):
                for _ in range(8):
                    block(s, 4096, 1024, 16, dtype, train=False)
            sample(s, 8)

    serving(s, body)


def results_one_by_one(s: Machine) -> None:
    """Detections are read back box by box."""

    def body(_: int) -> None:
        with s.frame("predict.py(30): predict"):
            move(s, 400_000)
            for _ in range(4):
                block(s, 2048, 1024, 16, "bf16", train=False)
            if s.faulty:
                with s.frame("postprocess.py(51): to_boxes"):
                    for _ in range(150):
                        with s.op("aten::select", [[300, 4]]):
                            pass
                        item(s, line="postprocess.py(53): to_boxes")
                        s.host(20)
            else:
                sample(s, 8)

    serving(s, body)


def large_results(s: Machine) -> None:
    """Masks of 80 MB are copied into pageable memory."""

    def body(_: int) -> None:
        with s.frame("predict.py(30): predict"):
            move(s, 400_000)
            for _ in range(8):
                block(s, 8192, 1024, 16, "bf16", train=False)
            with (
                s.frame("predict.py(36): predict"),
                s.op("aten::to", [[20_000_000]]),
                s.op("aten::_to_copy", [[20_000_000]]),
                s.op("aten::copy_", [[20_000_000]]),
            ):
                if s.faulty:
                    s.copy("Device", "Pageable", 80_000_000)
                else:
                    s.copy("Device", "Pinned", 80_000_000)

    serving(s, body)


def diffusion(s: Machine) -> None:
    """Healthy: a U-Net that keeps the device busy."""

    def body(_: int) -> None:
        with s.frame("pipeline.py(900): __call__"), s.module("UNet2DConditionModel", "unet.py(1040): forward"):
            for _ in range(8):
                convolution(s, 8, 320, 64, "bf16", train=False)
                block(s, 8 * 4096, 320, 8, "bf16", train=False, batch=8)
        with s.frame("scheduler.py(330): step"):
            pointwise(s, "aten::mul", 8 * 4 * 4096, "bf16")
            pointwise(s, "aten::add", 8 * 4 * 4096, "bf16")

    serving(s, body)


def eager_attention_diffusion(s: Machine) -> None:
    """Attention of products and a softmax."""

    def body(_: int) -> None:
        with s.frame("pipeline.py(900): __call__"), s.module("UNet2DConditionModel", "unet.py(1040): forward"):
            for _ in range(8):
                convolution(s, 8, 320, 64, "bf16", train=False)
                block(s, 8 * 1024, 640, 10, "bf16", train=False, batch=8, fused=not s.faulty)

    serving(s, body)


def compiled_serving(s: Machine) -> None:
    """Healthy: Triton kernels and products, large enough."""

    def body(_: int) -> None:
        with (
            s.frame("predict.py(30): predict"),
            s.op("Torch-Compiled Region: 0/0"),
            s.annotate("## Call CompiledFxGraph fq7 ##"),
        ):
            for _ in range(8):
                with s.op("triton_red_fused_native_layer_norm_0", [[8192, 1024]], cost=8):
                    s.kernel("triton_red_fused_native_layer_norm_0", 2 + 8192 * 1024 * 4 / (0.8 * s.gpu.bandwidth))
                product(s, 8192, 4096, 1024, "bf16")
                with s.op("triton_poi_fused_gelu_1", [[8192, 4096]], cost=8):
                    s.kernel("triton_poi_fused_gelu_1", 2 + 8192 * 4096 * 4 / (0.8 * s.gpu.bandwidth))
                product(s, 8192, 1024, 4096, "bf16")

    serving(s, body)


def cpu_operator(s: Machine, name: str, us: float) -> None:
    with s.op(name, [[256, 512], [512, 512]], cost=1):
        s.idle(us)


def cpu_training(s: Machine) -> None:
    """Healthy training without a device."""
    slow = 25_000 if s.faulty else 300

    def body(_: int) -> None:
        s.host(5)
        if s.faulty:
            with (
                s.annotate("enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"),
                s.frame("dataset.py(27): __getitem__"),
            ):
                s.idle(slow)
        else:
            with s.annotate("enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"):
                s.idle(slow)
        with s.module("MLP", "model.py(20): forward"):
            for _ in range(8):
                with s.module("Linear", "torch/nn/modules/linear.py(134): forward"):
                    cpu_operator(s, "aten::addmm", 900)
                cpu_operator(s, "aten::relu", 120)
        with s.backward():
            for at in range(8):
                args = {"Sequence number": at + 1, "Fwd thread id": 1}
                with (
                    s.op("autograd::engine::evaluate_function: AddmmBackward0", **args),
                    s.op("AddmmBackward0", **args),
                ):
                    cpu_operator(s, "aten::mm", 1_700)
        with s.annotate("Optimizer.step#SGD.step"):
            cpu_operator(s, "aten::_foreach_add_", 400)

    training(s, body)


def cpu_healthy(s: Machine) -> None:
    s.faulty = False
    cpu_training(s)


def recorded_with_gradients(s: Machine) -> None:
    """Evaluation without `no_grad`: nothing that time tells."""

    def body(_: int) -> None:
        with s.frame("evaluate.py(20): evaluate"):
            move(s, 400_000)
            with s.module("Encoder", "model.py(150): forward"):
                for _ in range(4):
                    block(s, 4096, 1024, 16, "bf16", train=s.faulty)
            s.tape.clear()
            sample(s, 8)

    serving(s, body)


def padded_tokens(s: Machine) -> None:
    """Healthy prefill: large products, one read at its end."""

    def body(_: int) -> None:
        with s.frame("generate.py(60): prefill"):
            move(s, 32_000)
            for _ in range(12):
                block(s, 8192, 2048, 16, "bf16", train=False)
            sample(s, 8)

    serving(s, body)
