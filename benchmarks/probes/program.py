"""What a program did, in a fresh interpreter: program.py make FILE | ask FILE

A training of ten steps with 1.2 million events and 200,000 autograd nodes, each with a forward operator. Counted from
when steps, call tree and launches are known, as other questions have them by then.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from engine import prepared
from own import cpu, peak, resident, say

from torch_tb_profiler.analysis.program.micro_batches import micro_batches, optimizers
from torch_tb_profiler.analysis.program.phases import phase_times
from torch_tb_profiler.analysis.program.ranges import ranges
from torch_tb_profiler.analysis.shared.backward_links import backward_times
from torch_tb_profiler.model import Model

STEPS, CALLS = 10, 20_000
#: µs of a call, forward or backward
_EACH = 12


def _event(category: str, name: str, start: int, duration: int, args: str = "", tid: int = 1) -> str:
    place = f'"pid":1,"tid":{tid},"ts":{start},"dur":{duration}'
    return f'{{"ph":"X","cat":"{category}","name":"{name}",{place},"args":{{{args}}}}}'


def _call(start: int, number: int, node: bool) -> Iterator[str]:
    """An operator with one inside; every second one launches a kernel."""
    name = "autograd::engine::evaluate_function: AddmmBackward0" if node else "aten::linear"
    inner = "AddmmBackward0" if node else "aten::addmm"
    args = f'"Sequence number":{number},"Fwd thread id":{int(node)}'
    yield _event("cpu_op", name, start, 10, args, tid=2 if node else 1)
    yield _event("cpu_op", inner, start + 1, 8, args, tid=2 if node else 1)
    if number % 2:
        same = f'"correlation":{2 * number + node}'
        yield _event("cuda_runtime", "cudaLaunchKernel", start + 2, 3, same, tid=2 if node else 1)
        yield _event("kernel", "gemm", start + 8, 20, f'{same},"device":0,"stream":7', tid=7)


def _events() -> Iterator[str]:
    half = CALLS * _EACH
    length = 2 * half + 4_000
    for step in range(STEPS):
        start = step * length
        yield _event("user_annotation", f"ProfilerStep#{step}", start, length)
        yield _event("user_annotation", "enumerate(DataLoader)#_Iter.__next__", start + 10, 900)
        first = step * CALLS
        for call in range(CALLS):
            yield from _call(start + 1_000 + call * _EACH, first + call, node=False)
            yield from _call(start + 1_500 + half + call * _EACH, first + CALLS - 1 - call, node=True)
        yield _event("user_annotation", "Optimizer.step#AdamW.step", start + length - 2_000, 1_500)


def make(path: str) -> None:
    with Path(path).open("w", encoding="utf-8") as file:
        file.write('{"traceEvents": [\n' + next(events := _events()))
        file.writelines(",\n" + each for each in events)
        file.write("\n]}")


def ask(path: str) -> None:
    model: Model = prepared(path)
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # from now on the peak is that of what follows
    before, began = resident(), cpu()
    phase_times(model)
    backward_times(model)
    micro_batches(model)
    optimizers(model)
    ranges(model)
    say(events=len(model.trace.events), program=cpu() - began, more=peak() - before)


if __name__ == "__main__":
    {"make": make, "ask": ask}[sys.argv[1]](sys.argv[2])
