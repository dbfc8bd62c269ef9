"""Traces of shapes that make a slow algorithm show, as text; each of a size n. Pure.

What is many: steps, levels of nesting, ranges that overlap, devices, streams, threads, groups, names, stacks, waits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

#: of operators, so that questions about one operator find it
OPERATOR = "aten::add"
_HEADER = '"deviceProperties": [{"id": 0, "name": "NVIDIA A100-SXM4-80GB", "numSms": 108}]'


def _event(category: str, name: str, start: int, duration: int, tid: int = 1, pid: int = 1, args: str = "") -> str:
    return (
        f'{{"ph":"X","cat":"{category}","name":"{name}","pid":{pid},"tid":{tid},"ts":{start},"dur":{duration},'
        f'"args":{{{args}}}}}'
    )


def _operator(start: int, duration: int, tid: int = 1, name: str = OPERATOR, args: str = "") -> str:
    return _event("cpu_op", name, start, duration, tid, args=args)


def _step(number: int, start: int, duration: int) -> str:
    return _event("user_annotation", f"ProfilerStep#{number}", start, duration)


def _call(start: int, correlation: int, tid: int = 1, name: str = "cudaLaunchKernel", duration: int = 2) -> str:
    return _event("cuda_runtime", name, start, duration, tid, args=f'"correlation":{correlation}')


def _kernel(
    start: int,
    correlation: int,
    device: int = 0,
    stream: int = 7,
    name: str = "gemm",
    duration: int = 5,
    more: str = "",
) -> str:
    args = f'"device":{device},"stream":{stream},"correlation":{correlation}{more}'
    return _event("kernel", name, start, duration, stream, device, args)


def _launched(
    at: int, number: int, tid: int = 1, device: int = 0, stream: int = 7, name: str = "gemm"
) -> Iterator[str]:
    """An operator of 8 µs that launches a kernel of 5."""
    yield _operator(at, 8, tid)
    yield _call(at + 1, number, tid)
    yield _kernel(at + 4, number, device, stream, name)


def _steps(n: int) -> Iterator[str]:
    for i in range(n):
        yield _step(i, 100 * i, 90)
        yield from _launched(100 * i + 10, 2 * i)
        yield from _launched(100 * i + 40, 2 * i + 1, name=f"norm{i % 20}")


def _overlapping_steps(n: int) -> Iterator[str]:
    for i in range(n):
        yield _step(i, i, 2 * n)
        yield from _launched(20 * i, i, tid=2)


def _nesting(n: int) -> Iterator[str]:
    for i in range(n):
        yield _operator(3 * i, 6 * (n - i) + 3, name=f"aten::op{i % 7}")
    yield from _launched(3 * n, 1)


def _nested_launches(n: int) -> Iterator[str]:
    """Each level launches work of its own."""
    for i in range(n):
        yield _operator(3 * i, 6 * (n - i) + 3, name=f"aten::op{i % 7}")
        yield _call(3 * i + 1, i, duration=1)
        yield _kernel(9 * i + 9, i)


def _nested_frames(n: int) -> Iterator[str]:
    for i in range(n):
        ids = f'"Python id":{i + 1},"Python parent id":{i}'
        yield _event("python_function", f"file{i % 9}.py({i % 5}): f", i, 2 * (n - i) + 20, args=ids)
    yield from _launched(n, 1)


def _nested_modules(n: int) -> Iterator[str]:
    """Modules in each other, each called once."""
    for i in range(n):
        ids = f'"Python id":{i + 1},"Python parent id":{i},"Python module id":{i}'
        yield _event("python_function", f"nn.Module: Block_{i}", i, 2 * (n - i) + 20, args=ids)
    yield from _launched(n, 1)


def _modules(n: int) -> Iterator[str]:
    """Many modules below one."""
    yield _event("python_function", "nn.Module: Net_0", 0, 20 * n + 20, args='"Python id":1,"Python module id":0')
    for i in range(n):
        ids = f'"Python id":{i + 2},"Python parent id":1,"Python module id":{i + 1}'
        yield _event("python_function", f"nn.Module: Block_{i}", 20 * i + 1, 15, args=ids)
        yield from _launched(20 * i + 3, i)


def _staircase(n: int) -> Iterator[str]:
    return (_operator(2 * i, n, name=f"aten::op{i % 7}") for i in range(n))


def _overlapping_annotations(n: int) -> Iterator[str]:
    for i in range(n):
        yield _event("user_annotation", f"part {i % 50}", 12 * i, 6 * n)
        yield from _launched(12 * i, i, tid=2)


def _devices(n: int) -> Iterator[str]:
    yield _step(1, 0, 10 * n + 20)
    for i in range(n):
        yield from _launched(10 * i, i, device=i)


def _streams(n: int) -> Iterator[str]:
    yield _step(1, 0, 10 * n + 20)
    for i in range(n):
        yield from _launched(10 * i, i, stream=i)


def _threads(n: int) -> Iterator[str]:
    yield _step(1, 0, 10 * n + 20)
    for i in range(n):
        yield from _launched(10 * i, i, tid=i + 1)


def _groups(n: int) -> Iterator[str]:
    """Collectives, each of a process group of its own."""
    for i in range(n):
        group = (
            f',"Collective name":"allreduce","Group size":2,"Process Group Ranks":"[0, 1]","In msg nelems":8,'
            f'"Out msg nelems":8,"dtype":"Float","Process Group Name":"{i}"'
        )
        yield _operator(10 * i, 8, name="record_param_comms", args=group[1:])
        yield _call(10 * i + 1, i)
        yield _kernel(10 * i + 4, i, name="ncclDevKernel_AllReduce_Sum_f32", more=group)


def _calls(n: int) -> Iterator[str]:
    """One name, called again and again."""
    return (_operator(10 * i, 8) for i in range(n))


def _names(n: int) -> Iterator[str]:
    """Names, shapes and stacks, all different."""
    for i in range(n):
        args = f'"Input Dims":[[{i}, 3]],"Call stack":"f{i}.py({i}): g;main.py(1): run"'
        yield _operator(10 * i, 8, name=f"aten::op{i}", args=args)
        yield _call(10 * i + 1, i)
        yield _kernel(10 * i + 4, i, name=f"kernel_{i}")


def _deep_stacks(n: int) -> Iterator[str]:
    """Call stacks that are as deep as there are of them, up to the square root of n."""
    depth = int(n**0.5)
    frames = [f"f{k}.py({k}): g" for k in range(depth)]
    for i in range(n // depth):
        stack = f'"Call stack":"leaf{i}.py(1): h;{";".join(frames[: depth - i % 7])}"'
        yield from _launched(10 * i, i)
        yield _operator(10 * i, 8, tid=2, args=stack)


def _waits(n: int) -> Iterator[str]:
    """As many streams as waits for all of them."""
    for i in range(n):
        yield from _launched(20 * i, 2 * i, stream=i)
        yield _call(20 * i + 10, 2 * i + 1, name="cudaDeviceSynchronize", duration=5)


def _stream_waits(n: int) -> Iterator[str]:
    """As many streams as waits of one stream for another."""
    for i in range(n):
        yield from _launched(20 * i, 2 * i, stream=i)
        yield _call(20 * i + 10, 2 * i + 1, name="cudaStreamWaitEvent")


def _queue(n: int) -> Iterator[str]:
    """Everything is launched before anything has run."""
    for i in range(n):
        yield _operator(4 * i, 3)
        yield _call(4 * i + 1, i, duration=1)
        yield _kernel(4 * n + 6 * i, i)


def _at_once(n: int) -> Iterator[str]:
    """All at one time, on one thread and one stream."""
    for i in range(n):
        yield _operator(5, 0, name=f"aten::op{i % 7}")
        yield _call(5, i, duration=0)
        yield _kernel(6, i, duration=10)


def _graphs(n: int) -> Iterator[str]:
    """Launches of graphs, each of a hundred kernels."""
    for i in range(n // 100):
        yield _call(1000 * i, i, name="cudaGraphLaunch")
        for k in range(100):
            node = f',"graph id":1,"graph node id":{k}'
            yield _kernel(1000 * i + 9 * k + 5, i, name=f"node{k}", more=node)


def _backward(n: int) -> Iterator[str]:
    """Forward and backward with a sequence number each."""
    for i in range(n):
        yield _operator(10 * i, 8, args=f'"Sequence number":{i},"Fwd thread id":0')
        args = f'"Sequence number":{i},"Fwd thread id":1'
        yield _operator(20 * n - 10 * i, 8, 2, "autograd::engine::evaluate_function: AddBackward0", args)


def _blocks(n: int) -> Iterator[str]:
    """Blocks of memory, the first half of them never released."""
    for i in range(n):
        yield _operator(10 * i, 8)
        for at, size in ((10 * i + 2, 512), (10 * n + 10 * i, -512)) if i % 2 else ((10 * i + 2, 512),):
            args = f'"Device Type":1,"Device Id":0,"Bytes":{size},"Addr":{1000 * i},"Total Allocated":{512 * i}'
            event = f'"ph":"i","s":"t","name":"[memory]","pid":1,"tid":1,"ts":{at}'
            yield f'{{{event},"args":{{{args},"Total Reserved":0}}}}'


def _counters(n: int) -> Iterator[str]:
    yield from _launched(0, 1)
    for i in range(n):
        yield f'{{"ph":"C","name":"counter {i}","pid":1,"tid":1,"ts":{i},"args":{{"value":{i}}}}}'


@dataclass(frozen=True)
class Shape:
    """`events` of a size; size: the larger one that is measured."""

    events: Callable[[int], Iterator[str]]
    size: int


SHAPES = {
    "steps": Shape(_steps, 10_000),
    "overlapping steps": Shape(_overlapping_steps, 10_000),
    "nesting": Shape(_nesting, 80_000),
    "nesting, each level with a kernel": Shape(_nested_launches, 80_000),
    "nesting of frames": Shape(_nested_frames, 80_000),
    "nesting of modules": Shape(_nested_modules, 20_000),
    "modules": Shape(_modules, 40_000),
    "staircase": Shape(_staircase, 80_000),
    "overlapping annotations": Shape(_overlapping_annotations, 100_000),
    "devices": Shape(_devices, 10_000),
    "streams": Shape(_streams, 100_000),
    "threads": Shape(_threads, 40_000),
    "process groups": Shape(_groups, 40_000),
    "calls of one operator": Shape(_calls, 1_000_000),
    "names, shapes and stacks": Shape(_names, 100_000),
    "deep stacks": Shape(_deep_stacks, 250_000),
    "waits for all streams": Shape(_waits, 40_000),
    "waits between streams": Shape(_stream_waits, 40_000),
    "a full queue": Shape(_queue, 200_000),
    "all at once": Shape(_at_once, 100_000),
    "graphs": Shape(_graphs, 400_000),
    "forward and backward": Shape(_backward, 200_000),
    "blocks of memory": Shape(_blocks, 200_000),
    "counters": Shape(_counters, 40_000),
}


def text_of(name: str, size: int) -> str:
    """A trace file."""
    return f'{{{_HEADER}, "traceEvents": [\n' + ",\n".join(SHAPES[name].events(size)) + "\n]}"
