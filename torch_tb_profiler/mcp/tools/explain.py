"""Everything known about one finding, operator, kernel or cause, with the line of code of its longest call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ms, Row, digits
from torch_tb_profiler.analysis.slices import slices
from torch_tb_profiler.analysis.tabular import Table
from torch_tb_profiler.analysis.waterfall.causes import ALL
from torch_tb_profiler.analysis.waterfall.question import WaterfallAnswer
from torch_tb_profiler.analysis.waterfall.waterfall import is_below
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.insights.places import common_place
from torch_tb_profiler.insights.rule import Finding
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import (
    InvalidRequest,
    Next,
    TableCells,
    Tool,
    ToolAnswer,
    ToolParams,
    TraceId,
    brief,
    cells_of,
    milliseconds,
    name_of,
    named,
    sentence,
)
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.tables.query import Query, TableAnswer

#: events that have the name as a part of theirs, among which the longest of exactly this name is looked for
_LOOKED_AT = 1_000


class Call(msgspec.Struct, frozen=True):
    """One event.

    row                    its number
    start_ns, duration_ns  since the start of the trace, and how long
    where                  in the program; None if unknown
    """

    row: int
    start_ns: int
    duration_ns: int
    where: str | None


def longest_call(trace: TraceProfile, name: str, step: str | None = None) -> Call | None:
    """Return the longest event called so, in a step or in all."""

    def found(model: Model) -> Call | None:
        chosen = model if step is None else model.of_steps(StepRange(step, step))
        events = slices(chosen, name=name, limit=_LOOKED_AT)
        at = next((at for at, each in enumerate(events.name) if each == name), None)
        if at is None:
            return None
        row = int(events.row[at])
        where = common_place(model, np.array([row], np.int32))
        start, duration = int(events.start_ns[at]), int(events.duration_ns[at])
        return Call(row, start, duration, None if where is None else where.text)

    return trace.ask(found)


_LONGEST_NAME = 10_000
_MOST_PLACES = 5
#: columns of the tables that are shown, where the trace has them
_OPERATOR = ("calls", "device_self_ns", "device_total_ns", "host_self_ns", "host_total_ns", "kernels")
_KERNEL = (
    "calls",
    "total_ns",
    "mean_ns",
    "max_ns",
    "min_ns",
    "tensor_cores_used",
    "mean_blocks_per_sm",
    "mean_occupancy",
)
_LAUNCHED = ("name", "calls", "total_ns")


class WhichThing(ToolParams, frozen=True, kw_only=True):
    """What to explain."""

    trace: TraceId
    what: Annotated[
        Literal["finding", "operator", "kernel", "cause"],
        Meta(description="finding: an id of summary; operator, kernel: a name of a table; cause: a part of a step"),
    ]
    name: Annotated[str, Meta(description="Its id or name, as an answer gave it.", max_length=_LONGEST_NAME)]


class EvidenceNumber(msgspec.Struct, frozen=True, kw_only=True):
    """A number behind a finding.

    label  what it is
    value  in the unit; times are in ms
    unit   ms, bytes, fraction or count
    """

    label: str
    value: float | None
    unit: str


class TracePlace(msgspec.Struct, frozen=True, kw_only=True):
    """Where it can be seen in the trace.

    row          number of the event
    name         of the event
    step         in which it begins; null outside steps
    start_ms     since the start of the trace
    duration_ms  of the event
    """

    row: Row | None
    name: str
    step: str | None
    start_ms: Ms | None
    duration_ms: Ms | None


class ExplainAnswer(ToolAnswer, frozen=True, kw_only=True):
    """One finding, operator, kernel or cause. What does not apply is null or empty.

    what       finding, operator, kernel or cause
    name       its id or name
    text       what was found, or the definition; `{key}` stands for a name in `names`
    advice     what to do, with the code to write
    names      those that the texts speak of
    where      in the program
    saving_ms  what a step would save without it, beyond findings before; null also where that is refused
    refused    why no saving can be promised
    evidence   numbers behind a finding
    places     the longest places in the trace
    count      how many places there are
    totals     the row of an operator or kernel
    parts      its shapes; of a kernel what launches it
    kernels    that an operator launches itself
    links      pages that say more
    to_change  of a finding: what to call before the program is changed; null of others
    """

    what: str
    name: str
    text: str = ""
    advice: str = ""
    names: Mapping[str, str] = {}
    where: str | None = None
    saving_ms: Ms | None = None
    refused: str | None = None
    evidence: Sequence[EvidenceNumber] = ()
    places: Sequence[TracePlace] = ()
    count: Count | None = None
    totals: TableCells | None = None
    parts: TableCells | None = None
    kernels: TableCells | None = None
    links: Sequence[str] = ()
    to_change: Next | None = None


def _explain(catalog: TraceCatalog, params: WhichThing) -> ExplainAnswer:
    trace = catalog.trace(params.trace)
    if params.what == "finding":
        return _finding(trace, params)
    if params.what == "cause":
        return _cause(trace, params.name)
    return _named(trace, params.what, params.name)


def finding_of(trace: TraceProfile, key: str) -> Finding:
    """Return a finding by its key. Raises InvalidRequest."""
    finding: Finding | None = next((item for item in trace.findings() if item.key == key), None)
    if finding is None:
        raise InvalidRequest("there is no finding of this id; the tool summary lists them")
    return finding


def _finding(trace: TraceProfile, params: WhichThing) -> ExplainAnswer:
    finding = finding_of(trace, params.name)
    saving = finding.saving
    return ExplainAnswer(
        what="finding",
        name=finding.key,
        text=sentence(f"{finding.title}. {finding.detail}", finding.values),
        advice=sentence(finding.advice, finding.values),
        names=named(finding.values),
        where=None if finding.where is None else name_of(finding.where.text),
        saving_ms=None if saving is None else milliseconds(saving.after_others_ns),
        refused=None if saving is None else saving.refused,
        evidence=[_evidence(item.label, item.value, item.unit) for item in finding.evidence],
        places=[brief(TracePlace, item, name=name_of(item.name) or "") for item in finding.instances[:_MOST_PLACES]],
        count=finding.count,
        links=[link.url for link in finding.links],
        to_change=Next(tool="candidates", arguments={"trace": params.trace, "finding": finding.key}),
        notes=[] if saving is None or not saving.bound else ["saving_ms is the most that any remedy can save."],
    )


def _evidence(label: str, value: float, unit: str) -> EvidenceNumber:
    shown = milliseconds(value) if unit == "ns" else digits(value)
    return EvidenceNumber(label=label, value=shown, unit="ms" if unit == "ns" else unit)


def _cause(trace: TraceProfile, wanted: str) -> ExplainAnswer:
    meaning = next((each.help for each in ALL if each.cause == wanted), None)
    if meaning is None:
        raise InvalidRequest("there is no such cause; the tool summary lists those of a trace")
    answer: WaterfallAnswer = trace.answer("waterfall", cause=wanted, limit=_MOST_PLACES)
    pieces = answer.pieces
    mean_ns = sum(part.ns for part in answer.average if is_below(part.cause, wanted))
    return ExplainAnswer(
        what="cause",
        name=wanted,
        text=meaning,
        evidence=[_evidence("Of the average step", mean_ns, "ns")],
        places=[
            brief(
                TracePlace,
                piece,
                row=piece.host_row if piece.host_row is not None else piece.work_row,
                name=name_of(piece.frame or piece.host or piece.owner or piece.work) or "",
            )
            for piece in (pieces.largest if pieces else ())
        ],
        count=pieces.total if pieces else 0,
    )


class _Table(msgspec.Struct, frozen=True):
    """Of what a thing with a name is a row.

    name      of the table
    columns   that are shown
    group_by  how the table is grouped into parts
    parts     columns of those
    kernels   question that tells the kernels of one; none of a kernel itself
    """

    name: str
    columns: Sequence[str]
    group_by: str
    parts: Sequence[str]
    kernels: str = ""


_TABLES: Mapping[str, _Table] = {
    "operator": _Table("operators", _OPERATOR, "name_shape", ("input_shape", *_OPERATOR), "operators/kernels"),
    "kernel": _Table("kernels", _KERNEL, "name_op_launch", ("operator", "grid", "block", *_KERNEL)),
}


def _named(trace: TraceProfile, what: str, wanted: str) -> ExplainAnswer:
    """Explain an operator or a kernel."""
    table_of = _TABLES[what]
    table = trace.answer(table_of.name)
    name = _known(table, wanted, what)
    longest = longest_call(trace, name)
    kernels = _first(trace.answer(table_of.kernels, name=name), _LAUNCHED, _MOST_PLACES) if table_of.kernels else None
    return ExplainAnswer(
        what=what,
        name=name_of(name) or "",
        where=name_of(longest.where) if longest else None,
        places=[brief(TracePlace, longest, name=name_of(name) or "", step=None)] if longest else [],
        totals=_rows(table, table_of.columns, name, 1),
        parts=_rows(trace.answer(table_of.name, group_by=table_of.group_by), table_of.parts, name, _MOST_PLACES),
        kernels=kernels,
    )


def _known(table: Table[Any], wanted: str, what: str) -> str:
    """Return the full name for one that may have been cut for an agent."""
    found = next((name for name in table.values["name"] if wanted in (name, name_of(name))), None)
    if found is None:
        raise InvalidRequest(f"there is no {what} of this name; the tool table lists them")
    return str(found)


def _rows(table: Table[Any], keys: Sequence[str], name: str, limit: int) -> TableCells:
    """Return the rows of exactly this name."""
    chosen = [at for at, each in enumerate(table.values["name"]) if each == name][:limit]
    columns = [column for column in table.columns if column.key in keys]
    page = TableAnswer(table).page(Query(limit="all"))
    return cells_of(columns, {column.key: [page.rows[column.key][at] for at in chosen] for column in columns})


def _first(table: Table[Any], keys: Sequence[str], limit: int) -> TableCells:
    page = TableAnswer(table).page(Query(limit=limit))
    return cells_of([column for column in table.columns if column.key in keys], page.rows)


EXPLAIN = Tool(
    name="explain",
    title="Explain one thing",
    summary=(
        "Everything known about one finding (what to change, evidence, line of code), operator (shapes, kernels), "
        "kernel (what launches it) or cause of time (definition, longest places)."
    ),
    arguments=WhichThing,
    answer=ExplainAnswer,
    compute=_explain,
    budget=2_500,
    shrinks=("places", "parts.rows", "kernels.rows", "evidence", "links"),
    untrusted=(
        "name",
        "names",
        "where",
        "places[]",
        "totals.rows[]",
        "parts.rows[]",
        "kernels.rows[]",
        "to_change.arguments",
    ),
)
