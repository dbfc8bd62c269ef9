"""/api/hang: the hang report of a run, and where its calls are in traces of the same ranks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import msgspec

from torch_tb_profiler.analysis.answer import Count, Ns
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.hangs.diagnose import ExplainedReport, HangReport, LastCall, SaidOfHang, title
from torch_tb_profiler.hangs.dump import DumpedCall
from torch_tb_profiler.hangs.join import TracedCall, last_traced
from torch_tb_profiler.model import Model
from torch_tb_profiler.reason import Why
from torch_tb_profiler.web.http import HttpAnswer, Parameters
from torch_tb_profiler.workspace import Key, OpenTrace, Packed, UnknownTrace, Workspace, pack
from torch_tb_profiler.workspace.answering.answerer import ModelOf
from torch_tb_profiler.workspace.reading.hang_reports import report_of

#: named ranks whose traces are looked at
_MOST_JOINED = 16


class JoinedCall(msgspec.Struct, frozen=True, kw_only=True):
    """The last finished call of a named rank that the trace of the same rank has, too.

    rank         number of the rank in the job
    call         as in the report
    worker       of the trace
    span         of the trace
    row          row of the event in the trace
    start_ns     when it began
    duration_ns  how long it took
    """

    rank: Count
    call: str
    worker: str
    span: str
    row: Count
    start_ns: Ns
    duration_ns: Ns


class RunHangAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The hang report of a run, and what explains it.

    report    as `torch-tb-profiler hang --json` prints it
    sentence  the sentences that make up that of the report
    evidence  for each of its named ranks
    left_out  why each file is left out
    others    ranks without an unfinished call
    joined    by group and number; none where a call contradicts the trace
    """

    report: HangReport
    sentence: Sequence[SaidOfHang]
    evidence: Sequence[SaidOfHang]
    left_out: Sequence[Why]
    others: Sequence[LastCall]
    joined: Sequence[JoinedCall]


class _Read(msgspec.Struct, frozen=True):
    explained: ExplainedReport
    size: int


def hang_answer(workspace: Workspace, parameters: Parameters) -> HttpAnswer:
    run = parameters.need("run")
    folder = workspace.dumps(run)
    files = tuple((file.entry.url, file.entry.version) for file in folder.files)
    read = workspace.remember(Key((), ("hang", files)), lambda: _read(report_of(folder.files)))
    traces = _traces(workspace, run, read.explained)
    return HttpAnswer(
        workspace.remember(Key(tuple(traces.values()), ("hang", run, files)), partial(_answer, workspace, read, traces))
    )


def _read(explained: ExplainedReport) -> _Read:
    return _Read(explained, len(dumps(explained)))


def _traces(workspace: Workspace, run: str, explained: ExplainedReport) -> dict[int, OpenTrace]:
    """Return the newest trace of each named rank that can be asked."""
    try:
        traces = workspace.run(run).traces
    except UnknownTrace:
        return {}
    wanted = {named.rank for named in explained.report.named[:_MOST_JOINED]}
    return {
        trace.rank: workspace.find(run, trace.worker, trace.span)
        for trace in traces
        if trace.kind == "trace" and trace.state == "ready" and trace.rank in wanted
    }


def _answer(workspace: Workspace, read: _Read, traces: dict[int, OpenTrace]) -> Packed:
    explained = read.explained
    joined = []
    for rank, trace in traces.items():
        call = workspace.ask(partial(_last_traced, explained.finished[rank]), ModelOf(trace, is_kept=False))
        if call is not None:
            joined.append(
                JoinedCall(
                    rank=rank,
                    call=title(call.call),
                    worker=trace.worker,
                    span=trace.span,
                    row=call.row,
                    start_ns=call.start_ns,
                    duration_ns=call.duration_ns,
                )
            )
    return pack(
        dumps(
            RunHangAnswer(
                report=explained.report,
                sentence=explained.sentence,
                evidence=explained.evidence,
                left_out=[Why(kind=reason.kind, values=reason.values) for reason in explained.left_out],
                others=explained.others,
                joined=joined,
            )
        )
    )


def _last_traced(calls: list[DumpedCall], model: Model) -> TracedCall | None:
    return last_traced(model.trace, calls)
