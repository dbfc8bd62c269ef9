"""/api/operators, what one of them did, and /api/kernels (docs/api.md)."""

from __future__ import annotations

from functools import partial

from torch_tb_profiler.analysis.kernels.table import KernelGrouping
from torch_tb_profiler.analysis.operators.table import OperatorGrouping
from torch_tb_profiler.web import answers
from torch_tb_profiler.web.ask import Route
from torch_tb_profiler.web.http import Answer, Parameters
from torch_tb_profiler.web.known_operators import known_operators
from torch_tb_profiler.web.table_query import answer_query, ask_table
from torch_tb_profiler.workspace import Workspace


def operators(workspace: Workspace, parameters: Parameters) -> Answer:
    groupings: tuple[OperatorGrouping, ...] = ("name", "name_shape", "name_stack")
    group_by = parameters.choice("group_by", groupings)
    compute = partial(answers.operators_answer, group_by=group_by)
    return ask_table(workspace, parameters, ("operators", group_by), compute)


def _stacks(workspace: Workspace, parameters: Parameters) -> Answer:
    *_, name = parameters.need_all("run", "worker", "name")
    known = known_operators(workspace, parameters)
    return answer_query(known.table(known.details.stacks_of(name, parameters.get("input_shape"))), parameters)


def _launched(workspace: Workspace, parameters: Parameters) -> Answer:
    *_, name = parameters.need_all("run", "worker", "name")
    known = known_operators(workspace, parameters)
    return answer_query(known.kernels(known.details.kernels_of(name, parameters.get("input_shape"))), parameters)


def kernels(workspace: Workspace, parameters: Parameters) -> Answer:
    groupings: tuple[KernelGrouping, ...] = ("name", "name_op_launch")
    group_by = parameters.choice("group_by", groupings)
    compute = partial(answers.kernels_answer, group_by=group_by)
    return ask_table(workspace, parameters, ("kernels", group_by), compute)


ROUTES: dict[str, Route] = {
    "/api/operators": operators,
    "/api/operators/stacks": _stacks,
    "/api/operators/kernels": _launched,
    "/api/kernels": kernels,
}
