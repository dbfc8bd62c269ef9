"""FLOP, bytes and calls are whole numbers in every row, and every grouping has as many of them."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

import numpy as np

from tests.invariants.every_trace import each_configuration, each_recorded, each_sample, generated
from tests.recorded import shared_model_of
from tests.tracegen import Config
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.kernels import KernelGrouping, kernels
from torch_tb_profiler.analysis.operators.table import OperatorGrouping, operators
from torch_tb_profiler.analysis.roofline.table import RooflineGrouping, roofline
from torch_tb_profiler.analysis.roofline.utilization import step_flops
from torch_tb_profiler.insights import findings
from torch_tb_profiler.model import Model

_COUNTED = ("bytes", "flop", "count")


def check_counts(model: Model) -> None:
    tables = [roofline(model, grouping) for grouping in get_args(RooflineGrouping)]
    for table in tables:
        assert np.nansum(table.flops) == np.nansum(tables[0].flops)
        assert np.nansum(table.bytes) == np.nansum(tables[0].bytes)
    timed = work_counts(model)
    whole = timed.calls.duration > 0
    assert np.nansum(tables[0].flops) == np.nansum(timed.calls.numbers("flops")[whole])
    tables += [kernels(model, grouping) for grouping in get_args(KernelGrouping)]
    tables += [operators(model, grouping) for grouping in get_args(OperatorGrouping)]
    for table in tables:
        for key, defined in table.defined.items():
            values = getattr(table, key, None)
            if defined.unit in _COUNTED and isinstance(values, np.ndarray) and not key.startswith("mean_"):
                known = values[np.isfinite(values)]
                assert (known == np.round(known)).all(), key
    step = step_flops(model)
    assert all(isinstance(each.flops, int) for each in step.elements)
    assert all(isinstance(each.flops, int) for each in step.phases)
    for finding in findings(model):
        assert all(isinstance(value, int) for key, value in finding.values.items() if key.endswith("bytes")), finding.id


@each_sample
def test_samples(path: Path) -> None:
    check_counts(shared_model_of(path))


@each_recorded
def test_recorded_traces(path: Path) -> None:
    check_counts(shared_model_of(path))


@each_configuration
def test_generated_traces(config: Config) -> None:
    check_counts(generated(config)[0])
