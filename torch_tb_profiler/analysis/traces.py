"""The figures of one trace, and those of any number of traces in one table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta
from msgspec.structs import replace

from torch_tb_profiler.analysis.answer import Answer, Count, Definition, InlineTable, TraceMeta, plain
from torch_tb_profiler.analysis.kernels import KERNELS, KernelTable, kernel_sums
from torch_tb_profiler.analysis.operators.calls import operator_sums
from torch_tb_profiler.analysis.operators.question import OPERATORS
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.question import Listed, NoParameters, Question, Refused, Scope, Subject, absent_traces
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.run_metrics import TRACES as COLUMNS
from torch_tb_profiler.analysis.run_metrics import Figures, figures
from torch_tb_profiler.analysis.tabular import PageMeta, Table
from torch_tb_profiler.arrays.types import Float64
from torch_tb_profiler.trace import Note


class TracesByName(Result, group="traces_by_name"):
    """A row for each name; those in which the traces are furthest apart first."""

    name: Sequence[str] = column("Name", "Name of the operator or kernel.")
    spread: Float64 = column(
        "Spread",
        "The largest of the numbers in this row − the smallest; a trace without it counts as 0.",
        unit="ns",
    )
    cells: Float64 = fact("shape (names, traces); NaN where a trace does not have the name")

    def with_traces(self, titles: Sequence[str], measured: Definition) -> tuple[list[Definition], dict[str, Any]]:
        """Return columns and their values, with a column `t0`, `t1`, … for each trace, after the columns that say where
        to look.
        """
        traces = [
            replace(measured, key=f"t{at}", label=title, id=f"help {measured.id}") for at, title in enumerate(titles)
        ]
        cells = {f"t{at}": np.ma.masked_invalid(self.cells[:, at]) for at in range(len(titles))}
        spread = replace(self.columns["spread"], unit=measured.unit)
        return [self.columns["name"], spread, *traces], self.to_columns() | cells


def side_by_side(sums: Sequence[dict[str, float]]) -> TracesByName:
    """Join the sums of each trace, by name."""
    names = list(dict.fromkeys(name for found in sums for name in found))
    cells = np.array([[found.get(name, np.nan) for found in sums] for name in names]).reshape(len(names), len(sums))
    counted = np.nan_to_num(cells)
    spread = counted.max(axis=1, initial=0) - counted.min(axis=1, initial=np.inf) if sums else np.empty(0)
    order = np.lexsort((-counted.sum(axis=1), -spread))
    return TracesByName(name=[names[row] for row in order.tolist()], spread=spread[order], cells=cells[order])


def titles_of(traces: Sequence[tuple[str, str, str]]) -> list[str]:
    """Run, worker and span of each, without what is the same in all of them where something differs."""
    differing = [at for at in range(3) if len({trace[at] for trace in traces}) > 1] or [0]
    short = [" · ".join(trace[at] for at in differing) for trace in traces]
    return short if len(set(short)) == len(short) else [" · ".join(trace) for trace in traces]


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
    precompute=(NoParameters(),),
)


def _of_each(_: Scope) -> dict[str, QuestionOfEach]:
    return {"figures": (FIGURES, NoParameters())}


def _traces(listed: Sequence[Listed], params: Scope) -> Table[TracesMeta]:
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
    return Table(TracesMeta(of=params.of, notes=_absent(listed)), defined, values)


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


class NamesParams(msgspec.Struct, frozen=True):
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
    names: InlineTable


def _step_names(subject: Subject, params: NamesParams) -> StepNames:
    model = subject.model.in_steps
    _, measures, columns = _SIDE_BY_SIDE[params.what]
    found: Any = operator_sums(model) if params.what == "operators" else kernel_sums(model)
    known = [key for key in measures if key != "device_self_ns" or model.has_device_work]
    keys = ("name", *known)
    return StepNames(
        meta=TraceMeta(**subject.about(params.what)),
        steps=len(model.steps),
        names=InlineTable(
            columns=[columns[key] for key in keys], rows={key: plain(getattr(found, key)) for key in keys}
        ),
    )


STEP_NAMES = Question(
    name="figures/names",
    summary="What the steps of one trace did, by name",
    compute=_step_names,
    tag="several traces",
    of_steps=False,
    precompute=(NamesParams("operators"), NamesParams("kernels")),
    bundle="steps",
    more="What belongs to no step is left out: what was launched before the recording or before the first step, what "
    "follows the last.",
)


def _names_of_each(params: SideBySide) -> dict[str, QuestionOfEach]:
    _measure(params)
    question, *_ = _SIDE_BY_SIDE[params.what]
    if params.per == "all":
        return {**_of_each(params), "rows": (question, question.parameters())}
    # traces without steps have sums over the whole trace
    return {
        **_of_each(params),
        "in_steps": (STEP_NAMES, NamesParams(params.what)),
        "rows": (question, question.parameters()),
    }


def _measure(params: SideBySide) -> str:
    _, measures, _ = _SIDE_BY_SIDE[params.what]
    if params.measure is None:
        return measures[0]
    if params.measure not in measures:
        raise Refused(f"measure must be one of {', '.join(measures)}")
    return params.measure


def _names(listed: Sequence[Listed], params: SideBySide) -> Table[NamesMeta]:
    measure, (*_, columns) = _measure(params), _SIDE_BY_SIDE[params.what]
    chosen = [(trace, trace.answers) for trace in listed if trace.answers]
    steps = [answers["figures"].figures.steps for _, answers in chosen]
    per_step = all(steps) and params.per == "step"
    sums = [
        _sums(answers["in_steps"].names.rows, measure, count) if per_step else _sums(answers["rows"].rows, measure, 1)
        for (_, answers), count in zip(chosen, steps, strict=True)
    ]
    titles = _titles([trace for trace, _ in chosen])
    defined, values = side_by_side(sums).with_traces(titles, columns[measure])
    meta = NamesMeta(
        of=params.of,
        what=params.what,
        measure=measure,
        per="step" if per_step else "all",
        traces=[TraceNames(trace.run, trace.worker, trace.span) for trace, _ in chosen],
        left_out=sum(trace.state == "ready" for trace in listed) - len(chosen),
        notes=_absent(listed),
    )
    return Table(meta, defined, values)


def _sums(rows: Mapping[str, Sequence[Any]], measure: str, divisor: int) -> dict[str, float]:
    """Sum a column by name; a name may have several rows."""
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
