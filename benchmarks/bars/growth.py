"""How CPU grows with the size of hard shapes: G1."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import Bar, Check, Measured, at
from benchmarks.growth import MOST_RATIO, ratios


def _growth(m: Measured) -> Iterator[Check]:
    """The part of each shape that grows most; one that did not end is worse than any bound."""
    shapes: Measured = at(m, "growth/shapes") or {}
    if not shapes:
        yield Check("shapes", None, MOST_RATIO, None, "×")
    for name, found in shapes.items():
        if "failed" in found:
            yield Check(f"{name} ({' '.join(found['failed'])})", float("inf"), MOST_RATIO, None, "×")
        elif told := ratios(found):
            part, _, _, ratio = told[0]
            yield Check(f"{name}, {part}", ratio, MOST_RATIO, None, "×")


BARS = (
    Bar(
        "G1",
        "CPU of a shape four times as large, every question, where it takes 0.4 s or more",
        f"≤ {MOST_RATIO} ×",
        "",
        _growth,
        "n log n, with what a busy machine adds. The part that grows most is named.",
    ),
)
