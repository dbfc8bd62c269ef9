"""Any table of a trace: sorted, filtered, some columns, a page."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Literal

from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.mcp.catalog import Catalog
from torch_tb_profiler.mcp.declaration import Asked, Cells, Told, Tool, TraceId, Wrong
from torch_tb_profiler.mcp.tables import TABLES
from torch_tb_profiler.mcp.values import cells_of, key_of
from torch_tb_profiler.tables.query import Query, TableAnswer
from torch_tb_profiler.tables.query.grammar import Problem
from torch_tb_profiler.workspace.answering.asking import step_range

_LONGEST_TEXT = 1_000
#: a column in milliseconds, perhaps with a limit that has no unit of its own
_IN_MS = re.compile(r'(?<![\w"])(\w+)_ms\b(?:(>=|<=|!=|=|>|<)([\d.]+)(?![\w%]))?')

if TYPE_CHECKING:
    TableName = str  # type checkers know only literals that are written out
else:
    TableName = Literal[tuple(TABLES)]


class WhichRows(Asked, frozen=True, kw_only=True):
    """Which table, and which of its rows and columns."""

    trace: TraceId
    what: Annotated[TableName, Meta(description="Which table.")]
    filter: Annotated[
        str,
        Meta(
            description='Conditions with spaces between them: a word or "a text" in the name, `device_self_ms>5`, '
            '`calls>=10`, `name~^aten::` (regular expression), `operator="aten::mm"`. All must hold.',
            max_length=_LONGEST_TEXT,
        ),
    ] = ""
    sort: Annotated[
        str,
        Meta(description="Columns with commas between them, - for the largest first.", max_length=_LONGEST_TEXT),
    ] = ""
    columns: Annotated[
        Sequence[str], Meta(description="Only these columns; all but `hidden` without it.", max_length=50)
    ] = ()
    group_by: Annotated[
        str | None,
        Meta(
            description="What makes a row. "
            + "; ".join(f"{name}: {', '.join(each.groups)}" for name, each in TABLES.items() if each.groups)
        ),
    ] = None
    from_step: Annotated[str | None, Meta(description="Only from this step on; with to_step.")] = None
    to_step: Annotated[str | None, Meta(description="Only up to this step, included.")] = None
    limit: Annotated[int, Meta(description="Rows.", ge=1, le=50)] = 10
    offset: Annotated[int, Meta(description="Rows to leave out.", ge=0)] = 0


class TableTold(Told, frozen=True, kw_only=True):
    """A page of a table.

    total    rows of the table
    matched  rows that pass the filter
    units    of columns whose names do not end with one
    hidden   columns that are left out until `columns` names them
    table    the rows
    """

    total: Count
    matched: Count
    units: Mapping[str, str]
    hidden: Sequence[str]
    table: Cells


def _table(catalog: Catalog, asked: WhichRows) -> TableTold:
    named = TABLES[asked.what]
    if asked.group_by is not None and asked.group_by not in named.groups:
        known = ", ".join(named.groups) or "nothing"
        raise Wrong(f"group_by of {asked.what} can be {known}")
    steps = step_range(asked.from_step, asked.to_step)
    found = TableAnswer(named.ask(catalog.trace(asked.trace), asked.group_by, steps))
    shown = {key_of(column): column for column in found.table.columns}
    columns = _columns(shown, asked.columns)
    query = Query(_keys(asked.sort, shown), _keys(asked.filter, shown), None, asked.offset, asked.limit)
    try:
        page = found.page(query)
    except Problem as error:
        raise Wrong(f"{error}; columns are {', '.join(shown)}") from None
    left = page.meta.matched - asked.offset - len(page.rows[page.columns[0].key] if page.columns else ())
    return TableTold(
        total=page.meta.total,
        matched=page.meta.matched,
        units={key_of(c): str(c.unit) for c in columns if c.unit not in (None, "ns", "count", "bytes")},
        hidden=[] if asked.columns else [key for key, column in shown.items() if column.hidden],
        table=cells_of(columns, page.rows),
        notes=[] if page.meta.total else [f"The trace has nothing for this table: {named.help}."],
        more={"table.rows": left} if left > 0 else {},
    )


def _columns(shown: Mapping[str, Definition], wanted: Sequence[str]) -> list[Definition]:
    unknown = [name for name in wanted if name not in shown]
    if unknown:
        raise Wrong(f"there is no such column; columns are {', '.join(shown)}")
    return [shown[name] for name in wanted] or [each for each in shown.values() if not each.hidden]


def _keys(text: str, shown: Mapping[str, Definition]) -> str:
    """With the keys of the table in place of those that are shown: `mean_ms>5` is `mean_ns>5ms`."""

    def translated(found: re.Match[str]) -> str:
        if f"{found[1]}_ms" not in shown:
            return found[0]
        return f"{found[1]}_ns" + (f"{found[2]}{found[3]}ms" if found[2] else "")

    return _IN_MS.sub(translated, text)


TABLE = Tool(
    name="table",
    title="A table",
    summary=(
        "Rows of one table of a trace, sorted and filtered. "
        + " ".join(f"{name}: {each.help}." for name, each in TABLES.items())
    ),
    arguments=WhichRows,
    answer=TableTold,
    compute=_table,
    budget=3_000,
    shrinks=("table.rows",),
    untrusted=("table.rows[]",),
)
