"""The result of `check` as text, GitHub annotations, JUnit XML (a rule is a test) and Markdown."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.analysis.change.judge import JudgedRule
from torch_tb_profiler.analysis.text_format import with_unit
from torch_tb_profiler.cli.work import check_words as words
from torch_tb_profiler.cli.work.text_table import cells_of

_HEADS = ("", "metric", "baseline", "new", "change", "limit", "verdict", "compared")


def as_text(result: CheckAnswer) -> str:
    """Return the answer as text. No line begins with text from a trace."""
    lines = [
        words.headline(result),
        "",
        f"Baseline: {words.side(result.base)}",
        f"New: {words.side(result.new)}",
        "",
    ]
    rows = [
        (
            words.mark(rule),
            words.shown(rule.rule.metric),
            words.value(rule.base, rule),
            words.value(rule.new, rule),
            words.change(rule),
            words.limit(rule),
            words.verdict(rule),
            words.counted(rule),
        )
        for rule in result.rules
    ]
    lines += _columns([_HEADS, *rows])
    open_ = [rule for rule in result.rules if rule.verdict == "inconclusive"]
    unknown = [rule for rule in result.rules if rule.verdict == "unknown"]
    notes = [f"~ {words.undecided(rule)}" for rule in open_]
    notes += [f"? {words.shown(rule.rule.metric)}: {words.shown(rule.reason or '')}" for rule in unknown]
    notes += [f"! {words.shown(rule.text)}" for rule in result.differences]
    if notes:
        lines += ["", *notes]
    if result.parts:
        lines += [
            "",
            "Parts of the change of the mean step:",
            *(f"  {words.part(rule)}" for rule in result.parts),
        ]
    if result.moved:
        lines += ["", "What changed by more than 2 %, or in its calls:"]
        lines += [f"  {words.moved(rule)}" for rule in result.moved]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(cells_of(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(cell + " " * (wide - cells_of(cell)) for cell, wide in zip(row, widths, strict=True)) for row in rows
    ]


#: GitHub shows ten of a kind in a step, and fifty in a job
MOST_ANNOTATIONS = 3


def as_github(result: CheckAnswer) -> str:
    """Return at most three annotations of a kind. No other line begins with text from a trace."""
    lines = []
    failed = [rule for rule in result.rules if rule.verdict == "regressed" and rule.rule.severity == "fail"]
    for rule in failed[:MOST_ANNOTATIONS]:
        message = f"{rule.rule.metric} {words.change(rule)}, limit {words.limit(rule)}.{words.because(result)}"
        lines.append(_workflow_command("error", f"Slower: {rule.rule.metric}", message))
    if result.outcome == "cannot_be_judged":
        lines.append(_workflow_command("error", "Performance cannot be judged", words.headline(result)))
    warned = [rule for rule in result.rules if rule.verdict == "regressed" and rule.rule.severity == "warn"]
    open_ = [rule for rule in result.rules if rule.verdict == "inconclusive" and rule.rule.severity == "fail"]
    warnings = [(f"More: {rule.rule.metric}", f"{rule.rule.metric} {words.change(rule)}") for rule in warned]
    warnings += [(f"Inconclusive: {rule.rule.metric}", words.undecided(rule)) for rule in open_]
    lines += [_workflow_command("warning", title, message) for title, message in warnings[:MOST_ANNOTATIONS]]
    if result.outcome == "passed":
        lines.append(_workflow_command("notice", "Performance", words.headline(result)))
    return "".join(f"{line}\n" for line in lines)


def _workflow_command(kind: str, title: str, text: str) -> str:
    return f"::{kind} title={_property(words.shown(title))}::{_data(words.shown(text, 1000))}"


def _data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")


#: what no XML 1.0 document may hold, however it is written
_FORBIDDEN = re.compile("[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")

#: of a text
_LONGEST = 10_000

SUITE = "torch-tb-profiler check"


def as_junit(result: CheckAnswer) -> str:
    """Return a failed rule is a failure, one that cannot be judged an error, an inconclusive one is skipped.

    There is no time and no name of a machine: equal input is equal bytes.
    """
    failures = sum(_is_failure(each) for each in result.rules)
    errors = sum(_is_error(each) for each in result.rules)
    skipped = sum(_is_skipped(each) for each in result.rules)
    counts = f'tests="{len(result.rules)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name={_xml_attribute(SUITE)} {counts} time="0">',
        f'  <testsuite name={_xml_attribute(SUITE)} {counts} skipped="{skipped}" time="0">',
        *(line for each in result.rules for line in _test_case(each, result)),
        f"    <system-out>{_xml_text(_system_out(result))}</system-out>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _test_case(judged: JudgedRule, result: CheckAnswer) -> list[str]:
    rule = judged.rule
    begin = f'    <testcase classname={_xml_attribute(rule.severity)} name={_xml_attribute(rule.text)} time="0"'
    if _is_failure(judged):
        message = f"{judged.rule.metric} {words.change(judged)}, limit {words.limit(judged)}"
        text = f"{message}.{words.because(result)}"
        return [
            f"{begin}>",
            f'      <failure message={_xml_attribute(message)} type="regressed">{_xml_text(text)}</failure>',
            "    </testcase>",
        ]
    if _is_error(judged):
        reason = judged.reason or ""
        body = f'<error message={_xml_attribute(reason)} type="unknown">{_xml_text(reason)}</error>'
        return [f"{begin}>", f"      {body}", "    </testcase>"]
    if _is_skipped(judged):
        if judged.verdict == "inconclusive":
            message = words.undecided(judged)
        else:
            message = judged.reason or f"warning: {judged.rule.metric} {words.change(judged)}"
        return [f"{begin}>", f"      <skipped message={_xml_attribute(message)}/>", "    </testcase>"]
    return [f"{begin}/>"]


def _is_failure(judged: JudgedRule) -> bool:
    return judged.verdict == "regressed" and judged.rule.severity == "fail"


def _is_error(judged: JudgedRule) -> bool:
    return judged.verdict == "unknown" and judged.rule.severity == "fail"


def _is_skipped(judged: JudgedRule) -> bool:
    return judged.verdict not in ("unchanged", "improved") and not _is_failure(judged) and not _is_error(judged)


def _system_out(result: CheckAnswer) -> str:
    moved = [words.moved(each) for each in result.moved]
    return "\n".join([words.headline(result), *(f"  {each}" for each in moved)])


def _xml_attribute(text: str) -> str:
    return quoteattr(_FORBIDDEN.sub("\ufffd", words.shown(text, _LONGEST)))


def _xml_text(text: str) -> str:
    return escape(_FORBIDDEN.sub("\ufffd", text))


#: a step summary may have a mebibyte; no one reads more
MOST_BYTES = 64 * 1024

_SIGNS = re.compile(r"([\\`*_\[\]<>#|~&:])")
#: between @ and a name, so that no user is notified
_NO_MENTION = "@&#8203;"
_OUTCOMES = {"passed": "passed", "failed": "failed", "cannot_be_judged": "cannot be judged"}


def as_markdown(result: CheckAnswer) -> str:
    """Return the answer as Markdown. Text from traces stands in code spans or is escaped."""
    lines = [
        f"### Performance: {_OUTCOMES[result.outcome]}",
        "",
        escaped(words.headline(result)),
        "",
        "| | metric | baseline | new | change | limit | verdict |",
        "|--|--|--:|--:|--:|--:|--|",
    ]
    for row_of in result.rules:
        cells = (
            words.mark(row_of),
            code_span(words.shown(row_of.rule.metric)),
            escaped(words.value(row_of.base, row_of)),
            escaped(words.value(row_of.new, row_of)),
            escaped(words.change(row_of)),
            escaped(words.limit(row_of)),
            escaped(words.verdict(row_of) + ("" if row_of.reason is None else f": {words.shown(row_of.reason)}")),
        )
        lines.append(f"| {' | '.join(cells)} |")
    notes = [words.undecided(row_of) for row_of in result.rules if row_of.verdict == "inconclusive"]
    notes += [words.shown(row_of.text) for row_of in result.differences]
    if notes:
        lines += ["", *(f"- {escaped(note)}" for note in notes)]
    if result.parts:
        lines += ["", "| part of the step | baseline | new | change |", "|--|--:|--:|--:|"]
        lines += [
            f"| {code_span(row_of.cause)} | {escaped(with_unit(row_of.base_ns, 'ns'))} | "
            f"{escaped(with_unit(row_of.new_ns, 'ns'))} | {escaped(words.signed(row_of.change_ns, 'ns'))} |"
            for row_of in result.parts
        ]
    if result.moved:
        lines += ["", "| what changed | of | baseline | new | change | |", "|--|--|--:|--:|--:|--|"]
        for name in result.moved:
            row = (
                code_span(words.shown(name.name)),
                code_span(words.shown(name.owner)) if name.owner else name.kind,
                escaped(with_unit(name.base_ns, "ns")),
                escaped(with_unit(name.new_ns, "ns")),
                escaped(words.signed(name.change_ns, "ns")),
                name.verdict,
            )
            lines.append(f"| {' | '.join(row)} |")
    lines += ["", f"Baseline: {escaped(words.side(result.base))}. New: {escaped(words.side(result.new))}."]
    return _fitting(lines)


def code_span(text: str) -> str:
    """Return a code span in a cell of a table: the fence is longer than any in the text, and no pipe ends the cell."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def escaped(text: str) -> str:
    """Escape all characters with a meaning in Markdown, for the middle of a line."""
    return _SIGNS.sub(r"\\\1", text).replace("@", _NO_MENTION)


def _fitting(lines: list[str]) -> str:
    kept, size = [], 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > MOST_BYTES:
            break
        kept.append(line)
    return "\n".join(kept) + "\n"
