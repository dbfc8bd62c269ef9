"""A table for a notebook: HTML without script or style sheet, and Markdown. Names in it are escaped."""

from __future__ import annotations

from html import escape
from typing import Any

from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.shown.grid import Grid
from torch_tb_profiler.analysis.shown.texts import harmless, text_of

#: of one result, as a notebook keeps it
MOST_BYTES = 20_000
MOST_ROWS = 20
_MOST_COLUMNS = 14
#: characters of a name, and of what is shown when the pointer rests on it
_NAME, _WHOLE_NAME, _HELP = 60, 160, 200

#: no colour of its own, so that it is readable in the light and in the dark
TABLE_STYLE = "border-collapse:collapse;color:inherit;background:transparent;font-size:13px"
CAPTION_STYLE = "color:inherit;opacity:.75;font-size:12px;margin:4px 0"


def table_html(grid: Grid, rows: int = MOST_ROWS, most: int = MOST_BYTES) -> str:
    """The first rows with units; definitions appear on hover. At most `most` bytes."""
    columns = _shown(grid)
    for count in range(min(rows, grid.size), -1, -1):
        found = _html(grid, columns, count)
        if len(found.encode()) <= most or not count:
            return found
    raise AssertionError


def table_markdown(grid: Grid, rows: int = MOST_ROWS) -> str:
    """The same as Markdown, which is readable as plain text too."""
    columns = _shown(grid)
    values = grid.first(min(rows, grid.size))
    lines = [
        "| " + " | ".join(_cell(each.label) for each in columns) + " |",
        "|" + "|".join(" ---: " if each.type == "number" else " --- " for each in columns) + "|",
    ]
    lines += [
        "| " + " | ".join(_cell(text_of(values[each.key][at], each.unit)) for each in columns) + " |"
        for at in range(min(rows, grid.size))
    ]
    return "\n".join([*lines, "", _caption(grid, min(rows, grid.size), len(columns))])


def _shown(grid: Grid) -> list[Definition]:
    """The first of those that are not hidden; data frames have all."""
    return [each for each in grid.columns if not each.hidden][:_MOST_COLUMNS]


def _html(grid: Grid, columns: list[Definition], count: int) -> str:
    values = grid.first(count)
    head = "".join(f'<th align="{_side(each)}" title="{_title(each)}">{escape(each.label)}</th>' for each in columns)
    body = "".join(
        "<tr>" + "".join(_html_cell(values[each.key][at], each) for each in columns) + "</tr>" for at in range(count)
    )
    caption = escape(_caption(grid, count, len(columns)))
    return (
        f'<div style="overflow-x:auto"><table cellpadding="4" style="{TABLE_STYLE}"><thead><tr>{head}</tr></thead>'
        f'<tbody>{body}</tbody></table><p style="{CAPTION_STYLE}">{caption}</p></div>'
    )


def _caption(grid: Grid, count: int, columns: int) -> str:
    shown = f"{count} of {grid.size:,} rows"
    if columns < len(grid.columns):
        shown += f", {columns} of {len(grid.columns)} columns"
    return f"{grid.title}: {shown}" if grid.title else shown


def _side(column: Definition) -> str:
    return "right" if column.type == "number" else "left"


def _title(column: Definition) -> str:
    return escape(harmless(f"{column.key}: {column.help}" if column.help else column.key, _HELP), quote=True)


def _html_cell(value: Any, column: Definition) -> str:
    text = harmless(text_of(value, column.unit))
    if column.type == "number":
        exact = f' title="{value:,} ns"' if column.unit == "ns" and isinstance(value, int) else ""
        return f'<td align="right"{exact}>{escape(text).replace(" ", "&nbsp;")}</td>'
    if len(text) <= _NAME:
        return f'<td align="left">{escape(text)}</td>'
    whole = escape(harmless(text, _WHOLE_NAME), quote=True)
    return f'<td align="left" title="{whole}">{escape(harmless(text, _NAME))}</td>'


def _cell(text: str) -> str:
    """Of a table in Markdown: nothing in it begins a link, a tag or another cell."""
    safe = harmless(text, _NAME)
    for mark in "\\`*_[]<>|!#":
        safe = safe.replace(mark, f"\\{mark}" if mark not in "<>" else {"<": "&lt;", ">": "&gt;"}[mark])
    return safe
