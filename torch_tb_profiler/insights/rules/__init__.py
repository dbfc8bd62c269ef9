"""The rules, a file each, and their list: adding a rule is adding a file, a line here, and its limits."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Rule
from torch_tb_profiler.insights.rules import (
    anomaly_mode,
    api_calls,
    communication,
    data_parallel,
    dataloader,
    device_idle,
    distributed_backend,
    dynamic_shapes,
    first_launches,
    garbage_collection,
    host_dispatch,
    launch_blocking,
    launch_bound,
    logging_reads,
    memory_limit,
    profiler_overhead,
    slow_communication,
    sync_points,
    tensor_cores,
    tensor_loop,
    thread_contention,
    zero_grad,
)

#: in the order of docs/findings.md
RULES: tuple[Rule, ...] = (
    dataloader.RULE,
    data_parallel.RULE,
    distributed_backend.RULE,
    communication.RULE,
    slow_communication.RULE,
    sync_points.RULE,
    logging_reads.RULE,
    dynamic_shapes.RULE,
    launch_blocking.RULE,
    anomaly_mode.RULE,
    launch_bound.RULE,
    first_launches.RULE,
    api_calls.RULE,
    host_dispatch.RULE,
    garbage_collection.RULE,
    tensor_loop.RULE,
    thread_contention.RULE,
    zero_grad.RULE,
    profiler_overhead.RULE,
    device_idle.RULE,
    tensor_cores.RULE,
    memory_limit.RULE,
)
