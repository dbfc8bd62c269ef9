"""Nodes and processes of a run."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.ranks.rank import Rank

#: `node1_0`, as tensorboard_trace_handler names workers by default: host, process
_NODE_AND_PROCESS = lazy_pattern(r"(.*)_(\d+)")


class Location(msgspec.Struct, frozen=True):
    """Where a rank ran."""

    node: str
    process: str


def locations(ranks: Sequence[Rank]) -> list[Location]:
    """Node and process of each rank: from `host_name` and rank, else from the worker's name, else counted."""
    found = []
    for index, rank in enumerate(ranks):
        named = _NODE_AND_PROCESS.match(rank.worker)
        node = rank.host_name or (named[1] if named else rank.worker)
        if named:
            process = named[2]
        else:
            process = str(index if rank.rank is None else rank.rank)
        found.append(Location(node, process))
    return found
