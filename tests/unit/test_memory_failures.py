"""Failed allocations, from `[OutOfMemory]` and from the text of the exception."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import Event, memory, model_of, op
from torch_tb_profiler.analysis.memory.failures import Failure, failure_of_text, failures
from torch_tb_profiler.analysis.memory.records import memory_records

GiB, MiB = 1 << 30, 1 << 20


def oom(at: float, size: int, allocated: int, reserved: int, device: tuple[int, int] = (1, 0)) -> Event:
    args: dict[str, Any] = {
        "Device Type": device[0],
        "Device Id": device[1],
        "Bytes": size,
        "Total Allocated": allocated,
        "Total Reserved": reserved,
    }
    return {"ph": "i", "s": "t", "name": "[OutOfMemory]", "cat": "cpu_instant_event", "pid": 1, "tid": 1, "ts": at} | {
        "args": args
    }


def test_failures_of_a_trace_are_no_allocations() -> None:
    events = [
        op("aten::empty", 0, 100),
        memory(5, 4096, 64, 4096, 8192),
        oom(20, 2 * GiB, 5 * GiB, 8 * GiB),
        oom(10, 2 * GiB, 7 * GiB, 8 * GiB),
        oom(30, 1 * GiB, 0, 0, device=(0, -1)),
    ]
    model = model_of(events, deviceProperties=[{"id": 0, "totalGlobalMem": 8 * GiB}])
    first, second, host = failures(model)
    assert (first.time_ns, first.row, first.reason) == (10_000, 3, "full")
    assert (second.time_ns, second.reason, second.unallocated, second.device_total) == (
        20_000,
        "pieces",
        3 * GiB,
        8 * GiB,
    )
    assert (host.reason, host.device, host.device_total) == ("host", None, None)
    assert len(memory_records(model)) == 1


BEFORE_2_1 = (
    "RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB (GPU 3; 10.76 GiB total capacity; 9.57 GiB already "
    "allocated; 16.25 MiB free; 9.58 GiB reserved in total by PyTorch) If reserved memory is >> allocated memory try"
)
SINCE_2_1 = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate {asked}. GPU 1 has a total capacity of 79.15 GiB of "
    "which {free} is free. {more}Of the allocated memory {used} is allocated by PyTorch, and {rest} is reserved by "
    "PyTorch but\n unallocated. If reserved but unallocated memory is large try setting PYTORCH_CUDA_ALLOC_CONF"
)


def since(asked: str, free: str, used: str, rest: str, more: str = "") -> str:
    return SINCE_2_1.format(asked=asked, free=free, used=used, rest=rest, more=more)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (BEFORE_2_1, "outside"),
        (since("2.00 GiB", "1.00 GiB", "70.00 GiB", "6.00 GiB"), "pieces"),
        (since("2.00 GiB", "1.00 GiB", "76.00 GiB", "900.00 MiB"), "full"),
        (since("2.00 GiB", "40.00 GiB", "38.00 GiB", "10.00 MiB"), "limit"),
        (since("2.00 GiB", "1.00 GiB", "19.00 GiB", "10.00 MiB", "20.00 GiB allowed; "), "limit"),
        (since("2.00 GiB", "1.00 GiB", "40.00 GiB", "10.00 MiB"), "outside"),
        ("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8589934592 bytes. Error code 12", "host"),
        ("XPU out of memory. Tried to allocate 64.00 GiB.", "unknown"),
    ],
)
def test_what_decides_is_told_from_the_text(text: str, reason: str) -> None:
    failure = failure_of_text(text)
    assert failure is not None
    assert failure.reason == reason
    assert failure.text


def test_every_number_of_a_text_is_read() -> None:
    more = (
        "Process 4711 has 20.00 GiB memory in use. Process 4712 has 10.00 GiB memory in use. Including non-PyTorch "
        "memory, this process has 47.88 GiB memory in use. 60.00 GiB allowed; "
    )
    text = since("2.00 GiB", "1.25 GiB", "45.00 GiB", "512.00 MiB", more)
    text = text.replace(
        "by PyTorch, and", "by PyTorch, with 1.00 GiB allocated in private pools (e.g., CUDA Graphs), and"
    )
    assert failure_of_text(text) == Failure(
        reason="outside",
        requested=2 * GiB,
        allocated=45 * GiB,
        unallocated=512 * MiB,
        device_free=round(1.25 * GiB),
        device_total=round(79.15 * GiB),
        of_process=round(47.88 * GiB),
        of_others=30 * GiB,
        limit=60 * GiB,
        private_pools=GiB,
        device=1,
    )


def named(device: str, text: str) -> str:
    return text.replace("CUDA", device)


XPU = (
    "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 16.00 GiB. GPU 0 has a total capacity of 15.11 GiB. "
    "Of the allocated memory 8.58 GiB is allocated by PyTorch, and 1.20 GiB is reserved by PyTorch but unallocated."
)
NPU = (
    "RuntimeError: NPU out of memory. Tried to allocate 4.00 GiB (NPU 0; 60.97 GiB total capacity; 55.61 GiB already "
    "allocated; 55.61 GiB current active; 1.09 GiB free; 59.16 GiB reserved in total by PyTorch)"
)
MALLOC_ASYNC = (
    "Allocation on device 0 would exceed allowed memory. (out of memory)\nCurrently allocated     : 38.00 GiB\n"
    "Requested               : 1.50 GiB\nDevice limit            : 39.39 GiB\nFree (according to CUDA): 12.00 MiB\n"
    "PyTorch limit (set by user-supplied memory fraction)\n                        : 17179869184.00 GiB"
)
MPS = (
    "MPS backend out of memory (MPS allocated: 17.50 GB, other allocations: 432.06 MB, max allowed: 18.00 GB). Tried "
    "to allocate 512.00 MB on private pool."
)


@pytest.mark.parametrize(
    ("text", "reason", "numbers"),
    [
        (named("HIP", BEFORE_2_1), "outside", {"requested": 20 * MiB, "device": 3}),
        (named("HIP", since("9.00 GiB", "2.00 GiB", "70.00 GiB", "5.00 GiB")), "full", {"unallocated": 5 * GiB}),
        (XPU, "full", {"requested": 16 * GiB, "device_free": None}),
        (NPU, "full", {"device_free": round(1.09 * GiB), "allocated": round(55.61 * GiB)}),
        (MALLOC_ASYNC, "unknown", {"requested": round(1.5 * GiB), "device_free": 12 * MiB, "limit": None}),
        (MPS, "limit", {"allocated": round(17.5 * GiB), "limit": 18 * GiB, "requested": 512 * MiB}),
    ],
)
def test_texts_of_other_devices_and_allocators(text: str, reason: str, numbers: dict[str, int | None]) -> None:
    failure = failure_of_text(text)
    assert failure is not None
    assert failure.reason == reason
    assert {key: getattr(failure, key) for key in numbers} == numbers


@pytest.mark.parametrize("text", ["", "hello", "out of memory", "Tried to allocate 2.00 GiB", "Killed"])
def test_other_texts_are_not_explained(text: str) -> None:
    assert failure_of_text(text) is None
