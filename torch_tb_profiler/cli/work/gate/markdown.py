"""The answer of the gate as Markdown: the summary of a job, or a comment on a pull request."""

from __future__ import annotations

import re

from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.analysis.text_format import with_unit
from torch_tb_profiler.cli.work.gate import words

#: a step summary may have a mebibyte; no one reads more
MOST_BYTES = 64 * 1024

_SIGNS = re.compile(r"([\\`*_\[\]<>#|~&:])")
#: between @ and a name, so that no user is notified
_NO_MENTION = "@&#8203;"
_WORD = {"passed": "passed", "failed": "failed", "cannot_be_judged": "cannot be judged"}


def as_markdown(found: CheckAnswer) -> str:
    """The answer as Markdown. Text from traces stands in code spans or is escaped."""
    lines = [
        f"### Performance: {_WORD[found.outcome]}",
        "",
        escaped(words.headline(found)),
        "",
        "| | metric | baseline | new | change | limit | verdict |",
        "|--|--|--:|--:|--:|--:|--|",
    ]
    for each in found.rules:
        cells = (
            words.mark(each),
            code(words.shown(each.rule.metric)),
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
            f"| {code(each.cause)} | {escaped(with_unit(each.base_ns, 'ns'))} | "
            f"{escaped(with_unit(each.new_ns, 'ns'))} | {escaped(words.signed(each.change_ns, 'ns'))} |"
            for each in found.parts
        ]
    if found.moved:
        lines += ["", "| what changed | of | baseline | new | change | |", "|--|--|--:|--:|--:|--|"]
        for name in found.moved:
            row = (
                code(words.shown(name.name)),
                code(words.shown(name.owner)) if name.owner else name.kind,
                escaped(with_unit(name.base_ns, "ns")),
                escaped(with_unit(name.new_ns, "ns")),
                escaped(words.signed(name.change_ns, "ns")),
                name.verdict,
            )
            lines.append(f"| {' | '.join(row)} |")
    lines += ["", f"Baseline: {escaped(words.side(found.base))}. New: {escaped(words.side(found.new))}."]
    return _cut(lines)


def code(text: str) -> str:
    """A code span in a cell of a table: the fence is longer than any in the text, and no pipe ends the cell."""
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * (longest + 1)
    space = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{space}{text}{space}{fence}".replace("|", "\\|")


def escaped(text: str) -> str:
    """Escape all characters with a meaning in Markdown, for the middle of a line."""
    return _SIGNS.sub(r"\\\1", text).replace("@", _NO_MENTION)


def _cut(lines: list[str]) -> str:
    kept, size = [], 0
    for line in lines:
        size += len(line.encode()) + 1
        if size > MOST_BYTES:
            break
        kept.append(line)
    return "\n".join(kept) + "\n"
