"""The rules over several ranks, a file each, and their list: a file, a line here, and limits each."""

from __future__ import annotations

from torch_tb_profiler.insights.run.rule import RunRule
from torch_tb_profiler.insights.run.rules import (
    exposed_transfer,
    of_one_rank,
    pipeline_bubble,
    slow_host,
    slow_link,
    slow_transfers,
    straggler,
    uneven_all_to_all,
    waiting,
)

#: in the order in which they are applied
RUN_RULES: tuple[RunRule, ...] = (
    straggler.RULE,
    slow_host.RULE,
    waiting.RULE,
    pipeline_bubble.RULE,
    slow_link.RULE,
    slow_transfers.RULE,
    exposed_transfer.RULE,
    uneven_all_to_all.RULE,
    *of_one_rank.RULES,
)
