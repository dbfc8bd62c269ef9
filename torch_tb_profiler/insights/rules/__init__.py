"""The rules, a file for each family, and their list: a new rule is a function, its words, and its limits."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Rule
from torch_tb_profiler.insights.rules import (
    communication,
    compilation,
    copies,
    data_loading,
    fusion,
    kernels,
    launch,
    loops,
    matmuls,
    memory,
    operators,
    optimizer,
    parallel,
    python,
    steps,
    synchronization,
)

_FAMILIES = (
    communication,
    compilation,
    copies,
    data_loading,
    fusion,
    kernels,
    launch,
    loops,
    memory,
    operators,
    optimizer,
    parallel,
    matmuls,
    python,
    steps,
    synchronization,
)
#: by their numbers; those that are applied to what the others leave come last
RULES: tuple[Rule, ...] = tuple(
    sorted(
        (each for family in _FAMILIES for each in vars(family).values() if isinstance(each, Rule)),
        key=lambda rule: (rule.general, int(rule.number[1:])),
    )
)
