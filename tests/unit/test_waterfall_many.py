"""The waterfall of random programs, and of traces with many threads or devices."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from tests.events import annotation, kernel, launch, model_of
from tests.replay_programs import random_program, recorded
from tests.waterfall_checks import check_waterfall
from torch_tb_profiler.analysis.waterfall import Waterfall, host_lanes, waterfall


@pytest.mark.parametrize("jitter", [0.0, 0.35])
@pytest.mark.parametrize("seed", range(6))
def test_programs_are_explained(seed: int, jitter: float) -> None:
    found: Waterfall = check_waterfall(model_of(recorded(random_program(seed), jitter).events))
    assert found.of("idle.unknown").sum() == 0


@pytest.mark.parametrize("seed", range(6))
def test_many_threads_are_looked_at_as_few_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    events = recorded(random_program(seed), jitter=0.2).events
    few = waterfall(model_of(events))
    monkeypatch.setattr(host_lanes, "FEW_LANES", 0)
    many = waterfall(model_of(events))
    assert many.causes == few.causes
    for name in few.gaps.to_columns():
        np.testing.assert_array_equal(getattr(many.gaps, name), getattr(few.gaps, name))


def test_of_very_many_devices_those_that_worked_longest(monkeypatch: pytest.MonkeyPatch) -> None:
    work = [kernel(10 * n, 1 + n % 3, n, device=n) for n in range(1, 7)]
    steps = [annotation("ProfilerStep#1", 0, 100), *(launch(n, n, 1) for n in range(1, 7)), *work]
    assert waterfall(model_of(steps)).devices == (1, 2, 3, 4, 5, 6)
    monkeypatch.setattr(sys.modules[waterfall.__module__], "MOST_DEVICES", 3)
    found = waterfall(model_of(steps))
    assert found.devices == (1, 2, 5)
    np.testing.assert_array_equal(found.ns.sum(axis=2), np.broadcast_to(found.step_ns, found.ns.shape[:2]))
