"""The rules, a file each, and their list: adding a rule is adding a file, a line here, and its limits."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Rule
from torch_tb_profiler.insights.rules import (
    attention_math,
    communication,
    conv_bias,
    data_parallel,
    dataloader,
    device_idle,
    distributed_backend,
    expert_loop,
    fragmentation,
    gathered_experts,
    grad_recorded,
    graph_breaks,
    memory_growth,
    memory_limit,
    optimizer_share,
    pointwise_chain,
    recompiles,
    recompute,
    slow_communication,
    tensor_cores,
    unfused_attention,
    unfused_norm,
    unfused_optimizer,
    unused_memory,
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
    pointwise_chain.RULE,
    unfused_norm.RULE,
    unfused_optimizer.RULE,
    optimizer_share.RULE,
    unfused_attention.RULE,
    attention_math.RULE,
    conv_bias.RULE,
    recompiles.RULE,
    graph_breaks.RULE,
    recompute.RULE,
    unused_memory.RULE,
    fragmentation.RULE,
    memory_growth.RULE,
    grad_recorded.RULE,
    expert_loop.RULE,
    gathered_experts.RULE,
)
