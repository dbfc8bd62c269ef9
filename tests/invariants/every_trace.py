"""The traces that every invariant is checked on: recorded ones, the samples, and generated ones."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from tests.recorded import SHARED, as_parameters, sample_traces, short, traces
from tests.tracegen import Config, Expected, generate
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

_NOT_HERE = pytest.mark.skip(reason=f"recorded traces are not here: {SHARED} does not exist")
_RECORDED = as_parameters(traces(SHARED)) if SHARED.is_dir() else [pytest.param(SHARED, marks=_NOT_HERE)]
_SAMPLES = sample_traces()
_CONFIGURATIONS = {
    "one device": Config(steps=3, layers=2),
    "two ranks": Config(steps=2, layers=2, ranks=2, skew_ns=3_000_000_000),
}
_OVERLAPPING = {"overlapping kernels": Config(steps=2, layers=2, ranks=2, stream_overlap=True, overlap=0.5)}

each_recorded = pytest.mark.parametrize("path", _RECORDED, ids=short)
each_sample = pytest.mark.parametrize("path", _SAMPLES, ids=short)
each_file = pytest.mark.parametrize("path", [*_RECORDED, *_SAMPLES], ids=short)


def _each(configurations: dict[str, Config]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("config", configurations.values(), ids=configurations.keys())


each_configuration = _each(_CONFIGURATIONS)
each_with_overlap = _each(_CONFIGURATIONS | _OVERLAPPING)


def generated(config: Config) -> tuple[Model, Expected]:
    """The model of a generated trace, and what is known of it."""
    document, expected = generate(config)
    return Model(read_trace(BytesIO(json.dumps(document).encode()))), expected
