"""The rules, a file each, and their list: adding a rule is adding a file, a line here, and its limits."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Rule
from torch_tb_profiler.insights.rules import (
    communication,
    convolution_tuning,
    data_parallel,
    dataloader,
    device_idle,
    distributed_backend,
    few_blocks,
    layout,
    low_occupancy,
    memory_limit,
    misaligned_products,
    skinny_products,
    slow_communication,
    slow_compiled,
    slow_products,
    tensor_cores,
    tf32,
)

#: in the order of docs/findings.md
RULES: tuple[Rule, ...] = (
    dataloader.RULE,
    data_parallel.RULE,
    distributed_backend.RULE,
    communication.RULE,
    slow_communication.RULE,
    device_idle.RULE,
    tf32.RULE,
    tensor_cores.RULE,
    misaligned_products.RULE,
    slow_products.RULE,
    skinny_products.RULE,
    few_blocks.RULE,
    low_occupancy.RULE,
    layout.RULE,
    convolution_tuning.RULE,
    slow_compiled.RULE,
    memory_limit.RULE,
)
