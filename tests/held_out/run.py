"""What is found in each held-out program, beside what is planted in it."""

from __future__ import annotations

from collections.abc import Callable
from io import BytesIO
from typing import Any

import msgspec

from tests.held_out.machine import Machine
from torch_tb_profiler.insights.findings import Diagnosis, diagnosis
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

Program = Callable[[Machine], None]


def run(program: Program, **machine: Any) -> Machine:
    made = Machine(**machine)
    program(made)
    return made


def model_of(machine: Machine) -> Model:
    return Model(read_trace(BytesIO(msgspec.json.encode(machine.document()))))


def diagnosed(machine: Machine) -> Diagnosis:
    """What is found in the trace of a program that was run."""
    return diagnosis(model_of(machine))


def found_in(program: Program, **machine: Any) -> tuple[Diagnosis, float]:
    """What is found in the trace of a program with its fault, and how much of its mean step the fault takes, ns.

    The first step begins with an idle device, and may gain more than any other: that is gained once, and not counted.
    """
    faulty, healthy = run(program, faulty=True, **machine), run(program, faulty=False, **machine)
    saved = [before - after for before, after in zip(faulty.steps_us, healthy.steps_us, strict=True)]
    if len(saved) > 2:
        saved[0] = min(saved[0], max(saved[1:]))
    return diagnosed(faulty), 1000 * sum(saved) / len(saved)
