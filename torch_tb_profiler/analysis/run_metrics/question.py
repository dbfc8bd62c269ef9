"""Questions about the figures of a trace, and about any number of traces in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.absent import absent_traces
from torch_tb_profiler.analysis.answer import Answer, Columns, Count, TraceMeta, plain
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.kernels import KERNELS, KernelTable, kernel_sums
from torch_tb_profiler.analysis.operators.calls import operator_sums
from torch_tb_profiler.analysis.operators.question import OPERATORS
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.question import Listed, NoParameters, Question, Refused, Scope, Subject
from torch_tb_profiler.analysis.run_metrics.metrics import TRACES as COLUMNS
from torch_tb_profiler.analysis.run_metrics.metrics import Figures, figures
from torch_tb_profiler.analysis.run_metrics.side_by_side import side_by_side, titles_of
from torch_tb_profiler.analysis.table import PageMeta, Table
from torch_tb_profiler.trace import Note

#: columns of a table of names: more could not be read beside each other
MOST_COLUMNS = 32

QuestionOfEach = tuple[Question, msgspec.Struct]

#: what can be set side by side, which of its numbers, and what they mean
_SIDE_BY_SIDE: dict[str, tuple[Question, tuple[str, ...], Mapping[str, Definition]]] = {
    "operators": (OPERATORS, ("host_self_ns", "device_self_ns", "calls"), OperatorTable.columns),
    "kernels": (KERNELS, ("total_ns", "calls"), KernelTable.columns),
}
_MEASURES = list(dict.fromkeys(measure for _, measures, _ in _SIDE_BY_SIDE.values() for measure in measures))


class FiguresAnswer(Answer, frozen=True, kw_only=True):
    """The figures of one trace.

    meta     which trace
    figures  one row of numbers
    """

    meta: TraceMeta
    figures: Figures


class TracesMeta(PageMeta, frozen=True, kw_only=True):
    """Beside a table of traces.

    of     which traces were meant
    notes  which of them are not in the table
    """

    of: str
    notes: Sequence[Note]


class TraceNames(msgspec.Struct, frozen=True):
    """Which trace.

    run     name of the run
    worker  name of the process that was recorded
    span    which recording of the worker it is
    """

    run: str
    worker: str
    span: str


class NamesMeta(TracesMeta, frozen=True, kw_only=True):
    """Beside a table of names.

    what      what the rows are: operators or kernels
    measure   the number of each cell
    per       step where the numbers are divided by the steps of their trace
    traces    of the columns t0, t1, …
    left_out  how many traces there was no column for
    """

    what: str
    measure: str
    per: Literal["step", "all"]
    traces: Sequence[TraceNames]
    left_out: Count


class SideBySide(Scope, frozen=True):
    """Which traces, and which of their numbers."""

    what: Annotated[Literal["operators", "kernels"], Meta(description="Rows.")] = "operators"
    measure: Annotated[
        Annotated[str, Meta(extra_json_schema={"enum": _MEASURES})] | None,
        Meta(
            description="Of operators host_self_ns (default), device_self_ns or calls, of kernels total_ns (default) "
            "or calls."
        ),
    ] = None
    per: Annotated[
        Literal["step", "all"],
        Meta(description="Sums over the steps divided by their number, or sums over the whole trace."),
    ] = "step"


def _figures(subject: Subject, _: NoParameters) -> FiguresAnswer:
    return FiguresAnswer(meta=TraceMeta(**subject.about("overview")), figures=figures(subject.model))


FIGURES = Question(
    name="figures",
    summary="The figures of one trace",
    compute=_figures,
    tag="several traces",
    of_steps=False,
    first=(NoParameters(),),
)


def _of_each(_: Scope) -> dict[str, QuestionOfEach]:
    return {"figures": (FIGURES, NoParameters())}


def _traces(listed: Sequence[Listed], asked: Scope) -> Table[TracesMeta]:
    traces = [(trace, trace.answers["figures"].figures) for trace in listed if trace.answers]
    names = {
        "trace": _titles([trace for trace, _ in traces]),
        "run": [trace.run for trace, _ in traces],
        "worker": [trace.worker for trace, _ in traces],
        "span": [trace.span for trace, _ in traces],
    }
    rows = [row for _, row in traces]
    defined = [d for d in COLUMNS.values() if d.key in names or _is_known(rows, d.key)]
    values = {d.key: names[d.key] if d.key in names else _column(d, rows) for d in defined}
    return Table(TracesMeta(of=asked.of, notes=_absent(listed)), defined, values)


def _is_known(rows: Sequence[Figures], key: str) -> bool:
    return any(getattr(row, key) not in (None, "") for row in rows)


def _column(defined: Definition, rows: Sequence[Figures]) -> Any:
    values = [getattr(row, defined.key) for row in rows]
    if defined.type == "string":
        return ["" if value is None else value for value in values]
    return np.ma.array([value or 0 for value in values], mask=[value is None for value in values])


def _titles(traces: Sequence[Listed]) -> list[str]:
    return titles_of([(trace.run, trace.worker, trace.span) for trace in traces])


def _absent(listed: Sequence[Listed]) -> list[Note]:
    return list(
        absent_traces(
            "compare",
            "table",
            loading=[trace.file for trace in listed if trace.state in ("queued", "loading")],
            failed=[trace.file for trace in listed if trace.state == "failed"],
        )
    )


TRACES = Question(
    name="traces",
    summary="A row for each trace",
    each=_of_each,
    compute=_traces,
)


class NamesAsked(msgspec.Struct, frozen=True):
    """Of what."""

    what: Annotated[Literal["operators", "kernels"], Meta(description="Rows.")] = "operators"


class StepNames(Answer, frozen=True, kw_only=True):
    """What the steps of a trace did, by name: sums over all steps.

    meta   which trace
    steps  how many there are
    names  a row for each operator, or each kernel
    """

    meta: TraceMeta
    steps: Count
    names: Columns


def _step_names(subject: Subject, asked: NamesAsked) -> StepNames:
    model = subject.model.in_steps
    _, measures, columns = _SIDE_BY_SIDE[asked.what]
    found: Any = operator_sums(model) if asked.what == "operators" else kernel_sums(model)
    known = [key for key in measures if key != "device_self_ns" or model.has_device_work]
    keys = ("name", *known)
    return StepNames(
        meta=TraceMeta(**subject.about(asked.what)),
        steps=len(model.steps),
        names=Columns(columns=[columns[key] for key in keys], rows={key: plain(getattr(found, key)) for key in keys}),
    )


STEP_NAMES = Question(
    name="figures/names",
    summary="What the steps of one trace did, by name",
    compute=_step_names,
    tag="several traces",
    of_steps=False,
    first=(NamesAsked("operators"), NamesAsked("kernels")),
    bundle="steps",
    more="What belongs to no step is left out: what was launched before the recording or before the first step, what "
    "follows the last.",
)


def _names_of_each(asked: SideBySide) -> dict[str, QuestionOfEach]:
    _measure(asked)
    question, *_ = _SIDE_BY_SIDE[asked.what]
    if asked.per == "all":
        return {**_of_each(asked), "rows": (question, question.parameters())}
    # of traces without steps sums over all are told
    return {
        **_of_each(asked),
        "in_steps": (STEP_NAMES, NamesAsked(asked.what)),
        "rows": (question, question.parameters()),
    }


def _measure(asked: SideBySide) -> str:
    _, measures, _ = _SIDE_BY_SIDE[asked.what]
    if asked.measure is None:
        return measures[0]
    if asked.measure not in measures:
        raise Refused(f"measure must be one of {', '.join(measures)}")
    return asked.measure


def _names(listed: Sequence[Listed], asked: SideBySide) -> Table[NamesMeta]:
    measure, (*_, columns) = _measure(asked), _SIDE_BY_SIDE[asked.what]
    chosen = [(trace, trace.answers) for trace in listed if trace.answers]
    steps = [answers["figures"].figures.steps for _, answers in chosen]
    per_step = all(steps) and asked.per == "step"
    sums = [
        _sums(answers["in_steps"].names.rows, measure, count) if per_step else _sums(answers["rows"].rows, measure, 1)
        for (_, answers), count in zip(chosen, steps, strict=True)
    ]
    titles = _titles([trace for trace, _ in chosen])
    defined, values = side_by_side(sums).with_traces(titles, columns[measure])
    meta = NamesMeta(
        of=asked.of,
        what=asked.what,
        measure=measure,
        per="step" if per_step else "all",
        traces=[TraceNames(trace.run, trace.worker, trace.span) for trace, _ in chosen],
        left_out=sum(trace.state == "ready" for trace in listed) - len(chosen),
        notes=_absent(listed),
    )
    return Table(meta, defined, values)


def _sums(rows: Mapping[str, Sequence[Any]], measure: str, divisor: int) -> dict[str, float]:
    """Of a column by name; a name may have several rows."""
    found: dict[str, float] = {}
    for name, value in zip(rows["name"], rows.get(measure) or [0] * len(rows["name"]), strict=True):
        found[name] = found.get(name, 0) + (value or 0) / divisor
    return found


NAMES = Question(
    name="traces/names",
    summary="Operators or kernels of several traces side by side",
    each=_names_of_each,
    most=MOST_COLUMNS,
    compute=_names,
)
