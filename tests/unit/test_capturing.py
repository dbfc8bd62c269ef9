"""When threads capture, against the plain definition: from a call that begins a capture to the next that ends one."""

from __future__ import annotations

import numpy as np
import pytest

from tests.events import event, model_of
from torch_tb_profiler.analysis.program.graphs import capture_spans

BEGIN, END, LENGTH = "cudaStreamBeginCapture", "hipStreamEndCapture", 2


@pytest.mark.parametrize("seed", range(20))
def test_any_calls_on_any_threads(seed: int) -> None:
    random = np.random.default_rng(seed)
    calls = [
        (str(random.choice([BEGIN, END, "cudaLaunchKernel"])), int(tid), int(start))
        for tid, start in zip(random.integers(1, 4, 40), random.permutation(400)[:40], strict=True)
    ]
    calls += [(BEGIN, 1, 0), (END, 1, 399)]
    model = model_of([event("cuda_runtime", name, start, LENGTH, tid) for name, tid, start in calls])
    captures = [
        (tid, start, min(ends) + LENGTH)
        for name, tid, start in calls
        if name == BEGIN and (ends := [at for what, on, at in calls if (what, on) == (END, tid) and at >= start])
    ]
    tids, times = zip(*((tid, time) for tid in (1, 2, 3) for time in range(0, 410, 7)), strict=True)
    tracks = {track.tid: at for at, track in enumerate(model.trace.tracks)}
    found = capture_spans(model)
    asked = np.array([tracks.get(tid, tracks[1]) for tid in tids], np.int32)
    at_thread = [tid if tid in tracks else 1 for tid in tids]
    inside = found.at(asked, np.array(times) * 1000)
    assert inside.tolist() == [
        any(on == tid and start <= time < end for on, start, end in captures)
        for tid, time in zip(at_thread, times, strict=True)
    ]
    since = np.arange(0, 400, 50)
    wanted = [sum(any(start <= t < end for _, start, end in captures) for t in range(s, s + 30)) for s in since]
    assert found.during(since * 1000, (since + 30) * 1000).tolist() == [1000 * ns for ns in wanted]


def test_nothing_is_captured() -> None:
    found = capture_spans(
        model_of([event("cuda_runtime", "cudaLaunchKernel", 0, 5), event("cuda_runtime", BEGIN, 9, 1)])
    )
    assert found.at(np.zeros(2, np.int32), np.array([0, 10_000])).tolist() == [False, False]
    assert found.during(np.array([0]), np.array([9_000])).tolist() == [0]
