"""Programs that the rules were not made with: what is said first, what is promised, and where.

The truth of a saving is the same program without its fault. Healthy programs have no finding that would save time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from tests.held_out import host_faults, inference, training
from tests.held_out.machine import A100, H100, MI300X, V100, Machine
from tests.held_out.run import Program, diagnosed, found_in, run

pytestmark = pytest.mark.slow


class Said(NamedTuple):
    """Of a program: its bound, its first finding, which part of the truth that promises, and where it points."""

    program: Program
    bound: str
    first: str
    part: tuple[float, float]
    where: str | None
    machine: Mapping[str, Any] = MappingProxyType({})


_EXACT = (0.85, 1.1)
_NEAR = (0.85, 1.15)
_NO_STACKS: dict[str, Any] = {"stacks": False, "shapes": False}
_ONE: dict[str, Any] = {"steps": 1}
_CUT: dict[str, Any] = {"cut": 0.08}

SAID = [
    Said(training.slow_workers, "input", "dataloader", _NEAR, "train.py:40 (train_step)"),
    Said(training.main_process_loader, "input", "synchronous_dataloader", _EXACT, "dataset.py:27 (__getitem__)"),
    Said(training.pageable_batches, "memory", "pageable_input", (0.6, 1.0), "train.py:40"),
    Said(training.pageable_batches, "memory", "exposed_copies", (0.8, 1.3), "train.py:40", {"gpu": MI300X}),
    Said(host_faults.item_each_step, "host", "sync_points", (0.6, 1.1), "train.py:40", {"gpu": MI300X}),
    Said(host_faults.printed_loss, "host", "logging_reads", (0.6, 1.1), "train.py:40", {"gpu": MI300X}),
    Said(host_faults.anomaly, "launch", "anomaly_mode", (0.7, 1.1), None, {"gpu": MI300X}),
    Said(host_faults.zeroed_gradients, "launch", "zero_grad", (0.7, 1.1), "train.py:40", {"gpu": MI300X}),
    Said(host_faults.masked_tokens, "host", "dynamic_shapes", (0.3, 1.1), "model.py:95 (route)", {"gpu": MI300X}),
    Said(host_faults.synchronized_steps, "host", "sync_points", (0.6, 1.1), "timer.py:9 (stop)", {"gpu": MI300X}),
    Said(training.small_model, "launch", "launch_bound", _EXACT, None),
    Said(training.fp32_products, "compute", "tensor_cores", (0.5, 1.0), "aten::mm at model.py"),
    Said(
        training.full_precision_on_volta, "compute", "tensor_cores", (0.6, 1.0), "aten::mm at model.py", {"gpu": V100}
    ),
    Said(training.odd_vocabulary, "compute", "misaligned_products", _EXACT, "aten::mm at model.py:131"),
    Said(training.small_copies, "host", "tiny_copies", _EXACT, "train.py:40"),
    Said(training.small_copies, "host", "tiny_copies", _EXACT, "aten::copy_", _NO_STACKS),
    Said(training.transposed_convolutions, "compute", "layout", _EXACT, "model.py:88 (forward)"),
    Said(training.norm_by_hand, "compute", "unfused_norm", _NEAR, "model.py:31"),
    Said(training.plain_attention, "compute", "unfused_attention", _NEAR, "model.py:64"),
    Said(training.unfused_optimizer, "launch", "unfused_optimizer", (0.6, 1.0), "Optimizer.step#AdamW.step"),
    Said(host_faults.item_each_step, "compute", "sync_points", (0.6, 1.1), "train.py:40"),
    Said(host_faults.many_items, "compute", "sync_points", (0.6, 1.1), "metrics.py:14 (update)"),
    Said(host_faults.masked_tokens, "compute", "dynamic_shapes", (0.6, 1.1), "model.py:95 (route)"),
    Said(host_faults.synchronized_steps, "compute", "sync_points", (0.6, 1.1), "timer.py:9 (stop)"),
    Said(host_faults.printed_loss, "compute", "logging_reads", (0.7, 1.0), "train.py:40"),
    Said(host_faults.emptied_cache, "sync", "allocator_churn", _EXACT, "train.py:40"),
    Said(host_faults.collected_garbage, "host", "garbage_collection", _EXACT, "train.py:40"),
    Said(host_faults.recompiled, "host", "recompiles", _EXACT, "train.py:40"),
    Said(host_faults.python_preprocessing, "host", "host_code", _EXACT, "augment.py:18 (random_crop)"),
    Said(host_faults.python_preprocessing, "host", "host_code", (0.5, 1.1), "augment.py:18", _CUT),
    Said(host_faults.python_preprocessing, "compute", "host_code", _EXACT, "augment.py:18", _ONE),
    Said(host_faults.tensor_preprocessing, "host", "host_code", _EXACT, "augment.py:18 (random_crop)"),
    Said(host_faults.tensor_preprocessing, "host", "host_code", _EXACT, None, _NO_STACKS),
    Said(host_faults.anomaly, "compute", "anomaly_mode", (0.7, 1.1), "aten::item"),
    Said(host_faults.zeroed_gradients, "host", "zero_grad", (0.7, 1.1), "train.py:40"),
    Said(host_faults.two_launching_threads, "launch", "thread_contention", (0.7, 1.1), "aten::mm"),
    Said(inference.eager_decode, "launch", "launch_bound", _EXACT, None),
    Said(inference.slow_scheduler, "host", "step_gaps", _EXACT, "engine/scheduler.py:145 (schedule)"),
    Said(inference.half_precision_missing, "compute", "tensor_cores", (0.6, 1.0), "model.py", {"gpu": V100}),
    Said(inference.results_one_by_one, "host", "tensor_loop", (0.6, 1.0), "postprocess.py:51 (to_boxes)"),
    Said(inference.large_results, "memory", "pageable_output", _EXACT, "predict.py:36 (predict)"),
    Said(inference.eager_attention_diffusion, "compute", "unfused_attention", _NEAR, "model.py:64 (attend)"),
    Said(inference.cpu_training, "input", "synchronous_dataloader", _EXACT, "dataset.py:27 (__getitem__)"),
]


def _id(said: Said) -> str:
    more = "-".join(f"{key}={getattr(value, 'name', value)}" for key, value in said.machine.items())
    return f"{said.program.__name__} {more}".strip()


@pytest.mark.parametrize("said", SAID, ids=_id)
def test_what_is_planted_is_said_first(said: Said) -> None:
    check(said)


def test_garbage_collection_is_silence_where_no_stacks_are_recorded() -> None:
    """Pauses of many milliseconds without any event: that it is Python's nobody knows."""
    found, _ = found_in(host_faults.collected_garbage, **_NO_STACKS)
    assert (found.bound.kind, found.bound.values["why"]) == ("unknown", "unexplained")
    assert [(each.id, each.saving and each.saving.refused_id) for each in found.findings] == [
        ("device_idle", "unexplained")
    ]


