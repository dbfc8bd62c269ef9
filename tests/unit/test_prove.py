"""`prove`: the verdict on a finding, on its prediction, and where the time went (docs/prove.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

import msgspec
import pytest

from tests.held_out.host_faults import tensor_preprocessing
from tests.held_out.proofs import outcome
from tests.held_out.run import model_of as held_out
from tests.held_out.run import run
from tests.replay_programs import COMPUTE, US, Instruction, Machine, World
from torch_tb_profiler import prove as prove_paths
from torch_tb_profiler.analysis.change.figures import recording_figures
from torch_tb_profiler.analysis.change.metrics import metric_of
from torch_tb_profiler.api import ProfileError
from torch_tb_profiler.cli import main
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.proof.answer import ProofAnswer
from torch_tb_profiler.insights.proof.measures import MEASURES, measure_of
from torch_tb_profiler.insights.proof.proof import Side, prove, signature_of
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.insights.rules import RULES
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

SAMPLES = Path(__file__).parents[2] / "samples"
Program = list[list[Instruction]]
WORK: list[Instruction] = [("launch", 20 * US, 60 * US, COMPUTE)] * 40


def program(data_us: int = 0, sync: bool = False, steps: int = 9) -> Program:
    """Steps that load for a time, compute 2.4 ms on the device, and may wait for it in their middle."""
    loading: list[Instruction] = [("data", data_us * US)] if data_us else []
    waiting: list[Instruction] = [("sync", 3 * US)] if sync else []
    return [[*loading, *WORK[:20], *waiting, *WORK[20:], ("sync", 3 * US)]] * steps


def model_of(of: Program, seed: int, jitter: float = 0.02) -> Model:
    machine = Machine(World(jitter=jitter, seed=seed)).run(of)
    return Model(read_trace(BytesIO(json.dumps({"traceEvents": machine.events}).encode())))


def side(of: Program, seeds: Sequence[int]) -> Side:
    return Side([recording_figures(model_of(of, seed), "run") for seed in seeds])


def finding_of(of: Program, seed: int = 1, rule: str = "synchronous_dataloader") -> Finding:
    return next(one for one in diagnosis(model_of(of, seed)).findings if one.id == rule)


def proved(before: Program, after: Program, pairs: int, seed: int = 1) -> ProofAnswer:
    """Record in turn, each recording with delays of its own."""
    seeds = [seed + 10 * number for number in range(pairs)]
    return prove(finding_of(before, seed), side(before, seeds), side(after, [one + 5 for one in seeds]))


def verdict(answer: ProofAnswer) -> str | None:
    return None if answer.measure is None else answer.measure.verdict


def test_every_rule_says_what_it_measures_in_metrics_of_check() -> None:
    assert set(MEASURES) == {rule.id for rule in RULES}
    for parts in MEASURES.values():
        assert all(" of the " in name or metric_of(name) is not None for name in parts or ())


@pytest.mark.parametrize("pairs", [1, 3])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_cause_that_is_removed_is_gone_and_the_gain_is_in_its_interval(pairs: int, seed: int) -> None:
    answer = proved(program(data_us=1500), program(), pairs, seed)
    true = 1.5
    assert answer.answer == "yes"
    assert verdict(answer) == "gone"
    assert answer.step is not None
    assert answer.step.low is not None
    assert answer.step.high is not None
    assert answer.step.low <= true * 1.02
    assert answer.step.high >= true * 0.98
    assert answer.predicted is not None
    # the finding promises that a worker hides the loading; here nothing is loaded any more
    assert answer.agreement == "more"
    assert answer.sentence.startswith("The cause is gone: ")
    assert answer.paired == (pairs == 3)


def test_half_of_a_cause_is_reduced_and_more_of_it_is_worse() -> None:
    assert verdict(proved(program(data_us=1500), program(data_us=750), 3)) == "reduced"
    assert verdict(proved(program(data_us=1500), program(data_us=2500), 3)) == "worse"


def test_a_program_against_itself_is_unchanged_or_open_and_never_gone() -> None:
    verdicts = []
    for seed in range(6):
        before = program(data_us=1200 + 200 * seed, sync=bool(seed % 2))
        verdicts += [verdict(proved(before, before, pairs, 100 + 40 * seed)) for pairs in (1, 3)]
    assert set(verdicts) <= {"unchanged", "cannot_tell"}
    assert verdicts.count("unchanged") >= 6


def test_time_that_comes_back_elsewhere_is_moved_and_named() -> None:
    # the loader no longer waits, but the host now computes for as long
    after: Program = [[("python", 1500 * US), *step] for step in program()]
    answer = proved(program(data_us=1500), after, 3)
    assert verdict(answer) == "moved"
    assert answer.moved[0].cause == "idle.unknown"
    assert answer.moved[0].less < -1
    assert "moved to" in answer.sentence


def test_other_parts_are_named_beside_the_gain() -> None:
    after: Program = [[("python", 400 * US), *step] for step in program()]
    answer = proved(program(data_us=1500), after, 3)
    assert verdict(answer) == "gone"
    assert answer.others
    assert answer.others[0].cause.startswith("idle.")


def test_calls_are_counted_exactly() -> None:
    finding = finding_of(program(sync=True), rule="sync_points")
    measure = measure_of(finding)
    assert measure is not None
    assert measure.unit == "count"
    answer = prove(finding, side(program(sync=True), [1]), side(program(), [2]))
    assert answer.measure is not None
    assert (answer.measure.before, answer.measure.after, answer.measure.verdict) == (2, 1, "reduced")
    assert (answer.measure.low, answer.measure.high) == (1, 1)


def test_one_noisy_pair_says_how_many_would_decide() -> None:
    before = program(data_us=1500)
    first, second = (
        side([[("data", us * US), *step] for us, step in zip(loading, program(), strict=True)], [seed])
        for seed, loading in ((1, (900, 2100, 700, 2300, 1500, 800, 2200, 1400, 1600)), (2, range(400, 2200, 200)))
    )
    answer = prove(finding_of(before), first, second)
    assert verdict(answer) == "cannot_tell"
    assert answer.answer == "partly"
    assert answer.more is not None
    assert answer.more > 1


def test_what_cannot_be_compared_is_refused_with_its_reason() -> None:
    finding, before = finding_of(program(data_us=1500)), side(program(data_us=1500), [1])
    few = prove(finding, before, side(program(steps=3), [2]))
    assert (few.answer, few.measure, few.why) == ("cannot", None, few.sentence)
    other = msgspec.structs.replace(side(program(), [2]), flops=3e9)
    work = prove(finding, msgspec.structs.replace(before, flops=1e9), other)
    assert work.answer == "cannot"
    assert "--work-changed" in work.sentence
    per_flop = prove(finding, msgspec.structs.replace(before, flops=1e9), other, work_changed=True)
    assert per_flop.step is not None
    assert per_flop.step.after == pytest.approx(2.51 / 3, rel=0.02)
    figures = before.figures[0]
    prints = msgspec.structs.replace(figures.fingerprint, devices=["another"])
    elsewhere = Side([msgspec.structs.replace(figures, fingerprint=prints)])
    assert "--across-devices" in prove(finding, before, elsewhere).sentence
    same = Side([msgspec.structs.replace(figures, sha256=["ab"])])
    assert prove(finding, same, same).sentence == "A recording is on both sides: nothing changed."


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("gc", "off"),
        ("copies", "off"),
        ("python", "half"),
        ("products", "half"),
        ("loader", "moved"),
        ("reads", "same"),
    ],
)
def test_changes_of_held_out_programs(fault: str, kind: str) -> None:
    """A few of the changes that `python -m tests.held_out.proofs SEED N` counts."""
    assert outcome(fault, kind, size=0.6, jitter=1.0, pairs=3, seed=5).is_right


def test_a_cause_that_may_have_moved_is_not_gone() -> None:
    """No garbage is collected any more, but one recording cannot show whether the step gained from that."""
    one = outcome("gc", "moved", size=0.05, jitter=1.0, pairs=1, seed=5)
    assert one.verdict == "cannot_tell"
    assert one.answer is not None
    assert one.answer.moved == []


def test_a_function_that_calls_operators_is_measured_with_them() -> None:
    model = held_out(run(tensor_preprocessing))
    finding = next(one for one in diagnosis(model).findings if one.id == "host_code")
    measure = measure_of(finding, recording_figures(model, "run"))
    assert measure is not None
    assert "idle.host.operator" in measure.metrics
    assert "idle.host.operator" not in MEASURES["host_code"]  # type: ignore[operator] # it has a measure


def test_a_signature_has_no_line_row_or_number() -> None:
    first, second = finding_of(program(data_us=1500)), finding_of(program(data_us=1400, steps=14), 9)
    assert signature_of(first) == signature_of(second)
    assert first != second


def test_the_samples_by_command_and_python(capsys: pytest.CaptureFixture[str]) -> None:
    before, after = str(SAMPLES / "cnn_workers0"), str(SAMPLES / "cnn_workers2")
    words = ["prove", before, after, "--finding", "synchronous_dataloader"]
    assert main([*words, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    answer = prove_paths(before, after, "synchronous_dataloader")
    assert printed == json.loads(msgspec.json.encode(answer))
    assert (verdict(answer), answer.agreement, answer.still_found) == ("gone", "as_predicted", False)
    assert main([*words, "--require", "gone"]) == 0
    assert main(["prove", after, before, "--finding", "top_operators", "--require", "reduced"]) == 3
    assert "idle.input + host.data: 30.76 → 1.262 ms" in capsys.readouterr().out
    with pytest.raises(ProfileError, match="has no finding 'nothing'; it has synchronous_dataloader"):
        prove_paths(before, after, "nothing")
    assert main(["prove", before, after, "--finding", "nothing"]) == 2
