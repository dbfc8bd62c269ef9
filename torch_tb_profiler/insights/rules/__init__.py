"""The rules, a file each, and their list: adding a rule is adding a file, a line here, and its limits."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Rule
from torch_tb_profiler.insights.rules import (
    allocator_churn,
    communication,
    data_parallel,
    dataloader,
    dataloader_restart,
    device_idle,
    distributed_backend,
    exposed_copies,
    host_allocation,
    input_annotation,
    memory_limit,
    pageable_input,
    pageable_output,
    slow_communication,
    synchronous_dataloader,
    tensor_cores,
    tiny_copies,
    worker_stalls,
)

#: in the order of docs/findings.md
RULES: tuple[Rule, ...] = (
    dataloader.RULE,
    input_annotation.RULE,
    synchronous_dataloader.RULE,
    worker_stalls.RULE,
    dataloader_restart.RULE,
    pageable_input.RULE,
    exposed_copies.RULE,
    tiny_copies.RULE,
    pageable_output.RULE,
    allocator_churn.RULE,
    host_allocation.RULE,
    data_parallel.RULE,
    distributed_backend.RULE,
    communication.RULE,
    slow_communication.RULE,
    device_idle.RULE,
    tensor_cores.RULE,
    memory_limit.RULE,
)
