"""Rules about the communication of one rank: planted faults, programs without them, and the saving over ranks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import Event, annotation, event, kernel, launch, model_of, op
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.insights.run_facts import run_rank
from torch_tb_profiler.insights.run_findings import run_diagnosis

STEP = 10_000.0


def steps(*parts: list[Event], count: int = 3) -> list[Event]:
    """The same events in each of some steps of 10 ms; numbers of launches go on."""
    found: list[Event] = []
    for number in range(count):
        found.append(annotation(f"ProfilerStep#{number}", number * STEP, STEP))
        for part in parts:
            for each in part:
                args = dict(each["args"])
                if "correlation" in args:
                    args["correlation"] += 10_000 * number
                found.append({**each, "ts": each["ts"] + number * STEP, "args": args})
    return found


def collective(
    at: float, length: float, number: int, name: str = "allreduce", given: dict[str, Any] | None = None
) -> list[Event]:
    """A call on the host and its kernel."""
    arguments = {
        "Collective name": name,
        "dtype": "Float",
        "In msg nelems": 1000,
        "Out msg nelems": 1000,
        "Group size": 2,
        "Process Group Name": "0",
        "Process Group Description": "default_pg",
        "Process Group Ranks": "[0, 1]",
        **(given or {}),
    }
    return [launch(at, number), kernel(at + 8, length, number, "ncclDevKernel_Generic", **arguments)]


def findings_of(events: list[Event], **header: Any) -> dict[str, Finding]:
    return {each.id: each for each in diagnosis(model_of(events, **header)).findings}


def many(count: int, elements: int = 1000) -> list[Event]:
    return [
        each
        for n in range(count)
        for each in collective(10 + 40 * n, 30, n + 1, given={"In msg nelems": elements, "Out msg nelems": elements})
    ]


def test_tiny_collectives() -> None:
    found = findings_of(steps(many(150)))["tiny_collectives"]
    assert found.values["calls"] == 150
    assert found.count == 450
    assert found.saving is not None
    assert "One rank alone" in (found.saving.refused or "")
    assert "tiny_collectives" not in findings_of(steps(many(90)))
    assert "tiny_collectives" not in findings_of(steps(many(150, 100_000)))


def test_ranks_together_say_what_tiny_collectives_cost() -> None:
    """Of 150 in a row one is left, with what all of them transfer beyond the latency: here nothing."""
    ranks = [
        run_rank(model_of(steps(many(150)), distributedInfo={"rank": r, "world_size": 2}), f"r{r}") for r in (0, 1)
    ]
    found = {each.id: each for each in run_diagnosis(ranks).findings}["tiny_collectives"]
    assert found.workers == ()
    assert found.count == 900
    assert found.saving is not None
    assert found.saving.refused is None
    # the host launches the last one after 149 × 40 µs, and does so sooner by as many launches of 5 µs
    assert found.saving.alone_ns == pytest.approx(149 * 5_000, rel=0.1)


def test_sync_batchnorm() -> None:
    def layers(name: str, count: int) -> list[Event]:
        return [
            each
            for n in range(count)
            for each in (
                op(name, 100 * n + 5, 60),
                event("user_annotation", "nccl:all_gather", 100 * n + 12, 10),
                *collective(100 * n + 14, 40, n + 1, "allgather"),
            )
        ]

    found = findings_of(steps(layers("SyncBatchNorm", 25)))["sync_batchnorm"]
    assert found.values["calls"] == 25
    assert "sync_batchnorm" not in findings_of(steps(layers("SyncBatchNorm", 15)))
    assert "sync_batchnorm" not in findings_of(steps(layers("BatchNorm", 25)))


SEARCH = "torch.distributed.ddp.reducer::search_unused_parameters"


def test_unused_parameters() -> None:
    """The host is what the step waits for, so that the search is saved whole."""
    work = [op("aten::mm", 10, 9_000), op(SEARCH, 9_100, 600)]
    found = findings_of(steps(work))["unused_parameters"]
    assert found.values["calls"] == 3
    assert found.saving is not None
    assert found.saving.alone_ns == pytest.approx(600_000, rel=0.02)
    assert {each.name for each in found.instances} == {SEARCH}
    # a static graph is searched in its first step only
    once = [*steps([op("aten::mm", 10, 9_000)]), op(SEARCH, 9_100, 600)]
    assert "unused_parameters" not in findings_of(once)
    assert "unused_parameters" not in findings_of(steps([op("aten::mm", 10, 9_000)]))


def test_barriers() -> None:
    barrier = collective(1_000, 500, 1, "barrier", {"In msg nelems": 1, "Out msg nelems": 1})
    found = findings_of(steps(barrier))["barriers"]
    assert (found.values["calls"], found.values["in"]) == (3, 3)
    assert found.values["share"] == pytest.approx(0.05)
    once = [*steps([op("aten::mm", 10, 900)]), *barrier]
    assert "barriers" not in findings_of(once)


def gathers(count: int, hidden: bool) -> list[Event]:
    """All-gathers of FSDP, each before the kernel that needs it, or behind that of the layer before."""
    found: list[Event] = []
    for n in range(count):
        at = 10 + 1_000.0 * n
        found += [
            op("FSDP::pre_forward", at, 30),
            *collective(at + 5, 300, 2 * n + 1, "_allgather_base"),
            launch(at + 40, 2 * n + 2),
            {**kernel(at + (20 if hidden else 320), 500, 2 * n + 2, "gemm", stream=8), "tid": 8},
        ]
    return found


def test_late_gathers() -> None:
    found = findings_of(steps(gathers(6, hidden=False)))["late_gathers"]
    assert (found.values["late"], found.values["all"]) == (18, 18)
    assert found.values["share"] == pytest.approx(6 * 0.03, rel=0.05)
    assert "late_gathers" not in findings_of(steps(gathers(6, hidden=True)))
    assert "late_gathers" not in findings_of(steps(gathers(2, hidden=False)))
    plain = [each for each in steps(gathers(6, hidden=False)) if not each["name"].startswith("FSDP")]
    assert "late_gathers" not in findings_of(plain)


H100 = {
    "id": 0,
    "name": "NVIDIA H100 80GB HBM3",
    "totalGlobalMem": 85e9,
    "computeMajor": 9,
    "computeMinor": 0,
    "numSms": 132,
}


def gradients(dtype: str, product: str) -> list[Event]:
    """A step that trains: a product, and a large all-reduce that nothing hides."""
    size = {"In msg nelems": 10_000_000, "Out msg nelems": 10_000_000, "dtype": dtype}
    return [
        op("aten::mm", 10, 40),
        launch(20, 1),
        kernel(60, 3_000, 1, product),
        op("autograd::engine::evaluate_function: MmBackward0", 100, 50),
        launch(110, 2),
        kernel(3_070, 2_000, 2, product),
        *collective(5_100, 4_000, 3, given=size),
    ]


BF16 = "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1"
FP32 = "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize64x64x8"


def test_fp32_gradients() -> None:
    header = {"deviceProperties": [H100]}
    found = findings_of(steps(gradients("Float", BF16)), **header)["fp32_gradients"]
    assert found.values["share"] == 1.0
    assert found.values["megabytes"] == 40
    assert "fp32_gradients" not in findings_of(steps(gradients("BFloat16", BF16)), **header)
    assert "fp32_gradients" not in findings_of(steps(gradients("Float", FP32)), **header)
    # a device that no table has: which types it computes in is not asked
    assert "fp32_gradients" not in findings_of(steps(gradients("Float", BF16)))


def test_without_communication_they_are_not_evaluated() -> None:
    missing = {each.id for each in diagnosis(model_of(steps([op("aten::mm", 10, 900)]))).not_evaluated}
    assert {"tiny_collectives", "sync_batchnorm", "barriers", "fp32_gradients", "late_gathers"} <= missing
    nothing = diagnosis(model_of([kernel(0, 10, 1)]))
    assert "unused_parameters" in {each.id for each in nothing.not_evaluated}
