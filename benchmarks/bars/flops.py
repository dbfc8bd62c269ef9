"""FLOP and rooflines: F1."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import Bar, Check, Measured, at, ratio


def _flops(m: Measured) -> Iterator[Check]:
    """CPU seconds and memory for 10^6 events."""
    yield Check("1M", ratio(at(m, "flops/flops"), (at(m, "flops/events") or 0) / 1e6), 0.3, None, "s")
    yield Check("memory", None if at(m, "flops/more") is None else at(m, "flops/more") / 1e6, 15, None, "MB")


BARS = (
    Bar(
        "F1",
        "FLOP, coverage, utilizations and roofline, CPU and further memory of 10^6 events",
        "≤ 0.3 s, 15 MB",
        "",
        _flops,
        "F1 counts from when steps, call tree, launches and owners are known.",
    ),
)
