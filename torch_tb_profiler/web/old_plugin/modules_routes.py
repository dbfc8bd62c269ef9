"""The old plugin's routes about modules and about two traces; `legacy_modules` and `legacy_diff` make their shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from torch_tb_profiler.analysis.compare.diff import ROOT
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.ask import Route, ask, ask_two
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.old_plugin import diff, modules
from torch_tb_profiler.workspace import Workspace

_NO_MODULES = "no modules are recorded in this trace: with_stack=True or with_modules=True records them"
_NO_TREE = "the trace holds no host activity: ProfilerActivity.CPU records it"


def _tree_of(question: Callable[[Model], Iterator[bytes] | None], missing: str) -> Route:
    def compute(model: Model) -> Iterator[bytes]:
        found = question(model)
        if found is None:
            raise HttpError(404, missing)
        return found

    def route(workspace: Workspace, parameters: Parameters) -> Answer:
        return ask(workspace, parameters, f"old {question.__name__}", lambda model, _: compute(model))

    return route


def _diff(workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker", "span", "exp_run", "exp_worker", "exp_span")
    return ask_two(workspace, parameters, "old diff", diff.diff)


def _diffnode(workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker", "span", "exp_run", "exp_worker", "exp_span")
    path = parameters.get("path") or ROOT

    def compute(left: Model, right: Model) -> Any:
        found = diff.diffnode(left, right, path)
        if found is None:
            raise HttpError(404, f"the comparison has no node {path!r}")
        return found

    return ask_two(workspace, parameters, ("old diffnode", path), compute)


ROUTES: dict[str, Route] = {
    "/module": _tree_of(modules.module, _NO_MODULES),
    "/tree": _tree_of(modules.tree, _NO_TREE),
    "/diff": _diff,
    "/diffnode": _diffnode,
}
