"""Rules about the communication of one rank: planted faults, programs without them, and the saving over ranks."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import Event, all_reduce, annotation, event, frame, kernel, launch, memory, model_of, op
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.insights.run.facts import run_rank
from torch_tb_profiler.insights.run.findings import run_diagnosis

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
    arguments = {"Collective name": name, **(given or {})}
    return [launch(at, number), all_reduce(at + 8, length, number, **arguments)]


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
        run_rank(
            model_of(steps([*many(150), op("aten::a", 6_010, 3_900)]), distributedInfo={"rank": r, "world_size": 2}),
            f"r{r}",
        )
        for r in (0, 1)
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


def sharded(again: bool, steps: int = 3, peak: int = 40) -> list[Event]:
    """Two blocks of FSDP whose weights are gathered before they are needed, in the backward pass too if `again`."""
    found: list[Event] = []
    now, number = 0.0, 1
    size = {"In msg nelems": 500_000_000, "Out msg nelems": 1_000_000_000}
    for step in range(steps):
        begin, device = now, now
        for name, gathered in (("FSDP::pre_forward", True), ("FSDP::pre_backward", again)):
            for _ in range(2):
                found.append(op(name, now + 5, 40))
                if gathered:
                    found.append(event("user_annotation", "nccl:_all_gather_base", now + 8, 15))
                    found += collective(now + 10, 300, number, "_allgather_base", size)
                    device = max(device, now + 18)
                    found[-1] = {**found[-1], "ts": device}
                    device += 300
                begins = max(device, now + 38)
                found += [launch(now + 30, number + 1), kernel(begins, 500, number + 1, "gemm")]
                device, now, number = begins + 500, now + 50, number + 2
        found += [
            memory(begin + 1, 10**9, 8, total=30 * 10**9, reserved=peak * 10**9),
            event("cuda_runtime", "cudaDeviceSynchronize", now, device + 5 - now, correlation=number),
            annotation(f"ProfilerStep#{step}", begin, device + 10 - begin),
        ]
        now, number = device + 10, number + 1
    return found


def test_weights_that_are_gathered_twice() -> None:
    header = {"deviceProperties": [H100]}
    finding = findings_of(sharded(again=True), **header)["resharding"]
    assert (finding.values["calls"], finding.values["kept_bytes"]) == (2, 8_000_000_000)
    assert "kept, 7.5 GiB, " in finding.detail
    assert finding.values["used"] == pytest.approx(48 / 85)
    assert finding.count == 6
    assert finding.saving is not None
    assert finding.saving.refused_id == "one_rank_communication"
    assert "resharding" not in findings_of(sharded(again=False), **header)
    assert "resharding" not in findings_of(sharded(again=True, peak=65), **header)
    plain = [each for each in sharded(again=True) if not each["name"].startswith("FSDP")]
    assert "resharding" not in findings_of(plain, **header)
    ranks = [
        run_rank(model_of(sharded(again=True), distributedInfo={"rank": r, "world_size": 2}, **header), f"r{r}")
        for r in (0, 1)
    ]
    (joint,) = (each for each in run_diagnosis(ranks).findings if each.id == "resharding")
    assert joint.saving is not None
    ends = [int(model_of(sharded(again=each)).steps.end[-1]) for each in (True, False)]
    assert joint.saving.alone_ns == pytest.approx((ends[0] - ends[1]) / 3, rel=0.02)


def exchanging(frames: bool, objects: bool = True, ranks: int = 2) -> list[Event]:
    """Two products of 1 ms; between them objects are gathered: their lengths and their bytes, each of which is read."""
    found: list[Event] = []
    now = 0.0
    for number in range(3):
        n = 10 * number
        found += [op("aten::mm", now + 8, 10), launch(now + 10, n + 1), kernel(now + 20, 1_000, n + 1, "gemm")]
        host, device = now + 30, now + 1_020
        if objects:
            if frames:
                found.append(frame("torch/distributed/distributed_c10d.py(2800): all_gather_object", host, 1_085))
            for nth, (kind, size) in enumerate((("Long", 1), ("Byte", 4_000))):
                given = {"dtype": kind, "In msg nelems": size, "Out msg nelems": size * ranks}
                correlation = n + 2 + 2 * nth
                begin = max(device, host + 20)
                found += [
                    event("user_annotation", "nccl:_all_gather_base", host + 5, 15),
                    *collective(host + 10, 30, correlation, "_allgather_base", given),
                    event(
                        "cuda_runtime",
                        "cudaStreamSynchronize",
                        host + 25,
                        begin + 35 - host - 25,
                        correlation=correlation + 1,
                    ),
                ]
                found[-2] = {**found[-2], "ts": begin}
                host, device = begin + 40, begin + 30
        found += [op("aten::mm", host + 8, 10), launch(host + 10, n + 8)]
        begin = max(device, host + 20)
        found += [
            kernel(begin, 1_000, n + 8, "gemm"),
            event("cuda_runtime", "cudaDeviceSynchronize", host + 30, begin + 1_005 - host - 30, correlation=n + 9),
            annotation(f"ProfilerStep#{number}", now, begin + 1_010 - now),
        ]
        now = begin + 1_010
    return found


@pytest.mark.parametrize("frames", [True, False])
def test_object_collectives(frames: bool) -> None:
    events, without_objects = exchanging(frames), exchanging(frames, objects=False)
    finding = findings_of(events)["object_collectives"]
    assert (finding.values["calls"], finding.values["in"]) == (3, 3)
    assert finding.count == 6
    assert finding.saving is not None
    assert finding.saving.refused_id == "one_rank_communication"
    assert "object_collectives" not in findings_of(without_objects)
    # two collectives of numbers are no objects
    numbers = [
        {**each, "args": {**each["args"], "dtype": "Long"}} if "dtype" in each["args"] else each
        for each in exchanging(False)
    ]
    assert "object_collectives" not in findings_of(numbers)
    ranks = [run_rank(model_of(events, distributedInfo={"rank": r, "world_size": 2}), f"r{r}") for r in (0, 1)]
    (joint,) = (each for each in run_diagnosis(ranks).findings if each.id == "object_collectives")
    assert joint.saving is not None
    truth = (model_of(events).steps.end[-1] - model_of(without_objects).steps.end[-1]) / 3
    assert joint.saving.alone_ns == pytest.approx(truth, rel=0.1)


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
    "totalGlobalMem": 85_000_000_000,
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
    assert found.values["bytes"] == 40_000_000
    assert "38.1 MiB per step" in found.detail
    assert "fp32_gradients" not in findings_of(steps(gradients("BFloat16", BF16)), **header)
    assert "fp32_gradients" not in findings_of(steps(gradients("Float", FP32)), **header)
    # a device that no table has: which types it computes in is not asked
    assert "fp32_gradients" not in findings_of(steps(gradients("Float", BF16)))


def test_without_communication_they_are_not_evaluated() -> None:
    missing = {each.id for each in diagnosis(model_of(steps([op("aten::mm", 10, 900)]))).not_evaluated}
    assert {"tiny_collectives", "sync_batchnorm", "barriers", "fp32_gradients", "late_gathers"} <= missing
    nothing = diagnosis(model_of([kernel(0, 10, 1)]))
    assert "unused_parameters" in {each.id for each in nothing.not_evaluated}


@pytest.mark.parametrize(
    ("name", "operator", "word"),
    [
        ("allreduce", "autograd::engine::evaluate_function: MmBackward0", "DistributedDataParallel"),
        ("all_to_all", "autograd::engine::evaluate_function: MmBackward0", "all-to-all"),
        ("allreduce", "aten::mm", "async_op"),
    ],
)
def test_advice_is_about_what_is_sent(name: str, operator: str, word: str) -> None:
    work = [op(operator, 10, 50), *collective(100, 5_000, 1, name)]
    finding = findings_of(steps(work))["communication"]
    assert word in finding.advice
    assert ("DistributedDataParallel" in finding.advice) == (word == "DistributedDataParallel")


def gathered(launched: float, began: float, *compute: Event) -> Finding:
    """What is said of an all-gather of 4 ms in each step that nothing hides, beside some kernels."""
    given = {"Collective name": "_allgather_base"}
    gather = [launch(launched, 1), all_reduce(began, 4_000, 1, stream=20, **given)]
    return findings_of(steps([op("aten::mm", 10, 50), *gather, *compute]))["communication"]


def test_a_collective_that_kernels_overtake_is_asynchronous_already() -> None:
    """It was launched first, and ran when the product that was launched later had ended."""
    product = [launch(150, 2), kernel(160, 4_000, 2, "gemm")]
    found = gathered(100, 4_200, *product)
    assert found.values["sent"] == found.values["why"] == "overtaken"
    assert "Kernels that were launched later ran before it." in found.detail
    assert "async_op" not in found.advice
    assert [each.value for each in found.evidence if each.key == "launch_delay"] == [4_200_000 - 105_000]


def test_a_collective_that_was_launched_long_before_waits_for_what_came_before_it() -> None:
    product = [launch(20, 2), kernel(160, 4_000, 2, "gemm")]
    found = gathered(100, 4_200, *product)
    assert found.values["sent"] == found.values["why"] == "queued"
    assert "async_op" not in found.advice


def test_a_collective_beside_which_too_little_is_computed() -> None:
    product = [launch(150, 2), kernel(300, 100, 2, "gemm")]
    found = gathered(100, 120, *product)
    assert found.values["sent"] == found.values["why"] == "asynchronous"


def test_a_collective_that_begins_when_it_is_launched_may_be_held_up_by_the_host() -> None:
    product = [launch(20, 2), kernel(30, 60, 2, "gemm")]
    found = gathered(100, 108, *product, launch(4_150, 3), kernel(4_160, 50, 3, "gemm"))
    assert found.values["sent"] == "others"
    assert found.values["why"] == "launched_late"
    assert "the host came late" in found.detail
    assert "async_op=True" in found.advice
    assert not [each for each in found.evidence if each.key == "launch_delay"]


def test_a_collective_whose_result_is_awaited_at_once() -> None:
    """The device is busy when it is launched, and what was launched next begins when it has ended."""
    product = [launch(20, 2), kernel(30, 80, 2, "gemm")]
    found = gathered(100, 112, *product, launch(120, 3), kernel(4_120, 50, 3, "gemm"))
    assert found.values["why"] == "awaited"
    assert (found.values["collective"], found.values["exposed_ns"]) == ("nccl:all_gather", 4_000_000)
    assert "Longest exposed: `nccl:all_gather`" in found.detail


def test_ranks_whose_collectives_come_late_on_the_device_are_not_told_of_the_host() -> None:
    given = {"Collective name": "_allgather_base"}
    product = [launch(150, 2), kernel(160, 4_000, 2, "gemm")]
    gather = [launch(100, 1), all_reduce(4_200, 4_000, 1, stream=20, **given)]
    waits = [event("cuda_runtime", "cudaDeviceSynchronize", 200, 8_002, correlation=3)]
    events = steps([op("aten::mm", 10, 50), *gather, *product, *waits])
    ranks = [run_rank(model_of(events, distributedInfo={"rank": n, "world_size": 2}), f"rank{n}") for n in range(2)]
    found = {each.id: each for each in run_diagnosis(ranks).findings}["exposed_transfer"]
    assert found.values["sent"] == "overtaken"
