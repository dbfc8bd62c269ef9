"""Rules about copies: programs with one fault, the same without it, and what they really save."""

from __future__ import annotations

import pytest

from tests.events import annotation, copy, event, kernel, launch, model_of, op
from tests.input_programs import MS, SIDE, diagnosed, found_in, run, saved, work
from tests.replay_programs import COMPUTE, US, Instruction
from torch_tb_profiler.analysis.shared.thresholds import thresholds
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.findings import diagnosis
from torch_tb_profiler.insights.shared.copies import Direction, copies_of, large_reads

COPIES = {"pageable_input", "exposed_copies", "tiny_copies", "pageable_output"}
TO_DEVICE, FROM_PINNED = "HtoD (Pageable -> Device)", "HtoD (Pinned -> Device)"
TO_HOST, TO_PINNED = "DtoH (Device -> Pageable)", "DtoH (Device -> Pinned)"
ON_DEVICE = "DtoD (Device -> Device)"
MB = 1_000_000

Program = list[list[Instruction]]


def uploading(kind: str, size: int = 12 * MB, steps: int = 6) -> Program:
    """A batch, a small pinned copy that shows what the link can do, and work that the host keeps far ahead of."""
    busy = work(20, 5 * US, 200 * US)
    return [[("copy", kind, size), ("copy", FROM_PINNED, 240_000), *busy] for _ in range(steps)]


def test_pageable_input() -> None:
    faulty, healthy = uploading(TO_DEVICE), uploading(FROM_PINNED)
    finding = found_in(faulty)["pageable_input"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert finding.where is not None
    assert (finding.where.operator, finding.where.file, finding.where.line) == ("aten::copy_", "train.py", 12)
    numbers = {each.key: each.value for each in finding.evidence}
    assert numbers["copied_bytes"] == 12 * MB
    assert numbers["copies_per_step"] == 4 * MS
    assert "3 GB/s" in finding.detail
    assert "pin_memory" in finding.advice
    assert "pageable_input" not in found_in(healthy)


def test_small_pageable_copies_do_not_hold_the_host_up() -> None:
    program = [[*step[:1] * 50, *step[1:]] for step in uploading(TO_DEVICE, 60_000)]
    assert "pageable_input" not in found_in(program)
    program = [[*step[:1] * 50, *step[1:]] for step in uploading(TO_DEVICE, 70_000)]
    assert "pageable_input" in found_in(program)


def test_what_a_copy_is() -> None:
    """By its name, what runs beside it on its device, and whether its call waits for it."""
    events = [
        annotation("ProfilerStep#1", 0, 300),
        *(launch(10 * at, at, 5) for at in range(1, 4)),
        kernel(40, 20, 1),
        kernel(40, 90, 2, device=1),
        {**op("aten::_local_scalar_dense", 190, 60)},
        *(
            {**event("cuda_runtime", "cudaMemcpyAsync", start, length, correlation=at)}
            for start, length, at in ((20, 8, 4), (150, 60, 5), (100, 8, 6), (200, 20, 7))
        ),
        copy(30, 100, 4, bytes=7) | {"name": f"Memcpy {TO_DEVICE}"},
        copy(160, 40, 5, bytes=10**6) | {"name": f"Memcpy {TO_HOST}"},
        copy(140, 10, 6, bytes=10**6) | {"name": f"Memcpy {TO_HOST}"},
        copy(205, 4, 7) | {"name": "CopyDeviceToDevice"},
    ]
    facts = Facts(model_of(events), thresholds())
    found = copies_of(facts)
    assert found.direction.tolist() == [1, 2, 2, 3]
    assert found.memory.tolist() == [1, 1, 1, 0]
    assert found.exposed_ns.tolist() == [80_000, 10_000, 40_000, 4_000]
    assert found.bytes.tolist() == [7, 10**6, 10**6, -1]
    assert found.call_ns.tolist() == [8_000, 8_000, 60_000, 20_000]
    assert found.blocks.tolist() == [False, False, True, False]
    assert found.reads.tolist() == [False, False, False, True]
    assert large_reads(facts).row.tolist() == found.row[found.blocks].tolist()


def test_weights_are_copied_once() -> None:
    """Before the loop, in the first step, or all over a trace without steps."""
    weights: list[Instruction] = [("copy", TO_DEVICE, 3 * MB)] * 8
    steps: Program = [work(30) for _ in range(6)]
    assert not COPIES & set(found_in([[*weights, *work(30)], *steps]))
    marked: Program = [[*weights, *work(30)]]
    assert "pageable_input" in found_in(marked), "one marked step says that it is one of many"
    assert not COPIES & set(without_marks([[*weights, *work(30)]]))
    served: Program = [[each for step in uploading(TO_DEVICE, steps=4) for each in step]]
    assert "pageable_input" in without_marks(served)


def without_marks(program: Program) -> set[str]:
    events = [each for each in run(program).events if not each["name"].startswith("ProfilerStep")]
    return {each.id for each in diagnosis(model_of(events)).findings}


def test_each_place_has_a_finding_of_its_own() -> None:
    program = [[*step, ("copy", TO_DEVICE, 6 * MB, COMPUTE, 30), *step[2:]] for step in uploading(TO_DEVICE)]
    found = found_in(program)
    lines = [found[key].where for key in ("pageable_input", "pageable_input-2")]
    assert [each and each.line for each in lines] == [12, 30]


def test_exposed_copies() -> None:
    faulty = uploading(FROM_PINNED, 24 * MB)
    healthy: Program = [
        [("copy", FROM_PINNED, 24 * MB, SIDE), ("copy", FROM_PINNED, 240_000), *work(20, 5 * US, 200 * US)]
        for _ in range(6)
    ]
    found = found_in(faulty)
    finding = found["exposed_copies"]
    assert "pageable_input" not in found
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.05)
    assert finding.saving.bound
    assert finding.values["hidden"] == 0
    assert "side" in finding.advice
    assert not COPIES & set(found_in(healthy))
    assert "exposed_copies" not in found_in(uploading(TO_DEVICE, 24 * MB)), "of pageable memory the memory is the cause"


