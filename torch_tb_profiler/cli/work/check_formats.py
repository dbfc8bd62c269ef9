"""The result of `check` as text, GitHub annotations, JUnit XML (a rule is a test) and Markdown."""

from __future__ import annotations

import re
from xml.sax.saxutils import escape, quoteattr

from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.analysis.change.judge import Judged
from torch_tb_profiler.analysis.text_format import with_unit
from torch_tb_profiler.cli.work import check_words as words
from torch_tb_profiler.cli.work.text_table import cells_of

_HEADS = ("", "metric", "baseline", "new", "change", "limit", "verdict", "compared")


def as_text(found: CheckAnswer) -> str:
    """The answer as text. No line begins with text from a trace."""
    lines = [
        words.headline(found),
        "",
        f"Baseline: {words.side(found.base)}",
        f"New: {words.side(found.new)}",
        "",
    ]
    rows = [
        (
            words.mark(each),
            words.shown(each.rule.metric),
            words.value(each.base, each),
            words.value(each.new, each),
            words.change(each),
            words.limit(each),
            each.verdict,
            words.counted(each),
        )
        for each in found.rules
    ]
    lines += _columns([_HEADS, *rows])
    open_ = [each for each in found.rules if each.verdict == "inconclusive"]
    unknown = [each for each in found.rules if each.verdict == "unknown"]
    notes = [f"~ {words.undecided(each)}" for each in open_]
    notes += [f"? {words.shown(each.rule.metric)}: {words.shown(each.reason or '')}" for each in unknown]
    notes += [f"! {words.shown(each.text)}" for each in found.differences]
    if notes:
        lines += ["", *notes]
    if found.parts:
        lines += [
            "",
            "Parts of the change of the mean step:",
            *(f"  {words.part(each)}" for each in found.parts),
        ]
    if found.moved:
        lines += ["", "What changed by more than 2 %, or in its calls:"]
        lines += [f"  {words.moved(each)}" for each in found.moved]
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _columns(rows: list[tuple[str, ...]]) -> list[str]:
    widths = [max(cells_of(row[at]) for row in rows) for at in range(len(rows[0]))]
    return [
        "  ".join(cell + " " * (wide - cells_of(cell)) for cell, wide in zip(row, widths, strict=True)) for row in rows
    ]


#: GitHub shows ten of a kind in a step, and fifty in a job
MOST_ANNOTATIONS = 3


def as_github(found: CheckAnswer) -> str:
    """At most three annotations of a kind. No other line of the output begins with text from a trace."""
    lines = []
    failed = [each for each in found.rules if each.verdict == "regressed" and each.rule.severity == "fail"]
    for each in failed[:MOST_ANNOTATIONS]:
        said = f"{each.rule.metric} {words.change(each)}, limit {words.limit(each)}.{words.because(found)}"
        lines.append(_workflow_command("error", f"Slower: {each.rule.metric}", said))
    if found.outcome == "cannot_be_judged":
        lines.append(_workflow_command("error", "Performance cannot be judged", words.headline(found)))
    warned = [each for each in found.rules if each.verdict == "regressed" and each.rule.severity == "warn"]
    open_ = [each for each in found.rules if each.verdict == "inconclusive" and each.rule.severity == "fail"]
    warnings = [(f"More: {each.rule.metric}", f"{each.rule.metric} {words.change(each)}") for each in warned]
    warnings += [(f"Inconclusive: {each.rule.metric}", words.undecided(each)) for each in open_]
    lines += [_workflow_command("warning", title, said) for title, said in warnings[:MOST_ANNOTATIONS]]
    if found.outcome == "passed":
        lines.append(_workflow_command("notice", "Performance", words.headline(found)))
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