def check(said: Said) -> None:
    """Bound, first finding, promise and place are as said."""
    found, truth_ns = found_in(said.program, **said.machine)
    first = found.findings[0]
    saving, where = first.saving, first.where.text if first.where else None
    assert (found.bound.kind, first.id) == (said.bound, said.first)
    assert saving is not None
    assert saving.after_others_ns is not None
    assert said.part[0] <= saving.after_others_ns / truth_ns <= said.part[1], (saving.after_others_ns, truth_ns)
    assert where is None if said.where is None else where is not None and said.where in where, where


@pytest.mark.parametrize("seed", range(12))
def test_what_a_fused_kernel_saves_is_promised_of_programs_drawn_by_chance(seed: int) -> None:
    """Norms and attention that are written out, of any size, on any device."""
    chance = random.Random(seed)
    of_norms = bool(seed % 2)
    width = chance.choice([512, 1024, 2048])

    def program(s: Machine) -> None:
        training.plain(
            s,
            tokens=tokens,
            width=width,
            layers=layers,
            classes=8000,
            by_hand=of_norms and s.faulty,
            fused=of_norms or not s.faulty,
        )

    tokens, layers = chance.choice([4096, 6000, 8192]), chance.randint(2, 6)
    found, truth_ns = found_in(program, gpu=chance.choice([A100, H100, MI300X]))
    (saving,) = (
        each.saving for each in found.findings if each.id == ("unfused_norm" if of_norms else "unfused_attention")
    )
    assert saving is not None
    assert saving.alone_ns == pytest.approx(truth_ns, rel=0.15)


