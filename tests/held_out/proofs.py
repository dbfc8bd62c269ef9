"""How often `prove` is right about a change that is known: `python -m tests.held_out.proofs SEED N`.

A program has one fault of some size, and is recorded before and after a change that takes the fault away, halves it,
makes it larger, puts another fault of the same size in its place, or does nothing. Each recording has jitter and drift
of its own. Printed are the verdicts that were wrong, then the counts of docs/maintainers/findings-checked.md.
"""

from __future__ import annotations

import random
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from tests.held_out.layers import linear
from tests.held_out.machine import Machine
from tests.held_out.parts import adam, item, load, move, run_backward
from tests.held_out.run import model_of
from tests.held_out.training import clear, model, training
from torch_tb_profiler.analysis.change.figures import recording_figures
from torch_tb_profiler.analysis.roofline.utilization import step_flops
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.proof.answer import ProofAnswer
from torch_tb_profiler.insights.proof.proof import Side, prove, signature_of
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.model import Model

#: what a fault takes of the healthy step
SIZES = (0.03, 0.1, 0.3, 0.6, 1.0)
#: the jitter of the machine, × that of the other held-out programs, and the spread between recordings
JITTERS, DRIFT = (0.5, 1.0, 3.0), 0.01
#: the right verdict on each change
_RIGHT = {"off": ("gone",), "half": ("reduced",), "more": ("worse",), "moved": ("moved",), "same": ("unchanged",)}
_STEPS, _STEPS_OF_TRUTH = 8, 16
#: the gain may miss the prediction by this share of itself, as in `bars`
_TOLERANCE = 0.05


class _Jittered(random.Random):
    """Factors around `drift` that lie `jitter` times as far from it."""

    jitter, drift = 1.0, 1.0

    def uniform(self, a: float, b: float) -> float:
        return self.drift * (1 + self.jitter * (super().uniform(a, b) - 1))


@dataclass
class FaultyMachine(Machine):
    """A machine whose program has faults.

    jitter   × that of the other held-out programs
    drift    what all takes in this recording, × that of the program
    amounts  how many units of each fault there are
    planned  how many there are at most: the others are done without the fault
    """

    jitter: float = 1.0
    drift: float = 1.0
    amounts: Mapping[str, float] = field(default_factory=dict)
    planned: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._random = _Jittered(self.seed)
        self._random.jitter, self._random.drift = self.jitter, self.drift

    def amount(self, fault: str) -> float:
        return self.amounts.get(fault, 0)

    def count(self, fault: str) -> tuple[int, int]:
        """How many units are faulty, and how many are not."""
        faulty = round(self.amount(fault))
        return faulty, max(round(self.planned.get(fault, 0)) - faulty, 0)


def _program(s: FaultyMachine) -> None:
    """A step that ends when its device is done, so that a fault costs what it takes."""

    def body(_: int) -> None:
        load(s, 65536, max(s.amount("loader"), 5), single=True)
        for name, function in (("python", "augment.py(18): random_crop"), ("gc", "<built-in function collect>")):
            if s.amount(name):
                with s.frame(function):
                    s.idle(s.amount(name))
                s.host(2)
        copies, _rest = s.count("copies")
        for _ in range(copies):
            move(s, 512)
        s.synchronize()
        model(s, tokens=8192, layers=2, classes=4000)
        for kind, count in zip(("fp32", "tf32"), s.count("products"), strict=True):
            for _ in range(count):
                linear(s, 1024, 4000, 1024, kind, bias=False)
        reads, _rest = s.count("reads")
        for _ in range(reads):
            s.host(20)
            with s.frame("metrics.py(14): update"):
                item(s, line="metrics.py(20): read")
        run_backward(s)
        s.synchronize()
        single, fused = s.count("optimizer")
        if single:
            adam(s, single, single * 100_000, "single")
        adam(s, 20 + fused, (20 + fused) * 100_000)
        clear(s)
        s.synchronize()

    training(s, body)


