"""The gate: figures of recordings, what is comparable, rules, verdicts, and the truth of generated pairs."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.gate_pairs import KERNEL, OPERATOR, config, recorded
from tests.recorded import recorded as shared
from tests.recorded import sample_traces, short, traces
from torch_tb_profiler.analysis.change.figures import (
    RecordedNote,
    RecordingFigures,
    combined_ranks,
    differences,
    recording_figures,
)
from torch_tb_profiler.analysis.change.gate import CheckAnswer, check
from torch_tb_profiler.analysis.change.judge import JudgedRule
from torch_tb_profiler.analysis.change.metrics import RuleError, default_rules, parse_rule
from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.analysis.kernels import kernel_sums
from torch_tb_profiler.analysis.operators.calls import operator_sums
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

pytestmark = pytest.mark.slow

SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.long) for seed in range(2, 10, 2))]


@pytest.fixture(scope="module")
def healthy() -> RecordingFigures:
    return recorded(config(100))


def judged(found: CheckAnswer, metric: str) -> JudgedRule:
    (rule,) = (each for each in found.rules if each.rule.metric == metric)
    return rule


def gate(base: RecordingFigures, new: RecordingFigures, *rules: str, **options: bool) -> CheckAnswer:
    return check([base], [new], [parse_rule(rule) for rule in rules] or default_rules(), **options)


@pytest.mark.parametrize("path", sample_traces(), ids=short)
def test_figures_are_those_of_their_owners(path: Path) -> None:
    if path.suffix == ".pickle":
        pytest.skip("a memory snapshot has no steps")
    with path.open("rb") as stream:
        model = Model(read_trace(stream))
    found = recording_figures(model, "run")
    for at, step in enumerate(found.step_ns):
        assert sum(ns[at] for ns in found.causes.values()) == found.lanes * step
    use = step_use(model)
    assert (use is None) == (found.busy is None)
    if use is not None and found.busy is not None:
        assert [ns / found.lanes for ns in found.busy] == pytest.approx(use.busy_ns.tolist())
    kernels, operators = kernel_sums(model.in_steps), operator_sums(model.in_steps)
    assert {each.name: sum(each.device_ns) for each in found.kernels.names} == dict(
        zip(kernels.name, kernels.total_ns.tolist(), strict=True)
    )
    assert {each.name: (sum(each.calls), sum(each.host_ns)) for each in found.operators.names} == {
        name: (calls, host)
        for name, calls, host in zip(
            operators.name, operators.calls.tolist(), operators.host_self_ns.tolist(), strict=True
        )
    }
    assert sum(found.kernel_calls) == int(kernels.calls.sum())
    assert msgspec.json.decode(msgspec.json.encode(found), type=RecordingFigures) == found


@pytest.mark.parametrize("seed", SEEDS)
def test_two_healthy_recordings_pass(seed: int) -> None:
    found = gate(recorded(config(seed)), recorded(config(seed + 1)))
    assert (found.outcome, found.exit_code) == ("passed", 0)
    assert judged(found, "device_busy").verdict == "unchanged"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_planted_slow_down_of_products_fails_and_is_named(seed: int) -> None:
    """5 % of what takes 60 % of the device time."""
    found = gate(recorded(config(seed)), recorded(config(seed + 1, "nvjet", 1.05)))
    assert (found.outcome, found.exit_code) == ("failed", 1)
    assert judged(found, "device_busy").verdict == "regressed"
    assert "nvjet" in next(each.name for each in found.moved if each.kind == "kernel")
    assert OPERATOR in [each.name for each in found.moved if each.kind == "operator"]
    assert found.parts[0].cause == "compute.gemm"


@pytest.mark.parametrize("seed", SEEDS)
def test_a_planted_slow_down_of_one_kernel_is_named(seed: int) -> None:
    """5 % of a kernel of a fifth: less than the gate of device time, and found by that of kernels."""
    base = recorded(config(seed, layers=5))
    new = recorded(config(seed + 1, KERNEL, 1.05, layers=5))
    found = gate(base, new, f"kernel({KERNEL}) > 3%", "kernel(*) > 2%")
    assert found.exit_code == 1
    assert judged(found, f"kernel({KERNEL})").verdict == "regressed"
    every = judged(found, "kernel(*)")
    assert every.verdict == "regressed"
    named = next(each for each in found.moved if each.kind == "kernel")
    assert (named.name, named.owner) == (KERNEL, OPERATOR)
    assert named.change == pytest.approx(0.05, abs=0.02)
    assert named.change_ns == pytest.approx(0.05 * named.base_ns, rel=0.4)


def test_the_other_way_round_it_is_improved() -> None:
    found = gate(recorded(config(1, "nvjet", 1.05)), recorded(config(2)))
    assert found.exit_code == 0
    assert judged(found, "device_busy").verdict == "improved"


def test_shared_recordings_of_one_program_are_as_busy() -> None:
    for folder in ("kineto/resnet50_num_workers_0", "kineto/resnet50_num_workers_4"):
        first, second = (_figures(path) for path in traces(shared(folder)))
        for base, new in ((first, second), (second, first)):
            found = judged(gate(base, new), "device_busy")
            assert found.verdict == "unchanged"
            assert found.lower is not None
            assert found.upper is not None
            assert -0.01 < found.lower < 0 < found.upper < 0.01


def _figures(path: Path) -> RecordingFigures:
    with path.open("rb") as stream:
        return recording_figures(Model(read_trace(stream)), "run")


def test_a_loader_that_is_slower_is_a_part_of_the_step() -> None:
    """What the two recordings differ by is no device time."""
    first, second = (_figures(path) for path in traces(shared("kineto/resnet50_num_workers_0")))
    found = gate(second, first)
    assert found.exit_code == 1
    assert judged(found, "step_time").verdict == "regressed"
    assert found.parts[0].cause == "idle.input"
    assert found.parts[0].change_ns == pytest.approx(23.99e6, rel=0.01)


def edited(figures: RecordingFigures, **fields: object) -> RecordingFigures:
    return msgspec.structs.replace(figures, **fields)


def with_fingerprint(figures: RecordingFigures, **fields: object) -> RecordingFigures:
    return edited(figures, fingerprint=msgspec.structs.replace(figures.fingerprint, **fields))


def test_other_rules_for_steps_cannot_be_judged(healthy: RecordingFigures) -> None:
    found = gate(healthy, with_fingerprint(healthy, step_rule="optimizer"), across_devices=True)
    assert found.exit_code == 3
    assert [each.what for each in found.differences] == ["step_rule"]
    assert judged(found, "step_time").verdict == "unknown"


@pytest.mark.parametrize("change", [{"devices": ["NVIDIA A100"]}, {"world_size": 8}])
def test_other_hardware_is_judged_when_it_is_asked_for(healthy: RecordingFigures, change: dict[str, object]) -> None:
    other = with_fingerprint(healthy, **change)
    assert gate(healthy, other).exit_code == 3
    found = gate(healthy, other, across_devices=True)
    assert found.exit_code == 0
    assert [each.forbids for each in found.differences] == ["across"]


def test_options_on_one_side_forbid_times_of_the_host(healthy: RecordingFigures) -> None:
    options = healthy.fingerprint.options | {"with_stack": True}
    found = gate(healthy, with_fingerprint(healthy, options=options))
    assert found.exit_code == 3
    assert judged(found, "device_busy").verdict == "unchanged"
    assert judged(found, "step_time").verdict == "unknown"
    only_devices = gate(healthy, with_fingerprint(healthy, options=options), "device_busy > 2%")
    assert only_devices.exit_code == 0


def test_versions_are_told_and_forbid_nothing(healthy: RecordingFigures) -> None:
    found = gate(healthy, with_fingerprint(healthy, versions={"cuda_runtime_version": 1}))
    assert found.exit_code == 0
    assert [each.what for each in found.differences] == ["versions"]


def test_fewer_than_four_steps_cannot_be_judged() -> None:
    short_ = recorded(config(1, steps=3))
    assert short_.first_kept == 0
    found = gate(short_, short_)
    assert found.exit_code == 3
    assert "3 steps on a side" in (judged(found, "step_time").reason or "")


def test_three_short_recordings_can_be_judged() -> None:
    base, new = ([recorded(config(seed, steps=3)) for seed in seeds] for seeds in ((1, 2, 3), (4, 5, 6)))
    found = check(base, new, default_rules())
    assert found.exit_code == 0
    assert judged(found, "step_time").test == "recordings"
    assert judged(found, "step_time").counts == (3, 3)


def test_damage_on_either_side_cannot_be_judged(healthy: RecordingFigures) -> None:
    note = RecordedNote(kind="far_timestamps", severity="error", count=2, text="Events lie far away.")
    damaged = edited(healthy, notes=[note], step_ns=[2 * ns for ns in healthy.step_ns])
    for sides in ((healthy, damaged), (damaged, healthy)):
        found = gate(*sides)
        assert found.exit_code == 3
        assert "Events lie far away" in (judged(found, "notes.error").reason or "")


def test_counts_that_never_vary_are_facts(healthy: RecordingFigures) -> None:
    more = edited(healthy, kernel_calls=[count + 1 for count in healthy.kernel_calls])
    found = gate(healthy, more, "kernels_per_step > 0")
    assert (found.exit_code, judged(found, "kernels_per_step").change) == (1, 1.0)
    assert judged(found, "kernels_per_step").test == "exact"
    assert gate(healthy, more, "kernels_per_step > 1").exit_code == 0
    assert gate(more, healthy, "kernels_per_step > 0").exit_code == 0
    assert gate(healthy, more, "kernels_per_step > 5%").exit_code == 0
    once = edited(healthy, kernel_calls=[*healthy.kernel_calls[:-1], healthy.kernel_calls[-1] + 10])
    assert gate(healthy, once, "kernels_per_step > 0").exit_code == 1


def test_counts_that_vary_are_tested(healthy: RecordingFigures) -> None:
    varying = edited(healthy, kernel_calls=[100 + at % 3 for at in range(len(healthy.steps))])
    shuffled = edited(healthy, kernel_calls=[100 + (at + 1) % 3 for at in range(len(healthy.steps))])
    found = judged(gate(varying, shuffled, "kernels_per_step > 0"), "kernels_per_step")
    assert (found.test, found.verdict) == ("steps", "inconclusive")


def test_calls_of_a_name(healthy: RecordingFigures) -> None:
    assert gate(healthy, healthy, "calls(aten::item) > 0").exit_code == 0
    without = edited(
        healthy,
        operators=msgspec.structs.replace(
            healthy.operators, names=[each for each in healthy.operators.names if each.name != "aten::mm"]
        ),
    )
    assert gate(without, healthy, "calls(aten::mm) > 0").exit_code == 1


def test_a_peak_is_exact(healthy: RecordingFigures) -> None:
    assert healthy.peak_bytes is not None
    more = edited(healthy, peak_bytes=healthy.peak_bytes * 106 // 100)
    assert gate(healthy, more, "peak_bytes > 5%").exit_code == 1
    assert gate(healthy, more, "peak_bytes > 10GB").exit_code == 0
    unknown = edited(healthy, peak_bytes=None)
    assert gate(healthy, unknown, "peak_bytes > 5%").exit_code == 3
    assert "peak_bytes" not in [each.rule.metric for each in gate(healthy, unknown).rules]


def test_slow_steps_are_counted_and_tested(healthy: RecordingFigures) -> None:
    slow = edited(healthy, step_ns=[3 * ns if at % 3 == 0 else ns for at, ns in enumerate(healthy.step_ns)])
    found = gate(healthy, slow, "slow_steps > 0")
    assert found.exit_code == 1
    assert (found.base.slow, found.new.slow) == (0, 6)


def test_inconclusive_passes_unless_it_must_not() -> None:
    steps = [100, 130, 90, 170, 95, 180, 110, 90]
    base = recorded(config(1, steps=8))
    noisy, other = (edited(base, step_ns=[each * 10**5 for each in order]) for order in (steps, steps[::-1]))
    found = gate(noisy, other, "step_time > 5%")
    assert (found.exit_code, judged(found, "step_time").verdict) == (0, "inconclusive")
    assert judged(found, "step_time").needed is not None
    assert gate(noisy, other, "step_time > 5%", strict=True).exit_code == 3


def test_ranks_are_one_recording() -> None:
    ranks = [recorded(config(seed)) for seed in (1, 2, 3)]
    found = combined_ranks(ranks)
    assert (found.ranks, found.lanes) == (3, 3)
    assert found.step_ns == [max(steps) for steps in zip(*(each.step_ns for each in ranks), strict=True)]
    busy = [each.busy or [] for each in ranks]
    assert found.busy == [sum(steps) for steps in zip(*busy, strict=True)]
    name = found.kernels.names[0].name
    assert sum(found.kernels.names[0].device_ns) == sum(
        sum(named.device_ns) for each in ranks if (named := each.kernels.of(name))
    )
    assert differences([found], [ranks[0]])[0].what in ("devices", "ranks")
    assert combined_ranks(ranks[:1]) == ranks[0]


def test_ranks_have_the_steps_that_all_have() -> None:
    long, short_ = recorded(config(1, steps=9)), recorded(config(2, steps=7))
    found = combined_ranks([long, short_])
    assert found.steps == short_.steps
    assert all(len(named.calls) == 7 for named in found.kernels.names)


@pytest.mark.parametrize(
    ("text", "limit", "relative"),
    [
        ("step_time > 5%", 0.05, True),
        ("  device_busy>=2 %", 0.02, True),
        ("exposed_communication > 1ms", 1e6, False),
        ("idle.input > 20 µs", 2e4, False),
        ("peak_bytes>64MiB", 64 * 1024**2, False),
        ("peak_bytes>64MB", 64 * 1024**2, False),
        ("peak_bytes > 1.5 GiB", 1.5 * 1024**3, False),
        ("calls(aten::item) > 0", 0, False),
        ("kernel(void f<4, x>=3>(int*)) > 3%", 0.03, True),
        ("syncs > 1.5", 1.5, False),
    ],
)
def test_rules(text: str, limit: float, relative: bool) -> None:
    found = parse_rule(text)
    assert (found.limit, found.relative) == (limit, relative)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is not a rule"),
        ("step_time", "is not a rule"),
        ("step_tme > 5%", "perhaps step_time"),
        ("step_time > 5", "needs a unit"),
        ("step_time > 5MB", "does not fit"),
        ("peak_bytes > 5", "MiB"),
        ("step_time < 5%", "so use >"),
        ("step_time > -5%", "cannot be below 0"),
        ("notes.error > 3", "no other limit"),
        ("calls() > 0", "no metric"),
        ("calls(*) > 0", "no metric"),
    ],
)
def test_wrong_rules(text: str, said: str) -> None:
    with pytest.raises(RuleError, match=said):
        parse_rule(text)
