"""The rules over several ranks, a file each, and their list: a file, a line here, and limits each."""

from __future__ import annotations

from torch_tb_profiler.insights.run_rule import RunRule
from torch_tb_profiler.insights.run_rules import (
    exposed_transfer,
    of_one_rank,
    slow_host,
    straggler,
    uneven_all_to_all,
    waiting,
)

#: in the order in which they are applied
RUN_RULES: tuple[RunRule, ...] = (
    straggler.RULE,
    slow_host.RULE,
    waiting.RULE,
    exposed_transfer.RULE,
    uneven_all_to_all.RULE,
    *of_one_rank.RULES,
)
