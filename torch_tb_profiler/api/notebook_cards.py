"""Cards: a trace, a log directory or a comparison in a few lines of HTML, without scripts; names are escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import NamedTuple

import msgspec

from torch_tb_profiler.analysis.change.judge import sentence, sureness, what_happened
from torch_tb_profiler.analysis.change.question import ChangeAnswer, ChangedCause
from torch_tb_profiler.analysis.tabular import CAPTION_STYLE, MOST_BYTES, TABLE_STYLE
from torch_tb_profiler.analysis.text_format import harmless, text_of
from torch_tb_profiler.analysis.waterfall import Part
from torch_tb_profiler.analysis.waterfall.causes import REST_COLOR, part_color
from torch_tb_profiler.insights.summary.summary import SummaryAnswer, SummaryFinding
from torch_tb_profiler.insights.summary.text import as_text
from torch_tb_profiler.trace import Note
from torch_tb_profiler.words.files import part_name

CARD_WIDTH, _HEIGHT, _BETWEEN = 640, 22, 1.5
_MOST_PARTS, _MOST_FINDINGS, _MOST_NOTES, _MOST_RUNS = 8, 5, 4, 15
_NAME, _SENTENCE = 80, 400
_HEAD = "color:inherit;font-size:14px;margin:0 0 4px"
_LIST = "color:inherit;font-size:13px;margin:4px 0;padding-left:18px"


def trace_card(summary: SummaryAnswer) -> str:
    """Return a card: the bound of the steps, the parts of their time, the savings of findings, and notes."""
    trace, steps = summary.trace, summary.steps
    title = f"{trace.run} · {trace.worker} · span {trace.span}"
    if steps.median_ns is None:
        text = "no steps were found"
    else:
        text = f"{steps.count} steps, median {text_of(steps.median_ns, 'ns')}"
    if summary.device.busy is not None:
        text += f"; devices busy {text_of(summary.device.busy, 'fraction')}"
    body = [
        heading(title) + paragraph(summary.bound_sentence) + f'<p style="{CAPTION_STYLE}">{safe(text, _SENTENCE)}</p>',
        _average_step_bar(summary.waterfall),
        _list([_finding(each) for each in summary.findings[:_MOST_FINDINGS]], "Nothing was found."),
        _list([_note(each) for each in summary.notes if each.severity != "info"][:_MOST_NOTES], ""),
    ]
    return card("".join(body))


class RunRow(NamedTuple):
    """A run in a card: its files of each kind and workers; `size` in bytes."""

    name: str
    traces: int
    workers: int
    snapshots: int
    size: int


def profile_card(path: str, runs: Sequence[RunRow]) -> str:
    """Return a card of the runs below a path."""
    rows = "".join(
        f'<tr><td align="left">{safe(run.name, _NAME)}</td><td align="right">{run.traces:,}</td>'
        f'<td align="right">{run.workers:,}</td><td align="right">{run.snapshots:,}</td>'
        f'<td align="right">{text_of(run.size, "bytes")}</td></tr>'
        for run in runs[:_MOST_RUNS]
    )
    head = "".join(f'<th align="{side}">{name}</th>' for name, side in _RUN_COLUMNS)
    count = f"{min(len(runs), _MOST_RUNS)} of {len(runs):,} runs"
    return card(
        f'<p style="{_HEAD}"><b>{safe(path, _NAME)}</b></p><table cellpadding="4" style="{TABLE_STYLE}"><thead>'
        f'<tr>{head}</tr></thead><tbody>{rows}</tbody></table><p style="{CAPTION_STYLE}">{count}</p>'
    )


_RUN_COLUMNS = (
    ("Run", "left"),
    ("Traces", "right"),
    ("Workers", "right"),
    ("Memory snapshots", "right"),
    ("Size", "right"),
)


def profile_text(path: str, runs: Sequence[RunRow]) -> str:
    """Return the same as Markdown."""
    shown = runs[:_MOST_RUNS]
    lines = [f"- {_plain(run.name)}: {run.traces:,} traces, {text_of(run.size, 'bytes')}" for run in shown]
    return "\n".join([f"**{_plain(path)}**: {len(shown)} of {len(runs):,} runs", "", *lines])


def trouble_card(title: str, trouble: str) -> str:
    """Return the card that is shown if the actual one cannot be made."""
    return card(f'<p style="{_HEAD}"><b>{safe(title, _NAME)}</b></p><p>{safe(trouble, _SENTENCE)}</p>')


def trace_text(found: SummaryAnswer) -> str:
    """Return the same as Markdown."""
    return fenced(as_text(found))


def fenced(text: str) -> str:
    """Return harmless text as a block of Markdown without markup."""
    return "```\n" + text.replace("```", "'''") + "\n```"


def heading(text: str) -> str:
    """Return the first line of a card."""
    return f'<p style="{_HEAD}"><b>{safe(text, _NAME)}</b></p>'


def paragraph(text: str) -> str:
    """Return a paragraph of a card."""
    return f'<p style="color:inherit;font-size:13px;margin:4px 0">{safe(text, _SENTENCE)}</p>'


def card(body: str) -> str:
    """Return a box around safe HTML."""
    found = (
        '<div style="border:1px solid rgba(128,128,128,.45);border-radius:6px;padding:8px 12px;max-width:680px;'
        f'color:inherit;background:transparent;font-family:sans-serif">{body}</div>'
    )
    assert len(found.encode()) <= MOST_BYTES
    return found


def _average_step_bar(parts: Sequence[Part]) -> str:
    """Draw the average step as one bar: its largest parts by colour, the rest grey, each with a tooltip."""
    whole = sum(part.ns for part in parts)
    if whole <= 0:
        return ""
    order = sorted(parts, key=lambda part: -part.ns)
    shown = [(part_name(part.cause), part_color(part.cause), float(part.ns)) for part in order[:_MOST_PARTS]]
    rest = whole - sum(ns for _, _, ns in shown)
    if rest > 0:
        shown.append(("Smaller parts", REST_COLOR, rest))
    left, shapes = 0.0, []
    for name, color, ns in shown:
        width = CARD_WIDTH * ns / whole
        tooltip = f"{name}: {text_of(ns, 'ns')}, {text_of(ns / whole, 'fraction')}"
        # parts of one colour are side by side
        drawn = max(width - _BETWEEN, width / 2)
        shapes.append(
            f'<rect x="{left:.2f}" y="0" width="{drawn:.2f}" height="{_HEIGHT}" fill="{color}">'
            f"<title>{escape(tooltip)}</title></rect>"
        )
        left += width
    legend = " · ".join(
        f'<span style="white-space:nowrap"><span style="color:{color}">■</span> {escape(name)} '
        f"{escape(text_of(ns / whole, 'fraction'))}</span>"
        for name, color, ns in shown
        if ns >= whole / 100
    )
    return (
        f'<svg role="img" aria-label="Where the average step goes" viewBox="0 0 {CARD_WIDTH} {_HEIGHT}" width="100%" '
        f'height="{_HEIGHT}" preserveAspectRatio="none">{"".join(shapes)}</svg><p style="{CAPTION_STYLE}">{legend}</p>'
    )


def _finding(found: SummaryFinding) -> str:
    where = f" ({found.where})" if found.where else ""
    saved = found.saving.after_others_ns if found.saving else None
    if saved is not None and found.saving is not None:
        where += f": {'at most ' if found.saving.bound else ''}{text_of(saved, 'ns')} a step"
    return f"<b>{safe(found.title, _SENTENCE)}</b>{safe(where, _SENTENCE)}"


def _note(note: Note) -> str:
    return f"{note.severity}: {safe(note.text, _SENTENCE)}"


def _list(entries: Sequence[str], empty: str) -> str:
    if not entries:
        return f'<p style="{CAPTION_STYLE}">{empty}</p>' if empty else ""
    return f'<ul style="{_LIST}">' + "".join(f"<li>{each}</li>" for each in entries) + "</ul>"


def _plain(text: str) -> str:
    """Return a name in Markdown, as a code span that no character in the name can end."""
    return "`" + harmless(text, _NAME).replace("`", "'") + "`"


def safe(text: str, most: int) -> str:
    """Return an untrusted text, escaped for HTML."""
    return escape(harmless(text, most), quote=True)


_CHANGE_BAR, _MOST_ROWS = 18, 6
_WORK_NAME = 70
#: readable on white and on black
_SLOWER, _FASTER = "#d9822b", "#4c78c8"


def shown_change(found: ChangeAnswer) -> ShownChange:
    """Wrap an answer so that a notebook shows it."""
    return ShownChange(**msgspec.structs.asdict(found))


class ShownChange(ChangeAnswer, frozen=True, kw_only=True):
    """What changed between two sides; a notebook shows it as a card."""

    def _repr_html_(self) -> str:
        return card(
            heading("What changed")
            + paragraph(sentence(self))
            + paragraph(sureness(self))
            + _change_bar(self)
            + _changed_work(self)
        )

    def _repr_mimebundle_(self, **_: object) -> dict[str, str]:
        text = f"{sentence(self)} {sureness(self)}"
        return {"text/html": self._repr_html_(), "text/markdown": safe(text, 500), "text/plain": harmless(text, 500)}


def _change_bar(found: ChangeAnswer) -> str:
    """Draw the causes that changed on one scale: decreases left of the middle, increases right of it."""
    moved = [each for each in found.causes if each.delta_ns]
    less = sum(-each.delta_ns for each in moved if each.delta_ns < 0)
    more = sum(each.delta_ns for each in moved if each.delta_ns > 0)
    if not less + more:
        return ""
    scale = CARD_WIDTH / (less + more)
    shapes = [*_stretch(less * scale, moved, scale, False), *_stretch(less * scale, moved, scale, True)]
    middle = f'<rect x="{less * scale - 0.75:.2f}" y="0" width="1.5" height="{_CHANGE_BAR}" fill="#8c8c8c"/>'
    caption = f"{text_of(less, 'ns')} less, {text_of(more, 'ns')} more"
    return (
        f'<svg role="img" aria-label="What takes less and what takes more" viewBox="0 0 {CARD_WIDTH} {_CHANGE_BAR}" '
        f'width="100%" height="{_CHANGE_BAR}" preserveAspectRatio="none">{"".join(shapes)}{middle}</svg>'
        f'<p style="{CAPTION_STYLE}">{escape(caption)}</p>'
    )


def _stretch(middle: float, moved: list[ChangedCause], scale: float, is_more: bool) -> list[str]:
    left, shapes, color = middle, [], _SLOWER if is_more else _FASTER
    for number, each in enumerate(each for each in moved if (each.delta_ns > 0) == is_more):
        width = abs(each.delta_ns) * scale
        left -= 0 if is_more else width
        tooltip = f"{part_name(each.cause)}: {'+' if is_more else '−'}{text_of(abs(each.delta_ns), 'ns')}"
        shapes.append(
            f'<rect x="{left:.2f}" y="0" width="{width:.2f}" height="{_CHANGE_BAR}" fill="{color}" '
            f'opacity="{1 - 0.15 * min(number, 4):.2f}"><title>{escape(tooltip)}</title></rect>'
        )
        left += width if is_more else 0
    return shapes


def _changed_work(found: ChangeAnswer) -> str:
    rows = "".join(
        f'<tr><td align="left">{safe(each.exp_label or each.label or "", _WORK_NAME)}</td>'
        f'<td align="left">{escape(what_happened(each))}</td><td align="right">{"+" if each.delta_ns > 0 else "−"}'
        f"{escape(text_of(abs(each.delta_ns), 'ns'))}</td></tr>"
        for each in found.work[:_MOST_ROWS]
        if each.delta_ns
    )
    if not rows:
        return ""
    head = '<tr><th align="left">Work</th><th align="left">What happened</th><th align="right">In a step</th></tr>'
    return f'<table cellpadding="4" style="{TABLE_STYLE}"><thead>{head}</thead><tbody>{rows}</tbody></table>'
