"""Programs that train, one fault each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.held_out.layers import block, convolution, linear, loss
from tests.held_out.machine import COMM, COMPUTE, MAIN, Machine
from tests.held_out.parts import adam, load, move, run_backward


def training(s: Machine, body: Callable[[int], None]) -> None:
    with s.frame("train.py(101): <module>"), s.frame("train.py(90): main"):
        for number in range(s.steps):
            with s.step(number + 3), s.frame("train.py(70): train_epoch"), s.frame("train.py(40): train_step"):
                body(number)


def model(
    s: Machine,
    tokens: int = 4096,
    layers: int = 4,
    width: int = 1024,
    dtype: str = "bf16",
    classes: int = 32000,
    **more: Any,
) -> None:
    with s.module("GPT", "model.py(120): forward"):
        for _ in range(layers):
            block(s, tokens, width, 16, dtype, **more)
        linear(s, tokens, classes, width, dtype, bias=False)
    loss(s, tokens, classes, dtype)


def clear(s: Machine) -> None:
    with s.annotate("Optimizer.zero_grad#AdamW.zero_grad"):
        s.host(20)


def plain(
    s: Machine,
    load_us: float = 250,
    load_bytes: int = 65536,
    mode: str = "fused",
    before: Any = None,
    after: Any = None,
    **more: Any,
) -> None:
    """The loop that all programs are a variant of."""

    def body(number: int) -> None:
        load(s, load_bytes, load_us)
        if before is not None:
            before(number)
        model(s, **more)
        run_backward(s)
        adam(s, 120, 60_000_000, mode)
        clear(s)
        if after is not None:
            after(number)

    training(s, body)


def slow_workers(s: Machine) -> None:
    plain(s, load_us=30_000 if s.faulty else 250)


def main_process_loader(s: Machine) -> None:
    def body(_: int) -> None:
        load(s, 600_000, 18_000 if s.faulty else 300, single=s.faulty)
        model(s)
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def pageable_batches(s: Machine) -> None:
    def body(_: int) -> None:
        load(s, 60_000_000, pinned=not s.faulty)
        model(s, tokens=2048)
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def small_model(s: Machine) -> None:
    """Kernels of 3 µs, one after the other: what a graph would be for."""

    def body(_: int) -> None:
        load(s, 4096, 60)
        if s.faulty:
            model(s, tokens=128, layers=8, width=256, classes=512)
            run_backward(s)
            adam(s, 120, 4_000_000, "foreach")
        else:
            with s.graph():
                model(s, tokens=128, layers=8, width=256, classes=512)
                s.lane = MAIN
                for each in reversed(s.tape):
                    each()
                s.tape.clear()
                adam(s, 120, 4_000_000, "foreach")
        clear(s)

    training(s, body)


def fp32_products(s: Machine) -> None:
    """`torch.set_float32_matmul_precision` was not called."""
    plain(s, dtype="fp32" if s.faulty else "tf32", tokens=2048, classes=8000)


def full_precision_on_volta(s: Machine) -> None:
    plain(s, dtype="fp32" if s.faulty else "bf16", tokens=2048, classes=8000)


def odd_vocabulary(s: Machine) -> None:
    """50,257 classes: rows that are not whole units of 16 bytes."""
    width, tokens, classes = 1024, 4096, 50257 if s.faulty else 50304
    kernel = "cutlass_80_tensorop_bf16_s16816gemm_bf16_128x64_32x6_tn_align1" if s.faulty else ""

    def body(_: int) -> None:
        load(s, 65536)
        with s.module("GPT", "model.py(120): forward"):
            for _ in range(4):
                block(s, tokens, width, 16, "bf16")
            with s.frame("model.py(131): forward"):
                linear(s, tokens, classes, width, "bf16", bias=False, slow=2.4 if s.faulty else 1, kernel=kernel)
        loss(s, tokens, classes, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def small_copies(s: Machine) -> None:
    """A batch of graphs is moved tensor by tensor."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(400 if s.faulty else 1):
            move(s, 512)
        model(s, tokens=2048, layers=4, classes=8000)
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def unfused_optimizer(s: Machine) -> None:
    plain(s, tokens=1024, classes=8000, mode="single" if s.faulty else "fused")


