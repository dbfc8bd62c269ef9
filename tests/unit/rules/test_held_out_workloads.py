"""Training and serving as people write them: the first finding, what it promises, and where it points.

The truth of a saving is the same program without its fault.
"""

from __future__ import annotations

import pytest

from tests.held_out import workloads, workloads_device, workloads_inference
from tests.held_out.machine import H100, MI300X
from tests.held_out.run import Program, diagnosed, found_in, run
from tests.unit.rules.test_held_out import Said, check

pytestmark = pytest.mark.slow

_NEAR = (0.85, 1.15)

SAID = [
    Said(workloads.unpinned_tensors, "memory", "pageable_input", (0.6, 1.0), "train.py:33 (to_device)"),
    Said(workloads_device.casts, "compute", "pointwise_chain", (0.7, 1.0), "model.py:52"),
    Said(workloads_device.single_tensor_sgd, "launch", "unfused_optimizer", _NEAR, "Optimizer.step#SGD.step"),
    Said(workloads.images_logged, "host", "logging_reads", _NEAR, "train.py:40"),
    Said(workloads.saved_often, "host", "checkpoint_saves", _NEAR, "train.py:80 (save_checkpoint)"),
    Said(workloads.compiled_anew, "host", "recompiles", _NEAR, "train.py:40"),
    Said(workloads.masked_loss, "compute", "dynamic_shapes", (0.6, 1.1), "loss.py:12 (masked)"),
    Said(workloads.offloaded_optimizer, "host", "optimizer_share", (0.4, 1.0), "offload/cpu_adam.py:90 (step)"),
    Said(workloads.tokenized_on_main, "host", "host_code", _NEAR, "data/collate.py:41 (encode_batch)"),
    Said(workloads.contended_interpreter, "host", "host_dispatch", _NEAR, None),
    Said(workloads_device.tuned_again, "compute", "convolution_tuning", (0.7, 1.1), "train.py:40"),
    Said(workloads.embedded_on_cpu, "memory", "pageable_input", (0.5, 1.0), "model.py:20 (embed)"),
    Said(workloads_device.norms_of_a_module, "compute", "unfused_norm", _NEAR, "model.py:31"),
    Said(workloads.allocator_retries, "compute", "allocator_churn", _NEAR, "model.py:70 (forward)"),
    Said(workloads.progress_bar, "compute", "logging_reads", _NEAR, "train.py:40"),
    Said(workloads_device.full_precision_on_hopper, "compute", "tensor_cores", (0.6, 1.0), "model.py", {"gpu": H100}),
    Said(workloads_inference.sampled_on_host, "compute", "sync_points", (0.5, 1.1), "sample/penalties.py:18 (apply)"),
    Said(workloads_inference.stalled_prefill, "host", "host_code", _NEAR, "mem_cache/radix_cache.py:120"),
    Said(workloads_inference.validation_reads, "compute", "sync_points", (0.6, 1.1), "evaluate.py:36 (validate)"),
    Said(workloads_inference.experts_in_turn, "sync", "expert_loop", (0.5, 1.0), "modeling_mixtral.py:90"),
]


@pytest.mark.parametrize("said", SAID, ids=lambda said: said.program.__name__)
def test_what_is_planted_is_said_first(said: Said) -> None:
    check(said)


@pytest.mark.parametrize(
    ("program", "first"),
    [(workloads.unprefetched_weights, "late_gathers"), (workloads.reduced_each_microbatch, "communication")],
)
def test_what_one_rank_cannot_promise_is_named_by_its_cause(program: Program, first: str) -> None:
    found = diagnosed(run(program))
    assert found.findings[0].id == first
    assert found.findings[0].saving is not None
    assert found.findings[0].saving.refused_id == "one_rank_communication"


def test_retries_of_the_allocator_are_told_as_such() -> None:
    """In every third step the cache is given back: what waits for the device before that is no wait of the program."""
    found, _ = found_in(workloads.allocator_retries)
    first = found.findings[0]
    assert (first.values["why"], first.values["waits"]) == ("retried", 2)
    assert first.title == "The allocator runs out of memory and frees its cache"
    assert "expandable_segments" in first.advice
    assert "sync_points" not in {each.id for each in found.findings}


HEALTHY = [
    workloads_device.padded_batches,
    workloads_device.healthy_adapters,
    workloads_device.healthy_images,
    workloads_device.healthy_checkpointing,
    workloads_inference.healthy_batches,
    workloads_inference.healthy_server,
]


@pytest.mark.parametrize("program", HEALTHY, ids=lambda each: each.__name__)
@pytest.mark.parametrize("stacks", [True, False])
@pytest.mark.parametrize("gpu", [H100, MI300X], ids=["h100", "mi300x"])
def test_nothing_is_found_where_nothing_is_planted(program: Program, stacks: bool, gpu: object) -> None:
    found = diagnosed(run(program, faulty=False, stacks=stacks, shapes=stacks, gpu=gpu))
    large = 0.02 * (found.step_ns or 0)
    assert [each.id for each in found.findings if each.saving and (each.saving.alone_ns or large) >= large] == []
