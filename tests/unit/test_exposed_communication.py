"""Exposed and hidden communication by operation adds up to that of the rank, in recorded traces."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.recorded import sample_traces, shared_model_of, short
from torch_tb_profiler.analysis.device_time import exposure, step_overlap
from torch_tb_profiler.analysis.program.kinds import PHASES
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.ranks.distributed import distributed, operation_table
from torch_tb_profiler.ranks.rank import rank_of


@pytest.mark.parametrize("path", sample_traces(), ids=short)
def test_operations_add_up_to_the_rank(path: Path) -> None:
    model = shared_model_of(path)
    found, of = model.communications, exposure(model)
    ranges = found.ranges
    assert (of.exposed_ns >= 0).all()
    assert (of.hidden_ns >= 0).all()
    ran = intervals.total(intervals.union(ranges.start, ranges.end))
    assert int((of.exposed_ns + of.hidden_ns).sum()) == ran
    # outside of steps some may be exposed, too
    assert int(of.exposed_ns.sum()) >= int(step_overlap(model).communication_only_ns.sum())
    table = operation_table(distributed([rank_of(model, "rank0")]))
    assert int(table.exposed_ns.sum()) == int(of.exposed_ns.sum())
    assert (table.exposed_ns + table.hidden_ns <= table.latency_ns).all()
    names = {PHASES[code].value for code in of.phase}
    assert set(table.phase) == names
    assert np.isin(table.why, ("",)).all() == (not found.operations.on_device.any())
