"""The training program run on simulated machines, all ranks in lockstep.

A rank is a generator that yields an ``Arrival`` at each collective and is sent what was
``Agreed``: its end on all ranks.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import ExitStack
from typing import Any, NamedTuple

from .config import Config
from .devices import DEVICES, Kernel
from .expected import Collective, Expected
from .machine import COMM_STREAM, Event, Machine, Thread
from .model import Copy, Module, Op, Program, build


class Arrival(NamedTuple):
    """A rank is ready to start a collective."""

    start: int
    duration: int


class Agreed(NamedTuple):
    """The answer to an arrival: when the collective ends everywhere, and who came last."""

    end: int
    last_rank: int


class Taped(NamedTuple):
    """A forward operator whose gradient is still to be computed."""

    op: Op
    sequence: int
    block: int  # -1: outside the blocks
    addresses: tuple[int, ...]  # memory kept until then


class Rank(Machine):
    def __init__(self, config: Config, program: Program, rank: int, keep: bool) -> None:
        parameters = config.layers * program.block_parameters + program.other_parameters
        super().__init__(config, rank, keep, resident=14 * parameters)  # weights and optimizer state
        self.program = program
        self.tape: list[Taped] = []
        self.unclaimed: list[int] = []  # allocated since the last operator on the tape, or autograd node

    def op_args(self, op: Op) -> dict[str, Any]:
        if not self.config.shapes or not op.inputs:
            return {}
        strides = []
        for dims in op.inputs:
            stride, product = [0] * len(dims), 1
            for axis in reversed(range(len(dims))):
                stride[axis], product = product, product * dims[axis]
            strides.append(stride)
        tokens = (self.config.shape.batch, self.config.shape.length)
        names = {(): "Scalar", tokens: "long int", (tokens[0] * tokens[1],): "long int"}
        types = [names.get(dims, self.device.element) for dims in op.inputs]
        return {
            "Concrete Inputs": [""] * len(types), "Input type": types,
            "Input Strides": strides, "Input Dims": [list(dims) for dims in op.inputs],
        }  # fmt: skip

    def call(self, thread: Thread, op: Op, block: int | None = None) -> None:
        """One operator; with a block (in the forward pass) its gradient goes on the tape."""
        sequence = self.next("sequence") if op.backward and block is not None else None
        extra: dict[str, Any] = {} if sequence is None else {"Sequence number": sequence, "Fwd thread id": 0}
        with self.span(thread, op.name, **extra, **self.op_args(op)) as span:
            for child in op.children:
                self.call(thread, child, block)
            if op.allocates:
                self.unclaimed.append(self.allocate(thread, op.allocates))
            if op.work:
                self.run(thread, op.work)
        if sequence is not None and block is not None:
            self.flow("s", "fwdbwd", self.pid, thread.tid, span.start, sequence)
            self.tape.append(Taped(op, sequence, block, tuple(self.unclaimed)))
            self.unclaimed = []

    def module(self, module: Module, block: int = -1) -> None:
        thread = self.main
        if module.name.startswith("Block_"):
            block = int(module.name.removeprefix("Block_"))
        number = int(module.name.rpartition("_")[2])
        with (
            self.frame(thread, f"nn.Module: {module.name}", number),
            self.frame(thread, "torch/nn/modules/module.py(1782): _call_impl"),
            self.frame(thread, module.source),
        ):
            for member in module.members:
                if isinstance(member, Module):
                    self.module(member, block)
                else:
                    self.call(thread, member, block)

    def backward(self) -> Generator[Arrival, Agreed, None]:
        thread = self.autograd
        thread.now = self.main.now + self.jittered(9000)
        delayed: list[int] = []
        gradients: list[int] = []  # of the node before, input of this one
        layers = self.config.layers
        while self.tape:
            taped = self.tape.pop()
            name = taped.op.backward
            sequence: dict[str, Any] = {"Sequence number": taped.sequence, "Fwd thread id": 1}
            with self.span(thread, f"autograd::engine::evaluate_function: {name}", **sequence):
                with self.span(thread, name, **sequence) as node:
                    for op in taped.op.gradient:
                        self.call(thread, op)
                self.flow("f", "fwdbwd", self.pid, thread.tid, node.start, taped.sequence)
                for address in (*gradients, *taped.addresses):
                    self.release(thread, address)
                gradients, self.unclaimed = self.unclaimed, []
            if taped.op.inputs and name.startswith(("Addmm", "Mm", "Native", "Embedding")):
                accumulate = "torch::autograd::AccumulateGrad"
                with (
                    self.span(thread, f"autograd::engine::evaluate_function: {accumulate}"),
                    self.span(thread, accumulate),
                ):
                    self.call(thread, Op("aten::detach", taped.op.inputs[:1]))
            finished = taped.block if not self.tape or self.tape[-1].block != taped.block else -1
            if finished >= 0 and self.config.ranks > 1:
                if layers - finished <= round(self.config.overlap * layers):
                    yield from self.all_reduce(self.program.block_parameters)
                else:
                    delayed.append(self.program.block_parameters)
        if self.config.ranks > 1:
            for elements in (*delayed, self.program.other_parameters):
                yield from self.all_reduce(elements)
            self.wait_event(thread, self.device.compute_stream, COMM_STREAM)
        for address in gradients:
            self.release(thread, address)
        self.main.now = thread.now + self.jittered(12000)

    def all_reduce(self, elements: int) -> Generator[Arrival, Agreed, None]:
        thread, config = self.autograd, self.config
        sequence = self.next("collective")
        dtype = "BFloat16" if "BFloat" in self.device.element else "Half"
        args: dict[str, Any] = {
            "Collective name": "allreduce",
            "dtype": dtype,
            "In msg nelems": elements,
            "Out msg nelems": elements,
            "Group size": config.ranks,
            "In split size": "[]",
            "Out split size": "[]",
            "Global rank start": 0,
            "Global rank stride": 1,
            "Process Group Name": "0",
            "Process Group Description": "default_pg",
            "Process Group Ranks": str(list(range(config.ranks))),
            "Seq": sequence,
        }
        if config.legacy:
            spans = [self.span(thread, "nccl:all_reduce", cost=9000)]
        else:
            spans = [
                self.span(thread, "c10d::allreduce_", cost=9000),
                self.span(thread, "record_param_comms", cost=6000, **args),
                self.span(thread, "nccl:all_reduce", "user_annotation", cost=9000),
            ]
        with ExitStack() as open_spans:
            for span in spans:
                open_spans.enter_context(span)
            self.wait_event(thread, COMM_STREAM, self.device.compute_stream)
            name = (
                "hipExtLaunchKernel"
                if self.device.is_rocm
                else "cudaLaunchKernel"
                if config.legacy
                else "cudaLaunchKernelExC"
            )
            call = self.launch_call(thread, name, 9000)
            start = self.start_on(COMM_STREAM, thread.now)
            traffic = 2 * elements * 2 * (config.ranks - 1) / config.ranks
            duration = round(traffic / self.device.link + 18_000) // self.quantum * self.quantum
            agreed = yield Arrival(start, duration)
            kernel = Kernel(self.device.all_reduce, 0, (24, 1, 1), (544, 1, 1), 96, 87568)
            details = self.kernel_args(kernel) | ({} if config.legacy else args)
            self.device_work(thread, "kernel", kernel.name, COMM_STREAM, call, start, agreed.end, details)
        if self.keep:
            self.expected.collectives.append(Collective(sequence, elements, start, *agreed))

    def step(self, number: int) -> Generator[Arrival, Agreed, None]:
        thread, program, config = self.main, self.program, self.config
        name = f"ProfilerStep#{number}"
        with self.span(thread, name, "user_annotation", 4000) as step:
            loader = "enumerate(DataLoader)#_MultiProcessingDataLoaderIter.__next__"
            with (
                self.frame(thread, "torch/utils/data/dataloader.py(733): __next__"),
                self.span(thread, loader, "user_annotation", 300_000),
            ):
                pass
            self.call(thread, program.input_copy)
            slow = config.slow_ns if self.rank == config.slow_rank else 0
            with self.span(thread, "aten::nonzero", cost=20_000 + slow):
                pass
            ddp = config.ranks > 1 and not config.legacy
            if ddp:
                with self.span(thread, "DistributedDataParallel.forward", "user_annotation", 15_000):
                    self.module(program.forward)
            else:
                self.module(program.forward)
            with self.frame(thread, "torch/nn/functional.py(3494): cross_entropy"):
                self.call(thread, program.loss, -1)
            if not config.legacy:
                self.run(thread, program.metric)
            with self.span(thread, "Optimizer.zero_grad#AdamW.zero_grad", "user_annotation", 30_000):
                pass
            with self.frame(thread, "torch/_tensor.py(574): backward"):
                yield from self.backward()
            with (
                self.frame(thread, "torch/optim/optimizer.py(485): wrapper"),
                self.span(thread, "Optimizer.step#AdamW.step", "user_annotation", 60_000),
            ):
                self.call(thread, program.optimizer)
            with self.span(thread, "aten::item"), self.span(thread, "aten::_local_scalar_dense"):
                self.run(thread, Copy("DtoH", 4))
                self.synchronize(thread, self.device.compute_stream)
        self.expected.steps[name] = step.duration
        thread.now += self.jittered(6000)

    def metadata(self) -> None:
        def meta(kind: str, pid: int | str, tid: int, **args: Any) -> None:
            self.emit(Event("M", "", kind, pid, tid, 0, None, args))

        labels = {self.pid: ("CPU", self.pid)} | {
            i: (f"GPU {i}", 5_000_000 + i) for i in range(self.config.gpus or self.config.ranks)
        }
        for pid, (label, order) in labels.items():
            meta("process_name", pid, 0, name="python")
            meta("process_labels", pid, 0, labels=label)
            meta("process_sort_index", pid, 0, sort_index=order)
        threads = [(self.pid, t.tid, f"thread {t.tid} (python)") for t in (self.main, self.autograd)]
        for pid, tid, name in [*threads, *((self.index, s, f"stream {s} ") for s in self.free)]:
            meta("thread_name", pid, tid, name=name)
            meta("thread_sort_index", pid, tid, sort_index=tid)
        meta("process_sort_index", "Spans", 0, sort_index=2**29)

    def simulate(self) -> Generator[Arrival | list[Event], Agreed, None]:
        """All events of the rank, a list per step, with an ``Arrival`` at each collective."""
        config, thread = self.config, self.main
        self.metadata()
        thread.now = self.jittered(50_000)
        if not config.legacy:  # a kernel of the warm-up step: its launch lies before the window
            last = self.program.optimizer.work
            assert isinstance(last, Kernel)
            call = (self.next("correlation"), -1)
            end = self.jittered(40_000)
            self.device_work(
                thread,
                "kernel",
                last.name,
                self.device.compute_stream,
                call,
                2_000,
                end,
                self.kernel_args(last),
            )
        with (
            self.frame(thread, "train.py(88): <module>", late=True),
            self.frame(thread, "train.py(61): main", late=True),
        ):
            for number in range(config.first_step, config.first_step + config.steps):
                yield from self.step(number)
                yield self.take()
        self.emit(
            Event(
                "X",
                "Trace",
                "PyTorch Profiler (0)",
                "Spans",
                "PyTorch Profiler",
                0,
                thread.now,
                {"Op count": 0},
            )
        )
        self.emit(Event("i", "", "Iteration Start: PyTorch Profiler", "Traces", "Trace PyTorch Profiler", 0))
        self.emit(Event("i", "", "Record Window End", "", "", thread.now))
        yield self.take()


def simulate(config: Config, keep: bool) -> Generator[list[list[Event]], None, list[Expected]]:
    """A list of events per rank, again and again; the truths of all ranks at the end."""
    program = build(DEVICES[config.device], config.shape, config.layers)
    ranks = [Rank(config, program, rank, keep) for rank in range(config.ranks)]
    running = [rank.simulate() for rank in ranks]
    messages = [next(rank) for rank in running]
    while True:
        answer: Agreed | None = None
        arrivals = [message for message in messages if isinstance(message, Arrival)]
        if arrivals:
            last = max(range(len(arrivals)), key=lambda rank: arrivals[rank].start)
            answer = Agreed(arrivals[last].start + arrivals[last].duration, last)
        else:
            yield [message for message in messages if isinstance(message, list)]
        try:
            messages = [rank.send(answer) for rank in running]  # type: ignore[arg-type]
        except StopIteration:
            return [rank.expected for rank in ranks]
