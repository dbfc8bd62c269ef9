"""Which traces there are."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, digits
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import Next, TableCells, Tool, ToolAnswer, ToolParams

_PAGE = 25
#: of a run of many ranks, unless they are asked for
_OF_RUN = 4
_BYTES_IN_MB = 10**6
COLUMNS = ("trace", "megabytes", "read", "events", "rank")


class WhichTraces(ToolParams, frozen=True, kw_only=True):
    """Which of them."""

    match: Annotated[str, Meta(description="A part of the id; capital and small letters are the same.")] = ""
    offset: Annotated[int, Meta(description="Entries to leave out.", ge=0)] = 0


class TracesAnswer(ToolAnswer, frozen=True, kw_only=True):
    """The traces below the root.

    total   how many match, listed or not
    table   trace: the id that other tools take; megabytes: size of the file; read: whether it was read before, so that
            tools answer at once; events and rank: null until then
    next    what to call: ranks for a run of several, else summary; null without traces
    """

    total: Count
    table: TableCells
    next: Next | None


def _traces(catalog: TraceCatalog, params: WhichTraces) -> TracesAnswer:
    listing = catalog.look()
    wanted = params.match.casefold()
    listed = [(name, trace) for name, trace in listing.traces.items() if wanted in name.casefold()]
    total = len(listed)
    if not wanted:
        first = {id(trace) for run in listing.runs.values() for trace in run.traces[:_OF_RUN]}
        listed = [(name, trace) for name, trace in listed if id(trace) in first]
    rows: list[list[str | float | bool | None]] = []
    for name, trace in listed[params.offset : params.offset + _PAGE]:
        known = trace.source.workspace.known(trace.source.file)
        size = digits(trace.size / _BYTES_IN_MB)
        rows.append([name, size, known is not None, *((known.events, known.rank) if known else (None, None))])
    left = len(listed) - params.offset - len(rows)
    notes = []
    if listing.outside:
        notes.append(f"{listing.outside} files are links to places outside the root and are not read.")
    if len(listed) < total and not wanted:
        notes.append(f"Of a run with more the first {_OF_RUN} traces are listed; match lists the others.")
    if not listed:
        notes.append("There is no such trace below the root." if params.match else "There is no trace below the root.")
    return TracesAnswer(
        total=total,
        table=TableCells(columns=COLUMNS, rows=rows),
        next=_next(catalog, listed[0][0]) if listed else None,
        notes=notes,
        more={"table.rows": left} if left > 0 else {},
    )


def _next(catalog: TraceCatalog, trace: str) -> Next:
    """Return where to begin with the first: several ranks are asked together."""
    run = catalog.run(trace)
    if len(run.workers) > 1:
        return Next(tool="ranks", arguments={"run": catalog.id_of_run(run.traces[0])})
    return Next(tool="summary", arguments={"trace": trace})


TRACES = Tool(
    name="traces",
    title="Traces",
    summary="List the profiler traces that can be asked about. Call it first: every other tool takes an id from it.",
    arguments=WhichTraces,
    answer=TracesAnswer,
    compute=_traces,
    budget=1_500,
    shrinks=("table.rows",),
    untrusted=("table.rows[]", "next.arguments"),
)
