"""Tables of a trace: the tools `table`, `definitions` of their columns, and `sql`."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Definition, by_key, digits
from torch_tb_profiler.analysis.compare.question import ComparedKernels, ComparedOperators
from torch_tb_profiler.analysis.tabular import PageMeta, Table
from torch_tb_profiler.analysis.text_format import harmless
from torch_tb_profiler.analysis.waterfall.causes import ALL
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import (
    LONGEST_NAME,
    AnyTool,
    InvalidRequest,
    TableCells,
    Tool,
    ToolAnswer,
    ToolParams,
    TraceId,
    cells_of,
    key_of,
)
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.tables.listing import FOR_AGENTS, AgentOptions, ListedTable
from torch_tb_profiler.tables.query import Query, TableAnswer
from torch_tb_profiler.tables.query.grammar import QueryProblem
from torch_tb_profiler.tables.results import COLUMNS, RESULTS
from torch_tb_profiler.tables.sql import QueryError, QueryLimits
from torch_tb_profiler.tables.sql.session import QuerySessions
from torch_tb_profiler.workspace.answering.answerer import step_range


class AgentTable(msgspec.Struct, frozen=True):
    """A table.

    help    what a row is, in our words
    ask     the table of a trace: how it is grouped (None: as usual), and from which step to which
    groups  how it can be grouped
    defined what its columns mean, by key
    """

    help: str
    ask: Callable[[TraceProfile, str | None, StepRange | None], Table[Any]]
    groups: Sequence[str]
    defined: Mapping[str, Definition]


def _ask(
    listed: ListedTable, agents: AgentOptions, trace: TraceProfile, group: str | None, steps: StepRange | None
) -> Table[Any]:
    params = {**agents.own} if group is None else {**agents.own, "group_by": group}
    if listed.question:
        ends = {} if steps is None else {"from_step": steps.first, "to_step": steps.last}
        answer: Table[Any] = trace.answer(listed.question, **ends, **params)
        return answer

    def made(model: Model) -> Table[Any]:
        grid = RESULTS[listed.name](model if steps is None else model.of_steps(steps), params).as_grid()
        return Table(PageMeta(), grid.columns, grid.values)

    return trace.ask(made)


def _defined_columns(name: str) -> Mapping[str, Definition]:
    if name not in COLUMNS:
        raise LookupError(f"tables/listing.py gives agents the table {name}, of which tables/results.py has no columns")
    return COLUMNS[name]


TABLES: Mapping[str, AgentTable] = {
    name: AgentTable(agents.row, partial(_ask, of, agents), of.groups, _defined_columns(name))
    for name, (of, agents) in FOR_AGENTS.items()
}

#: what else has definitions: of the tools compare and ranks, and the causes of the parts of a step
_OTHERS: Mapping[str, Mapping[str, Definition]] = {
    "compare": {**ComparedOperators.columns, **ComparedKernels.columns},
    "communication": COLUMNS["communication"],
    "causes": by_key("waterfall", *(Definition(m.cause, m.cause, "number", "ns", m.help) for m in ALL)),
}


def definitions_of(name: str) -> list[tuple[str, Definition]]:
    """Table and definition of each column or cause called so, or `table.column`; `_ms` stands for `_ns`."""
    groups = {**{table: each.defined for table, each in TABLES.items()}, **_OTHERS}
    wanted = name.removesuffix("_ms")
    found = []
    for table, defined in groups.items():
        for key, each in defined.items():
            bare = key.removesuffix("_ns")
            if wanted in (key, bare, f"{table}.{key}", f"{table}.{bare}") or name == key:
                found.append((table, each))
    return found


_LONGEST_TEXT = 1_000
#: a column in milliseconds, perhaps with a limit that has no unit of its own
_IN_MS = re.compile(r'(?<![\w"])(\w+)_ms\b(?:(>=|<=|!=|=|>|<)([\d.]+)(?![\w%]))?')

if TYPE_CHECKING:
    TableName = str  # type checkers know only literals that are written out
else:
    TableName = Literal[tuple(TABLES)]


class WhichRows(ToolParams, frozen=True, kw_only=True):
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


class TablePage(ToolAnswer, frozen=True, kw_only=True):
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
    table: TableCells


def _table(catalog: TraceCatalog, params: WhichRows) -> TablePage:
    named = TABLES[params.what]
    if params.group_by is not None and params.group_by not in named.groups:
        known = ", ".join(named.groups) or "nothing"
        raise InvalidRequest(f"group_by of {params.what} can be {known}")
    steps = step_range(params.from_step, params.to_step)
    answer = TableAnswer(named.ask(catalog.trace(params.trace), params.group_by, steps))
    shown = {key_of(column): column for column in answer.table.columns}
    columns = _chosen_columns(shown, params.columns)
    query = Query(_keys(params.sort, shown), _keys(params.filter, shown), None, params.offset, params.limit)
    try:
        page = answer.page(query)
    except QueryProblem as error:
        raise InvalidRequest(f"{error}; columns are {', '.join(shown)}") from None
    left = page.meta.matched - params.offset - len(page.rows[page.columns[0].key] if page.columns else ())
    return TablePage(
        total=page.meta.total,
        matched=page.meta.matched,
        units={key_of(c): str(c.unit) for c in columns if c.unit not in (None, "ns", "count", "bytes")},
        hidden=[] if params.columns else [key for key, column in shown.items() if column.hidden],
        table=cells_of(columns, page.rows),
        notes=[] if page.meta.total else [f"The trace has nothing for this table: {named.help}."],
        more={"table.rows": left} if left > 0 else {},
    )


def _chosen_columns(shown: Mapping[str, Definition], wanted: Sequence[str]) -> list[Definition]:
    unknown = [name for name in wanted if name not in shown]
    if unknown:
        raise InvalidRequest(f"there is no such column; columns are {', '.join(shown)}")
    return [shown[name] for name in wanted] or [each for each in shown.values() if not each.hidden]


def _keys(text: str, shown: Mapping[str, Definition]) -> str:
    """Translate shown keys into those of the table: `mean_ms>5` is `mean_ns>5ms`."""

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
    answer=TablePage,
    compute=_table,
    budget=3_000,
    shrinks=("table.rows",),
    untrusted=("table.rows[]",),
)


class DefinitionNames(ToolParams, frozen=True, kw_only=True):
    """Which names."""

    names: Annotated[
        Sequence[str],
        Meta(description="Columns or causes, as answers name them; also `table.column`.", min_length=1, max_length=20),
    ]


class ColumnMeaning(msgspec.Struct, frozen=True, kw_only=True):
    """What a name means in a table.

    name   of the column or cause
    table  whose column it is
    unit   of its values; null if they have none. Answers of tools have ns as milliseconds
    means  definition and formula
    """

    name: str
    table: str
    unit: str | None
    means: str


class DefinitionsAnswer(ToolAnswer, frozen=True, kw_only=True):
    """Definitions.

    definitions  of the names, by table
    unknown      how many of the names have none
    """

    definitions: Sequence[ColumnMeaning]
    unknown: int


def _definitions(_: TraceCatalog, params: DefinitionNames) -> DefinitionsAnswer:
    found = [definitions_of(name) for name in params.names]
    seen: dict[str, ColumnMeaning] = {}
    for table, each in (pair for pairs in found for pair in pairs):
        # the same words for the same column of several tables are said once
        seen.setdefault(
            f"{each.key} {each.help}", ColumnMeaning(name=each.key, table=table, unit=each.unit, means=each.help)
        )
    return DefinitionsAnswer(definitions=list(seen.values()), unknown=sum(not pairs for pairs in found))


DEFINITIONS = Tool(
    name="definitions",
    title="Definitions",
    summary="Say what columns of tables and causes of time mean, with unit and formula.",
    arguments=DefinitionNames,
    answer=DefinitionsAnswer,
    compute=_definitions,
    budget=1_500,
    shrinks=("definitions",),
)


_LONGEST_QUERY = 10_000
#: rows that are asked for; fewer fit
_MOST_ROWS = 200
_LONGEST_ERROR = 300


class OneQuery(ToolParams, frozen=True, kw_only=True):
    """Which query."""

    trace: TraceId
    query: Annotated[
        str,
        Meta(
            description="One SELECT of DuckDB. Tables: select * from columns. Times are ns and end with _ns; ms(x) "
            "makes milliseconds. Add a limit.",
            max_length=_LONGEST_QUERY,
        ),
    ]


class SqlAnswer(ToolAnswer, frozen=True, kw_only=True):
    """What a query found.

    types  of the columns, as DuckDB calls them
    table  the rows; texts are cut after 120 characters, numbers have four digits that matter, integers all
    """

    types: Sequence[str]
    table: TableCells


class SqlTool(QuerySessions):
    """The processes that answer the queries of agents, and their tool."""

    def __init__(self, limits: QueryLimits | None = None) -> None:
        super().__init__(limits or QueryLimits(rows=_MOST_ROWS))

    def tool(self) -> AnyTool:
        """Return the tool, which only a server that was started with --sql has."""
        return Tool(
            name="sql",
            title="SQL",
            summary=(
                "Answer one SELECT over the tables of a trace, in a process that can read nothing else. Only for what "
                "no other tool answers."
            ),
            arguments=OneQuery,
            answer=SqlAnswer,
            compute=self._sql,
            budget=4_000,
            shrinks=("table.rows",),
            untrusted=("table.columns", "table.rows[]"),
        )

    def _sql(self, catalog: TraceCatalog, params: OneQuery) -> SqlAnswer:
        try:
            found = self.ask(catalog.trace(params.trace).stored(), params.query)
        except QueryError as error:
            # lines below the first point at a place in the statement
            raise InvalidRequest(harmless(str(error).partition("\n")[0], _LONGEST_ERROR)) from None
        columns = [harmless(name, LONGEST_NAME) for name in found.columns]
        rows = [[_query_cell(value) for value in row] for row in found.rows]
        notes = ["There are more rows than are given back: add a limit, or sum up."] if found.more else []
        return SqlAnswer(types=found.types, table=TableCells(columns=columns, rows=rows), notes=notes)


def _query_cell(value: Any) -> str | float | int | bool | None:
    if isinstance(value, bool) or value is None:
        return value
    if isinstance(value, float):
        return digits(value)
    return value if isinstance(value, int) else harmless(str(value), LONGEST_NAME)
