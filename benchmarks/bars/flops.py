"""FLOP and rooflines: F1."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import Bar, Check, Measured, at, ratio


def _flops(m: Measured) -> Iterator[Check]:
    """CPU seconds for 10^6 events."""
    yield Check("1M", ratio(at(m, "flops/flops"), (at(m, "flops/events") or 0) / 1e6), 0.3, None, "s")


BARS = (
    Bar(
        "F1",
        "FLOP, coverage, utilizations and roofline, CPU of 10^6 events",
        "≤ 0.3 s",
        "",
        _flops,
        "F1 counts from when steps, call tree, launches and owners are known.",
    ),
)
