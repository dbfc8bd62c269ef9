"""Says in one sentence what changed."""

from __future__ import annotations

from torch_tb_profiler.analysis.change.parts import Headline
from torch_tb_profiler.analysis.change.question import ChangeAnswer, ChangedWork
from torch_tb_profiler.words.parts import part_name

#: of milliseconds, microseconds and nanoseconds: what is shown in them, from how many ns on
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"), (1, "ns"))

#: the step, by verdict
_SURE = {
    "regressed": "Significantly longer.",
    "improved": "Significantly shorter.",
    "unchanged": "No relevant increase.",
    "inconclusive": "Inconclusive with these steps.",
    "unknown": "Too few steps for a verdict: four on each side are needed.",
}


def sentence(answer: ChangeAnswer) -> str:
    """Say what changed, such as `Steps are 12.1 ms slower (+6.2 %, a typical step takes 4.9 to 7.4 % more): …`."""
    delta, before = answer.delta_ns, answer.baseline.step_ns
    if delta is None or not before:
        return "A side has no steps, so no mean step can be compared."
    if not delta:
        return "Steps take as long as before, to the nanosecond."
    found = [f"{100 * delta / before:+.1f} %"]
    if answer.step is not None and answer.step.low is not None and answer.step.high is not None:
        found.append(f"a typical step takes {between(answer.step.low, answer.step.high)}")
    told = f"Steps are {duration(abs(delta))} {'slower' if delta > 0 else 'faster'} ({', '.join(found)})"
    return f"{told}: {because(answer.headline)}" if answer.headline else f"{told}."


def between(low: float, high: float) -> str:
    """Return the interval of a relative change in words.

    >>> between(0.049, 0.074), between(-0.524, -0.278), between(-0.012, 0.034), between(0.05, 0.0501)
    ('4.9 to 7.4 % more', '27.8 to 52.4 % less', '1.2 % less to 3.4 % more', '5.0 % more')
    """
    least, most = (f"{100 * abs(bound):.1f}" for bound in (low, high))
    if low < 0 < high:
        return f"{least} % less to {most} % more"
    if low < 0:
        least, most = most, least
    return f"{least if least == most else f'{least} to {most}'} % {'less' if low < 0 else 'more'}"


def because(headline: Headline) -> str:
    """Return the clause that names the largest contributor."""
    part = part_name(headline.cause)
    cause = f"most of it {part if part == 'Python' else part[0].lower() + part[1:]} ({_signed(headline.cause_ns)})"
    if headline.kind is None or headline.delta_ns is None:
        return f"{cause}."
    name = headline.exp_label or headline.label or ""
    subject = f"`{name}` of `{headline.operator}`" if headline.is_kernel and headline.operator else f"`{name}`"
    more = headline.delta_ns > 0
    if headline.kind == "replaced":
        event = f"`{headline.operator or name}` runs `{headline.exp_label}` in place of `{headline.label}`"
    elif headline.kind == "calls":
        event = f"{'more' if more else 'fewer'} calls of {subject}"
    elif headline.kind == "speed":
        event = f"{subject} is {'slower' if more else 'faster'}"
    else:
        event = f"{subject} is {headline.kind}"
    return f"{cause}; {event} ({_signed(headline.delta_ns)})."


def sureness(answer: ChangeAnswer) -> str:
    """Return a clause that says how certain the change of the step is."""
    if answer.step is None:
        return _SURE["unknown"]
    if any(each.forbids == "all" for each in answer.differences):
        return "Both sides are too different for a verdict."
    told = _SURE[answer.step.verdict]
    if answer.step.detectable is None or answer.step.verdict in ("regressed", "improved"):
        return told
    return f"{told} Such steps show changes from {100 * answer.step.detectable:.1f} % on."


def what_happened(work: ChangedWork) -> str:
    """Say what most of the change of some work is: `slower`, `fewer calls`, `new`, …."""
    more = work.delta_ns > 0
    if not work.delta_ns and work.kind in ("calls", "speed"):
        return "unchanged"
    if work.kind == "calls":
        return "more calls" if more else "fewer calls"
    if work.kind == "speed":
        return work.verdict if work.verdict in ("unchanged", "unclear") else "slower" if more else "faster"
    return work.kind


def duration(ns: float) -> str:
    """Format a duration with three significant digits.

    >>> duration(12_345_678), duration(999), duration(0)
    ('12.3 ms', '999 ns', '0 ns')
    """
    size, unit = next((each for each in _UNITS if abs(ns) >= each[0]), _UNITS[-1])
    value = ns / size
    decimals = 0 if size == 1 else max(0, 3 - len(str(int(abs(value)))))
    return f"{value:.{decimals}f} {unit}"


def _signed(ns: float) -> str:
    return f"{'+' if ns > 0 else '-' if ns < 0 else ''}{duration(abs(ns))}"
