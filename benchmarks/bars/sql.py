"""SQL over traces: Q1."""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.bars.bar import Bar, Check, Measured, at, ratio


def _sql(m: Measured) -> Iterator[Check]:
    """CPU seconds for 10^6 events."""
    millions = (at(m, "sql/events") or 0) / 1e6
    limits = {"opened": 0.4, "tables": 2.0, "grouped": 0.2, "window": 1.0}
    for name, limit in limits.items():
        yield Check(name, ratio(at(m, f"sql/{name}"), millions), limit, None, "s")


BARS = (
    Bar(
        "Q1",
        "SQL over 10^6 events: an empty database, four tables, a group-by of texts, a window function, CPU",
        "≤ 0.4 s, 2 s, 0.2 s, 1 s",
        "",
        _sql,
        "Q1 counts from when steps, call tree, launches and owners are known. `sql/numpy` of results.json is "
        "what numpy takes for the sums of the group-by.",
    ),
)
