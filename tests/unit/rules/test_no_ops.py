"""Operators that do nothing, inserted anywhere between those of a pattern, change nothing that rules find."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.events import Event
from tests.held_out import inference, training, workloads, workloads_device, workloads_inference
from tests.held_out.machine import Machine
from tests.held_out.run import Program, diagnosed, run
from torch_tb_profiler.insights.findings import Diagnosis

pytestmark = pytest.mark.slow

PROGRAMS = [
    training.norm_by_hand,
    training.plain_attention,
    training.unfused_optimizer,
    training.transposed_convolutions,
    inference.results_one_by_one,
    inference.eager_attention_diffusion,
    workloads.masked_loss,
    workloads_device.casts,
    workloads_device.norms_of_a_module,
    workloads_device.single_tensor_sgd,
    workloads_inference.experts_in_turn,
]
#: of torch and of nobody
NOTHING = (
    "aten::dropout",
    "aten::alias",
    "aten::type_as",
    "aten::feature_dropout",
    "mylib::identity",
    "aten::contiguous",
)
#: in the microsecond of host time before each operator of the simulated machine
_BEFORE_US, _LASTS_US = 0.7, 0.3


def with_no_ops(machine: Machine, seed: int) -> Machine:
    """The same trace with an operator that does nothing before half of its operators."""
    chance = random.Random(seed)
    events: list[Event] = []
    for each in machine.events:
        if each.get("cat") == "cpu_op" and chance.random() < 0.5:
            start = each["ts"] - _BEFORE_US
            events.append({**each, "name": chance.choice(NOTHING), "ts": start, "dur": _LASTS_US, "args": {}})
        events.append(each)
    machine.events = events
    return machine


def told(found: Diagnosis) -> list[tuple[str, dict[str, Any], str | None]]:
    """Of each finding of a pattern its rule, what it says, and its place."""
    general = ("device_idle", "host_dispatch", "launch_bound")
    return [
        (each.id, dict(each.values), each.where.text if each.where else None)
        for each in found.findings
        if each.id not in general
    ]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_they_change_nothing(program: Program) -> None:
    plain = told(diagnosed(run(program, steps=4)))
    assert plain
    for seed in (1, 2):
        assert told(diagnosed(with_no_ops(run(program, steps=4), seed))) == plain
