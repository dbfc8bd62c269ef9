"""A trace and a memory snapshot of one process, made of what an allocator of `tests.snapshots` did."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.events import Event, annotation, kernel, launch, memory, op
from tests.snapshots import Allocator, MiB, dumped, stack

OFFSET_US = 1_500
"""What the clock of the trace is ahead of that of the snapshot."""


def trained(steps: int = 6) -> Allocator:
    """A program that holds parameters, and in each step activations, gradients and something that is never released; an
    evaluation asks for more than there is."""
    allocator = Allocator(capacity=768 * MiB)

    def hold(size: int, *functions: str) -> int:
        address = allocator.malloc(size, stack(*functions))
        assert address is not None
        return address

    for _ in range(4):
        hold(24 * MiB + 4, "build_model", "main")
    for step in range(steps):
        activations = [hold((10 + layer) * MiB, f"layer{layer}", "forward", "main") for layer in range(4)]
        hold(3 * MiB, "log_batch", "main")
        gradients = []
        while activations:
            gradients.append(hold(24 * MiB + 4, "backward", "main"))
            allocator.free(activations.pop(), stack("backward", "main"))
        for gradient in gradients:
            allocator.free(gradient, stack("zero_grad", "main"))
        allocator.note(f"ProfilerStep#{step}")
        if step == 2:
            allocator.empty_cache(stack("main"))
        allocator.time += 40
    assert allocator.malloc(700 * MiB, stack("evaluate", "main")) is None
    assert allocator.malloc(MiB // 2, stack("evaluate", "main")) is not None
    return allocator


def trace_of(allocator: Allocator, offset_us: int = OFFSET_US, rank: int | None = None) -> dict[str, Any]:
    """A trace of all that an allocator did, whose clock is so far ahead: an operator for each record, a step for each
    annotation of one, a kernel behind each allocation."""
    first = allocator.time if not allocator.records else int(allocator.records[0]["time_us"])
    events: list[Event] = [
        {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_name", "pid": 0, "tid": 0, "args": {"name": "python"}},
        {"ph": "M", "name": "process_labels", "pid": 0, "tid": 0, "args": {"labels": "GPU 0"}},
    ]
    total = 0
    for number, record in enumerate(allocator.records):
        at = record["time_us"] - first + 50
        if record["action"] not in ("alloc", "free_requested"):
            continue
        size = -(-record["size"] // 512) * 512 * (1 if record["action"] == "alloc" else -1)
        total += size
        events += [op("aten::empty", at - 1, 5), memory(at, size, record["addr"], total, 1 << 30)]
        if size > 0:
            events += [launch(at + 1, number + 1, 1), kernel(at + 3, 9, number + 1, "gemm")]
    begin = 40.0
    for each in allocator.annotations:
        if each["stage"] == "END" and each["name"].startswith("ProfilerStep"):
            end = each["time_us"] - first + 50
            events.append(annotation(each["name"], begin, end - begin))
            begin = end
    events.append(op("aten::mm", allocator.records[-1]["time_us"] - first + 90, 200))
    about: dict[str, Any] = {"schemaVersion": 1, "baseTimeNanoseconds": (first + offset_us - 50) * 1000}
    if rank is not None:
        about["distributedInfo"] = {"backend": "nccl", "rank": rank, "world_size": 2}
    return {**about, "traceEvents": events}


def write_pair(folder: Path, allocator: Allocator, **how: Any) -> None:
    """Both as a run of their own: the trace is called `trainer`, the snapshot `snapshot`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "trainer.pt.trace.json").write_text(json.dumps(trace_of(allocator, **how)))
    (folder / "snapshot.pickle").write_bytes(dumped(allocator.snapshot()))


if __name__ == "__main__":
    import sys

    write_pair(Path(sys.argv[1]), trained())
