"""Shapes that make a slow algorithm show: python -m benchmarks.shapes [SHAPE...]

Each at n and 4n; for every question about one trace, and the old plugin's /diff, the CPU of both and their ratio.
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from torch_tb_profiler import api
from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.web.old_plugin.diff import diff

FACTOR = 4
#: CPU seconds below which a ratio says nothing
LEAST = 0.4
QUESTIONS = (
    "overview",
    "operators",
    "kernels",
    "health",
    "summary",
    "waterfall",
    "stacks",
    "modules",
    "critical_path",
)


def _event(category: str, name: str, start: int, duration: int, pid: int = 1, tid: int = 1, **args: Any) -> str:
    return json.dumps(
        {"ph": "X", "cat": category, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args}
    )


def _kernel(number: int, pid: int = 0, name: str = "gemm", **args: Any) -> str:
    start = 10 * number
    return _event("kernel", name, start, 5, pid, 7, device=pid, stream=7, correlation=number, **args)


def _overlapping_steps(n: int) -> Iterator[str]:
    for i in range(n):
        yield _event("user_annotation", f"ProfilerStep#{i}", i, 2 * n)
        yield _event("cpu_op", "aten::mm", 3 * i, 1, tid=2)


def _nesting(n: int) -> Iterator[str]:
    return (_event("cpu_op", f"aten::op{i % 7}", i, 2 * (n - i) + 1) for i in range(n))


def _python_nesting(n: int) -> Iterator[str]:
    for i in range(n):
        ids = {"Python id": i + 1, "Python parent id": i}
        yield _event("python_function", f"file{i % 9}.py({i % 5}): f", i, 2 * (n - i) + 1, **ids)
    yield _event("cpu_op", "aten::mm", n, 1)


def _staircase(n: int) -> Iterator[str]:
    return (_event("cpu_op", f"aten::op{i % 7}", 2 * i, n) for i in range(n))


def _overlapping_annotations(n: int) -> Iterator[str]:
    for i in range(n):
        yield _event("user_annotation", f"part {i % 50}", 2 * i, n)
        yield _event("cpu_op", "aten::mm", 2 * i, 1, tid=2)


def _devices(n: int) -> Iterator[str]:
    yield _event("cpu_op", "aten::mm", 1, 5)
    yield from (_kernel(i, pid=i) for i in range(n))


def _groups(n: int) -> Iterator[str]:
    args: dict[str, Any] = {
        "Collective name": "allreduce",
        "Group size": 2,
        "Process Group Ranks": "[0, 1]",
        "In msg nelems": 8,
    }
    for i in range(n):
        named: dict[str, Any] = {"Process Group Name": str(i), "Out msg nelems": 8, "dtype": "Float", **args}
        yield _kernel(i, name="ncclDevKernel_AllReduce_Sum_f32", **named)


def _threads(n: int) -> Iterator[str]:
    for i in range(n):
        yield _event("cpu_op", "aten::mm", 10 * i, 9, tid=i)
        yield _event("cuda_runtime", "cudaLaunchKernel", 10 * i + 1, 3, tid=i, correlation=i)
        yield _kernel(i)


#: name → events of size n, and n
SHAPES: dict[str, tuple[Callable[[int], Iterator[str]], int]] = {
    "overlapping steps": (_overlapping_steps, 1250),
    "nesting": (_nesting, 10_000),
    "nesting of frames": (_python_nesting, 10_000),
    "staircase": (_staircase, 10_000),
    "overlapping annotations": (_overlapping_annotations, 5000),
    "devices": (_devices, 1000),
    "process groups": (_groups, 5000),
    "threads": (_threads, 1500),
}


def cpu_of(shape: str, times: int) -> dict[str, float]:
    """CPU seconds of each question about a shape that is `times` as large, asked in turn of one trace."""
    events, size = SHAPES[shape]
    found: dict[str, float] = {}

    def timed(name: str, work: Callable[[], Any]) -> None:
        gc.collect()
        begin = time.process_time()
        try:
            work()
        except ProfileError:
            return  # nothing of what is asked was recorded
        found[name] = time.process_time() - begin

    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "worker.1.pt.trace.json"
        path.write_text('{"traceEvents": [\n' + ",\n".join(events(size * times)) + "\n]}")
        (trace,) = api.open(path, cache_dir=Path(directory) / "cache")
        timed("model", lambda: trace.model)
        for name in QUESTIONS:
            timed(name, partial(trace.answer, name))
        timed("findings", trace.findings)
        with path.open("rb") as stream:
            read = read_trace(stream)
        timed("diff", lambda: sum(map(len, diff(Model(read), Model(read)))))
    return found


def ratios(small: dict[str, float], large: dict[str, float]) -> dict[str, float]:
    """CPU of the large shape ÷ the small one, of what takes long enough to be told."""
    return {name: large[name] / max(small[name], 0.001) for name in large if name in small and large[name] >= LEAST}


def main() -> None:
    for shape in sys.argv[1:] or SHAPES:
        small, large = cpu_of(shape, 1), cpu_of(shape, FACTOR)
        sys.stdout.write(f"{shape}\n")
        for name, ratio in sorted(ratios(small, large).items(), key=lambda item: -item[1]):
            sys.stdout.write(f"  {name:16} {small[name]:7.2f} s {large[name]:7.2f} s  × {ratio:.1f}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