def as_junit(found: CheckAnswer) -> str:
    """A failed rule is a failure, one that cannot be judged an error, an inconclusive one is skipped.

    There is no time and no name of a machine: equal input is equal bytes.
    """
    failures = sum(_is_failure(each) for each in found.rules)
    errors = sum(_is_error(each) for each in found.rules)
    skipped = sum(_is_skipped(each) for each in found.rules)
    counts = f'tests="{len(found.rules)}" failures="{failures}" errors="{errors}"'
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites name={_xml_attribute(SUITE)} {counts} time="0">',
        f'  <testsuite name={_xml_attribute(SUITE)} {counts} skipped="{skipped}" time="0">',
        *(line for each in found.rules for line in _test_case(each, found)),
        f"    <system-out>{_xml_text(_system_out(found))}</system-out>",
        "  </testsuite>",
        "</testsuites>",
    ]
    return "\n".join(lines) + "\n"


def _test_case(judged: Judged, found: CheckAnswer) -> list[str]:
    rule = judged.rule
    begin = f'    <testcase classname={_xml_attribute(rule.severity)} name={_xml_attribute(rule.text)} time="0"'
    if _is_failure(judged):
        message = f"{judged.rule.metric} {words.change(judged)}, limit {words.limit(judged)}"
        said = f"{message}.{words.because(found)}"
        return [
            f"{begin}>",
            f'      <failure message={_xml_attribute(message)} type="regressed">{_xml_text(said)}</failure>',
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


def _is_failure(judged: Judged) -> bool:
    return judged.verdict == "regressed" and judged.rule.severity == "fail"


def _is_error(judged: Judged) -> bool:
    return judged.verdict == "unknown" and judged.rule.severity == "fail"


def _is_skipped(judged: Judged) -> bool:
    return judged.verdict not in ("unchanged", "improved") and not _is_failure(judged) and not _is_error(judged)


def _system_out(found: CheckAnswer) -> str:
    moved = [words.moved(each) for each in found.moved]
    return "\n".join([words.headline(found), *(f"  {each}" for each in moved)])


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


def as_markdown(found: CheckAnswer) -> str:
    """The answer as Markdown. Text from traces stands in code spans or is escaped."""
    lines = [
        f"### Performance: {_OUTCOMES[found.outcome]}",
        "",
        escaped(words.headline(found)),
        "",
        "| | metric | baseline | new | change | limit | verdict |",
        "|--|--|--:|--:|--:|--:|--|",
    ]
    for each in found.rules:
        cells = (
            words.mark(each),
            code_span(words.shown(each.rule.metric)),
            escaped(words.value(each.base, each)),
            escaped(words.value(each.new, each)),
            escaped(words.change(each)),
            escaped(words.limit(each)),
            escaped(each.verdict if each.reason is None else f"{each.verdict}: {words.shown(each.reason)}"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    notes = [words.undecided(each) for each in found.rules if each.verdict == "inconclusive"]
    notes += [words.shown(each.text) for each in found.differences]
    if notes:
        lines += ["", *(f"- {escaped(note)}" for note in notes)]
    if found.parts:
        lines += ["", "| part of the step | baseline | new | change |", "|--|--:|--:|--:|"]
        lines += [
            f"| {code_span(each.cause)} | {escaped(with_unit(each.base_ns, 'ns'))} | "
            f"{escaped(with_unit(each.new_ns, 'ns'))} | {escaped(words.signed(each.change_ns, 'ns'))} |"
            for each in found.parts
        ]
    if found.moved:
        lines += ["", "| what changed | of | baseline | new | change | |", "|--|--|--:|--:|--:|--|"]
        for name in found.moved:
            row = (
                code_span(words.shown(name.name)),
                code_span(words.shown(name.owner)) if name.owner else name.kind,
                escaped(with_unit(name.base_ns, "ns")),
                escaped(with_unit(name.new_ns, "ns")),
                escaped(words.signed(name.change_ns, "ns")),
                name.verdict,
            )
            lines.append(f"| {' | '.join(row)} |")
    lines += ["", f"Baseline: {escaped(words.side(found.base))}. New: {escaped(words.side(found.new))}."]
    return _fitting(lines)


def code_span(text: str) -> str:
    """A code span in a cell of a table: the fence is longer than any in the text, and no pipe ends the cell."""
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
