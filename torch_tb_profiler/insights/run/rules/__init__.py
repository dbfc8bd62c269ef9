"""The rules over several ranks, a file for each family, and their list: see `insights/rules`."""

from __future__ import annotations

from torch_tb_profiler.insights.run.rule import RunRule
from torch_tb_profiler.insights.run.rules import communication, of_one_rank, ranks

#: in the order in which they are applied
RUN_RULES: tuple[RunRule, ...] = (
    *(each for family in (ranks, communication) for each in vars(family).values() if isinstance(each, RunRule)),
    *of_one_rank.RULES,
)
