"""What happened to work, in words."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import cast

import pytest

from torch_tb_profiler.analysis.change.judge import what_happened
from torch_tb_profiler.analysis.change.question import ChangedWork
from torch_tb_profiler.cli import main


@pytest.mark.parametrize(
    ("kind", "delta", "verdict", "said"),
    [
        ("calls", 5, None, "more calls"),
        ("calls", -5, None, "fewer calls"),
        ("calls", 0, None, "unchanged"),
        ("speed", 0, None, "unchanged"),
        ("speed", 5, "slower", "slower"),
        ("speed", -5, None, "faster"),
        ("speed", -5, "unclear", "unclear"),
        ("replaced", 0, None, "replaced"),
    ],
)
def test_what_happened(kind: str, delta: int, verdict: str | None, said: str) -> None:
    work = cast("ChangedWork", SimpleNamespace(kind=kind, delta_ns=delta, verdict=verdict))
    assert what_happened(work) == said


def test_people_read_not_slower_where_json_has_unchanged(capsys: pytest.CaptureFixture[str]) -> None:
    run = str(Path(__file__).parents[2] / "samples" / "generated_4gpu_h100")
    for form in ("text", "markdown"):
        assert main(["check", run, run, "--format", form]) == 0
        told = capsys.readouterr().out
        lines = {name: next(line for line in told.splitlines() if name in line) for name in ("step_time", "peak_bytes")}
        assert "not slower" in lines["step_time"]
        assert "not more" in lines["peak_bytes"]
        assert "unchanged" not in told
    assert main(["check", run, run, "--format", "json"]) == 0
    assert '"verdict":"unchanged"' in capsys.readouterr().out.replace(": ", ":")
