"""Recordings whose steps run one program or several: a step is a list of parts, each some operators.

Operators take 10 µs each, or `length`; on a device each launches a kernel of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.events import Event, annotation, kernel, launch, op

MAIN, ENGINE = 1, 2
LAYERS = ("conv2d", "batch_norm", "relu", "max_pool2d", "linear", "t", "addmm", "view", "add", "softmax", "mul", "mean")


@dataclass
class Recording:
    """Events of steps that follow each other, times in µs."""

    device: bool = False
    now: float = 0
    length: float = 10
    events: list[Event] = field(default_factory=list)
    correlation: int = 0

    def operators(self, names: Sequence[str], tid: int = MAIN, sequence: bool = False) -> None:
        for number, name in enumerate(names):
            given = {"Sequence number": self.correlation, "Fwd thread id": 0} if sequence else {}
            self.events.append(op(name, self.now, self.length, tid, **given))
            if self.device:
                self.launch(f"{name.removeprefix('aten::')}_kernel", tid)
            self.correlation += 1
            self.now += self.length + number % 2

    def launch(self, name: str, tid: int = MAIN) -> None:
        self.correlation += 1
        self.events.append(launch(self.now + 1, self.correlation, 2, tid))
        self.events.append(kernel(self.now + 4, self.length / 2, self.correlation, name))

    def forward(self, times: int = 1, layers: Sequence[str] = LAYERS) -> None:
        self.operators([f"aten::{name}" for name in layers] * times, sequence=True)

    def backward(self, times: int = 1, layers: Sequence[str] = LAYERS) -> None:
        for name in list(reversed(layers)) * times:
            begin = self.now
            self.operators([f"{name.title()}Backward0", f"aten::{name}_backward", "aten::sum"], ENGINE)
            node = f"autograd::engine::evaluate_function: {name.title()}Backward0"
            self.events.append(op(node, begin - 0.1, self.now - begin + 0.2, ENGINE))
            self.now += 1

    def optimizer(self, parameters: int = 20) -> None:
        begin = self.now
        self.operators(["aten::mul_", "aten::addcmul_", "aten::sqrt", "aten::addcdiv_"] * parameters)
        self.events.append(annotation("Optimizer.step#AdamW.step", begin - 0.1, self.now - begin + 0.1))
        self.now += 1

    def replay(self, kernels: Sequence[str]) -> None:
        """Kernels that no operator launches."""
        for name in kernels:
            self.launch(name)
            self.now += self.length

    def step(self, parts: str, number: int, name: str = "ProfilerStep#{}") -> None:
        """Parts: f forward, v the same without gradients, b backward, o optimizer, c checkpoint, i another model,
        g and h graphs, k compilation.
        """
        begin = self.now
        self.now += 5
        for part in parts:
            self.part(part)
        self.now += 5
        self.events.append(annotation(name.format(number), begin, self.now - begin))
        self.now += 1

    def part(self, part: str) -> None:
        match part:
            case "f":
                self.forward()
            case "v":
                self.operators([f"aten::{name}" for name in LAYERS])
            case "b":
                self.backward()
            case "o":
                self.optimizer()
            case "c":
                self.operators(["aten::to", "aten::copy_"] * 20)
            case "i":
                self.operators([f"aten::{name}" for name in ("embedding", "layer_norm", "bmm", "gelu", "cumsum")] * 4)
            case "g":
                self.replay([f"gemm_{number}" for number in range(20)])
            case "h":
                self.replay([f"attention_{number}" for number in range(20)])
            case "k":
                begin = self.now
                self.operators(["aten::empty", "aten::detach", "aten::fake"] * 40)
                self.events.append(annotation("entire_frame_compile (dynamo_timed)", begin, self.now - begin))
            case _:
                assert part == "-"


def recording(steps: Sequence[str], device: bool = False, lengths: Sequence[float] = ()) -> list[Event]:
    """The events of a trace with these steps. lengths: of the operators of each step, µs."""
    made = Recording(device)
    for number, parts in enumerate(steps):
        made.length = lengths[number] if lengths else 10
        made.step(parts, number + 3)
    return made.events
