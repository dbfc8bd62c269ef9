"""The answer of the gate as commands of a GitHub workflow: they become annotations."""

from __future__ import annotations

from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.cli.work.gate import words

#: GitHub shows ten of a kind in a step, and fifty in a job
MOST = 3


def as_github(found: CheckAnswer) -> str:
    """At most three annotations of a kind. No other line of the output begins with text from a trace."""
    lines = []
    failed = [each for each in found.rules if each.verdict == "regressed" and each.rule.severity == "fail"]
    for each in failed[:MOST]:
        said = f"{each.rule.metric} {words.change(each)}, limit {words.limit(each)}.{words.because(found)}"
        lines.append(_command("error", f"Slower: {each.rule.metric}", said))
    if found.outcome == "cannot_be_judged":
        lines.append(_command("error", "Performance cannot be judged", words.headline(found)))
    warned = [each for each in found.rules if each.verdict == "regressed" and each.rule.severity == "warn"]
    open_ = [each for each in found.rules if each.verdict == "inconclusive" and each.rule.severity == "fail"]
    warnings = [(f"More: {each.rule.metric}", f"{each.rule.metric} {words.change(each)}") for each in warned]
    warnings += [(f"Inconclusive: {each.rule.metric}", words.undecided(each)) for each in open_]
    lines += [_command("warning", title, said) for title, said in warnings[:MOST]]
    if found.outcome == "passed":
        lines.append(_command("notice", "Performance", words.headline(found)))
    return "".join(f"{line}\n" for line in lines)


def _command(kind: str, title: str, text: str) -> str:
    return f"::{kind} title={_property(words.shown(title))}::{_data(words.shown(text, 1000))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
