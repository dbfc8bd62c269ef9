"""Programs that train, whose host has one fault each."""

from __future__ import annotations

from collections.abc import Callable

from tests.held_out.layers import block, linear, loss, pointwise
from tests.held_out.machine import COMPUTE, MAIN, OTHER, Machine
from tests.held_out.parts import adam, item, load, run_backward
from tests.held_out.training import clear, model, plain, training


def _with_each_layer(s: Machine, fault: Callable[[], None]) -> None:
    """A program of eight layers, and the fault behind each in its forward pass."""

    def body(_: int) -> None:
        load(s, 65536)
        for _ in range(8):
            block(s, 1536, 1024, 16, "bf16")
            if s.faulty:
                fault()
        linear(s, 1536, 8000, 1024, "bf16", bias=False)
        loss(s, 1536, 8000, "bf16")
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

    def fault() -> None:
        with s.frame("model.py(77): forward"):
            item(s, line="metrics.py(14): update")

    _with_each_layer(s, fault)


def printed_loss(s: Machine) -> None:
    def log(_: int) -> None:
        if s.faulty:
            with (
                s.frame("logging/__init__.py(1477): info"),
                s.frame("torch/_tensor.py(568): __repr__"),
                s.frame("torch/_tensor_str.py(708): _str"),
            ):
                for _ in range(6):
                    item(s, line="torch/_tensor_str.py(146): __init__")
                    s.host(120)

    plain(s, tokens=1536, layers=8, classes=8000, after=log)


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
            with (
                s.op("_compile.compile_inner (dynamo_timed)"),
                s.frame("torch/_dynamo/convert_frame.py(967): _compile_inner"),
            ):
                s.idle(20_000)
                with (
                    s.op("compile_fx.<locals>.fw_compiler_base (dynamo_timed)"),
                    s.op("GraphLowering.compile_to_fn (dynamo_timed)"),
                ):
                    s.idle(35_000)
        with (
            s.op(f"Torch-Compiled Region: 0/{number // 2 if s.faulty else 0}"),
            s.annotate("## Call CompiledFxGraph fabc ##"),
        ):
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
                    with (
                        s.op("aten::to", [[1_000_000]]),
                        s.op("aten::_to_copy", [[1_000_000]]),
                        s.op("aten::copy_", [[1_000_000]]),
                    ):
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
                        s.item(
                            "kernel",
                            "void at::native::vectorized_elementwise_kernel<4, mul>(...)",
                            s.now[OTHER],
                            4,
                            23,
                            s.correlation,
                        )
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

    def fault() -> None:
        with (
            s.frame("model.py(95): route"),
            s.op("aten::index", [[1536, 1024], [1536]], "c10::BFloat16", cost=4),
            s.op("aten::nonzero", [[1536]], "bool", cost=6),
        ):
            s.kernel("void at::native::compact_flagged<...>", 3)
            s.copy("Device", "Pinned", 8)
            s.synchronize("cudaStreamSynchronize", COMPUTE)

    _with_each_layer(s, fault)


def synchronized_steps(s: Machine) -> None:
    """`torch.cuda.synchronize()` left in for a timer, after each layer."""

    def fault() -> None:
        with (
            s.frame("timer.py(9): stop"),
            s.frame("torch/cuda/__init__.py(1085): synchronize"),
            s.frame("<built-in function _cuda_synchronize>"),
        ):
            s.synchronize()

    _with_each_layer(s, fault)


def overhead(s: Machine) -> None:
    """The profiler flushes its buffers in the steps."""

    def after(_: int) -> None:
        if s.faulty:
            begin = s.now[MAIN]
            s.idle(9_000)
            event = s._x("overhead", "Activity Buffer Request", -1, 0, begin, s.now[MAIN] - begin, {})
            s.events.append(event)

    plain(s, tokens=2048, after=after)
