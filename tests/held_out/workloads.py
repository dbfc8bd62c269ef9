"""More programs that the rules were not made with: training as people write it, one fault each, and healthy ones."""

# What is inside of what is seen by the indentation.
# ruff: noqa: SIM117
from __future__ import annotations

from tests.held_out.layers import (
    TYPE,
    block,
    loss,
)
from tests.held_out.machine import COMM, COMPUTE, Machine
from tests.held_out.parts import adam, item, load, move, run_backward
from tests.held_out.training import clear, collective, model, plain, training


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
