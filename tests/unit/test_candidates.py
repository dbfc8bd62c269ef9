"""`candidates/1.0`: ids, headroom, and savings that are the replay's (docs/candidates.md)."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from pathlib import Path

import msgspec
import numpy as np
import pytest

from tests.kernel_programs import BF16, H100, Op, add, matrices, model_of, run, shapeless
from tests.replay_programs import Machine
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.analysis.replay.changes import targets
from torch_tb_profiler.analysis.replay.savings import what_if
from torch_tb_profiler.api import open as open_profiles
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.cli import main
from torch_tb_profiler.insights.candidates.answer import Candidate, CandidatesAnswer
from torch_tb_profiler.insights.candidates.identity import (
    call_arguments,
    identify_call,
    layout,
)
from torch_tb_profiler.insights.candidates.question import CANDIDATES, CandidateFilter
from torch_tb_profiler.insights.places import without_numbers
from torch_tb_profiler.model import Model

SAMPLES = Path(__file__).parents[2] / "samples"
#: TFLOP/s of bfloat16 of an H100, by its data sheet
PEAK = 989.4


def subject(model: Model) -> Subject:
    return Subject(model, "run", "worker", "1", 0, 1, lambda _: ())


def answer(machine: Machine, **params: object) -> CandidatesAnswer:
    found: CandidatesAnswer = CANDIDATES.compute(
        subject(model_of(machine, H100)), msgspec.convert(params, CandidateFilter)
    )
    return found


def matmul(us: float, n: int = 8192) -> Op:
    return matrices(8192, n, 8192, BF16, us, "c10::BFloat16")


def operators(machine: Machine) -> set[str]:
    return {one.id for one in answer(machine, kind="operator").candidates}


def only(found: CandidatesAnswer, name: str) -> Candidate:
    (one,) = [one for one in found.candidates if one.name == name]
    return one


def test_a_slow_operator_on_the_path_is_first_and_saves_what_the_program_gains() -> None:
    slow = [[matmul(4_000, 4096), matmul(2_300, 8192), add(20)] for _ in range(6)]
    found = answer(run(slow))
    first = found.candidates[0]
    roof_us = 2 * 8192 * 4096 * 8192 / PEAK / 1e6
    assert (found.answer, first.kind, first.name, first.bound) == ("yes", "operator", "aten::mm", "compute")
    assert first.inputs is not None
    assert [one.dims for one in first.inputs] == [[8192, 8192], [8192, 4096]]
    assert first.roof_ms == pytest.approx(roof_us / 1000, rel=0.01)
    quick = [[matmul(roof_us, 4096), matmul(2_300, 8192), add(20)] for _ in range(6)]
    gained = (run(slow).total_ns - run(quick).total_ns) / 6 / 1e6
    assert first.saving_ms.high == pytest.approx(gained, rel=0.02)
    assert first.headroom_ms is not None
    low, likely, high = first.headroom_ms
    assert low <= likely <= high == pytest.approx(first.time_ms - roof_us / 1000, rel=0.01)


def test_a_slow_operator_that_nothing_waits_for_saves_nothing_and_says_what_limits_the_step() -> None:
    # the host takes ten times as long as the device for everything else
    steps = [[replace(matmul(1_200, 4096), host=9_000), *(replace(add(20), host=400) for _ in range(8))]] * 6
    one = only(answer(run(steps)), "aten::mm")
    assert one.headroom_ms is not None
    assert one.headroom_ms[1] > 0.1
    assert one.saving_ms.alone is not None
    assert one.saving_ms.alone < 0.01 * one.headroom_ms[1]
    assert one.saving_ms.limited_by == "host"


def test_all_device_work_of_the_settled_steps_is_in_an_entry_or_left_out() -> None:
    trace = open_profiles(str(SAMPLES)).run("generated_4gpu_h100").traces[0]

    def per_step_ms(model: Model) -> float:
        start, duration = (getattr(model.trace.events, name)[model.device_work.row] for name in ("start", "duration"))
        steps = model.steps
        counted = (start >= steps.start[1]) & (start < steps.end[-1]) & model.is_work
        return float(duration[counted].sum()) / (len(steps) - 1) / 1e6

    found = trace.candidates(top=3)
    listed = sum(one.time_ms for one in found.candidates if one.kind not in ("fusion", "host"))
    assert listed + found.left_out.time_ms == pytest.approx(trace.ask(per_step_ms), rel=0.001)


@pytest.mark.parametrize("name", ["cnn_workers0", "generated_4gpu_h100", "ddp_gloo_2ranks"])
def test_an_answer_is_small_in_order_and_the_same_each_time(name: str) -> None:
    trace = open_profiles(str(SAMPLES)).run(name).traces[0]
    found = trace.candidates(top=50)
    assert found.candidates
    assert len(dumps(found)) <= 20_000
    assert dumps(found) == dumps(trace.candidates(top=50))
    ids = [one.id for one in found.candidates]
    assert len(set(ids)) == len(ids)
    order = [one.saving_ms.after_others or 0.0 for one in found.candidates]
    assert order == sorted(order, reverse=True)


def test_what_is_saved_beyond_others_adds_up_to_the_replay_of_all_together() -> None:
    machine = run([[matmul(4_000, 4096), matmul(4_300, 8192), add(20)] for _ in range(6)])
    found = answer(machine)
    listed = [one for one in found.candidates if one.saving_ms.after_others is not None]
    model = model_of(machine, H100)
    rows: list[int] = []
    times: list[int] = []
    strings, events = model.trace.strings, model.trace.events
    for one in listed:
        assert one.headroom_ms is not None
        kernels = np.flatnonzero([str(strings[int(code)]) in BF16 for code in events.name])
        of_call = kernels[(events.duration[kernels] / 1e6).round(1) == round(one.time_ms, 1)]
        rows += of_call.tolist()
        times += [round((one.time_ms - one.headroom_ms[1]) * 1e6)] * len(of_call)
    together = what_if(model, [targets(rows, times)], range(1, 6)).saved_ns
    assert together is not None
    assert sum(one.saving_ms.after_others or 0.0 for one in listed) == pytest.approx(together / 5 / 1e6, rel=0.01)


def test_an_id_is_of_the_operator_and_its_arguments_alone() -> None:
    machine = run([[matmul(4_000, 4096), add(50)] for _ in range(4)])
    ids = operators(machine)
    other = run([[add(70), matmul(2_000, 4096)] for _ in range(9)])
    assert operators(other) == ids
    random.Random(7).shuffle(other.events)
    for event in other.events:
        event["ts"] += 5e6
    assert operators(other) == ids
    assert only(answer(run([[matmul(4_000, 2048)]] * 4)), "aten::mm").id not in ids


def test_floats_do_not_make_another_id_and_integers_do() -> None:
    def of(concrete: list[str], strides: list[list[int]]) -> str:
        texts = [json.dumps(value) for value in ([[4, 8], []], ["float", "Scalar"], concrete, strides)]
        return identify_call("operator", "aten::mul", call_arguments(*texts))

    row_major = [[8, 1], []]
    assert of(["", "0.25"], row_major) == of(["", "0.125"], row_major)
    assert of(["", "2"], row_major) != of(["", "3"], row_major)
    assert of(["", "2"], row_major) != of(["", "2"], [[1, 4], []])
    assert layout([1, 8], [77, 1]) == "contiguous"
    assert without_numbers("model.layers.11.mlp") == without_numbers("model.layers.3.mlp") == "model.layers.*.mlp"


def test_hostile_arguments_are_left_out() -> None:
    assert call_arguments("[[" * 900, "", "", "").inputs is None
    found = call_arguments('[[-1, 9223372036854775808], "x", [[2], "y"]]', '["float"]', '["1e999", "None"]', "[3]")
    assert found.inputs is not None
    assert [one.dims for one in found.inputs] == [[-1, 9223372036854775808], [2]]
    assert found.scalars == {}


def test_a_trace_that_cannot_answer_says_why_and_what_to_record() -> None:
    without_shapes = answer(run([[shapeless(matmul(4_000)), add(20)]] * 4))
    assert (without_shapes.answer, list(without_shapes.candidates)) == ("cannot", [])
    assert without_shapes.why is not None
    assert without_shapes.why.id == "no_shapes"
    assert without_shapes.how == "profile(record_shapes=True)"
    assert without_shapes.left_out.time_ms > 0
    idle = answer(run([[replace(matmul(400), host=40_000)]] * 4))
    assert (idle.answer, idle.why and idle.why.id) == ("partly", "mostly_idle")


def test_candidates_of_a_kind_or_a_finding_alone() -> None:
    trace = open_profiles(str(SAMPLES)).run("generated_4gpu_h100").traces[0]
    found = trace.candidates(kind="host")
    assert {one.kind for one in found.candidates} == {"host"}
    key = found.candidates[0].finding
    assert key in {finding.key for finding in trace.findings()}
    assert {one.finding for one in trace.candidates(finding=key).candidates} == {key}
    assert len(trace.candidates(top=3).candidates) == 3


def test_the_command_prints_the_answer_of_python(capsys: pytest.CaptureFixture[str]) -> None:
    path = str(SAMPLES / "generated_4gpu_h100")
    main(["candidates", path, "--worker", "rank0", "--json"])
    printed = capsys.readouterr().out
    trace = open_profiles(str(SAMPLES)).run("generated_4gpu_h100").traces[0]
    assert json.loads(printed)["candidates"] == json.loads(dumps(trace.candidates()))["candidates"]
    main(["candidates", path, "--worker", "rank0", "--top", "2"])
    lines = capsys.readouterr().out.splitlines()
    assert "aten::_flash_attention_forward" in lines[2]
    assert len(lines) == 5
    assert main(["candidates", path, "--top", "0"]) == 2
