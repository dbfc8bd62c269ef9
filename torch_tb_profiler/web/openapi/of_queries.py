"""Routes that exist only on a server started with `serve --sql`."""

from __future__ import annotations

from torch_tb_profiler.analysis.answer_schemas import schema_of
from torch_tb_profiler.analysis.json_schema import TEXT
from torch_tb_profiler.tables.sql.connection import LONGEST_STATEMENT
from torch_tb_profiler.web.openapi.operation import Operation
from torch_tb_profiler.web.openapi.parameters import STEP_RULES, TRACE, choice, needed
from torch_tb_profiler.web.queries import PATH, TABLES_PATH, QueryResult, QueryTables

_ONLY = "Only on a stand-alone server that was started with `serve --sql`; otherwise, and in TensorBoard, 404."
_OF = choice("of", "That trace, or all traces of its span.", ("trace", "span"))

#: types of answers
ANSWERS = (QueryResult, QueryTables)

OPERATIONS: dict[str, Operation] = {
    PATH: Operation(
        "queries",
        "The first rows of a query in SQL",
        schema_of(QueryResult),
        [
            *TRACE,
            *STEP_RULES,
            needed("query", "One SELECT (docs/sql.md).", {**TEXT, "maxLength": LONGEST_STATEMENT}),
            _OF,
        ],
        f"{_ONLY} It runs in a process of its own, with limits on time and memory. A query that fails gives 400.",
    ),
    TABLES_PATH: Operation(
        "queries",
        "What queries can name",
        schema_of(QueryTables),
        [*TRACE, *STEP_RULES, _OF],
        _ONLY,
    ),
}