def test_large_copies_within_the_device() -> None:
    within = ("copy", "DtoD (Device -> Device)", 200 * MB)
    faulty: Program = [[within, *work(20, 5 * US, 200 * US)] for _ in range(6)]
    finding = found_in(faulty)["device_copies"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(
        saved(faulty, [work(20, 5 * US, 200 * US) for _ in range(6)]), rel=0.05
    )
    assert finding.where is not None
    assert finding.where.operator == "aten::copy_"
    assert "clone()" in finding.advice
    small: Program = [[("copy", "DtoD (Device -> Device)", 60_000), *work(20, 5 * US, 200 * US)] for _ in range(6)]
    assert "device_copies" not in found_in(small)


def test_exposed_copies_to_the_host() -> None:
    program: Program = [[*work(20, 5 * US, 200 * US), ("copy", TO_PINNED, 24 * MB)] for _ in range(6)]
    assert "pinned memory" in found_in(program)["exposed_copies"].advice


@pytest.mark.parametrize("kind", [FROM_PINNED, ON_DEVICE])
def test_tiny_copies(kind: str) -> None:
    tiny: list[Instruction] = [("copy", kind, 2_000)] * 200
    faulty: Program = [[*tiny, *work(20)] for _ in range(5)]
    healthy: Program = [[("copy", kind, 400_000), *work(20)] for _ in range(5)]
    finding = found_in(faulty)["tiny_copies"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.05)
    assert finding.values["count"] == 200
    assert "tiny_copies" not in found_in(healthy)
    few: Program = [[*tiny[:40], *work(20)] for _ in range(5)]
    assert "tiny_copies" not in found_in(few)


def test_copies_of_unknown_size_are_not_called_tiny() -> None:
    program: Program = [[*[("copy", ON_DEVICE, -1)] * 200, *work(20)] for _ in range(5)]
    assert "tiny_copies" not in found_in(program)


def test_copies_of_clones_are_not_lists_to_copy() -> None:
    program: Program = [[*[("copy", ON_DEVICE, 2_000)] * 200, *work(20)] for _ in range(5)]
    events = run(program).events
    clones = [{**each, "name": "aten::clone"} for each in events if each["name"] == "aten::copy_"]
    assert "tiny_copies" in {each.id for each in diagnosis(model_of(events)).findings}
    assert "tiny_copies" not in {each.id for each in diagnosis(model_of([*clones, *events])).findings}


def test_copies_of_data_parallel_are_told_apart() -> None:
    forward: list[Instruction] = [
        ("copy", ON_DEVICE, 2_000, COMPUTE, 12, "DistributedDataParallel.forward") for _ in range(150)
    ]
    gradients: Instruction = ("bucket", [("copy", ON_DEVICE, 2_000)] * 150)
    found = found_in([[*forward, gradients, *work(20)] for _ in range(4)], stacks=False)
    advice = {found[key].values["whose"]: found[key].advice for key in ("tiny_copies", "tiny_copies-2")}
    assert "broadcast_buffers=False" in advice["buffers"]
    assert "gradient_as_bucket_view=True" in advice["gradients"]


def downloading(kind: str, size: int = 6 * MB) -> Program:
    """The result is copied back while much is queued, so that a copy that blocks waits for it."""
    busy = work(20, 5 * US, 200 * US)
    return [
        [*busy, ("copy", kind, size, COMPUTE, 77), ("copy", TO_PINNED, 240_000), *work(30, 60 * US)] for _ in range(6)
    ]


def test_pageable_output() -> None:
    faulty, healthy = downloading(TO_HOST), downloading(TO_PINNED)
    finding = found_in(faulty)["pageable_output"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.03)
    assert finding.where is not None
    assert (finding.where.operator, finding.where.line) == ("aten::copy_", 77)
    assert "cudaMemcpyAsync" in finding.detail
    assert {each.name for each in finding.instances} == {"cudaMemcpyAsync"}
    assert "pageable_output" not in found_in(healthy)
    assert "pageable_output" not in found_in(downloading(TO_HOST, 1_000)), "that is a synchronisation"


def test_pageable_output_without_a_pinned_copy_in_its_direction() -> None:
    faulty, healthy = ([[("copy", kind, 60 * MB), *work(20)] for _ in range(6)] for kind in (TO_HOST, TO_PINNED))
    truth = saved(faulty, healthy)
    alone = found_in(faulty)["pageable_output"]
    assert alone.saving is not None
    assert alone.saving.alone_ns == pytest.approx(truth, rel=0.02), "as fast as the limit says"
    assert alone.confidence == "medium"
    quick: Program = [[("copy", FROM_PINNED, 240_000), *step] for step in faulty]
    other = found_in(quick)["pageable_output"]
    assert other.saving is not None
    assert other.saving.alone_ns == pytest.approx(truth, rel=0.02), "as fast as to the device"
    assert other.confidence == "high"


@pytest.mark.parametrize(("size", "waits"), [(512, False), (60_000, False), (70_000, True)])
def test_small_copies_to_the_device_are_staged(size: int, *, waits: bool) -> None:
    program: Program = [[*[("copy", TO_DEVICE, size)] * 30, ("copy", TO_HOST, 4)] for _ in range(6)]
    copies = copies_of(facts_of(program))
    assert copies.blocks[copies.direction == Direction.TO_DEVICE].any() == waits
    assert copies.blocks[copies.direction == Direction.TO_HOST].all()


def test_a_small_copy_behind_other_work_waits_for_it() -> None:
    program: Program = [[*work(1, 5 * US, 900 * US), ("copy", TO_DEVICE, 512), *work(5)] for _ in range(6)]
    assert copies_of(facts_of(program)).blocks.all()


def facts_of(program: Program) -> Facts:
    return Facts(model_of(run(program).events), thresholds())


def test_not_evaluated_without_a_device() -> None:
    found = diagnosis(model_of([annotation("ProfilerStep#1", 0, 100), op("aten::mm", 1, 50)]))
    needs = {each.id: each.needs for each in found.not_evaluated}
    assert {id_: needs.get(id_) for id_ in COPIES} == dict.fromkeys(COPIES, "device")


def test_a_healthy_program() -> None:
    healthy: Program = [[("copy", FROM_PINNED, 100_000, SIDE), *work(60)] for _ in range(6)]
    found = diagnosed(healthy)
    assert not COPIES & {each.id for each in found.findings}
    assert set(found.checked) >= COPIES
