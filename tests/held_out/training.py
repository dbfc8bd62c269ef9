"""Programs that train, one fault each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tests.held_out.layers import (
    activation, adam, attention, block, convolution, gemm_us, item, linear, load, loss, move, node, norm, pointwise, product,
    run_backward,
)
from tests.held_out.machine import COMM, COMPUTE, MAIN, OTHER, Machine


def training(s: Machine, body: Callable[[int], None]) -> None:
    with s.frame("train.py(101): <module>"), s.frame("train.py(90): main"):
        for number in range(s.steps):
            with s.step(number + 3), s.frame("train.py(70): train_epoch"), s.frame("train.py(40): train_step"):
                body(number)


def model(s: Machine, tokens: int = 4096, layers: int = 4, width: int = 1024, dtype: str = "bf16", classes: int = 32000, **more: Any) -> None:
    with s.module("GPT", "model.py(120): forward"):
        for _ in range(layers):
            block(s, tokens, width, 16, dtype, **more)
        linear(s, tokens, classes, width, dtype, bias=False)
    loss(s, tokens, classes, dtype)


def clear(s: Machine) -> None:
    with s.annotate("Optimizer.zero_grad#AdamW.zero_grad"):
        s.host(20)


def plain(s: Machine, load_us: float = 250, load_bytes: int = 65536, mode: str = "fused", before: Any = None, after: Any = None, **more: Any) -> None:
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


def item_each_step(s: Machine) -> None:
    """A loss read in the middle of a program whose host is nearly as slow as its device."""

    def read(_: int) -> None:
        if s.faulty:
            item(s)

    plain(s, tokens=1536, layers=8, classes=8000, after=read)


def many_items(s: Machine) -> None:
    """Metrics of each layer are read in the forward pass."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(8):
            block(s, 1536, 1024, 16, "bf16")
            if s.faulty:
                with s.frame("model.py(77): forward"):
                    item(s, line="metrics.py(14): update")
        linear(s, 1536, 8000, 1024, "bf16", bias=False)
        loss(s, 1536, 8000, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def printed_loss(s: Machine) -> None:
    def log(_: int) -> None:
        if s.faulty:
            with s.frame("logging/__init__.py(1477): info"), s.frame("torch/_tensor.py(568): __repr__"), s.frame("torch/_tensor_str.py(708): _str"):
                for _ in range(6):
                    item(s, line="torch/_tensor_str.py(146): __init__")
                    s.host(120)

    plain(s, tokens=1536, layers=8, classes=8000, after=log)


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


def emptied_cache(s: Machine) -> None:
    """`torch.cuda.empty_cache()` in each step."""

    def after(_: int) -> None:
        if s.faulty:
            with s.frame("torch/cuda/memory.py(222): empty_cache"), s.frame("<built-in function _cuda_emptyCache>"):
                s.synchronize()
                for _ in range(30):
                    s.call("cudaFree", 250)

    def before(_: int) -> None:
        if s.faulty:
            for _ in range(30):
                with s.op("aten::empty", [[]]):
                    s.call("cudaMalloc", 180)

    plain(s, before=before, after=after)


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


def collected_garbage(s: Machine) -> None:
    def after(number: int) -> None:
        if s.faulty:
            with s.frame("<built-in function collect>"):
                s.idle(22_000)

    plain(s, after=after)


def recompiled(s: Machine) -> None:
    """A length that differs in every other batch."""

    def body(number: int) -> None:
        load(s, 65536)
        if s.faulty and number % 2:
            with s.frame("torch/_dynamo/eval_frame.py(655): _fn"), s.op("TorchDynamo Cache Lookup"):
                pass
            with s.op("_compile.compile_inner (dynamo_timed)"), s.frame("torch/_dynamo/convert_frame.py(967): _compile_inner"):
                s.idle(20_000)
                with s.op("compile_fx.<locals>.fw_compiler_base (dynamo_timed)"), s.op("GraphLowering.compile_to_fn (dynamo_timed)"):
                    s.idle(35_000)
        with s.op(f"Torch-Compiled Region: 0/{number // 2 if s.faulty else 0}"), s.annotate("## Call CompiledFxGraph fabc ##"):
            model(s)
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def python_preprocessing(s: Machine) -> None:
    """Images are augmented by numpy on the main thread, in a function of the user."""

    def before(_: int) -> None:
        if s.faulty:
            with s.frame("augment.py(18): random_crop"):
                with s.frame("numpy/core/fromnumeric.py(57): _wrapfunc"):
                    s.idle(9_000)
                with s.frame("augment.py(33): color_jitter"):
                    s.idle(11_000)

    plain(s, before=before)


def tensor_preprocessing(s: Machine) -> None:
    """The same with operators of torch on the CPU."""

    def before(_: int) -> None:
        if s.faulty:
            with s.frame("augment.py(18): random_crop"):
                for name in ("aten::upsample_bilinear2d", "aten::flip", "aten::sub", "aten::div", "aten::clamp"):
                    with s.op(name, [[64, 3, 256, 256]], cost=4_000):
                        pass

    plain(s, before=before)


def checkpoint_written(s: Machine) -> None:
    """One of six steps saves the model."""

    def after(number: int) -> None:
        if s.faulty and number == 3:
            with s.frame("train.py(80): save_checkpoint"), s.frame("torch/serialization.py(965): save"):
                for _ in range(60):
                    with s.op("aten::to", [[1_000_000]]), s.op("aten::_to_copy", [[1_000_000]]), s.op("aten::copy_", [[1_000_000]]):
                        s.copy("Device", "Pageable", 4_000_000)
                    with s.frame("<built-in method write_record of PyTorchFileWriter object>"):
                        s.idle(1_500)

    plain(s, after=after)


def two_launching_threads(s: Machine) -> None:
    """Another thread of the process launches, too, and both wait for one lock."""

    def body(_: int) -> None:
        load(s, 65536)
        for number in range(60):
            with s.op("aten::mm", [[1024, 1024], [1024, 1024]], cost=8):
                if s.faulty and number % 3:
                    s.now[OTHER] = s.now[MAIN]
                    s.lane = OTHER
                    with s.op("aten::mul", [[1024]], cost=2):
                        s.correlation += 1
                        begin = s.now[OTHER]
                        s.now[OTHER] += 60
                        s._api("cudaLaunchKernel", begin, s.now[OTHER], s.correlation)
                        s.item("kernel", "void at::native::vectorized_elementwise_kernel<4, mul>(...)", s.now[OTHER], 4, 23, s.correlation)
                    s.lane = MAIN
                    s.correlation += 1
                    begin = s.now[MAIN]
                    s.now[MAIN] += 70
                    s._api("cudaLaunchKernel", begin, s.now[MAIN], s.correlation)
                    s.item("kernel", "ampere_bf16_s16816gemm_bf16_128x128", s.now[MAIN], 16, COMPUTE, s.correlation)
                else:
                    s.kernel("ampere_bf16_s16816gemm_bf16_128x128", 16)
            s.host(4)

    training(s, body)


def anomaly(s: Machine) -> None:
    """`torch.autograd.set_detect_anomaly(True)`: each gradient is looked at."""

    def check() -> None:
        with s.op("aten::isnan", [[1024]]):
            pointwise(s, "aten::ne", 1_000_000, "bf16")
        with s.op("aten::_is_any_true", [[1024]]), s.op("aten::any", [[1024]]):
            s.kernel("void at::native::reduce_kernel<512, 1, at::native::ReduceOp<bool, or_kernel> >(...)", 4)
        item(s)

    def body(_: int) -> None:
        load(s, 65536)
        model(s, tokens=1024, classes=8000)
        s.after_node = check if s.faulty else None
        run_backward(s)
        s.after_node = None
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def zeroed_gradients(s: Machine) -> None:
    def body(_: int) -> None:
        load(s, 65536)
        if s.faulty:
            with s.annotate("Optimizer.zero_grad#SGD.zero_grad"):
                for _ in range(150):
                    with s.op("aten::zero_", [[250_000]], cost=1):
                        pointwise(s, "aten::fill_", 250_000, "fp32", 1, "Fill")
        model(s, tokens=1024, layers=4, classes=4000)
        run_backward(s)
        adam(s, 120, 60_000_000)

    training(s, body)


def masked_tokens(s: Machine) -> None:
    """A mask as index in each layer: the host waits for how many there are."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(8):
            block(s, 1536, 1024, 16, "bf16")
            if s.faulty:
                with s.frame("model.py(95): route"), s.op("aten::index", [[1536, 1024], [1536]], "c10::BFloat16", cost=4), s.op("aten::nonzero", [[1536]], "bool", cost=6):
                    s.kernel("void at::native::compact_flagged<...>", 3)
                    s.copy("Device", "Pinned", 8)
                    s.synchronize("cudaStreamSynchronize", COMPUTE)
        linear(s, 1536, 8000, 1024, "bf16", bias=False)
        loss(s, 1536, 8000, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


def synchronized_steps(s: Machine) -> None:
    """`torch.cuda.synchronize()` left in for a timer, after each layer."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(8):
            block(s, 1536, 1024, 16, "bf16")
            if s.faulty:
                with s.frame("timer.py(9): stop"), s.frame("torch/cuda/__init__.py(1085): synchronize"), s.frame("<built-in function _cuda_synchronize>"):
                    s.synchronize()
        linear(s, 1536, 8000, 1024, "bf16", bias=False)
        loss(s, 1536, 8000, "bf16")
        run_backward(s)
        adam(s, 120, 60_000_000)
        clear(s)

    training(s, body)


NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def collective(s: Machine, name: str, size: int, us: float, ranks: int = 8) -> None:
    with s.op(f"c10d::{'allreduce_' if name == 'allreduce' else '_allgather_base_'}", [[size // 2]], "c10::BFloat16", cost=10):
        with s.op("record_param_comms", [[size // 2]], "c10::BFloat16", cost=5, **{"Collective name": name, "Group size": ranks}):
            with s.annotate("nccl:all_reduce" if name == "allreduce" else "nccl:_all_gather_base"):
                s.wait_for(COMM, COMPUTE)
                kernel = NCCL if name == "allreduce" else NCCL.replace("AllReduce_Sum_bf16", "AllGather")
                args = {
                    "Collective name": name, "dtype": "BFloat16", "In msg nelems": size // 2, "Out msg nelems": size // 2,
                    "Group size": ranks, "Process Group Name": "0", "Process Group Description": "default_pg",
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
            run_backward(s, lambda at: collective(s, "allreduce", 20_000_000, 500) if at % max(count // 6, 1) == 0 and at else None)
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
        run_backward(s, lambda at: collective(s, "allreduce", 50_000_000, 400) if at % (count // 5) == 0 and at else None)
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


def overhead(s: Machine) -> None:
    """The profiler flushes its buffers in the steps."""

    def after(_: int) -> None:
        if s.faulty:
            begin = s.now[MAIN]
            s.idle(9_000)
            event = s._x("overhead", "Activity Buffer Request", -1, 0, begin, s.now[MAIN] - begin, {})
            s.events.append(event)

    plain(s, tokens=2048, after=after)
