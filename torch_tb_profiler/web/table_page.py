"""From a request to a page of a table."""

from __future__ import annotations

from typing import Literal

from torch_tb_profiler.arrays.json import dumps
from torch_tb_profiler.tables.query.answer import Query, TableAnswer
from torch_tb_profiler.tables.query.grammar import QueryProblem
from torch_tb_profiler.web.http import Answer, HttpError, Parameters

_ASKED = ("sort", "filter", "search", "offset", "limit")


def is_queried(parameters: Parameters) -> bool:
    """Whether a request asks for a page of its own."""
    return any(parameters.get(name) is not None for name in _ASKED)


def answer_query(table: TableAnswer, parameters: Parameters) -> Answer:
    """What `sort`, `filter`, `offset`, `limit` ask of a table. Raises HttpError."""
    return Answer(page_of(parameters, table))


def page_of(parameters: Parameters, table: TableAnswer) -> bytes:
    """What `answer_query` sends: JSON. Raises HttpError."""
    query = query_of(parameters)
    try:
        return dumps(table.page(query))
    except QueryProblem as problem:
        more = {"kind": problem.kind, "token": problem.token, "name": problem.name}
        raise HttpError(400, str(problem), {"problem": more}) from None


def query_of(parameters: Parameters) -> Query:
    """What a request asks of a table. Raises HttpError."""
    limit: int | Literal["all"] | None
    limit = "all" if parameters.get("limit") == "all" else parameters.whole_number("limit", None, 1)
    return Query(
        sort=parameters.get("sort") or "",
        filter=parameters.get("filter") or "",
        search=parameters.get("search"),
        offset=parameters.whole_number("offset", 0, 0),
        limit=limit,
    )