class Fault(msgspec.Struct, frozen=True):
    """A fault of the program.

    rules    that name it
    unit_us  what one unit of it takes, about
    whole    whether units are calls
    becomes  faults that it may turn into: they are not in what its rules measure, which is a time
    mixed    its rules measure it with the rest of the program, so that it is never gone
    """

    rules: frozenset[str]
    unit_us: float = 1.0
    whole: bool = False
    becomes: tuple[str, ...] = ()
    mixed: bool = False


FAULTS: Mapping[str, Fault] = {
    "loader": Fault(
        frozenset({"synchronous_dataloader", "dataloader"}), becomes=("python", "gc", "copies", "products")
    ),
    "python": Fault(frozenset({"host_code"}), becomes=("loader", "gc", "products")),
    "gc": Fault(frozenset({"garbage_collection"}), becomes=("loader", "python", "copies")),
    "copies": Fault(frozenset({"tiny_copies"}), 20, True),
    "products": Fault(frozenset({"tf32"}), 1300, True, ("loader", "python", "gc")),
    "reads": Fault(frozenset({"sync_points"}), 40, True),
    "optimizer": Fault(frozenset({"optimizer_share", "unfused_optimizer"}), 90, True, mixed=True),
}


class Change(msgspec.Struct, frozen=True):
    """A change of a program, and what is true of it.

    fault, kind    what the program has, and what is done about it
    size           what the fault takes of the healthy step
    jitter         of the machine
    pairs          recordings on each side
    right          the verdicts that are
    gain_ms        what the mean step gains
    """

    fault: str
    kind: str
    size: float
    jitter: float
    pairs: int
    right: tuple[str, ...]
    gain_ms: float


class Outcome(msgspec.Struct, frozen=True):
    """What `prove` says of a change; no answer where the rule does not find the fault."""

    change: Change
    answer: ProofAnswer | None

    @property
    def verdict(self) -> str | None:
        measure = None if self.answer is None else self.answer.measure
        return None if measure is None else measure.verdict

    @property
    def is_right(self) -> bool:
        return self.verdict in self.change.right

    @property
    def is_gain_inside(self) -> bool | None:
        """Whether the interval of the step's gain holds the truth; None without one."""
        step = None if self.answer is None else self.answer.step
        if step is None or step.low is None or step.high is None:
            return None
        return step.low <= self.change.gain_ms <= step.high

    @property
    def is_predicted(self) -> bool | None:
        """Whether the interval of the finding holds the gain of a fault that is taken away; None without one."""
        promised = None if self.answer is None else self.answer.predicted
        if self.change.kind != "off" or promised is None or promised.low is None or promised.high is None:
            return None
        return (1 - _TOLERANCE) * promised.low <= self.change.gain_ms <= (1 + _TOLERANCE) * promised.high


def _run(amounts: Mapping[str, float], planned: Mapping[str, float], **machine: float) -> FaultyMachine:
    made = FaultyMachine(amounts=amounts, planned=planned, **machine)  # type: ignore[arg-type] # numbers of its fields
    _program(made)
    return made


def _mean_ms(machine: FaultyMachine) -> float:
    """The mean step without the first, whose device begins idle."""
    return sum(machine.steps_us[1:]) / (len(machine.steps_us) - 1) / 1000


def _recorded(model: Model, worker: str) -> tuple[Side, list[Finding]]:
    findings = list(diagnosis(model).findings)
    side = Side([recording_figures(model, worker)], [signature_of(one) for one in findings], step_flops(model).per_step)
    return side, findings


def _side(machines: Sequence[FaultyMachine]) -> tuple[Side, list[Finding]]:
    models = [model_of(machine) for machine in machines]
    side, findings = _recorded(models[0], "0")
    more = [recording_figures(other, str(number)) for number, other in enumerate(models[1:], 1)]
    return msgspec.structs.replace(side, figures=[*side.figures, *more]), findings


