"""How often the planted cause of a held-out program is said first: `python -m tests.held_out.bars SEED N`.

Each program runs on a machine drawn by chance: device, speed of the host, number of steps, what was recorded. Printed
are the programs that were missed, then the counts of docs/maintainers/findings-checked.md.
"""

from __future__ import annotations

import random
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from tests.held_out.machine import A100, H100, MI300X
from tests.held_out.run import Program, diagnosed, found_in, run
from tests.unit.rules import test_held_out, test_held_out_workloads
from torch_tb_profiler.insights.findings import Diagnosis

#: a finding of a healthy program that saves this share of the step is one too many
_LARGE = 0.02
#: the true saving may miss the interval by this share of itself: the clock of the simulated host is drawn by chance
_TOLERANCE = 0.05


class Outcome(msgspec.Struct, frozen=True):
    """Of one program.

    right    its cause is first
    misled   its cause is not named, and another one that saves 2 % is
    inside   whether the interval holds the truth; None where there is none
    """

    right: bool
    misled: bool
    inside: bool | None


def _machine(chance: random.Random, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """A machine, with what a program needs of it to be faulty at all."""
    recorded = chance.choice([{}, {}, {"stacks": False}, {"marks": False}, {"cut": 0.08}])
    drawn = {
        "gpu": chance.choice([A100, A100, H100, MI300X]),
        "host_factor": chance.uniform(0.7, 1.3),
        "steps": chance.randint(4, 8),
        "seed": chance.randrange(10**6),
    }
    return {**drawn, **recorded, **fixed}


def _named(planted: Sequence[str], machine: Mapping[str, Any]) -> set[str]:
    """The rules that name a fault, as it was recorded: ROCm does not say which memory is pageable, without stacks a
    value that is printed is one that is read, and a slow interpreter is a host that devices wait for.
    """
    named = set(planted)
    if named & {"pageable_input", "pageable_output"} and machine["gpu"].vendor == "hip":
        named.add("exposed_copies")
    if "logging_reads" in named and not machine.get("stacks", True):
        named.add("sync_points")
    return named | {"device_idle", "launch_bound"} if "host_dispatch" in named else named


def judged(found: Diagnosis, planted: set[str], truth_ns: float) -> Outcome:
    """What is found, beside the ids of rules that name the fault, and what the fault costs, ns of the mean step."""
    listed = [each for each in found.findings if each.saving is not None]
    first = listed[0] if listed else None
    right = first is not None and first.id in planted
    others = [each for each in listed if each.saving and (each.saving.alone_ns or 0) >= _LARGE * (found.step_ns or 0)]
    misled = not any(each.id in planted for each in found.findings) and bool(others)
    saving = first.saving if right and first is not None else None
    inside = None
    if saving is not None and saving.low_ns is not None and saving.high_ns is not None:
        inside = (1 - _TOLERANCE) * saving.low_ns <= truth_ns <= (1 + _TOLERANCE) * saving.high_ns
    return Outcome(right, misled, inside)


def _faulty() -> list[tuple[Program, list[str], Mapping[str, Any]]]:
    """Programs, the rules that name their fault, and what their machine has to be."""
    planted: dict[Program, tuple[set[str], Mapping[str, Any]]] = {}
    for said in (*test_held_out.SAID, *test_held_out_workloads.SAID):
        planted.setdefault(said.program, (set(), said.machine))[0].add(said.first)
    return [
        (program, sorted(ids), {"gpu": machine.get("gpu", A100)} if "tensor_cores" in ids else {})
        for program, (ids, machine) in planted.items()
    ]


def main(seed: int, n: int) -> None:
    chance = random.Random(seed)
    faulty, outcomes = _faulty(), []
    for number in range(n):
        program, planted, fixed = faulty[number % len(faulty)]
        machine = _machine(chance, fixed)
        found, truth_ns = found_in(program, **machine)
        if truth_ns < _LARGE * (found.step_ns or 0):
            continue  # on this machine the fault costs nothing
        outcomes.append(judged(found, _named(planted, machine), truth_ns))
        if not outcomes[-1].right or outcomes[-1].inside is False:
            of = {key: getattr(value, "name", value) for key, value in machine.items()}
            listed = [(each.id, _shown(each.saving)) for each in found.findings[:4]]
            print(program.__name__, of, f"truth {truth_ns:.0f}", outcomes[-1], listed, flush=True)
    healthy = (*test_held_out.HEALTHY, *test_held_out_workloads.HEALTHY)
    false = 0
    for number in range(n // 4):
        program = healthy[number % len(healthy)]
        machine = _machine(chance, {})
        found = diagnosed(run(program, faulty=False, **machine))
        large = _LARGE * (found.step_ns or 0)
        wrong = [each.id for each in found.findings if each.saving and (each.saving.alone_ns or large) >= large]
        false += bool(wrong)
        if wrong:
            of = {key: getattr(value, "name", value) for key, value in machine.items()}
            print("healthy", program.__name__, of, wrong, flush=True)
    intervals = [each.inside for each in outcomes if each.inside is not None]
    print(
        f"seed {seed}: {len(outcomes)} programs, first cause right {sum(each.right for each in outcomes)}, misled "
        f"{sum(each.misled for each in outcomes)}, truth inside the interval {sum(intervals)} of {len(intervals)}, "
        f"healthy with a finding {false} of {n // 4}"
    )


def _shown(saving: Any) -> Any:
    if saving is None or saving.after_others_ns is None:
        return saving and saving.refused_id
    return [
        None if x is None else round(x)
        for x in (saving.alone_ns, saving.after_others_ns, saving.low_ns, saving.high_ns)
    ]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
