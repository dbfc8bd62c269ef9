"""The question about calls of the device's API."""

from __future__ import annotations

from torch_tb_profiler.analysis.api_calls.calls import api_calls
from torch_tb_profiler.analysis.api_calls.columns import API_CALLS as COLUMNS
from torch_tb_profiler.analysis.question import NoParameters, Subject, TraceQuestion
from torch_tb_profiler.analysis.table import Table, TableMeta, table_of


def _answer(subject: Subject, _: NoParameters) -> Table[TableMeta]:
    found = api_calls(subject.model)
    totals = {"total_ns": int(found.total_ns.sum())}
    return table_of(TableMeta(**subject.about("operators")), found, COLUMNS, COLUMNS, totals)


API_CALLS = TraceQuestion(
    name="api_calls",
    summary="Calls of the device's API, by function and caller",
    answer=Table[TableMeta],
    compute=_answer,
    first=(NoParameters(),),
    report=({},),
)
