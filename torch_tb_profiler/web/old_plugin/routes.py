"""The old plugin's routes about one trace, with its parameters; `legacy` makes their shapes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torch_tb_profiler.model import Model
from torch_tb_profiler.web.ask import Route, ask
from torch_tb_profiler.web.http import Answer, HttpError, Parameters, dumps
from torch_tb_profiler.web.known_operators import known_operators
from torch_tb_profiler.web.old_plugin import memory_routes, modules_routes, shapes
from torch_tb_profiler.workspace import OpenTrace, Workspace


def _overview(workspace: Workspace, parameters: Parameters) -> Answer:
    def compute(model: Model, trace: OpenTrace) -> Any:
        return shapes.overview(model, trace.workers_of_run)

    return ask(workspace, parameters, "old overview", compute, of_run=True)


def _operation_stack(workspace: Workspace, parameters: Parameters) -> Answer:
    *_, operator = parameters.need_all("run", "worker", "op_name")
    group_by = parameters.get("group_by")
    shape = parameters.need("input_shape") if group_by == shapes.BY_SHAPE else None

    known = known_operators(workspace, parameters)
    found = shapes.operation_stack(known.details, operator, group_by, shape)
    if found is None:
        raise HttpError(404, f"no call stack is known of {operator!r}")
    return Answer(dumps(found))


def _of_model(question: Callable[[Model], Any]) -> Route:
    def route(workspace: Workspace, parameters: Parameters) -> Answer:
        return ask(workspace, parameters, question.__name__, lambda model, _: question(model))

    return route


def _grouped(question: Callable[[Model, str | None], Any], special: str) -> Route:
    """`special`: the one value of `group_by` that is told from all others."""

    def route(workspace: Workspace, parameters: Parameters) -> Answer:
        group_by = special if parameters.get("group_by") == special else None
        return ask(workspace, parameters, (question.__name__, group_by), lambda model, _: question(model, group_by))

    return route


ROUTES: dict[str, Route] = {
    "/overview": _overview,
    "/operation": _grouped(shapes.operation, shapes.BY_SHAPE),
    "/operation/table": _grouped(shapes.operation_table, shapes.BY_SHAPE),
    "/operation/stack": _operation_stack,
    "/kernel": _of_model(shapes.kernel),
    "/kernel/table": _grouped(shapes.kernel_table, shapes.BY_KERNEL),
    "/kernel/tc_pie": _of_model(shapes.kernel_tc_pie),
    **memory_routes.ROUTES,
    **modules_routes.ROUTES,
}
