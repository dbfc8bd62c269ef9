"""The answer of the gate for a terminal or a log."""

from __future__ import annotations

from torch_tb_profiler.analysis.change.gate import CheckAnswer
from torch_tb_profiler.cli.work.gate import words
from torch_tb_profiler.cli.work.text_table import cells_of

_HEADS = ("", "metric", "baseline", "new", "change", "limit", "verdict", "compared")


def as_text(found: CheckAnswer) -> str:
    """The answer as text. No line begins with text from a trace."""
    lines = [words.headline(found), "", f"Baseline: {words.side(found.base)}", f"New: {words.side(found.new)}", ""]
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
