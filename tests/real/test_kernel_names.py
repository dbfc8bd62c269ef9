"""How much of the kernel time of recorded traces has a name that says what it is."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from tests.recorded import model_of, traces
from torch_tb_profiler.analysis.shared.kernel_use import durations, is_compute
from torch_tb_profiler.analysis.shared.tensor_cores import Use, use_of_device_work
from torch_tb_profiler.model.kernel_names.families import family_of

MTIA = "HTA/mtia_inference"


def test_at_most_a_twentieth_of_the_kernel_time_is_unknown(shared_traces: Path) -> None:
    """The kind over all traces, and tensor cores over those of GPUs: what MTIA's names do is not told by them."""
    of_all, of_gpus, no_kind, no_verdict = 0, 0, 0, 0
    for path in (path for path in traces(shared_traces) if "units" not in path.parts):
        model = model_of(path)
        compute, duration = is_compute(model), durations(model)
        texts = model.trace.strings.texts(model.trace.events.name[model.device_work.row])
        unnamed = np.array([family_of(text) is None for text in texts], np.bool_)
        of_all += int(duration[compute].sum())
        no_kind += int(duration[compute & unnamed].sum())
        if MTIA not in str(path):
            of_gpus += int(duration[compute].sum())
            no_verdict += int(duration[compute & (use_of_device_work(model) == Use.UNKNOWN)].sum())
    assert of_all > of_gpus > 0
    assert no_kind <= of_all / 20
    assert no_verdict <= of_gpus / 20
