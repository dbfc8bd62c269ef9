"""What the pages ask about a trace when they are first shown: answered by the process that has just read it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any, TypeVar, cast

from torch_tb_profiler.analysis.memory.records import memory_records
from torch_tb_profiler.model import Model
from torch_tb_profiler.web.http import Parameters
from torch_tb_profiler.web.routes import ROUTES
from torch_tb_profiler.workspace import Key, OpenTrace, StoredAnswer, Tier, Workspace, answer_name

T = TypeVar("T")

#: for `open_workspace`
QUESTIONS = f"{__name__}:questions"

#: about operators, kernels and memory, in the order in which somebody who opens the page comes to them
_OF_CALLS: tuple[tuple[str, dict[str, str]], ...] = (
    ("/api/overview", {}),
    ("/api/operators", {"group_by": "name"}),
    ("/api/kernels", {"group_by": "name"}),
    ("/api/health", {}),
    ("/api/figures", {}),
    ("/api/memory/curve", {}),
    ("/api/timeline/steps", {}),
    ("/api/operators", {"group_by": "name_shape"}),
    ("/api/operators", {"group_by": "name_stack"}),
    ("/api/kernels", {"group_by": "name_op_launch"}),
    ("/overview", {}),
    ("/operation", {}),
    ("/operation/table", {}),
    ("/operation", {"group_by": "OperationAndInputShape"}),
    ("/operation/table", {"group_by": "OperationAndInputShape"}),
    ("/kernel", {}),
    ("/kernel/table", {}),
    ("/kernel/table", {"group_by": "Kernel"}),
    ("/kernel/tc_pie", {}),
    ("/memory", {}),
    ("/memory_curve", {}),
    ("/memory_events", {}),
    # of any operator: what answers about one are made of is the same for all
    ("/api/operators/stacks", {"name": ""}),
)

#: about the first device with memory records: the page names it, others who ask mean it
_OF_MEMORY: tuple[tuple[str, dict[str, str]], ...] = (
    ("/api/memory/alive", {"limit": "10000"}),
    ("/api/memory/operators", {}),
    ("/api/memory/events", {}),
)

#: about modules: they need another tree, and nothing of what was computed for those above
_OF_MODULES: tuple[tuple[str, dict[str, str]], ...] = (
    ("/api/modules", {"source": "nn"}),
    ("/api/modules", {}),
    ("/module", {}),
    ("/tree", {}),
)

#: call stacks: the most memory for a moment, so when what was computed for the others is gone
_OF_STACKS: tuple[tuple[str, dict[str, str]], ...] = (("/api/stacks", {}),)


def requests_about(model: Model) -> tuple[list[tuple[str, dict[str, str]]], ...]:
    """Routes and parameters; together those that have much in common."""
    devices = memory_records(model).devices
    of_memory = [(route, {**parameters, "device": devices[0].name}) for route, parameters in _OF_MEMORY if devices]
    of_memory += [(route, {}) for route, _ in _OF_MEMORY if devices]
    return [*_OF_CALLS, *of_memory], [*_OF_STACKS], [*_OF_MODULES]


def questions(trace: OpenTrace, model: Model) -> list[list[tuple[str, Callable[[Model], StoredAnswer]]]]:
    """The names of the answers to `requests_about` a trace, each with what computes it."""
    return [questions_about(trace, model, requests) for requests in requests_about(model)]


def questions_about(
    trace: OpenTrace, model: Model, requests: list[tuple[str, dict[str, str]]]
) -> list[tuple[str, Callable[[Model], StoredAnswer]]]:
    """The names of the answers to some requests, each with what computes it."""
    listener = _Listener(trace, model)
    of_trace = {"run": trace.run, "worker": trace.worker, "span": trace.span}
    for route, parameters in requests:
        with contextlib.suppress(_Heard):
            ROUTES[route](cast(Workspace, listener), Parameters(of_trace | parameters))
    return list(listener.heard.items())


class _Heard(Exception):
    """What a route begins with is known."""


class _Listener:
    """Takes the place of a workspace that has one trace: hears what a route asks, and leaves it at that."""

    def __init__(self, trace: OpenTrace, model: Model) -> None:
        self._trace = trace
        self._model = model
        self.heard: dict[str, Callable[[Model], StoredAnswer]] = {}

    def find(self, *_: str | None) -> OpenTrace:
        return self._trace

    def ask(self, _: OpenTrace, question: Callable[[Model], T], *__: object) -> T:
        return question(self._model)

    def remember(self, key: Key, make: Callable[[], Any], tier: Tier = "memory") -> Any:
        if tier == "disk":
            name = answer_name(self._trace, str(key.question))
            if name not in self.heard:
                self.heard[name] = lambda _: make()
                raise _Heard
        return make()
