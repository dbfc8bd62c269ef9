"""A report in one file: the page with the answers that its views ask for, to be opened without any server."""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from html import escape
from typing import Any, cast

from torch_tb_profiler.web.ask import Route
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.static_files import built_modules, report_page
from torch_tb_profiler.workspace import RunStatus, Status, Unavailable, Workspace

#: of a run: with more the file would be larger than people can send
MOST_TRACES = 8
#: of each trace, whose kernels and call stacks are in the report
MOST_OPERATORS = 20

Asked = tuple[str, dict[str, str]]


@dataclass(frozen=True)
class Excerpt:
    """A workspace of which only some traces are known. Everything else is asked of the workspace itself."""

    workspace: Workspace
    run_name: str
    traces: tuple[tuple[str, str], ...]

    def __getattr__(self, name: str) -> Any:
        return getattr(self.workspace, name)

    def status(self) -> Status:
        found = self.workspace.status()
        return replace(
            found,
            # where it lies is nobody's business
            logdir=re.split(r"[/\\]", found.logdir.rstrip("/\\"))[-1],
            error=None,
            scanning=False,
            skipped=(),
            runs=tuple(self._excerpt(run) for run in found.runs if run.name == self.run_name),
        )

    def _excerpt(self, run: RunStatus) -> RunStatus:
        traces = tuple(trace for trace in run.traces if (trace.worker, trace.span) in self.traces)
        return replace(run, traces=traces, skipped=())


def report(workspace: Workspace, routes: Mapping[str, Route], run: str, traces: Sequence[tuple[str, str]]) -> bytes:
    """The file, for some traces of a run: worker and span of each. Raises Unavailable and HttpError."""
    for worker, span in traces:
        workspace.find(run, worker, span)
    excerpt = cast(Workspace, Excerpt(workspace, run, tuple(traces)))
    answers = {
        _known_as(route, parameters): answer
        for route, parameters in _questions(excerpt, routes, run, traces)
        for answer in [_answer(excerpt, routes, route, parameters)]
    }
    made = datetime.now(timezone.utc).isoformat(timespec="seconds")
    modules, styles = built_modules()
    content = {"modules": modules, "styles": styles, "report": {"made": made, "answers": answers}}
    packed = b64encode(gzip.compress(json.dumps(content).encode(), 9)).decode()
    page = report_page()
    return page.replace("{{title}}", escape(run)).replace("{{packed}}", packed).encode()


def report_answer(workspace: Workspace, parameters: Parameters, routes: Mapping[str, Route]) -> Answer:
    """/api/report."""
    run, worker = parameters.need("run"), parameters.get("worker")
    if worker is not None:
        traces = [(worker, workspace.find(run, worker, parameters.get("span")).span)]
    else:
        opened = workspace.find_span(run, parameters.get("span"))
        traces = [(trace.worker, trace.span) for trace in opened.traces[:MOST_TRACES]]
    name = "-".join([run, *([worker] if worker is not None else []), "report"])
    safe = re.sub(r"[^\w.-]+", "_", name, flags=re.ASCII)
    disposition = f'attachment; filename="{safe}.html"'
    # What stands in a report is for those it is sent to: it must not run as a page of this server.
    headers = (("Content-Disposition", disposition), ("Content-Security-Policy", "sandbox"))
    return Answer(report(workspace, routes, run, traces), "text/html; charset=utf-8", headers=headers)


def _questions(
    workspace: Workspace, routes: Mapping[str, Route], run: str, traces: Sequence[tuple[str, str]]
) -> Iterator[Asked]:
    """What the page asks, as it asks it."""
    yield "status", {}
    for worker, span in traces:
        of_trace = {"run": run, "worker": worker, "span": span}
        for route, parameters in _OF_TRACE:
            yield route, of_trace | parameters
        curve = _read(_answer(workspace, routes, "memory/curve", of_trace))
        for device in (each["device"] for each in curve.get("devices", ())):
            for route, parameters in _OF_MEMORY:
                yield route, of_trace | {"device": device} | parameters
        operators = _read(_answer(workspace, routes, "operators", of_trace | {"group_by": "name"}))
        for name in operators.get("rows", {}).get("name", ())[:MOST_OPERATORS]:
            yield "operators/kernels", of_trace | {"name": name}
            yield "operators/stacks", of_trace | {"name": name}
        yield "distributed", {"run": run, "span": span}
        yield "traces", {"of": "runs", "worker": worker}
        for what, measures in (
            ("operators", ("host_self_ns", "device_self_ns", "calls")),
            ("kernels", ("total_ns", "calls")),
        ):
            for measure in measures:
                of_names = {"what": what, "measure": measure, "limit": "all"}
                yield "traces/names", of_names | {"of": "runs", "worker": worker}
                yield "traces/names", of_names | {"of": "run", "run": run}
                yield "traces/names", of_names | {"of": "all"}
    yield "traces", {"of": "run", "run": run}
    yield "traces", {"of": "all"}
    first = traces[0]
    for worker, span in traces[1:]:
        for left, right in ((first, (worker, span)), ((worker, span), first)):
            baseline = {"run": run, "worker": left[0], "span": left[1]}
            experiment = {"exp_run": run, "exp_worker": right[0], "exp_span": right[1]}
            yield "compare", baseline | experiment | {"path": "0"}


_OF_TRACE: tuple[Asked, ...] = (
    ("health", {}),
    ("overview", {}),
    ("operators", {"group_by": "name"}),
    ("operators", {"group_by": "name_shape"}),
    ("operators", {"group_by": "name_stack"}),
    ("kernels", {"group_by": "name"}),
    ("kernels", {"group_by": "name_op_launch"}),
    ("memory/curve", {}),
    ("modules", {"source": "nn"}),
    ("modules", {"source": "lightning"}),
    ("stacks", {"direction": "top_down"}),
    ("stacks", {"direction": "bottom_up"}),
    ("stacks", {"direction": "top_down", "weight": "host"}),
    ("stacks", {"direction": "bottom_up", "weight": "host"}),
    ("stacks", {"direction": "top_down", "weight": "device"}),
    ("stacks", {"direction": "bottom_up", "weight": "device"}),
    ("trace/slices", {}),
)

_OF_MEMORY: tuple[Asked, ...] = (
    ("memory/alive", {"limit": "10000"}),
    ("memory/operators", {}),
    ("memory/events", {}),
)


def _known_as(route: str, parameters: Mapping[str, str]) -> str:
    """As `api/report.ts` writes a request."""
    return "\n".join([route, *sorted(f"{key}={value}" for key, value in parameters.items())])


def _answer(workspace: Workspace, routes: Mapping[str, Route], route: str, parameters: dict[str, str]) -> list[Any]:
    """Status and body, also of what the server would refuse."""
    try:
        answer = routes[f"/api/{route}"](workspace, Parameters(parameters))
    except (HttpError, Unavailable) as error:
        return [error.status if isinstance(error, HttpError) else 404, json.dumps({"error": str(error)})]
    assert isinstance(answer, Answer)
    body = answer.body if isinstance(answer.body, bytes) else answer.body.plain()
    return [200, body.decode()]


def _read(answer: list[Any]) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(answer[1])
    return found
