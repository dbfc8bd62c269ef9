"""A change in a notebook."""

from __future__ import annotations

from html import escape
from typing import Any

import msgspec

from torch_tb_profiler.analysis.change.question import ChangeAnswer, ChangedCause
from torch_tb_profiler.analysis.change.sentence import sentence, sureness, what_happened
from torch_tb_profiler.analysis.tabular import CAPTION_STYLE, TABLE_STYLE
from torch_tb_profiler.analysis.text_format import harmless, text_of
from torch_tb_profiler.api.notebook.card import CARD_WIDTH, card, heading, paragraph, safe
from torch_tb_profiler.words.parts import part_name

_BAR, _ROWS = 18, 6
_NAME = 70
#: readable on white and on black
_SLOWER, _FASTER = "#d9822b", "#4c78c8"


def shown(found: ChangeAnswer) -> ShownChange:
    """The same, which a notebook shows."""
    return ShownChange(**msgspec.structs.asdict(found))


class ShownChange(ChangeAnswer, frozen=True, kw_only=True):
    """What changed between two sides; a notebook shows it as a card."""

    def _repr_html_(self) -> str:
        return card(
            heading("What changed") + paragraph(sentence(self)) + paragraph(sureness(self)) + _bar(self) + _work(self)
        )

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:  # noqa: ARG002
        told = f"{sentence(self)} {sureness(self)}"
        return {"text/html": self._repr_html_(), "text/markdown": safe(told, 500), "text/plain": harmless(told, 500)}


def _bar(found: ChangeAnswer) -> str:
    """The causes that moved, what takes less left of the middle and what takes more right of it, in one scale."""
    moved = [each for each in found.causes if each.delta_ns]
    less = sum(-each.delta_ns for each in moved if each.delta_ns < 0)
    more = sum(each.delta_ns for each in moved if each.delta_ns > 0)
    if not less + more:
        return ""
    scale = CARD_WIDTH / (less + more)
    shapes = [*_stretch(less * scale, moved, scale, False), *_stretch(less * scale, moved, scale, True)]
    middle = f'<rect x="{less * scale - 0.75:.2f}" y="0" width="1.5" height="{_BAR}" fill="#8c8c8c"/>'
    told = f"{text_of(less, 'ns')} less, {text_of(more, 'ns')} more"
    return (
        f'<svg role="img" aria-label="What takes less and what takes more" viewBox="0 0 {CARD_WIDTH} {_BAR}" '
        f'width="100%" height="{_BAR}" preserveAspectRatio="none">{"".join(shapes)}{middle}</svg>'
        f'<p style="{CAPTION_STYLE}">{escape(told)}</p>'
    )


def _stretch(middle: float, moved: list[ChangedCause], scale: float, is_more: bool) -> list[str]:
    left, shapes = middle, []
    for number, each in enumerate(each for each in moved if (each.delta_ns > 0) == is_more):
        width = abs(each.delta_ns) * scale
        left -= 0 if is_more else width
        told = f"{part_name(each.cause)}: {'+' if is_more else '−'}{text_of(abs(each.delta_ns), 'ns')}"
        shapes.append(
            f'<rect x="{left:.2f}" y="0" width="{width:.2f}" height="{_BAR}" fill="{_SLOWER if is_more else _FASTER}" '
            f'opacity="{1 - 0.15 * min(number, 4):.2f}"><title>{escape(told)}</title></rect>'
        )
        left += width if is_more else 0
    return shapes


def _work(found: ChangeAnswer) -> str:
    rows = "".join(
        f'<tr><td align="left">{safe(each.exp_label or each.label or "", _NAME)}</td>'
        f'<td align="left">{escape(what_happened(each))}</td><td align="right">{"+" if each.delta_ns > 0 else "−"}'
        f"{escape(text_of(abs(each.delta_ns), 'ns'))}</td></tr>"
        for each in found.work[:_ROWS]
        if each.delta_ns
    )
    if not rows:
        return ""
    head = '<tr><th align="left">Work</th><th align="left">What happened</th><th align="right">In a step</th></tr>'
    return f'<table cellpadding="4" style="{TABLE_STYLE}"><thead>{head}</thead><tbody>{rows}</tbody></table>'
