"""The list of rules, in the order in which findings are shown."""

from __future__ import annotations

from torch_tb_profiler.insights import (
    communication,
    data_parallel,
    dataloader,
    distributed_backend,
    gpu_utilization,
    memory_limit,
    tensor_cores,
)
from torch_tb_profiler.insights.rule import Finding, Rule
from torch_tb_profiler.model import Model

RULES: tuple[Rule, ...] = (
    dataloader.RULE,
    data_parallel.RULE,
    distributed_backend.RULE,
    communication.RULE,
    gpu_utilization.RULE,
    tensor_cores.RULE,
    memory_limit.RULE,
)


def findings(model: Model) -> tuple[Finding, ...]:
    """What every rule that applies has to say."""
    found = (rule.apply(model) for rule in RULES)
    return tuple(finding for finding in found if finding is not None)
