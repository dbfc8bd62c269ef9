"""Limits as text: `step_time > 5%`, `exposed_communication > 1ms`, `calls(aten::item) > 0`."""

from __future__ import annotations

import difflib
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.change.metrics import Metric, known_metrics, metric_of
from torch_tb_profiler.analysis.units import factor_of
from torch_tb_profiler.lazy_pattern import lazy_pattern

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
    """Raises RuleError.

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
    """Of all metrics, what is failed on and what is warned of."""
    fails = [parse_rule(text, "fail", is_default=True) for text in DEFAULT_FAIL]
    return [*fails, *(parse_rule(text, "warn", is_default=True) for text in DEFAULT_WARN)]
