"""The old plugin's routes about memory, with its parameters; `legacy_memory` makes their shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any

from torch_tb_profiler.analysis.memory.records import NOT_RECORDED
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.ask import Route, ask
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.old_plugin import memory
from torch_tb_profiler.workspace import Workspace


def _memory(workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker")
    start, end = _time(parameters, "start_ts"), _time(parameters, "end_ts")
    size = _unit(parameters, "memory_metric", memory.SIZES, "KB")

    def compute(model: Model) -> Any:
        return memory.memory(model, *_in_trace(model, start, end), size)

    return _ask(workspace, parameters, ("old memory", start, end, size), compute)


def _curve(workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker")
    time = _unit(parameters, "time_metric", memory.TIMES, "ms")
    size = _unit(parameters, "memory_metric", memory.SIZES, "MB")

    def compute(model: Model) -> Any:
        return memory.memory_curve(model, time, size)

    return _ask(workspace, parameters, ("old memory curve", time, size), compute)


def _events(workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker")
    start, end = _time(parameters, "start_ts"), _time(parameters, "end_ts")
    time = _unit(parameters, "time_metric", memory.TIMES, "ms")
    size = _unit(parameters, "memory_metric", memory.SIZES, "KB")

    def compute(model: Model) -> Any:
        return memory.memory_events(model, *_in_trace(model, start, end), time, size)

    return _ask(workspace, parameters, ("old memory events", start, end, time, size), compute)


ROUTES: dict[str, Route] = {
    "/memory": _memory,
    "/memory_curve": _curve,
    "/memory_events": _events,
}


def _ask(workspace: Workspace, parameters: Parameters, question: Any, compute: Callable[[Model], Any]) -> Answer:
    def answer(model: Model, _: object) -> Any:
        if not len(model.memory):
            raise HttpError(404, NOT_RECORDED)
        return compute(model)

    return ask(workspace, parameters, question, answer)


def _unit(parameters: Parameters, name: str, units: Mapping[str, str], default: str) -> str:
    asked = parameters.get(name)
    unit = units.get(default if asked is None else asked)
    if unit is None:
        raise HttpError(400, f"{name} must be one of {', '.join(u for u in units if u)}")
    return unit


def _time(parameters: Parameters, name: str) -> int | None:
    """Microseconds as ns, exact."""
    text = parameters.get(name)
    if text is None:
        return None
    try:
        ns = Decimal(text) * 1000
    except InvalidOperation:
        ns = Decimal("NaN")
    if not ns.is_finite() or abs(ns) >= 2**63:
        raise HttpError(400, f"{name} must be a number of microseconds")
    return int(ns)


def _in_trace(model: Model, start: int | None, end: int | None) -> tuple[int | None, int | None]:
    """Times of the file, relative to the start of the trace."""
    origin = memory.file_origin_ns(model)
    return None if start is None else start - origin, None if end is None else end - origin
