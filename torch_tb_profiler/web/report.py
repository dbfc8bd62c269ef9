"""A report in one file: the page with the answers that its views ask for, to be opened without any server."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime, timezone
from functools import cached_property
from html import escape
from typing import Any

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.question import Question
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.defaults import MOST_REPORTED
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.web.answers import route_of
from torch_tb_profiler.web.answers.traces import answer_of_traces
from torch_tb_profiler.web.http import HttpAnswer, HttpError, Parameters, Stream, why
from torch_tb_profiler.web.logdir import status_of
from torch_tb_profiler.web.static_files import built_modules, report_page
from torch_tb_profiler.workspace import RunStatus, Status, Unavailable, Workspace

#: operators of each trace whose kernels and call stacks are in the report
MOST_OPERATORS = 20
#: ranges, the longest ones, whose ranks are in the report
MOST_RANGES = 20

#: name of a question, and the query as the page writes it
PageRequest = tuple[str, dict[str, str]]
#: HTTP status, and body
Reply = tuple[int, str]

#: the name of /api/status among those of questions
STATUS = "status"

_BY_NAME: dict[str, Question] = {question.name: question for question in QUESTIONS}


class _Excerpt(msgspec.Struct, frozen=True, dict=True):
    """Some traces of a run, and what they are compared with, as if there was nothing else.

    traces  worker and span of each
    beside  traces of another run: run, worker and span of each
    """

    workspace: Workspace
    run: str
    traces: Sequence[tuple[str, str]]
    beside: Sequence[tuple[str, str, str]] = ()

    @property
    def all(self) -> list[tuple[str, str, str]]:
        return [*((self.run, worker, span) for worker, span in self.traces), *self.beside]

    @cached_property
    def status(self) -> Status:
        found = self.workspace.status()
        return replace(
            found,
            # not the path: a report is passed on
            logdir=re.split(r"[/\\]", found.logdir.rstrip("/\\"))[-1],
            error=None,
            scanning=False,
            skipped=(),
            runs=tuple(self._of_run(run) for run in found.runs if run.name in {name for name, *_ in self.all}),
        )

    def _of_run(self, run: RunStatus) -> RunStatus:
        traces = tuple(trace for trace in run.traces if (run.name, trace.worker, trace.span) in self.all)
        return replace(run, traces=traces, skipped=())

    def answer(self, name: str, parameters: dict[str, str]) -> Reply:
        """Return status and body, also of what the server would refuse."""
        question = _BY_NAME.get(name)
        try:
            if question is None:
                answer: HttpAnswer | Stream = HttpAnswer(dumps(status_of(self.status)))
            elif question.scope == "traces":
                answer = answer_of_traces(question, self.workspace, Parameters(parameters), self.status)
            else:
                answer = route_of(question)(self.workspace, Parameters(parameters))
        except (HttpError, Unavailable) as error:
            more = error.more if isinstance(error, HttpError) else why(error.reason)
            return error.status if isinstance(error, HttpError) else 404, json.dumps({"error": str(error), **more})
        assert isinstance(answer, HttpAnswer)
        body = answer.body if isinstance(answer.body, bytes) else answer.body.plain()
        return 200, body.decode()


def report(
    workspace: Workspace, run: str, traces: Sequence[tuple[str, str]], beside: Sequence[tuple[str, str, str]] = ()
) -> bytes:
    """Return the HTML of a report on some traces of a run: worker and span of each. Raises Unavailable and HttpError.

    beside: run, worker and span of traces that they are compared with
    """
    excerpt = _Excerpt(workspace, run, tuple(traces), tuple(beside))
    for each in excerpt.all:
        workspace.find(*each)
    answers = {
        _known_as(name, parameters): excerpt.answer(name, parameters) for name, parameters in _questions(excerpt)
    }
    made = datetime.now(timezone.utc).isoformat(timespec="seconds")
    modules, styles = built_modules()
    content = {"modules": modules, "styles": styles, "report": {"made": made, "answers": answers}}
    packed = b64encode(gzip.compress(json.dumps(content).encode(), 9)).decode()
    values = {"title": escape(run), "packed": packed}
    # in one go: a name may look like a placeholder
    return re.sub(r"\{\{(title|packed)\}\}", lambda place: values[place[1]], report_page()).encode()


def report_answer(workspace: Workspace, parameters: Parameters) -> HttpAnswer:
    """Answer /api/report."""
    run, worker = parameters.need("run"), parameters.get("worker")
    if worker is not None:
        traces = [(worker, workspace.find(run, worker, parameters.get("span")).span)]
    else:
        opened = workspace.find_span(run, parameters.get("span"))
        traces = [(trace.worker, trace.span) for trace in opened.traces[:MOST_REPORTED]]
    name = "-".join([run, *([worker] if worker is not None else []), "report"])
    safe = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)
    disposition = f'attachment; filename="{safe}.html"'
    # A report is for those it is sent to: it must not run as a page of this server.
    headers = (("Content-Disposition", disposition), ("Content-Security-Policy", "default-src 'none'; sandbox"))
    return HttpAnswer(report(workspace, run, traces), "text/html; charset=utf-8", headers=headers)


def _questions(excerpt: _Excerpt) -> Iterator[PageRequest]:
    """Yield what the page asks, as it asks it."""
    yield STATUS, {}
    for run, worker, span in excerpt.all:
        of_trace = {"run": run, "worker": worker, "span": span}
        for question in QUESTIONS:
            for parameters in question.report:
                yield question.name, of_trace | dict(parameters)
        yield from _of_devices(excerpt, of_trace)
        yield from _of_operators(excerpt, of_trace)
        yield "distributed", {"run": run, "span": span}
        yield "run_findings", {"run": run, "span": span}
        yield from _of_ranks(excerpt, {"run": run, "span": span})
        yield "traces", {"of": "runs", "worker": worker}
        for names in _of_names():
            yield "traces/names", names | {"of": "runs", "worker": worker}
            yield "traces/names", names | {"of": "run", "run": run}
            yield "traces/names", names | {"of": "all"}
    for run in dict.fromkeys(run for run, *_ in excerpt.all):
        yield "traces", {"of": "run", "run": run}
    yield "traces", {"of": "all"}
    yield from _of_trends(excerpt)
    first, *others = excerpt.all
    for other in others:
        for left, right in ((first, other), (other, first)):
            baseline = dict(zip(("run", "worker", "span"), left, strict=True))
            experiment = dict(zip(("exp_run", "exp_worker", "exp_span"), right, strict=True))
            yield "compare", baseline | experiment | {"path": "0"}
            yield "compare/roofline", baseline | experiment
            yield "compare/change", baseline | experiment


def _of_trends(excerpt: _Excerpt) -> Iterator[PageRequest]:
    """Yield requests for trends without a chosen baseline, and with those that are likely to be chosen."""
    likely = [excerpt.all[0], *excerpt.beside]
    bases = [dict(zip(("base_run", "base_worker", "base_span"), each, strict=True)) for each in likely]
    for base in ({}, *bases):
        for worker in dict.fromkeys(worker for _, worker, _ in excerpt.all):
            yield "compare/trends", {"of": "runs", "worker": worker} | base
        for run in dict.fromkeys(run for run, *_ in excerpt.all):
            yield "compare/trends", {"of": "run", "run": run} | base
        yield "compare/trends", {"of": "all"} | base


def _of_devices(excerpt: _Excerpt, of_trace: dict[str, str]) -> Iterator[PageRequest]:
    curve = _read(excerpt.answer("memory/curve", of_trace))
    for device in (each["device"] for each in curve.get("devices", ())):
        for name, parameters in _OF_MEMORY:
            yield name, of_trace | {"device": device} | parameters


def _of_ranks(excerpt: _Excerpt, of_run: dict[str, str]) -> Iterator[PageRequest]:
    yield "ranks", of_run
    yield "ranks/collectives", of_run
    ranges = _read(excerpt.answer("ranks/ranges", of_run)).get("names", {}).get("rows", {}).get("name", ())
    yield "ranks/ranges", of_run
    for name in ranges[:MOST_RANGES]:
        yield "ranks/range", of_run | {"name": name}
    for metric in _read(excerpt.answer("ranks", of_run)).get("metrics", ()):
        yield "ranks/heatmap", of_run | {"metric": metric}


def _of_operators(excerpt: _Excerpt, of_trace: dict[str, str]) -> Iterator[PageRequest]:
    operators = _read(excerpt.answer("operators", of_trace | {"group_by": "name"}))
    for operator in operators.get("rows", {}).get("name", ())[:MOST_OPERATORS]:
        yield "operators/kernels", of_trace | {"name": operator}
        yield "operators/stacks", of_trace | {"name": operator}


def _of_names() -> Iterator[dict[str, str]]:
    for what, measures in (
        ("operators", ("host_self_ns", "device_self_ns", "calls")),
        ("kernels", ("total_ns", "calls")),
    ):
        for measure in measures:
            yield {"what": what, "measure": measure, "limit": "all"}


_OF_MEMORY: tuple[PageRequest, ...] = (
    ("memory/alive", {"limit": "10000"}),
    ("memory/operators", {}),
    ("memory/modules", {}),
    ("memory/events", {}),
)


def _known_as(name: str, parameters: Mapping[str, str]) -> str:
    """Return the name of a request, as `api/report.ts` writes it."""
    return "\n".join([name, *sorted(f"{key}={value}" for key, value in parameters.items())])


def _read(reply: Reply) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(reply[1])
    return found
