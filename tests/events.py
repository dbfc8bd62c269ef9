"""Events of hand-made traces, times in microseconds, and the model of a few of them."""

from __future__ import annotations

import json
from io import BytesIO
from typing import Any

from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

Event = dict[str, Any]
US = 1000


def model_of(events: list[Event], **header: Any) -> Model:
    events = events or [{"ph": "M", "name": "process_name", "pid": 1, "tid": 1, "args": {"name": "python"}}]
    return Model(read_trace(BytesIO(json.dumps({**header, "traceEvents": events}).encode())))


def event(cat: str, name: str, start: float, duration: float, tid: int = 1, **args: Any) -> Event:
    return {"ph": "X", "cat": cat, "name": name, "pid": 1, "tid": tid, "ts": start, "dur": duration, "args": args}


def op(name: str, start: float, duration: float, tid: int = 1, **args: Any) -> Event:
    return event("cpu_op", name, start, duration, tid, **args)


def annotation(name: str, start: float, duration: float, tid: int = 1) -> Event:
    return event("user_annotation", name, start, duration, tid)


def frame(name: str, start: float, duration: float, tid: int = 1) -> Event:
    return event("python_function", name, start, duration, tid)


def launch(start: float, correlation: int, duration: float = 5, tid: int = 1, cat: str = "cuda_runtime") -> Event:
    return event(cat, "cudaLaunchKernel", start, duration, tid, correlation=correlation)


def kernel(
    start: float, duration: float, correlation: int, name: str = "kernel", device: int = 0, **args: Any
) -> Event:
    args = {"correlation": correlation, "stream": 7, "device": device, **args}
    return {**event("kernel", name, start, duration, 7, **args), "pid": device}


def all_reduce(start: float, duration: float, correlation: int = 0, elements: int = 1000, **given: Any) -> Event:
    """A kernel with the arguments of an all-reduce of floats in the group of ranks 0 and 1."""
    arguments = {
        "Collective name": "allreduce",
        "dtype": "Float",
        "In msg nelems": elements,
        "Out msg nelems": elements,
        "Group size": 2,
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Process Group Ranks": "[0, 1]",
    }
    return kernel(start, duration, correlation, "ncclDevKernel_Generic", **{**arguments, **given})


def copy(start: float, duration: float, correlation: int, **args: Any) -> Event:
    return {**kernel(start, duration, correlation, "Memcpy HtoD", **args), "cat": "gpu_memcpy"}


def fill(start: float, duration: float, correlation: int, **args: Any) -> Event:
    return {**kernel(start, duration, correlation, "Memset (Device)", **args), "cat": "gpu_memset"}


def memory(
    at: float,
    size: int,
    address: int | None = 1,
    total: int | None = None,
    reserved: int = 0,
    device: tuple[int, int] = (1, 0),
    tid: int = 1,
) -> Event:
    """An allocation, or a release of negative size; `device` is its type and number."""
    args: dict[str, Any] = {"Device Type": device[0], "Device Id": device[1], "Bytes": size}
    if address is not None:
        args["Addr"] = address
    if total is not None:
        args |= {"Total Allocated": total, "Total Reserved": reserved}
    return {"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": tid, "ts": at, "args": args}


def partly_hidden_all_reduce() -> list[Event]:
    """One step of 380 µs: an all-reduce of 90 µs, 25 of them behind one of two kernels that last 75."""
    return [
        annotation("ProfilerStep#1", 0, 380),
        launch(5, 1),
        launch(10, 2),
        launch(15, 3),
        kernel(80, 50, 1, "addmm"),
        kernel(170, 90, 2, "ncclDevKernel_AllReduce_Sum_f32_RING_LL"),
        kernel(215, 25, 3, "mul"),
        annotation("nccl:all_reduce", 150, 30),
    ]


LOADER = "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__"


def step_of_every_category() -> list[Event]:
    """One step, 50 to 450 µs, in which every category but communication and Python has a part."""
    return [
        annotation("ProfilerStep#1", 50, 400),
        annotation(LOADER, 100, 180),
        op("aten::to", 200, 60),
        op("aten::nll_loss_backward", 340, 70, tid=2),
        launch(360, 1, 20, tid=2),
        launch(390, 2, 10, tid=2),
        launch(405, 3, 5, tid=2),
        copy(405, 10, 1),
        fill(420, 5, 2),
        kernel(430, 15, 3),
    ]
