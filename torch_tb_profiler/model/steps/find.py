"""Find steps: rules are tried in the order of `RULES`; `Steps.rule` names the first one that finds any.

A user may choose another rule, or give a pattern of annotation names.
"""

from __future__ import annotations

from collections.abc import Callable

from msgspec.structs import replace

from torch_tb_profiler.model.call_tree import CallTree
from torch_tb_profiler.model.launches import DeviceLinks
from torch_tb_profiler.model.patterns import check_pattern, searcher
from torch_tb_profiler.model.steps.detection import (
    inference_engine,
    optimizer,
    profiler_step,
    repeated_annotation,
    repeated_kernels,
    repeated_module,
    training_framework,
    whole_trace,
)
from torch_tb_profiler.model.steps.host import Host
from torch_tb_profiler.model.steps.types import HostSteps, StepChoice, Steps
from torch_tb_profiler.model.steps.windows import with_periods
from torch_tb_profiler.trace import Note, Trace, note

#: time limit for matching a user's pattern with all names of annotations, s
PATTERN_SECONDS = 2.0

Rule = Callable[[Host], HostSteps | None]

RULES: dict[str, Rule] = {
    "profiler_step": profiler_step,
    "inference_engine": inference_engine,
    "training_framework": training_framework,
    "repeated_annotation": repeated_annotation,
    "optimizer": optimizer,
    "repeated_module": repeated_module,
    "repeated_kernels": repeated_kernels,
    "whole_trace": whole_trace,
}

#: rules that find steps by repetition; the others need annotations that mark steps, or find one step
WITHOUT_MARKS = frozenset({"optimizer", "repeated_module", "repeated_kernels"})

#: `Steps.rule` of steps found by a user's pattern
PATTERN_RULE = "pattern"


def find_steps(trace: Trace, tree: CallTree, device: DeviceLinks, choice: StepChoice | None = None) -> Steps:
    """Find the steps of a trace by the chosen rule or the first that fits; empty if nothing in it has a duration.

    A choice that finds no step falls back to the rules, with a note. Raises ValueError for an unknown rule, for a
    pattern that is not a regular expression, and for one that takes too long.
    """
    choice = choice or StepChoice()
    host = Host(trace, tree, device)
    chosen_rule: dict[str, Rule] = {}
    notes: tuple[Note, ...] = ()
    if choice.pattern is not None:
        chosen_rule[PATTERN_RULE] = _matching(choice.pattern)
    elif choice.rule is not None:
        if choice.rule not in RULES:
            raise ValueError(f"no rule for steps is called {choice.rule!r}; there are {', '.join(RULES)}")
        chosen_rule[choice.rule] = RULES[choice.rule]
    for number, (rule, find) in enumerate([*chosen_rule.items(), *RULES.items()]):
        found = find(replace(host, asked=number < len(chosen_rule)))
        if found is not None:
            if chosen_rule and number >= len(chosen_rule):
                notes = (_not_found(choice),)
            steps = with_periods(trace, device, rule, found)
            return replace(steps, notes=(*notes, *steps.notes))
    return Steps.none()


def _matching(pattern: str) -> Rule:
    """Make a rule of a user's pattern, with a time limit: a pattern in a link must not block the server."""
    check_pattern(pattern)

    def find(host: Host) -> HostSteps | None:
        return host.steps(host.annotations(searcher(pattern, PATTERN_SECONDS)))

    return find


def _not_found(choice: StepChoice) -> Note:
    asked = {"pattern": choice.pattern} if choice.pattern is not None else {"rule": choice.rule or ""}
    return note("chosen_steps_not_found", "warning", touches=("overview",), values=asked)