HEALTHY = [
    training.healthy,
    training.healthy_ddp,
    training.healthy_fsdp,
    training.healthy_accumulation,
    training.healthy_cnn,
    inference.graph_decode,
    inference.diffusion,
    inference.compiled_serving,
    inference.padded_tokens,
    inference.cpu_healthy,
]


@pytest.mark.parametrize("program", HEALTHY, ids=lambda each: each.__name__)
@pytest.mark.parametrize(
    "machine",
    [{}, _NO_STACKS, {"marks": False}, {"gpu": H100}, _ONE],
    ids=["all", "no stacks", "no marks", "h100", "one"],
)
def test_nothing_is_found_where_nothing_is_planted(program: Program, machine: dict[str, Any]) -> None:
    found = diagnosed(run(program, faulty=False, **machine))
    # less is what reading a token after each step takes, which is no fault
    large = 0.02 * (found.step_ns or 0)
    assert [each.id for each in found.findings if each.saving and (each.saving.alone_ns or large) >= large] == []
    assert found.bound.kind in ("compute", "unknown")


def test_work_of_the_profiler_is_no_work_of_the_host() -> None:
    found, _ = found_in(host_faults.overhead)
    assert [each.id for each in found.findings] == ["profiler_overhead"]
    assert (found.bound.share or 0) < 0.1  # a third of the step is the profiler's, and stays


def test_a_recording_that_begins_behind_other_work_promises_no_more_than_there_is() -> None:
    """Steps whose kernels wait for those of steps before: twice as fast is half of the time, not none."""
    for program in (training.healthy, training.healthy_cnn, inference.diffusion):
        bound = diagnosed(run(program, faulty=False, cut=0.08)).bound
        assert (bound.kind, bound.share) == ("compute", pytest.approx(0.5, abs=0.03))


def test_a_checkpoint_in_one_step_is_told_as_that_step() -> None:
    found, truth_ns = found_in(host_faults.checkpoint_written)
    first = found.findings[0]
    assert (first.id, first.where.text if first.where else None) == (
        "checkpoint_saves",
        "train.py:80 (save_checkpoint)",
    )
    assert first.detail.startswith("The model is saved once in 6 steps, for up to ")
    assert first.saving is not None
    assert first.saving.alone_ns == pytest.approx(truth_ns, rel=0.05)
    assert "Nearly all of that is in step 6." in found.bound.sentence
    usual, _ = found_in(host_faults.collected_garbage)
    assert "Nearly all" not in usual.bound.sentence


def test_exposed_communication_of_one_rank_is_said_without_a_number() -> None:
    found, _ = found_in(training.exposed_all_reduce)
    first = found.findings[0]
    assert (found.bound.kind, first.id) == ("communication", "communication")
    assert first.saving is not None
    assert first.saving.refused_id == "one_rank_communication"
    assert first.where is not None
    assert "train.py:54 (average_gradients)" in first.where.text


def test_a_server_whose_scheduler_takes_longer_than_its_graph_is_bound_by_the_host() -> None:
    """Each token is waited for. Were it not, the device would be done before the scheduler is."""
    bound = diagnosed(run(inference.slow_scheduler)).bound
    shares = {each.kind: each.share or 0.0 for each in bound.reliefs}
    assert shares["sync"] > shares["host"] > 0.1
    assert (bound.kind, bound.next, bound.share) == ("host", "sync", shares["host"])
    assert bound.sentence.endswith("Next: synchronization.")


def test_waits_bound_a_run_whose_device_is_what_takes_longer() -> None:
    bound = diagnosed(run(host_faults.emptied_cache)).bound
    assert (bound.kind, bound.next) == ("sync", "compute")
