"""What is said of programs that the rules were not made with keeps to the contract of the summary, however recorded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.held_out import host_faults, inference, training
from tests.held_out.machine import MI300X
from tests.held_out.run import Program, model_of, run
from tests.summary_checks import check_summary

pytestmark = pytest.mark.long

PROGRAMS = [
    training.slow_workers,
    training.small_copies,
    training.exposed_all_reduce,
    training.plain_attention,
    training.healthy_ddp,
    host_faults.many_items,
    host_faults.emptied_cache,
    host_faults.checkpoint_written,
    host_faults.overhead,
    host_faults.two_launching_threads,
    inference.slow_scheduler,
    inference.results_one_by_one,
    inference.recorded_with_gradients,
    inference.cpu_training,
]
RECORDINGS: dict[str, dict[str, Any]] = {
    "everything": {},
    "no stacks": {"stacks": False, "shapes": False},
    "no marks": {"marks": False},
    "cut": {"cut": 0.08},
    "one step": {"steps": 1},
    "rocm": {"gpu": MI300X},
}


@pytest.mark.parametrize("recording", RECORDINGS.values(), ids=RECORDINGS)
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_the_contract(program: Program, recording: dict[str, Any]) -> None:
    check_summary(model_of(run(program, **recording)))
