"""Any number of traces in their order, as the page asks: each beside a baseline that is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.absent import absent_traces
from torch_tb_profiler.analysis.change.figures import RecordingFigures, recording_figures
from torch_tb_profiler.analysis.change.trends import Trends, trends
from torch_tb_profiler.analysis.question import Listed, NoParameters, Question, Scope, Subject
from torch_tb_profiler.analysis.run_metrics.question import TraceNames
from torch_tb_profiler.analysis.run_metrics.side_by_side import titles_of
from torch_tb_profiler.trace import Note

#: traces in one answer: each that was not asked before has to be opened
MOST_TRACES = 200


class TrendScope(Scope, frozen=True):
    """Which traces, and the baseline."""

    base_run: Annotated[str | None, Meta(description="Run of the baseline; where it is not there, the first.")] = None
    base_worker: Annotated[str | None, Meta(description="Its worker; where it is not there, another.")] = None
    base_span: Annotated[str | None, Meta(description="Its span; where it is not there, another.")] = None


class TracesTrends(Trends, frozen=True, kw_only=True):
    """Any number of traces, in the order of their runs.

    traces  which trace each recording is
    notes   which traces are not among them
    """

    traces: Sequence[TraceNames]
    notes: Sequence[Note]


def _recording(subject: Subject, _: NoParameters) -> RecordingFigures:
    return recording_figures(subject.model, subject.run)


RECORDING = Question(
    name="figures/recording",
    summary="What one trace gives to be compared: per step its parts, and what every name did",
    compute=_recording,
    tag="several traces",
    of_steps=False,
    more="A baseline that `torch-tb-profiler check --save` writes is a list of these.",
)


def _of_each(_: TrendScope) -> dict[str, tuple[Question, msgspec.Struct]]:
    return {"recording": (RECORDING, NoParameters())}


def _trends(listed: Sequence[Listed], asked: TrendScope) -> TracesTrends:
    known = [trace for trace in listed if trace.answers]
    figures = [trace.answers["recording"] for trace in known if trace.answers]
    notes = absent_traces(
        "compare",
        "trends",
        loading=[trace.file for trace in listed if trace.state in ("queued", "loading")],
        failed=[trace.file for trace in listed if trace.state == "failed"],
    )
    if not figures:
        return TracesTrends(baseline=0, recordings=(), trends=(), traces=(), notes=tuple(notes))
    found = trends(figures, titles_of([(each.run, each.worker, each.span) for each in known]), _baseline(known, asked))
    return TracesTrends(
        baseline=found.baseline,
        recordings=found.recordings,
        trends=found.trends,
        traces=[TraceNames(each.run, each.worker, each.span) for each in known],
        notes=tuple(notes),
    )


def _baseline(known: Sequence[Listed], asked: TrendScope) -> int:
    """The trace that is wanted, else one of its run, else the first."""
    wanted = (asked.base_run, asked.base_worker, asked.base_span)

    def fit(at: int) -> int:
        names = (known[at].run, known[at].worker, known[at].span)
        alike = [name is None or name == of for name, of in zip(wanted, names, strict=True)]
        return sum(alike) if alike[0] else 0

    return max(range(len(known)), key=lambda at: (fit(at), -at))


TRENDS = Question(
    name="compare/trends",
    summary="How step time and busy time change over any number of traces",
    each=_of_each,
    most=MOST_TRACES,
    compute=_trends,
    more="How a change is judged, and what a change point is: docs/compare-two-runs.md.",
)
