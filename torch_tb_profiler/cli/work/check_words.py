"""The answer of the gate in words, shared by all formats for people."""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.change.gate import CheckAnswer, GateSide, MovedPart
from torch_tb_profiler.analysis.change.judge import JudgedRule, verdict_word
from torch_tb_profiler.analysis.change.name_lists import MovedName
from torch_tb_profiler.analysis.text_format import with_unit
from torch_tb_profiler.cli.work.text_table import safe

#: what CI systems take for an order wherever it stands in a line: `##[add-mask]`, `##vso[…]`, `##teamcity[…]`
_ORDER = re.compile(r"##(?=[\w\[])")

#: of names of kernels, which may have thousands of characters
LONGEST_NAME = 160


def shown(name: str, longest: int = LONGEST_NAME) -> str:
    """Return a text from a trace, shortened and without control characters; never put at the beginning of a line."""
    text = _ORDER.sub("# #", safe(name))
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def mark(judged: JudgedRule) -> str:
    """Return the outcome of a rule in a word."""
    if judged.verdict == "regressed":
        return "FAIL" if judged.rule.severity == "fail" else "WARN"
    if judged.verdict == "unknown":
        return "?"
    return "~" if judged.verdict == "inconclusive" else "ok"


def verdict(judged: JudgedRule) -> str:
    """Return the verdict on a rule, in the word for its quantity."""
    return verdict_word(judged.verdict, judged.unit == "ns")


def headline(result: CheckAnswer) -> str:
    """Return the outcome in one sentence."""
    failing = [rule for rule in result.rules if rule.rule.severity == "fail"]
    if result.outcome == "failed":
        broken = [rule for rule in failing if rule.verdict == "regressed"]
        text = "; ".join(f"{shown(rule.rule.metric)} {change(rule)}" for rule in broken)
        return f"Slower than the baseline: {text}.{because(result)}"
    if result.outcome == "cannot_be_judged":
        unknown = next((rule for rule in failing if rule.verdict == "unknown"), None)
        if unknown is not None:
            reason = shown(unknown.reason or "").rstrip(".")
            return f"Cannot be judged: {shown(unknown.rule.metric)}: {reason}."
        if failing:
            names = ", ".join(shown(rule.rule.metric) for rule in failing if rule.verdict == "inconclusive")
            return f"Cannot be judged: {names} may have changed, but these recordings cannot show it."
        return "Cannot be judged: the recordings lack what the rules need."
    open_ = [rule for rule in failing if rule.verdict == "inconclusive"]
    if open_:
        return f"Nothing failed; inconclusive: {'; '.join(map(undecided, open_))}."
    return "Nothing failed."


def because(result: CheckAnswer) -> str:
    """Return the name that moved most, if any; kernels are preferred."""
    slower = [each for each in result.moved if each.change_ns > 0]
    if not slower:
        return ""
    kernels = [each for each in slower if each.kind == "kernel"] or slower
    largest = max(kernels, key=lambda each: each.change_ns)
    return f" Most of it: {moved(largest)}."


def moved(name: MovedName) -> str:
    """Return a line about a name and how it changed."""
    of = f" (of {shown(name.owner)})" if name.owner else ""
    amount = f"{signed(name.change_ns, 'ns')} a step"
    calls = ""
    if name.base_calls != name.new_calls:
        calls = f", {_number(name.base_calls)} → {_number(name.new_calls)} calls"
    how = "" if name.change is None else f", {percent(name.change)} [{percent(name.lower)}, {percent(name.upper)}]"
    what = {"new": "new, ", "gone": "gone, "}.get(name.verdict, "")
    return f"{name.kind} {shown(name.name)}{of}: {what}{amount}{how}{calls}"


def part(each: MovedPart) -> str:
    """Return a line about a cause and its change."""
    base, new = with_unit(each.base_ns, "ns"), with_unit(each.new_ns, "ns")
    return f"{each.cause}: {base} → {new}, {signed(each.change_ns, 'ns')}"


def value(amount: float | None, judged: JudgedRule) -> str:
    """Return a value in the unit of the rule."""
    return with_unit(amount, judged.unit)


def change(judged: JudgedRule) -> str:
    """Return the change with its bounds."""
    if judged.change is None:
        return "–"
    if judged.test in ("exact", "cases"):
        return _amount(judged, judged.change)
    text = _amount(judged, judged.change)
    if judged.lower is None or judged.upper is None:
        return text
    return f"{text} [{_amount(judged, judged.lower)}, {_amount(judged, judged.upper)}]"


def _amount(judged: JudgedRule, amount: float) -> str:
    return percent(amount) if judged.scale == "relative" else signed(amount, judged.unit)


def limit(judged: JudgedRule) -> str:
    """Describe what a rule allows."""
    return shown(judged.rule.text.removeprefix(judged.rule.metric).strip())


def undecided(judged: JudgedRule) -> str:
    """Describe what an inconclusive rule would need."""
    text = f"{shown(judged.rule.metric)} {change(judged)}"
    if judged.detectable is not None:
        text += f", these recordings cannot show less than {_amount(judged, judged.detectable).lstrip('+')}"
    need = judged.needed
    if need is not None and (need.steps or need.recordings):
        ways = [f"{need.steps} steps" if need.steps else "", f"{need.recordings} recordings" if need.recordings else ""]
        text += f"; {' or '.join(way for way in ways if way)} on each side would decide"
    return text


def counted(judged: JudgedRule) -> str:
    """Return the kind of test and the number of values."""
    base, new = judged.counts
    return (
        "exact" if judged.test == "exact" else f"{base} and {new} {'steps' if judged.test == 'cases' else judged.test}"
    )


def side(gate_side: GateSide) -> str:
    """Return a line about a side: its recordings and steps, and what is left out."""
    text = f"{_plural(gate_side.recordings, 'recording')}, {_plural(gate_side.steps, 'step')}"
    if gate_side.ranks > 1:
        text += f", {gate_side.ranks} ranks"
    left = []
    if gate_side.dropped:
        left.append("the first step of each" if gate_side.recordings > 1 else "the first step")
    if gate_side.cut_off:
        left.append(f"{gate_side.cut_off} cut off by the end")
    if left:
        text += f" (without {' and '.join(left)})"
    for count, what in (
        (gate_side.slow, "slow"),
        (gate_side.compiling, "compiling"),
        (gate_side.collecting, "collecting garbage"),
    ):
        if count:
            text += f", {count} {what}"
    if gate_side.damaged:
        text += f"; {_plural(gate_side.damaged, 'line')} of the history cannot be read"
    return text


def percent(part_: float | None) -> str:
    """Return a relative change, with its sign."""
    return "–" if part_ is None else f"{100 * part_:+.2f} %" if abs(part_) < 0.1 else f"{100 * part_:+.1f} %"


def signed(amount: float, unit: str) -> str:
    """Return an amount with its sign and unit."""
    text = with_unit(abs(amount), unit)  # type: ignore[arg-type]
    return f"{'-' if amount < 0 else '+'}{text}"


def _number(value_: float) -> str:
    return f"{value_:g}"


def _plural(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