def transposed_convolutions(s: Machine) -> None:
    """A network that is not `channels_last`."""

    def body(_: int) -> None:
        load(s, 2_000_000)
        with s.module("ResNet", "model.py(88): forward"):
            for _ in range(10):
                convolution(s, 64, 128, 56, "bf16", layout=s.faulty)
        loss(s, 64, 1000, "bf16")
        run_backward(s)
        adam(s, 60, 20_000_000)
        clear(s)

    training(s, body)


def norm_by_hand(s: Machine) -> None:
    """An RMS norm of eight kernels."""
    plain(s, tokens=8192, by_hand=s.faulty)


def plain_attention(s: Machine) -> None:
    plain(s, fused=not s.faulty)


NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def collective(s: Machine, name: str, size: int, us: float, ranks: int = 8) -> None:
    with (
        s.op(
            f"c10d::{'allreduce_' if name == 'allreduce' else '_allgather_base_'}",
            [[size // 2]],
            "c10::BFloat16",
            cost=10,
        ),
        s.op(
            "record_param_comms",
            [[size // 2]],
            "c10::BFloat16",
            cost=5,
            **{"Collective name": name, "Group size": ranks},
        ),
        s.annotate("nccl:all_reduce" if name == "allreduce" else "nccl:_all_gather_base"),
    ):
        s.wait_for(COMM, COMPUTE)
        kernel = NCCL if name == "allreduce" else NCCL.replace("AllReduce_Sum_bf16", "AllGather")
        args = {
            "Collective name": name,
            "dtype": "BFloat16",
            "In msg nelems": size // 2,
            "Out msg nelems": size // 2,
            "Group size": ranks,
            "Process Group Name": "0",
            "Process Group Description": "default_pg",
            "Process Group Ranks": str(list(range(ranks))),
        }
        s.kernel(kernel, us, COMM, 24, **args)


def exposed_all_reduce(s: Machine) -> None:
    """Gradients are reduced after the backward pass, one after the other; without the fault beside it."""

    def body(_: int) -> None:
        load(s, 65536)
        model(s, tokens=2048, classes=8000)
        if s.faulty:
            run_backward(s)
            with s.frame("train.py(54): average_gradients"):
                for _ in range(12):
                    collective(s, "allreduce", 20_000_000, 500)
        else:
            count = len(s.tape)
            run_backward(
                s,
                lambda at: collective(s, "allreduce", 20_000_000, 500) if at % max(count // 6, 1) == 0 and at else None,
            )
        s.wait_for(COMPUTE, COMM)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def healthy(s: Machine) -> None:
    plain(s)


def healthy_ddp(s: Machine) -> None:
    def body(_: int) -> None:
        load(s, 65536)
        with s.annotate("DistributedDataParallel.forward"):
            model(s, tokens=8192)
        count = len(s.tape)
        run_backward(
            s, lambda at: collective(s, "allreduce", 50_000_000, 400) if at % (count // 5) == 0 and at else None
        )
        s.wait_for(COMPUTE, COMM)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def healthy_fsdp(s: Machine) -> None:
    def body(_: int) -> None:
        load(s, 65536)
        with s.annotate("FSDP::all_gather"):
            collective(s, "_allgather_base", 20_000_000, 200)
        for _ in range(4):
            s.wait_for(COMPUTE, COMM)
            with s.annotate("FSDP::all_gather"):
                collective(s, "_allgather_base", 20_000_000, 200)
            with s.annotate("FSDP::pre_forward (layers.0)"):
                s.host(10)
            block(s, 8192, 1024, 16, "bf16")
        linear(s, 8192, 32000, 1024, "bf16", bias=False)
        loss(s, 8192, 32000, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def healthy_accumulation(s: Machine) -> None:
    def body(_: int) -> None:
        for _ in range(3):
            load(s, 65536)
            model(s, tokens=2048, layers=4)
            run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def healthy_cnn(s: Machine) -> None:
    s.faulty = False
    transposed_convolutions(s)
