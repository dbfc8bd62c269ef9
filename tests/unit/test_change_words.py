"""What happened to work, in words."""

from __future__ import annotations

from types import SimpleNamespace
from typing import cast

import pytest

from torch_tb_profiler.analysis.change.judge import what_happened
from torch_tb_profiler.analysis.change.question import ChangedWork


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
