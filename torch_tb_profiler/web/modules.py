"""/api/modules and /api/compare: their parameters and shapes (docs/api.md)."""

from __future__ import annotations

from functools import partial
from typing import Any

from torch_tb_profiler.analysis import definitions
from torch_tb_profiler.analysis.compare.diff import (
    ROOT,
    Comparison,
    Delta,
    Node,
    Program,
    Side,
    Times,
    delta,
    whole_times,
)
from torch_tb_profiler.analysis.health.recording import NO_MODULES
from torch_tb_profiler.analysis.modules.table import HookTable, hooks, module_sources, modules
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.program_tree import Source
from torch_tb_profiler.web.ask import Route, ask, ask_two
from torch_tb_profiler.web.http import Answer, HttpError, Parameters
from torch_tb_profiler.web.tables import Json, meta_of, note_of, table_of
from torch_tb_profiler.workspace import OpenTrace, Workspace


def _modules(workspace: Workspace, parameters: Parameters) -> Answer:
    sources: tuple[Source, ...] = ("nn", "lightning")
    source = parameters.choice("source", sources) if parameters.get("source") is not None else None
    return ask(workspace, parameters, ("modules", source), partial(modules_answer, source=source))


def modules_answer(model: Model, trace: OpenTrace, source: Source | None = None) -> Json:
    """`source`: None for the first that there is."""
    sources = module_sources(model)
    shown = source or (sources[0] if sources else "nn")
    table = modules(model, shown)
    hook_table = hooks(model)
    meta = meta_of(model, trace, "modules") | {"source": shown, "sources": sources, "total": len(table)}
    if not len(table):
        meta["notes"].append(note_of(NO_MODULES))
    keys = [k for k in definitions.MODULES if model.has_device_work or "device" not in k]
    return {
        **table_of(meta, table, keys, definitions.MODULES),
        "hooks": _hooks(hook_table) if len(hook_table) else None,
    }


def _hooks(found: HookTable) -> Json:
    table = table_of({}, found, definitions.HOOKS, definitions.HOOKS)
    return {"columns": table["columns"], "rows": table["rows"]}


def _compare(workspace: Workspace, parameters: Parameters) -> Answer:
    parameters.need_all("run", "worker", "exp_run", "exp_worker")
    path = parameters.get("path") or ROOT
    left = workspace.find(parameters.need("run"), parameters.need("worker"), parameters.get("span"))
    right = workspace.find(parameters.need("exp_run"), parameters.need("exp_worker"), parameters.get("exp_span"))

    def compute(baseline: Model, experiment: Model) -> Json:
        return compare_answer(baseline, left, experiment, right, path)

    return ask_two(workspace, parameters, ("compare", path), compute)


def compare_answer(left: Model, left_trace: OpenTrace, right: Model, right_trace: OpenTrace, path: str) -> Json:
    comparison = Comparison(left, right, "all")
    trail = comparison.trail(path)
    if not trail:
        raise HttpError(404, f"the comparison has no part {path!r}")
    node = trail[-1]
    whole = path == ROOT
    if whole:
        times = whole_times(comparison.left), whole_times(comparison.right)
        tables = [program.everything() for program in (comparison.left, comparison.right)]
    else:
        times = node.left.times, node.right.times
        tables = [(side.operators(), side.kernels()) for side in (node.left, node.right)]
    operators = delta(tables[0][0], tables[1][0], ("device_self_ns", "host_self_ns"))
    kernels = delta(tables[0][1], tables[1][1], ("total_ns",))
    return {
        "meta": meta_of(left, left_trace, "compare")
        | {
            "exp": meta_of(right, right_trace, "compare"),
            "path": path,
            "name": None if whole else _name(node.left),
            "exp_name": None if whole else _name(node.right),
            "kind": None if whole else _kind(node),
            "trail": [
                {"path": part.path, "name": _name(part.left), "exp_name": _name(part.right), "kind": _kind(part)}
                for part in trail[1:]
            ],
            "steps": _steps(comparison.left),
            "exp_steps": _steps(comparison.right),
        },
        "totals": _times(*times),
        "parts": _parts(comparison, node),
        "operators": _delta(operators, definitions.COMPARE_OPERATORS),
        "kernels": _delta(kernels, definitions.COMPARE_KERNELS),
    }


def _steps(program: Program) -> int:
    return len(program.steps)


def _parts(comparison: Comparison, node: Node) -> Json:
    rows: dict[str, list[Any]] = {key: [] for key in definitions.COMPARE_PARTS}
    for child in comparison.children(node):
        row = {
            "path": child.path,
            "name": _name(child.left),
            "exp_name": _name(child.right),
            "kind": _kind(child),
            "has_parts": comparison.has_children(child),
            **_times(child.left.times, child.right.times),
        }
        for key, value in row.items():
            rows[key].append(value)
    return {"columns": list(definitions.COMPARE_PARTS.values()), "rows": rows}


def _times(left: Times, right: Times) -> Json:
    found: Json = {}
    for key in ("duration_ns", "device_ns", "total_ns"):
        a, b = getattr(left, key), getattr(right, key)
        found |= {key: a, f"exp_{key}": b, f"delta_{key}": b - a}
    return found


def _delta(found: Delta, defined: dict[str, definitions.Definition]) -> Json:
    rows: Json = {"name": list(found.name)}
    for key in defined:
        if key in found.left:
            a, b = found.left[key], found.right[key]
            rows |= {key: a.tolist(), f"exp_{key}": b.tolist(), f"delta_{key}": (b - a).tolist()}
    return {"columns": list(defined.values()), "rows": rows}


def _name(side: Side) -> str | None:
    if not len(side.nodes):
        return None
    first, last = (side.program.timed.name(int(node)).removeprefix("nn.Module: ") for node in side.nodes[[0, -1]])
    return first if len(side.nodes) == 1 else f"{first} … {last}"


def _kind(node: Node) -> str:
    kinds = {side.kind for side in (node.left, node.right) if len(side.nodes)}
    kind = kinds.pop() if len(kinds) == 1 else None
    return "group" if kind is None else kind.name.lower()


ROUTES: dict[str, Route] = {"/api/modules": _modules, "/api/compare": _compare}
