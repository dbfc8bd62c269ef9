"""Changes of the replay, and steps by their names, as a program gives them."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import Change, check
from torch_tb_profiler.api.errors import ProfileError, profile_errors
from torch_tb_profiler.model import Model


def check_changes(changes: Sequence[Change]) -> None:
    with profile_errors(ValueError):
        for change in changes:
            check(change)


def places_of_steps(model: Model, names: Sequence[str] | None) -> list[int] | None:
    """Indexes of steps by their names."""
    known = model.steps.names
    for name in names or ():
        if name not in known:
            raise ProfileError(f"there is no step {name!r}")
    return None if names is None else sorted({known.index(name) for name in names})
