"""What changed between recordings, and trends over many, as text. No line begins with a name from a trace."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torch_tb_profiler.analysis.answer import TraceMeta
from torch_tb_profiler.analysis.change.judge import sentence, sureness, verdict_word, what_happened
from torch_tb_profiler.analysis.change.name_lists import ChangedName
from torch_tb_profiler.analysis.change.question import ChangeAnswer, ChangedCause, ChangedWork
from torch_tb_profiler.analysis.change.trends import LevelChange, Trend, Trends
from torch_tb_profiler.analysis.tabular import Column
from torch_tb_profiler.analysis.text_format import with_unit
from torch_tb_profiler.cli.work.text_table import safe, text_table
from torch_tb_profiler.words.files import part_name


def _time(key: str, label: str) -> Column:
    return Column(key=key, label=label, type="number", unit="ns", help="")


def _word(key: str, label: str) -> Column:
    return Column(key=key, label=label, type="string", unit=None, help="")


_TIMES = [_time("delta", "change"), _time("before", "baseline"), _time("after", "new")]


def change_text(answer: ChangeAnswer, limit: int, width: int | None, colors: bool) -> str:
    """Return the comparison as text. limit: rows of each table; width: columns of the terminal, None to cut nothing."""
    lines = [
        f"Baseline: {_side_text(answer.meta, answer.baseline.recordings)}, {answer.baseline.steps} steps",
        f"New:      {_side_text(answer.exp, answer.experiment.recordings)}, {answer.experiment.steps} steps",
        "",
        safe(sentence(answer)),
        sureness(answer),
        *(f"Note: {safe(each.text)}" for each in answer.differences),
    ]
    if answer.busy is not None:
        busy = answer.busy
        moved = "" if busy.shift is None else f" ({100 * busy.shift:+.1f} %, {verdict_word(busy.verdict)})"
        lines.append(f"Device busy: {with_unit(busy.before_ns, 'ns')} -> {with_unit(busy.exp_ns, 'ns')}{moved}")
    lines += [*_causes(answer, limit, width, colors), *_work(answer, limit, width, colors)]
    return "\n".join(lines)


def _causes(answer: ChangeAnswer, limit: int, width: int | None, colors: bool) -> list[str]:
    shown, others = answer.causes[:limit], answer.causes[limit:]
    if not shown:
        return []
    rows: dict[str, list[Any]] = {
        "delta": [cause.delta_ns for cause in shown],
        "before": [cause.before_ns for cause in shown],
        "after": [cause.exp_ns for cause in shown],
        "cause": [part_name(cause.cause) for cause in shown],
        "sure": [_noise(cause) for cause in shown],
    }
    table = text_table([*_TIMES, _word("cause", "cause"), _word("sure", "")], rows, width, colors)
    lines = ["", f"Causes of the change; they add up to {with_unit(answer.delta_ns, 'ns')}", table]
    if others:
        lines.append(f"  {len(others)} smaller ones: {with_unit(sum(cause.delta_ns for cause in others), 'ns')}")
    return lines


def _noise(each: ChangedCause) -> str:
    if each.low_ns is None or each.high_ns is None:
        return ""
    return "within the noise" if each.low_ns <= 0 <= each.high_ns else ""


def _work(answer: ChangeAnswer, limit: int, width: int | None, colors: bool) -> list[str]:
    if not answer.work_known:
        return ["", *_names(answer, limit, width, colors)]
    if not answer.work:
        return []
    rows: dict[str, list[Any]] = {
        "delta": [each.delta_ns for each in answer.work],
        "before": [each.before_ns for each in answer.work],
        "after": [each.exp_ns for each in answer.work],
        "calls": [_calls(each) for each in answer.work],
        "kind": [what_happened(each) for each in answer.work],
        "name": [_title(each) for each in answer.work],
    }
    columns = [*_TIMES, _word("calls", "calls"), _word("kind", "what happened"), _word("name", "name")]
    lines = ["", "Kernels and operators that changed", text_table(columns, rows, width, colors)]
    if answer.left_out:
        lines.append(f"  {answer.left_out} smaller ones: {with_unit(answer.left_out_ns, 'ns')}")
    lines.append(f"  without kernels or operators: {with_unit(answer.unnamed_ns, 'ns')}")
    return lines


def _names(answer: ChangeAnswer, limit: int, width: int | None, colors: bool) -> list[str]:
    """Return kernels and operators by duration: saved recordings lack the part of each kernel in the step."""
    sentence_begin = "Saved recordings do not contain the part of each kernel in the step"
    changed = [
        name
        for name in (*answer.kernels.names, *answer.operators.names)
        if name.verdict not in ("unchanged", "unclear", "untested") or name.calls_changed
    ]
    changed.sort(key=lambda name: -abs(name.exp_ns - name.before_ns))
    if not changed:
        return [f"{sentence_begin}, and no kernel or operator certainly changed by more than 2 %."]
    shown = changed[:limit]
    rows: dict[str, list[Any]] = {
        "delta": [name.exp_ns - name.before_ns for name in shown],
        "before": [name.before_ns for name in shown],
        "after": [name.exp_ns for name in shown],
        "kind": [_verdict(name) for name in shown],
        "name": [name.name for name in shown],
    }
    columns = [*_TIMES, _word("kind", "what happened"), _word("name", "name")]
    lines = [f"{sentence_begin}; kernels and operators by their durations:", text_table(columns, rows, width, colors)]
    return lines if len(changed) == len(shown) else [*lines, f"  and {len(changed) - len(shown)} more"]


def _verdict(each: ChangedName) -> str:
    if not each.calls_changed or each.verdict in ("new", "gone"):
        return each.verdict
    calls = f"{'more' if each.exp_calls > each.calls else 'fewer'} calls"
    return f"{each.verdict}, {calls}" if each.verdict in ("slower", "faster") else calls


def _side_text(meta: TraceMeta, recordings: int) -> str:
    name = safe(f"{meta.run}, {meta.worker}")
    return name if recordings == 1 else f"{name} and {recordings - 1} more recording{'s' * (recordings > 2)}"


def _calls(each: ChangedWork) -> str:
    before, after = (f"{calls:.4g}" for calls in (each.calls, each.exp_calls))
    return before if before == after else f"{before} -> {after}"


def _title(each: ChangedWork) -> str:
    labels = list(dict.fromkeys(label for label in (each.label, each.exp_label) if label))
    title = " -> ".join(labels)
    operator = each.exp_operator or each.operator
    more = f" and {each.names - 1} more" if each.names > 1 else ""
    return f"{title}{more}" if operator in labels or not operator else f"{title}{more} of {operator}"


_LEVELS = "▁▂▃▄▅▆▇█"
#: longest sparkline, characters; it shows the last recordings
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


def trends_text(trends: Trends, width: int | None, colors: bool) -> str:
    """Return trends as text. No line begins with text from a trace."""
    parts = [_of_metric(trend, trends, width, colors) for trend in trends.trends]
    notes = [
        f"Note: {safe(each.name)}: {safe(differs.text)}"
        for each in trends.recordings
        for differs in each.differences
        if differs.forbids != "nothing"
    ]
    return "\n\n".join(["\n".join(part) for part in parts] + (["\n".join(notes)] if notes else []))


def _of_metric(trend: Trend, trends: Trends, width: int | None, colors: bool) -> list[str]:
    points = trend.points
    rows: dict[str, list[Any]] = {
        "value": [point.value for point in points],
        "change": [
            "baseline" if at == trends.baseline else interval(point.shift, point.low, point.high)
            for at, point in enumerate(points)
        ],
        "verdict": ["" if at == trends.baseline else verdict_word(point.verdict) for at, point in enumerate(points)],
        "since": [interval(point.since, point.since_low, point.since_high) for point in points],
        "name": [point.name for point in trends.recordings],
    }
    lines = [
        f"{trend.metric}  {sparkline([point.value for point in points])}",
        text_table(_COLUMNS, rows, width, colors),
    ]
    if trend.last is not None:
        lines.append(f"Last {trend.last.after} against the {trend.last.before} before them: {_level(trend.last)}")
    if trend.change_point is not None:
        name = safe(trends.recordings[trend.change_point.at].name)
        lines.append(f"The level changed at {name}: {_level(trend.change_point)}")
    return lines


def interval(shift: float | None, low: float | None, high: float | None) -> str:
    """`+6.2 % [+4.9, +7.4]`."""
    if shift is None:
        return "–"
    percent = f"{100 * shift:+.1f} %"
    return percent if low is None or high is None else f"{percent} [{100 * low:+.1f}, {100 * high:+.1f}]"


def _level(level_change: LevelChange) -> str:
    change = interval(level_change.shift, level_change.low, level_change.high)
    return change if level_change.level == 0.95 else f"{change} (interval of {100 * level_change.level:.1f} %)"


def sparkline(values: Sequence[float | None]) -> str:
    """Return a character for each value, scaled from the smallest to the largest.

    >>> sparkline([1.0, 2.0, None, 3.0])
    '▁▅·█'
    """
    shown = values[-_MOST_SIGNS:]
    known = [each for each in shown if each is not None]
    least, most = min(known, default=0.0), max(known, default=0.0)
    span = most - least or 1.0
    last = len(_LEVELS) - 1
    return "".join(_MISSING if each is None else _LEVELS[round((each - least) / span * last)] for each in shown)
