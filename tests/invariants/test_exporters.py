"""A recording has the same answers whichever of torch's exporters has written it.

Compared are the summary with its findings, and the tables of kernels, copies, operators, owners and steps. Only Kineto
writes occupancy and blocks per SM; where they are computed they may differ by a point.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.invariants.every_trace import each_configuration
from tests.python_exporter import as_python_exporter
from tests.recorded import ROOT, SHARED, as_parameters, short, traces
from tests.tracegen import Config, generate
from torch_tb_profiler.analysis.copies import copies
from torch_tb_profiler.analysis.kernels import kernels, kernels_by_call
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.overview import step_times
from torch_tb_profiler.analysis.question import NoParameters, Subject
from torch_tb_profiler.analysis.result import Result
from torch_tb_profiler.analysis.shared.owners import unattributed
from torch_tb_profiler.insights.summary.question import SUMMARY
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace

#: as JSON writes them again, the times of this one lose digits
_EXACT_TIMES = "v100_absolute_ns_timestamps"
#: of names of fields of what is computed, or depends on it
_ESTIMATED = ("occupancy", "blocks_per_sm", "sm_efficiency")


def _cuda_recordings() -> list[Path]:
    """A recording of each run that Kineto made of a GPU of NVIDIA."""
    first = {path.parent: path for path in reversed(traces(SHARED))} if SHARED.is_dir() else {}
    return [path for path in sorted(first.values()) if _EXACT_TIMES not in path.parts and _is_of_cuda(_text(path))]


def _is_of_cuda(text: bytes) -> bool:
    return b'"est. achieved occupancy %"' in text and b'"deviceProperties"' in text


def _text(path: Path) -> bytes:
    return gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()


def plain(value: Any) -> Any:
    """Tables, and arrays and numbers of numpy."""
    return {name: getattr(value, name) for name in value.declared} if isinstance(value, Result) else value.tolist()


def answers(document: dict[str, Any]) -> dict[str, Any]:
    model = Model(read_trace(BytesIO(json.dumps(document).encode())))
    subject = Subject(model, "run", "worker", "", 0, 1, lambda *_: (), None)
    asked: dict[str, Any] = {
        "summary": SUMMARY.compute(subject, NoParameters()),
        "kernels": kernels(model),
        "kernels by launch": kernels_by_call(model),
        "copies": copies(model),
        "operators": operators(model),
        "owners": unattributed(model),
        "steps": step_times(model),
    }
    text = msgspec.json.encode(asked, enc_hook=plain)
    return json.loads(text)  # type: ignore[no-any-return]


def differences(one: Any, other: Any, points: float, at: str = "") -> Iterator[str]:
    """Where two answers differ; estimates may, by so many points."""
    if isinstance(one, dict) and isinstance(other, dict) and one.keys() == other.keys():
        for key in one:
            yield from differences(one[key], other[key], points, f"{at}.{key}")
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for place, pair in enumerate(zip(one, other, strict=True)):
            yield from differences(*pair, points, f"{at}[{place}]")
    elif one != other:
        numbers = isinstance(one, float | int) and isinstance(other, float | int)
        most = max(points if "mean_achieved_occupancy" in at else points / 100, 1e-4 * one) if numbers else 0
        if not (numbers and any(word in at for word in _ESTIMATED) and abs(one - other) <= most):
            yield f"{at}: {one} ≠ {other}"


def check(document: dict[str, Any], points: float = 1) -> None:
    assert [*differences(answers(document), answers(as_python_exporter(document)), points)] == []


@each_configuration
def test_a_generated_trace_has_the_same_answers(config: Config) -> None:
    # what the generator writes as occupancy is made up
    check(generate(config)[0], points=100)


@pytest.mark.parametrize("path", traces(ROOT / "samples" / "generated_4gpu_h100")[:1], ids=short)
def test_a_sample_has_the_same_answers(path: Path) -> None:
    check(json.loads(_text(path)), points=100)


@pytest.mark.slow
@pytest.mark.parametrize(
    "path",
    as_parameters(_cuda_recordings())
    or [pytest.param(SHARED, marks=pytest.mark.skip(reason="recorded traces are not here"))],
    ids=short,
)
def test_a_recorded_trace_has_the_same_answers(path: Path) -> None:
    check(json.loads(_text(path)))
