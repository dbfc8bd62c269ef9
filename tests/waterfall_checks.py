"""What holds of every waterfall."""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from torch_tb_profiler.analysis.device_time import device_time
from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.analysis.waterfall import Waterfall, average, waterfall
from torch_tb_profiler.analysis.waterfall.causes import ALL, BUSY
from torch_tb_profiler.analysis.waterfall.question import cause_pieces
from torch_tb_profiler.model import Model


def check_waterfall(model: Model) -> Waterfall:
    """Parts add up to every step of every device, are the known quantities, and consist of their pieces."""
    found = waterfall(model)
    steps = model.steps
    np.testing.assert_array_equal(found.step_ns, steps.end - steps.start)
    np.testing.assert_array_equal(found.ns.sum(axis=2), np.broadcast_to(found.step_ns, found.ns.shape[:2]))
    assert (found.ns >= 0).all()
    assert [each.cause for each in ALL if each.cause in found.causes] == list(found.causes)
    use = step_use(model)
    assert (found.basis == "host") == (use is None) == (found.devices == ())
    for at, device in enumerate(found.devices):
        time = device_time(model, "steps")
        mine = time.device == device
        of = {cause: found.of(cause)[at].tolist() for cause in ("compute", "exposed_communication", "exposed_copy")}
        assert of["compute"] == time.computing_ns[mine].tolist()
        assert of["exposed_communication"] == time.exposed_communication_ns[mine].tolist()
        assert of["exposed_copy"] == time.exposed_copy_ns[mine].tolist()
        assert found.of("idle")[at].tolist() == time.idle_ns[mine].tolist()
    if use is not None:
        assert (found.step_ns - found.of("idle").mean(axis=0)).tolist() == pytest.approx(use.busy_ns.tolist())
    check_average(found)
    check_pieces(model, found)
    return found


def check_average(found: Waterfall) -> None:
    """In any order the parts add up to the mean, without rounding; each is what it is but for a nanosecond."""
    parts = [part.ns for part in average(found)]
    mean = float(found.step_ns.mean()) if len(found.step_ns) else 0.0
    assert all(ns > 0 for ns in parts)
    for seed in range(3):
        Random(seed).shuffle(parts)
        assert sum(parts) == mean
    assert sum(ns != int(ns) for ns in parts) <= 1
    exact = found.ns.mean(axis=(0, 1)) if found.ns.size else []
    shown = {part.cause: part.ns for part in average(found)}
    assert all(abs(shown.get(cause, 0) - ns) < 2 for cause, ns in zip(found.causes, exact, strict=True))


def check_pieces(model: Model, found: Waterfall) -> None:
    steps, gaps = model.steps, found.gaps
    assert (gaps.duration_ns > 0).all()
    assert (gaps.start_ns >= steps.start[gaps.step]).all()
    assert (gaps.start_ns + gaps.duration_ns <= steps.end[gaps.step]).all()
    busy = {meaning.cause for meaning in BUSY}
    for at, cause in enumerate(found.causes):
        listed = cause_pieces(model, found, cause)
        assert {found.causes[code].startswith(cause) for code in listed.cause.tolist()} == {True}
        assert (np.diff(listed.duration_ns) <= 0).all()
        pieces = listed.take(listed.cause == at)
        for place, device in enumerate(found.devices or (-1,)):
            mine = pieces.device == device
            sums = np.bincount(pieces.step[mine], pieces.duration_ns[mine], len(steps))
            assert sums.tolist() == found.ns[place, :, at].tolist()
        if cause in busy:
            rows = model.trace.device_work.row[pieces.closing_work]
            events = model.trace.events
            assert (events.start[rows] <= pieces.start_ns).all()
            assert (events.end[rows] > pieces.start_ns).all()
