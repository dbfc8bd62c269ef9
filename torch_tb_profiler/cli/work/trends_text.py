"""Any number of recordings as text for people: a table for each metric, and where its level changed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_tb_profiler.analysis.change.trends import LevelChange, Trend, Trends
from torch_tb_profiler.analysis.table import Column
from torch_tb_profiler.cli.work.text_table import safe, text_table

_LEVELS = "▁▂▃▄▅▆▇█"
#: signs of a sparkline; of more recordings the last ones
_MOST_SIGNS = 100
_MISSING = "·"

_COLUMNS = (
    Column(key="value", label="typical", type="number", unit="ns", help=""),
    *(
        Column(key=key, label=label, type="string", unit=None, help="")
        for key, label in (
            ("change", "against the baseline"),
            ("verdict", ""),
            ("since", "against the one before"),
            ("name", "recording"),
        )
    ),
)


def trends_text(found: Trends, width: int | None, colors: bool) -> str:
    """No line begins with what a trace says."""
    parts = [_of_metric(trend, found, width, colors) for trend in found.trends]
    notes = [
        f"Note: {safe(each.name)}: {safe(differs.text)}"
        for each in found.recordings
        for differs in each.differences
        if differs.forbids != "nothing"
    ]
    return "\n\n".join(["\n".join(part) for part in parts] + (["\n".join(notes)] if notes else []))


def _of_metric(trend: Trend, found: Trends, width: int | None, colors: bool) -> list[str]:
    points = trend.points
    rows: dict[str, list[Any]] = {
        "value": [each.value for each in points],
        "change": [
            "baseline" if at == found.baseline else interval(each.shift, each.low, each.high)
            for at, each in enumerate(points)
        ],
        "verdict": ["" if at == found.baseline else each.verdict for at, each in enumerate(points)],
        "since": [interval(each.since, each.since_low, each.since_high) for each in points],
        "name": [each.name for each in found.recordings],
    }
    lines = [f"{trend.metric}  {sparkline([each.value for each in points])}", text_table(_COLUMNS, rows, width, colors)]
    if trend.last is not None:
        lines.append(f"Last {trend.last.after} against the {trend.last.before} before them: {_level(trend.last)}")
    if trend.change_point is not None:
        name = safe(found.recordings[trend.change_point.at].name)
        lines.append(f"The level changed at {name}: {_level(trend.change_point)}")
    return lines


def interval(shift: float | None, low: float | None, high: float | None) -> str:
    """`+6.2 % [+4.9, +7.4]`."""
    if shift is None:
        return "–"
    told = f"{100 * shift:+.1f} %"
    return told if low is None or high is None else f"{told} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _level(found: LevelChange) -> str:
    said = interval(found.shift, found.low, found.high)
    return said if found.level == 0.95 else f"{said} (interval of {100 * found.level:.1f} %)"


def sparkline(values: Sequence[float | None]) -> str:
    """A sign for each value, the lowest from the smallest on.

    >>> sparkline([1.0, 2.0, None, 3.0])
    '▁▅·█'
    """
    shown = values[-_MOST_SIGNS:]
    known = [each for each in shown if each is not None]
    least, most = min(known, default=0.0), max(known, default=0.0)
    span = most - least or 1.0
    last = len(_LEVELS) - 1
    return "".join(_MISSING if each is None else _LEVELS[round((each - least) / span * last)] for each in shown)
