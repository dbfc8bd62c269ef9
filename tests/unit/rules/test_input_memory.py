"""Rules about memory that is asked of the driver in the loop."""

from __future__ import annotations

import pytest

from tests.events import annotation, model_of, op
from tests.input_programs import diagnosed, found_in, saved, work
from tests.replay_programs import US, Instruction
from torch_tb_profiler.insights.findings import diagnosis

MEMORY = {"allocator_churn", "host_allocation"}
Program = list[list[Instruction]]


def allocating(calls: list[Instruction], steps: int = 6, first: list[Instruction] | None = None) -> Program:
    begin = calls if first is None else first
    return [[*(begin if step == 0 else calls), *work(20)] for step in range(steps)]


def pair(length: int, get: str = "cudaMalloc", give: str = "cudaFree", inside: bool = False) -> list[Instruction]:
    """An operator that allocates, and the release of what it got."""
    operator = "aten::empty" if length else None
    return [("call", get, length, operator), ("call", give, length, "aten::add" if inside and length else None)]


@pytest.mark.parametrize(("get", "give"), [("cudaMalloc", "cudaFree"), ("hipMalloc", "hipFree")])
def test_the_caching_allocator_is_off(get: str, give: str) -> None:
    faulty = allocating(pair(100 * US, get, give) * 20)
    finding = found_in(faulty)["allocator_churn"]
    assert finding.saving is not None
    # the operator stays
    healthy = allocating([("call", get, 0, "aten::empty")] * 20)
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert finding.values["why"] == "off"
    assert "PYTORCH_NO_CUDA_MEMORY_CACHING" in finding.advice
    assert finding.confidence == "high"
    assert "40 calls" in finding.detail
    assert not MEMORY & set(found_in(healthy))


def test_one_step_shows_that_the_cache_is_off() -> None:
    calls = pair(100 * US, "hipMalloc", "hipFree") * 5
    one: Program = [[*calls, *work(2)] * 20]
    assert found_in(one)["allocator_churn"].values["why"] == "off"


def test_a_cache_that_is_emptied_or_full() -> None:
    cached: list[Instruction] = [("call", "cudaMalloc", 0, "aten::empty")] * 60
    emptied = found_in(allocating([*cached, *pair(300 * US) * 10]))["allocator_churn"]
    assert (emptied.values["why"], emptied.confidence) == ("emptied", "medium")
    assert "empty_cache" in emptied.advice
    full = found_in(allocating([*cached, *pair(300 * US, inside=True) * 10]))["allocator_churn"]
    assert full.values["why"] == "full"
    assert "expandable_segments" in full.advice


def test_a_program_that_warms_up_is_healthy() -> None:
    quiet: list[Instruction] = [("call", "cudaMalloc", 0, "aten::empty")] * 20
    first: list[Instruction] = [("call", "cudaMalloc", 500 * US, "aten::empty")] * 60
    assert not MEMORY & set(found_in(allocating(quiet, first=first)))
    assert not MEMORY & set(found_in(allocating(quiet, first=pair(500 * US) * 40)))
    # one step, in which everything is asked for once
    assert not MEMORY & set(found_in([[*first, *work(60)]]))


def test_the_pool_of_the_driver_is_meant_to_be_called_often() -> None:
    assert not MEMORY & set(found_in(allocating(pair(100 * US, "cudaMallocAsync", "cudaFreeAsync") * 20)))


def test_a_call_of_the_driver_inside_one_of_the_runtime_counts_once() -> None:
    events = [
        annotation("ProfilerStep#1", 0, 40_000),
        *(op("aten::empty", at * 500, 210) for at in range(60)),
        *({**op("cudaMalloc", at * 500 + 5, 200), "cat": "cuda_runtime"} for at in range(60)),
        *({**op("cuMemAlloc_v2", at * 500 + 50, 100), "cat": "cuda_driver"} for at in range(60)),
        *({**op("cudaFree", at * 500 + 300, 150), "cat": "cuda_runtime"} for at in range(60)),
    ]
    (finding,) = (each for each in diagnosis(model_of(events)).findings if each.id == "allocator_churn")
    assert finding.count == 120


def test_pinned_memory_in_every_step() -> None:
    faulty = allocating(pair(700 * US, "cudaHostAlloc", "cudaFreeHost"))
    healthy = allocating([("call", "cudaHostAlloc", 0, "aten::empty")])
    found = found_in(faulty)
    finding = found["host_allocation"]
    assert "allocator_churn" not in found
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert "pin_memory=True" in finding.advice
    kept = allocating([("call", "cudaHostAlloc", 700 * US, "aten::empty")])
    assert "host_allocation" in found_in(kept), "buffers that are in use are not taken again"
    assert not MEMORY & set(found_in(allocating(healthy[0], first=kept[0])))
    assert not MEMORY & set(found_in(healthy))


def test_not_evaluated_without_calls() -> None:
    found = diagnosis(model_of([annotation("ProfilerStep#1", 0, 100), op("aten::mm", 1, 50)]))
    needs = {each.id: each.needs for each in found.not_evaluated}
    assert {id_: needs.get(id_) for id_ in MEMORY} == dict.fromkeys(MEMORY, "calls")


def test_checked_on_a_healthy_program() -> None:
    assert set(diagnosed(allocating([])).checked) >= MEMORY
