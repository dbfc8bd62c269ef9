"""How process groups are called."""

from __future__ import annotations

from torch_tb_profiler.model.process_groups import ProcessGroup


def group_label(of: ProcessGroup) -> str:
    """What a process group is called in tables; empty if nothing is known of it."""
    if of.description and of.description != "undefined":
        return f"{of.description} ({of.name})" if of.name else of.description
    return of.name