def outcome(fault: str, kind: str, size: float, jitter: float, pairs: int, seed: int) -> Outcome:
    """Record a program before and after a change, in turn, and prove it."""
    chance, of = random.Random(seed), FAULTS[fault]
    healthy_us = 1000 * _mean_ms(_run({}, {}, steps=4, jitter=0))
    amount = size * healthy_us / of.unit_us
    amount = 2 * max(round(amount / 2), 1) if of.whole else amount
    before, after = {fault: amount}, {fault: amount * {"off": 0, "half": 0.5, "more": 1.6, "moved": 0, "same": 1}[kind]}
    planned = {name: max(before[name], after[name]) for name in before}
    exact = {"steps": 4, "jitter": 0}
    cost = _mean_ms(_run(before, planned, **exact)) - _mean_ms(_run({}, planned, **exact))
    if kind == "moved":
        other = chance.choice(of.becomes)
        units = 1000 * cost / FAULTS[other].unit_us
        after[other] = planned[other] = max(round(units), 1) if FAULTS[other].whole else units
        cost = _mean_ms(_run(before, planned, **exact)) - _mean_ms(_run({}, planned, **exact))
    long = {"steps": _STEPS_OF_TRUTH, "jitter": jitter, "seed": seed}
    gain = 0.0 if kind == "same" else _mean_ms(_run(before, planned, **long)) - _mean_ms(_run(after, planned, **long))
    right = _RIGHT["off" if kind == "moved" and gain >= cost / 2 else kind]
    if of.mixed and kind == "off":
        right = ("gone", "reduced")
    sides = [
        _side(
            [
                _run(
                    amounts,
                    planned,
                    steps=_STEPS,
                    jitter=jitter,
                    drift=chance.lognormvariate(0, DRIFT),
                    seed=chance.randrange(10**9),
                )
                for _ in range(pairs)
            ]
        )
        for amounts in (before, after)
    ]
    (first, findings), (second, _) = sides
    change = Change(fault, kind, size, jitter, pairs, right, gain)
    finding = next((one for one in findings if one.id in of.rules and one.saving is not None), None)
    return Outcome(change, None if finding is None else prove(finding, first, second))


def _share(name: str, truths: Sequence[bool]) -> str:
    return f"{name} {sum(truths)} of {len(truths)}"


def report(outcomes: Sequence[Outcome]) -> str:
    """Return the counts: of changes whose fault is found before them. Open: `prove` says that it cannot tell."""
    known = [one for one in outcomes if one.answer is not None]
    changed = [one for one in known if one.change.kind != "same"]
    same = [one for one in known if one.change.kind == "same"]
    moved = [one for one in changed if one.change.right == ("moved",)]
    decided, moves = ([one for one in some if one.verdict != "cannot_tell"] for some in (changed, moved))
    inside = [one.is_gain_inside for one in known if one.is_gain_inside is not None]
    predicted = [one.is_predicted for one in known if one.is_predicted is not None]
    lines = [
        f"{len(outcomes)} changes, {len(known)} with a finding",
        _share("decided", [one in decided for one in changed]),
        _share("of these right", [one.is_right for one in decided]),
        _share("false gone", [one.verdict == "gone" and not one.is_right for one in known]),
        _share("moved decided", [one in moves for one in moved]),
        _share("of these right", [one.is_right for one in moves]),
        _share("A/A neither unchanged nor open", [one.verdict not in ("unchanged", "cannot_tell") for one in same]),
        _share("A/A unchanged", [one.is_right for one in same]),
        _share("gain inside its interval", inside),
        _share("gain inside the prediction", predicted),
    ]
    return ", ".join(lines)


def main(seed: int, n: int) -> None:
    chance = random.Random(seed)
    outcomes = []
    for number in range(n):
        fault = list(FAULTS)[number % len(FAULTS)]
        kind = chance.choice([kind for kind in _RIGHT if kind != "moved" or FAULTS[fault].becomes])
        size, jitter, pairs = chance.choice(SIZES), chance.choice(JITTERS), chance.choice((1, 3))
        one = outcome(fault, kind, size, jitter, pairs, chance.randrange(10**9))
        outcomes.append(one)
        if one.answer is not None and not (one.is_right and one.is_gain_inside):
            print(one.change, one.verdict, one.answer.measure, one.answer.step, flush=True)
    for pairs in (1, 3):
        print(f"seed {seed}, pairs {pairs}: {report([one for one in outcomes if one.change.pairs == pairs])}")
    print(Counter((one.change.right, one.verdict) for one in outcomes if one.answer is not None))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
