"""What can be gated: the values of each step of a recording by name of the metric, and limits of their change as text.

Limits: `step_time > 5%`, `exposed_communication > 1ms`, `calls(aten::item) > 0`.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.change.figures import SLOW, RecordingFigures
from torch_tb_profiler.analysis.change.shares import TimesByName
from torch_tb_profiler.analysis.text_format import factor_of
from torch_tb_profiler.analysis.waterfall.causes import ALL
from torch_tb_profiler.analysis.waterfall.waterfall import is_below
from torch_tb_profiler.lazy_pattern import lazy_pattern

#: how two sides are compared.
#: ratio: shift of logarithms · part: shift of differences, beside the step · count: exact where it is the same in all
#: steps · most: the largest, exact · tail: Fisher's exact test · list: of every name, with a false discovery rate
#: damage: nothing can be judged where there is any
Kind = Literal["ratio", "part", "count", "most", "tail", "list", "damage"]
MetricUnit = Literal["ns", "count", "bytes"]

#: spread between recordings of one program, one standard deviation: of steps and host time, and of device time
OF_STEPS, OF_DEVICES = 0.01, 0.002

Values = Callable[[RecordingFigures], Sequence[float] | None]


class Metric(msgspec.Struct, frozen=True):
    """values: one for each step that is kept, in `unit`; None if the recording does not say.

    is_of_host  whether options that slow the host down change it
    between     spread between recordings, as part of the value; of the kind `part`: of the step
    """

    key: str
    kind: Kind
    unit: MetricUnit
    values: Values
    is_of_host: bool = False
    between: float = 0.0


#: metrics of one name, and of all
_NEED_NAMES = ("calls(NAME)", "kernel(NAME)", "kernel(*)", "operator(NAME)", "operator(*)")

#: in place of a name
EVERY = "*"

_NAMED = lazy_pattern(r"(calls|kernel|operator)\((.*)\)", re.DOTALL)


def metric_of(key: str) -> Metric | None:
    """Look up a metric; None if there is none of this name."""
    if key in _FIXED:
        return _FIXED[key]
    named = _NAMED.fullmatch(key)
    if named is not None and named[2]:
        return _of_name(key, named[1], named[2])
    if any(is_below(meaning.cause, key) for meaning in ALL):
        return _cause(key)
    return None


def known_metrics() -> list[str]:
    """List the metrics that need no name of their own, for messages."""
    tops = dict.fromkeys(meaning.cause.partition(".")[0] for meaning in ALL)
    return [
        *_FIXED,
        *(top for top in tops if top not in _FIXED),
        *_NEED_NAMES,
    ]


def typical_step(side: Sequence[RecordingFigures]) -> float:
    """Return the median over the recordings of the median of their kept steps, ns; 0 without any."""
    medians = [median_of(found) for each in side if (found := each.step_ns[each.kept])]
    return median_of(medians) if medians else 0.0


def median_of(values: Sequence[float]) -> float:
    ordered = sorted(values)
    half = len(ordered) // 2
    return float(ordered[half]) if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def slow_steps(figures: RecordingFigures) -> int:
    """Count kept steps that last more than 1.5 × their median."""
    kept = figures.step_ns[figures.kept]
    return sum(step > SLOW * median_of(kept) for step in kept) if kept else 0


def _step(figures: RecordingFigures) -> Sequence[float]:
    return figures.step_ns[figures.kept]


def _busy(figures: RecordingFigures) -> Sequence[float] | None:
    return None if figures.busy is None else _over(figures.busy[figures.kept], figures.lanes)


def _over(values: Sequence[int], lanes: int) -> list[float]:
    return [value / lanes for value in values]


def _cause(key: str) -> Metric:
    top = key.partition(".")[0]
    is_of_host = top in ("idle", "host")

    def values(figures: RecordingFigures) -> Sequence[float] | None:
        if (figures.basis == "host") != (top == "host"):
            return None
        if top == "exposed_communication" and not figures.communication_known:
            return None
        return _over(figures.cause(key)[figures.kept], figures.lanes)

    return Metric(key, "part", "ns", values, is_of_host, OF_STEPS if is_of_host else OF_DEVICES)


def _of_name(key: str, what: str, name: str) -> Metric | None:
    if name == EVERY:
        return _EVERY.get(what)

    def calls(figures: RecordingFigures) -> Sequence[float] | None:
        tables = (figures.operators, figures.calls, figures.kernels)
        series = [table.calls_of(name, len(figures.steps)) for table in tables]
        known = [each for each in series if each is not None]
        if len(known) < len(series) and not any(map(any, known)):
            return None
        return [sum(each) for each in zip(*known, strict=True)][figures.kept]

    def kernel(figures: RecordingFigures) -> Sequence[float] | None:
        series = _times(figures.kernels, name, figures, on_device=True)
        return None if series is None else _over(series, figures.lanes)

    def operator(figures: RecordingFigures) -> Sequence[float] | None:
        on_device = figures.basis == "devices"
        series = _times(figures.operators, name, figures, on_device)
        return None if series is None else _over(series, figures.lanes if on_device else figures.ranks)

    if what == "calls":
        return Metric(key, "count", "count", calls)
    if what == "kernel":
        return Metric(key, "ratio", "ns", kernel, between=OF_DEVICES)
    return Metric(key, "ratio", "ns", operator, is_of_host=True, between=OF_STEPS)


def _times(table: TimesByName, name: str, figures: RecordingFigures, on_device: bool) -> list[int] | None:
    """Sum over lanes; 0 where it did not run, None if that is unknown."""
    found = table.of(name)
    if found is None:
        return None if table.left_out else [0] * len(figures.steps[figures.kept])
    return (found.device_ns if on_device else found.host_ns)[figures.kept]


def _listed(figures: RecordingFigures) -> Sequence[float] | None:
    return None if figures.basis == "host" else _step(figures)


def _notes(severity: str) -> Values:
    return lambda figures: [float(sum(note.count for note in figures.notes if note.severity == severity))]


def _kept(of: Callable[[RecordingFigures], list[int] | None]) -> Values:
    def values(figures: RecordingFigures) -> Sequence[float] | None:
        found = of(figures)
        return None if found is None else found[figures.kept]

    return values


_FIXED = {
    metric.key: metric
    for metric in (
        Metric("step_time", "ratio", "ns", _step, is_of_host=True, between=OF_STEPS),
        Metric("device_busy", "ratio", "ns", _busy, between=OF_DEVICES),
        Metric("kernels_per_step", "count", "count", _kept(lambda figures: figures.kernel_calls)),
        Metric("syncs", "count", "count", _kept(lambda figures: figures.sync_calls)),
        Metric("graph_breaks", "count", "count", _kept(lambda figures: figures.graph_breaks)),
        Metric("compilations", "count", "count", _kept(lambda figures: figures.compilations)),
        Metric(
            "peak_bytes",
            "most",
            "bytes",
            lambda figures: None if figures.peak_bytes is None else [figures.peak_bytes],
        ),
        Metric("slow_steps", "tail", "count", _step, is_of_host=True),
        Metric("notes.error", "damage", "count", _notes("error")),
        Metric("notes.warning", "most", "count", _notes("warning")),
    )
}

_EVERY = {
    "kernel": Metric(f"kernel({EVERY})", "list", "ns", _listed),
    "operator": Metric(f"operator({EVERY})", "list", "ns", _step, is_of_host=True),
}


Severity = Literal["fail", "warn"]

#: the last sign is the one that counts: names of kernels are full of > and =
_RULE = lazy_pattern(
    r"(.+?)\s{0,20}(>=|<=|!=|==|>|<|=)\s{0,20}([+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s{0,20}([A-Za-zµ%]*)"
)

#: the rules that fail and that warn by default
DEFAULT_FAIL = ("device_busy > 2%", "step_time > 5%", "peak_bytes > 5%", "notes.error > 0")
DEFAULT_WARN = (
    "exposed_communication > 5%",
    "idle > 5%",
    "kernels_per_step > 0",
    "syncs > 0",
    "graph_breaks > 0",
    "slow_steps > 0",
)


class RuleError(ValueError):
    """A rule cannot be understood; the message is a sentence."""


class GateRule(msgspec.Struct, frozen=True, kw_only=True):
    """A limit of what may change.

    metric      name of what is compared
    limit       how much more it may be: of a relative rule a part of the baseline (of the step, where it is a part of
                it), else in its unit
    relative    whether the limit is a part
    severity    whether more fails or warns
    is_default  whether it is there because nothing was said: what was not recorded is then left out
    text        the rule as it was written
    """

    metric: str
    limit: float
    relative: bool
    severity: Severity
    is_default: bool
    text: str


def parse_rule(text: str, severity: Severity = "fail", is_default: bool = False) -> GateRule:
    """Parse a rule. Raises RuleError.

    >>> parse_rule("device_busy > 2%").limit, parse_rule("peak_bytes>64MiB").limit
    (0.02, 67108864.0)
    """
    match = _RULE.fullmatch(text.strip())
    if match is None:
        raise RuleError(f"{text!r} is not a rule: write METRIC > NUMBER and a unit, as in 'step_time > 5%'")
    key, sign, number, unit = match.groups()
    key = key.rstrip()
    metric = metric_of(key)
    if metric is None:
        near = difflib.get_close_matches(key, known_metrics(), 1)
        meant = f", perhaps {near[0]}" if near else ""
        raise RuleError(f"{text!r}: there is no metric {key!r}{meant}; there are {', '.join(known_metrics())}")
    if sign not in (">", ">="):
        raise RuleError(f"{text!r}: a rule says what is too much, so use >")
    limit, relative = float(number), unit == "%"
    if limit < 0:
        raise RuleError(f"{text!r}: the limit for an increase cannot be below 0")
    if relative:
        limit /= 100
    else:
        limit *= _factor(text, metric, unit, limit)
    if metric.kind in ("tail", "damage") and (relative or limit):
        raise RuleError(f"{text!r}: write {key} > 0; no other limit is possible")
    return GateRule(
        metric=key,
        limit=limit,
        relative=relative,
        severity=severity,
        is_default=is_default,
        text=" ".join(text.split()),
    )


def _factor(text: str, metric: Metric, unit: str, limit: float) -> float:
    if not unit and limit and metric.unit != "count":
        raise RuleError(f"{text!r} needs a unit: % of the baseline, or {'ms' if metric.unit == 'ns' else 'MiB'}")
    factor = factor_of(unit, metric.unit)
    if factor is None:
        raise RuleError(f"{text!r}: the unit {unit!r} does not fit {metric.key}")
    return factor


def default_rules() -> list[GateRule]:
    """List the default rules: those that fail, then those that warn."""
    fails = [parse_rule(text, "fail", is_default=True) for text in DEFAULT_FAIL]
    return [*fails, *(parse_rule(text, "warn", is_default=True) for text in DEFAULT_WARN)]
