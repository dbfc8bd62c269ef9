"""Groups of ranks that communicate with each other, as a trace names them."""

from __future__ import annotations

import json
from functools import lru_cache

import msgspec

from torch_tb_profiler.trace import Trace


class ProcessGroup(msgspec.Struct, frozen=True):
    """Ranks that communicate with each other.

    name, description: empty if the trace does not contain it; `ranks` is then empty, too
    ranks: numbers in the whole job
    size: 0 when it is not known
    """

    name: str = ""
    description: str = ""
    ranks: tuple[int, ...] = ()
    size: int = 0

    @property
    def label(self) -> str:
        """The name for tables, description first; empty if nothing is known of it."""
        if self.description and self.description != "undefined":
            return f"{self.description} ({self.name})" if self.name else self.description
        return self.name


def groups_of_header(trace: Trace) -> dict[str, ProcessGroup]:
    """`distributedInfo.pg_config`, by name."""
    found: dict[str, ProcessGroup] = {}
    listed = trace.header.distributed.get("pg_config")
    for group in listed if isinstance(listed, list) else []:
        if isinstance(group, dict) and group.get("pg_name") is not None:
            ranks = ranks_of(json.dumps(group.get("ranks")))
            name = str(group["pg_name"])
            size = positive_number(group.get("pg_size")) or len(ranks)
            found[name] = ProcessGroup(name, str(group.get("pg_desc") or ""), ranks, size)
    return found


def positive_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


@lru_cache(maxsize=256)
def ranks_of(text: str) -> tuple[int, ...]:
    """`[0, 1]` or that as a string; long lists are shortened with dots by torch and then not known."""
    try:
        ranks = json.loads(text)
    except ValueError:
        return ()
    if isinstance(ranks, str):
        return ranks_of(ranks)
    if isinstance(ranks, list) and all(isinstance(rank, int) for rank in ranks):
        return tuple(ranks)
    return ()
