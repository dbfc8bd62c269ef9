"""The list of rules, and what they find in the order in which it is shown."""

from __future__ import annotations

from torch_tb_profiler.insights import (
    communication,
    data_parallel,
    dataloader,
    device_idle,
    distributed_backend,
    memory_limit,
    slow_communication,
    tensor_cores,
)
from torch_tb_profiler.insights.rule import Finding, FindingSeverity, Rule
from torch_tb_profiler.model import Model

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


_SEVERITIES: tuple[FindingSeverity, ...] = ("high", "medium", "low")


def findings(model: Model) -> tuple[Finding, ...]:
    """What every rule that applies has to say: the most severe first, then by the time that could be saved."""
    found = (rule.apply(model) for rule in RULES)
    return tuple(sorted((finding for finding in found if finding is not None), key=_order))


def _order(finding: Finding) -> tuple[int, float]:
    return _SEVERITIES.index(finding.severity), -(finding.saving_ns or 0.0)
