"""What programs have beside layers: loading, backward passes, optimizers, values that are read."""

# Names of kernels are as torch writes them, and what is inside of what is seen by the indentation.
# ruff: noqa: E501, SIM117
from __future__ import annotations

from collections.abc import Callable

from tests.held_out.layers import pointwise
from tests.held_out.machine import COMPUTE, Machine


def run_backward(s: Machine, between: Callable[[int], None] | None = None) -> None:
    with s.backward():
        for at, each in enumerate(reversed(s.tape)):
            each()
            if between is not None:
                between(at)
    s.tape.clear()


def adam(s: Machine, parameters: int, elements: int, mode: str = "fused") -> None:
    """An optimizer over so many parameters of so many elements together: fused, foreach, or one by one."""
    with (
        s.frame("torch/optim/optimizer.py(493): wrapper"),
        s.annotate("Optimizer.step#AdamW.step"),
        s.frame("torch/optim/adamw.py(220): step"),
    ):
        s.host(30 + parameters * 0.4)
        if mode == "fused":
            with s.op("aten::_fused_adamw_", [[]], cost=30):
                for _ in range(max(parameters // 100, 1)):
                    s.kernel(
                        "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::FusedOptimizerTensorListMetadata<4>, at::native::FusedAdamMathFunctor<float, 4> >(...)",
                        elements * 28 / max(parameters // 100, 1) / s.gpu.bandwidth,
                    )
            return
        names = ["mul_", "lerp_", "mul_", "addcmul_", "sqrt", "div_", "add_", "addcdiv_"]
        if mode == "foreach":
            for name in names:
                with s.op(f"aten::_foreach_{name}", [[]], cost=40):
                    for _ in range(max(parameters // 60, 1)):
                        s.kernel(
                            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpScalarFunctor<float, 2, 1, 1> >(...)",
                            elements * 10 / max(parameters // 60, 1) / s.gpu.bandwidth,
                        )
            return
        with s.frame("torch/optim/adamw.py(380): _single_tensor_adamw"):
            for _ in range(parameters):
                s.host(6)
                for name in names:
                    pointwise(s, f"aten::{name}", elements // parameters, "fp32", 3)


def load(s: Machine, size: int, us: float = 250, single: bool = False, pinned: bool = True) -> None:
    """The next batch, and its way to the device."""
    kind = "_SingleProcessDataLoaderIter" if single else "_MultiProcessingDataLoaderIter"
    s.host(5)
    with s.frame("torch/utils/data/dataloader.py(733): __next__"), s.annotate(f"enumerate(DataLoader)#{kind}.__next__"):
        if single:
            with s.frame("dataset.py(27): __getitem__"):
                s.idle(us * 0.9)
            with (
                s.frame("torch/utils/data/_utils/collate.py(398): default_collate"),
                s.op("aten::stack", [[8, 3]], cost=us * 0.08),
            ):
                pass
        else:
            with (
                s.frame("torch/utils/data/dataloader.py(1448): _next_data"),
                s.frame("multiprocessing/queues.py(113): get"),
            ):
                s.idle(us)
    move(s, size, pinned)


def move(s: Machine, size: int, pinned: bool = True) -> None:
    with s.op("aten::to", [[size // 4]]), s.op("aten::_to_copy", [[size // 4]], cost=8):
        with s.op("aten::copy_", [[size // 4], [size // 4]], cost=4):
            s.copy("Pinned" if pinned else "Pageable", "Device", size, COMPUTE)
            if not pinned:
                s.synchronize("cudaStreamSynchronize", COMPUTE)


def item(s: Machine, times: int = 1, line: str | None = None) -> None:
    for _ in range(times):
        with (
            s.frame(line or "torch/_tensor.py(1): item"),
            s.frame("<built-in method item of Tensor object at 0x7f22>"),
            s.op("aten::item", [[]]),
            s.op("aten::_local_scalar_dense", [[]], cost=4),
        ):
            s.copy("Device", "Pageable", 4)
            s.synchronize("cudaStreamSynchronize", COMPUTE)
