"""What a program did: P1."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import MB, Bar, Check, Measured, at


def _program(m: Measured) -> Iterator[Check]:
    """CPU seconds and memory for 1.2 × 10^6 events."""
    more = at(m, "program/more")
    yield Check("1.2M", at(m, "program/program"), 2, None, "s")
    yield Check("memory", None if more is None else more / MB, 300, None, "MB")


BARS = (
    Bar(
        "P1",
        "Phases, their times, backward passes, links to the forward, optimizers and ranges of 1.2 × 10^6 events with "
        "200,000 autograd nodes, CPU and memory",
        "≤ 2 s, 300 MB",
        "",
        _program,
        "P1 counts from when steps, call tree and launches are known.",
    ),
)
