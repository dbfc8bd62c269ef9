"""The rules, a file each, and their list: adding a rule is adding a file, a line here, and its limits."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Rule
from torch_tb_profiler.insights.rules import (
    communication,
    data_parallel,
    dataloader,
    device_idle,
    distributed_backend,
    memory_limit,
    slow_communication,
    tensor_cores,
)

#: in the order of docs/findings.md
RULES: tuple[Rule, ...] = (
    dataloader.RULE,
    data_parallel.RULE,
    distributed_backend.RULE,
    communication.RULE,
    slow_communication.RULE,
    device_idle.RULE,
    tensor_cores.RULE,
    memory_limit.RULE,
)
