"""Words of the answers about all ranks."""

from __future__ import annotations

from typing import Literal

Cause = Literal[
    "input", "slow_compute", "more_work", "slow_operator", "late_launches", "allocator", "network", "unknown"
]
#: what a heat map can show
Metric = Literal[
    "step_ns", "compute_ns", "exposed_wait_ns", "exposed_transfer_ns", "own_ns", "input_ns", "host_ns", "memory_bytes"
]
Link = Literal["within_node", "between_nodes", "unknown"]
#: dimensions of a parallel layout: data, tensor, pipeline, expert, context; replicas and shards of hybrid sharding
Role = Literal["dp", "tp", "pp", "ep", "cp", "world", "unknown"]
Confidence = Literal["low", "medium", "high"]
