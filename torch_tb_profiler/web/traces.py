"""/api/figures, /api/traces and /api/traces/names: any number of traces in one table (docs/api.md)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.definitions import Definition
from torch_tb_profiler.analysis.run_metrics.metrics import Figures, figures
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note
from torch_tb_profiler.web import calls
from torch_tb_profiler.web.ask import Asked, Route
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.table_query import TableAnswer, answer_query
from torch_tb_profiler.web.tables import Json, meta_of, note_of
from torch_tb_profiler.workspace import OpenTrace, TraceStatus, Workspace

#: columns of `/api/traces/names`: more could not be read beside each other
MOST_COLUMNS = 32

#: what can be set side by side, and which of its numbers
_SIDE_BY_SIDE: dict[str, tuple[Route, tuple[str, ...]]] = {
    "operators": (calls.operators, ("host_self_ns", "device_self_ns", "calls")),
    "kernels": (calls.kernels, ("total_ns", "calls")),
}

Named = tuple[str, TraceStatus]


def figures_answer(model: Model, trace: OpenTrace) -> Json:
    return {"meta": meta_of(model, trace, "overview"), "figures": asdict(figures(model))}


def _figures(workspace: Workspace, parameters: Parameters) -> Answer:
    return Asked.of(workspace, parameters, "figures", of_steps=False).answer(workspace, figures_answer)


def _traces(workspace: Workspace, parameters: Parameters) -> Answer:
    wanted = _wanted(workspace, parameters)
    chosen = [each for each in wanted if each[1].state == "ready"]
    rows = [Figures(**_about(workspace, parameters, _figures, run, trace)["figures"]) for run, trace in chosen]
    titles = titles_of(chosen)
    names = {
        "trace": titles,
        "run": [run for run, _ in chosen],
        "worker": [trace.worker for _, trace in chosen],
        "span": [trace.span for _, trace in chosen],
    }
    defined = [d for d in definitions.TRACES.values() if d.key in names or _is_known(rows, d.key)]
    values = {d.key: names[d.key] if d.key in names else _column(d, rows) for d in defined}
    meta = {"of": _scope(parameters), "notes": _absent(wanted)}
    return answer_query(TableAnswer(meta, defined, values), parameters)


def _names(workspace: Workspace, parameters: Parameters) -> Answer:
    what = parameters.choice("what", tuple(_SIDE_BY_SIDE))
    route, measures = _SIDE_BY_SIDE[what]
    measure = parameters.choice("measure", measures)
    wanted = _wanted(workspace, parameters)
    ready = [each for each in wanted if each[1].state == "ready"]
    chosen = ready[:MOST_COLUMNS]
    steps = [_about(workspace, parameters, _figures, *each)["figures"]["steps"] for each in chosen]
    per_step = all(steps) and parameters.choice("per", ("step", "all")) == "step"
    sums: list[dict[str, float]] = []
    for (run, trace), count in zip(chosen, steps, strict=True):
        rows = _about(workspace, parameters, route, run, trace)["rows"]
        divisor = count if per_step else 1
        found: dict[str, float] = {}
        for name, value in zip(rows["name"], rows.get(measure) or [0] * len(rows["name"]), strict=True):
            found[name] = found.get(name, 0) + (value or 0) / divisor
        sums.append(found)
    defined, values = side_by_side(titles_of(chosen), sums, _measured(what, measure))
    meta = {
        "of": _scope(parameters),
        "what": what,
        "measure": measure,
        "per": "step" if per_step else "all",
        "traces": [{"run": run, "worker": trace.worker, "span": trace.span} for run, trace in chosen],
        "left_out": len(ready) - len(chosen),
        "notes": _absent(wanted),
    }
    return answer_query(TableAnswer(meta, defined, values), parameters)


def side_by_side(
    titles: Sequence[str], sums: Sequence[dict[str, float]], measured: Definition
) -> tuple[list[Definition], dict[str, Any]]:
    """A row for each name, a column `t0`, `t1`, … for each trace, and how far they are apart, the most first.

    A trace that does not have a name has no number there.
    """
    names = list(dict.fromkeys(name for found in sums for name in found))
    cells = np.array([[found.get(name, np.nan) for found in sums] for name in names]).reshape(len(names), len(sums))
    counted = np.nan_to_num(cells)
    spread = counted.max(axis=1, initial=0) - counted.min(axis=1, initial=np.inf) if sums else np.empty(0)
    order = np.lexsort((-counted.sum(axis=1), -spread))
    spreads = definitions.TRACES_BY_NAME["spread"]
    defined = [
        definitions.TRACES_BY_NAME["name"],
        *(Definition(f"t{at}", title, "number", measured.unit, measured.help) for at, title in enumerate(titles)),
        Definition(spreads.key, spreads.label, "number", measured.unit, spreads.help),
    ]
    cells = cells[order]
    values: dict[str, Any] = {"name": [names[row] for row in order.tolist()], "spread": spread[order]}
    for at in range(len(titles)):
        values[f"t{at}"] = np.ma.masked_invalid(cells[:, at])
    return defined, values


def titles_of(traces: Sequence[Named]) -> list[str]:
    """Run, worker and span, without what is the same in all of them where something differs."""
    parts = [(run, trace.worker, trace.span) for run, trace in traces]
    differing = [at for at in range(3) if len({part[at] for part in parts}) > 1] or [0]
    short = [" · ".join(part[at] for at in differing) for part in parts]
    return short if len(set(short)) == len(short) else [" · ".join(part) for part in parts]


def _wanted(workspace: Workspace, parameters: Parameters) -> list[Named]:
    """The traces that a request is about, whatever their state: one of each run, those of one run, or all."""
    scope = _scope(parameters)
    found: list[Named] = []
    for run in workspace.status().runs:
        if scope == "runs":
            ready = [trace for trace in run.traces if trace.state == "ready"] or list(run.traces)
            worker = parameters.get("worker")
            found += [(run.name, next((t for t in ready if t.worker == worker), ready[0]))] if ready else []
        elif scope == "all" or run.name == parameters.need("run"):
            found += [(run.name, trace) for trace in run.traces]
    if scope == "run" and not found:
        raise HttpError(404, f"there is no run {parameters.need('run')!r}")
    return found


def _scope(parameters: Parameters) -> str:
    return parameters.choice("of", ("runs", "run", "all"))


def _about(workspace: Workspace, parameters: Parameters, route: Route, run: str, trace: TraceStatus) -> Json:
    """What another route answers about one of the traces, steps found as the request says; it is kept."""
    how = {key: value for key in ("steps", "step_pattern") if (value := parameters.get(key)) is not None}
    names = {"run": run, "worker": trace.worker, "span": trace.span}
    answer = route(workspace, Parameters(names | how))
    assert isinstance(answer, Answer)
    body = answer.body if isinstance(answer.body, bytes) else answer.body.plain()
    found: Json = json.loads(body)
    return found


def _is_known(rows: Sequence[Figures], key: str) -> bool:
    return any(getattr(row, key) not in (None, "") for row in rows)


def _column(defined: Definition, rows: Sequence[Figures]) -> Any:
    values = [getattr(row, defined.key) for row in rows]
    if defined.type == "string":
        return ["" if value is None else value for value in values]
    return np.ma.array([value or 0 for value in values], mask=[value is None for value in values])


def _absent(wanted: Sequence[Named]) -> list[Json]:
    notes = []
    for kind, severity, states, text in (
        ("traces_loading", "info", ("queued", "loading"), "Traces that are still being read are not in this table"),
        ("traces_failed", "error", ("failed",), "Traces that could not be read are not in this table"),
    ):
        files = [trace.file for _, trace in wanted if trace.state in states]
        if files:
            listed = ", ".join(files[:4]) + (" …" if len(files) > 4 else "")
            note = Note(kind, severity, f"{text}: {listed}.", len(files), ("compare",), values={"files": listed})  # type: ignore[arg-type]
            notes.append(note_of(note))
    return notes


def _measured(what: str, measure: str) -> Definition:
    return (definitions.OPERATORS if what == "operators" else definitions.KERNELS)[measure]


ROUTES: dict[str, Route] = {
    "/api/figures": _figures,
    "/api/traces": _traces,
    "/api/traces/names": _names,
}
