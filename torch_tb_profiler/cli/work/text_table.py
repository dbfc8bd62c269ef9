"""A table as text that fits the terminal and that no name from a trace can corrupt.

The standard library has nothing of the kind, and what others offer takes longer to import than a table to make. Text is
last in a line: so names keep their ends where there is room, and no line begins with what a trace says, which programs
that read output (a CI's commands, `::error …`) would take for orders.
"""

from __future__ import annotations

import os
import shutil
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any, Literal, TextIO

from torch_tb_profiler.analysis.tabular import Column
from torch_tb_profiler.analysis.text_format import MISSING, in_column, yes_no
from torch_tb_profiler.cli.messages import safe

__all__ = ["LEAST", "ColorChoice", "cells_of", "cut", "has_colors", "safe", "stdout_style", "text_table", "width_of"]

ColorChoice = Literal["auto", "always", "never"]

#: a text column is not cut to fewer cells of the terminal
LEAST = 16
#: cells to which a column is padded where nothing is cut: one long name makes one line long, not all
_WIDEST = 200
_GAP = "  "
_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"
_CUT = "…"


def has_colors(choice: ColorChoice, stream: TextIO) -> bool:
    """Return whether output to a stream is colored (no-color.org)."""
    if choice != "auto":
        return choice == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def width_of(stream: TextIO) -> int | None:
    """Return the columns of the terminal; None if the stream is none, then nothing is cut."""
    return shutil.get_terminal_size().columns if stream.isatty() else None


def stdout_style(choice: ColorChoice) -> tuple[int | None, bool]:
    """Return width and colors of stdout."""
    return width_of(sys.stdout), has_colors(choice, sys.stdout)


def text_table(
    columns: Sequence[Column],
    rows: Mapping[str, Sequence[Any]],
    width: int | None = None,
    colors: bool = False,
    indent: Sequence[int] | None = None,
) -> str:
    """Return a header line and a line for each row. indent: of the name of each row, if rows form a tree."""
    count = len(next(iter(rows.values()))) if rows else 0
    if not columns or columns[0].type == "string":
        numbers = [f"{row:,}" for row in range(1, count + 1)]
        cells = [("#", numbers, True)]
    else:
        cells = []
    cells += [_column(column, rows[column.key], indent) for column in columns]
    widths = [max(map(cells_of, (head, *texts)), default=0) for head, texts, _ in cells]
    if width is None:
        widths = [min(wide, _WIDEST) for wide in widths]
    else:
        _fit(widths, [not is_number for _, _, is_number in cells], width)
    lines = []
    for row in range(-1, count):
        parts = []
        for (head, texts, is_number), wide in zip(cells, widths, strict=True):
            text = head if row < 0 else texts[row]
            text = text if width is None else cut(text, wide)
            space = " " * (wide - cells_of(text))
            parts.append(space + text if is_number else text + space)
        line = _GAP.join(parts).rstrip()
        lines.append(f"{_BOLD}{line}{_PLAIN}" if row < 0 and colors else line)
    return "\n".join(lines)


def _column(column: Column, values: Sequence[Any], indent: Sequence[int] | None) -> tuple[str, list[str], bool]:
    """Return the head, the texts, and whether they are numbers."""
    label = safe(column.label)
    if column.type == "string":
        texts = [MISSING if value is None else safe(str(value)) for value in values]
        if indent is not None and column.key == "name":
            texts = [f"{'  ' * depth}{text}" for depth, text in zip(indent, texts, strict=True)]
        return label, texts, False
    if column.type == "bool":
        return label, [yes_no(value) for value in values], False
    unit, texts = in_column(values, column.unit)
    is_said = not unit or label.startswith(unit)
    return label if is_said else f"{label} {unit}", texts, True


def _fit(widths: list[int], can_be_cut: Sequence[bool], width: int) -> None:
    """Take from the widest texts until the line fits."""
    while sum(widths) + len(_GAP) * (len(widths) - 1) > width:
        wide = max((w for w, may in zip(widths, can_be_cut, strict=True) if may and w > LEAST), default=0)
        if not wide:
            return
        at = next(i for i, (w, may) in enumerate(zip(widths, can_be_cut, strict=True)) if may and w == wide)
        over = sum(widths) + len(_GAP) * (len(widths) - 1) - width
        others = [w for i, (w, may) in enumerate(zip(widths, can_be_cut, strict=True)) if may and i != at and w < wide]
        widths[at] = max(LEAST, wide - over, max(others, default=0) if max(others, default=0) > wide - over else 0)
        if widths[at] == wide:
            widths[at] -= 1


def cells_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: East Asian characters two, combining marks none."""
    if text.isascii():
        return len(text)
    return sum(map(_cells, text))


def _cells(sign: str) -> int:
    if unicodedata.combining(sign) or unicodedata.category(sign) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1


def cut(text: str, most: int) -> str:
    """Cut a text to this many columns; a mark shows where something is missing."""
    if cells_of(text) <= most:
        return text
    kept, used = [], 1
    for sign in text:
        used += _cells(sign)
        if used > most:
            break
        kept.append(sign)
    return "".join(kept) + _CUT
