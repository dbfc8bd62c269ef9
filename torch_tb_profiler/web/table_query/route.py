"""From a request to a page of a table."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Literal

from torch_tb_profiler.model import Model
from torch_tb_profiler.web.ask import Asked, packing
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, dumps
from torch_tb_profiler.web.table_query.answer import Query, TableAnswer
from torch_tb_profiler.web.table_query.grammar import Problem
from torch_tb_profiler.workspace import OpenTrace, StoredAnswer, Workspace

_ASKED = ("sort", "filter", "search", "offset", "limit")


def ask_table(
    workspace: Workspace,
    parameters: Parameters,
    question: Hashable,
    compute: Callable[[Model, OpenTrace], TableAnswer],
    of_steps: bool = True,
) -> Answer:
    """The table about the trace that the request names, or what `sort`, `filter`, `offset`, `limit` ask of it.

    Answers to requests without these are remembered; for others the table is, and they are made of it.
    `of_steps`: see `ask`.
    """
    asked = Asked.of(workspace, parameters, ("table", question), of_steps=of_steps)
    if not any(parameters.get(name) is not None for name in _ASKED):

        def unasked() -> StoredAnswer:
            kept: list[TableAnswer] = []

            def page(model: Model, trace: OpenTrace) -> object:
                table = compute(model, trace)
                if len(table) > table.whole:  # its other pages will be asked for
                    kept.append(table)
                return table.page()

            answer = asked.compute(workspace, packing(page))
            for table in kept:
                asked.keep(workspace, table)
            return answer

        return Answer(asked.packed(workspace, unasked))

    return answer_query(asked.part(workspace, compute), parameters)


def answer_query(table: TableAnswer, parameters: Parameters) -> Answer:
    """What `sort`, `filter`, `offset`, `limit` ask of a table. Raises HttpError."""
    query = query_of(parameters)
    try:
        return Answer(dumps(table.page(query)))
    except Problem as problem:
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
