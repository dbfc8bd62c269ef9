"""Trace health: what a user should know before trusting the numbers of one trace. docs/health.md has every note.

One module per subject, one function per rule, listed in `RULES` at the end of its module. A rule that fires on a
healthy trace is a mistake: warnings and errors need evidence in the trace itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.health import devices, profiler, recording, times
from torch_tb_profiler.analysis.health.kernels import no_kernels, nothing_shown
from torch_tb_profiler.model import Model
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.trace import Note, Notes

__all__ = ["health", "troubles"]


@cached(for_good=True)
def health(model: Model) -> tuple[Note, ...]:
    """All notes: what was repaired, what the structure shows, what looks wrong, and what was not recorded."""
    if is_snapshot(model.trace) or model.foreign_program is not None:
        return troubles(model)
    not_recorded = (note for rule in recording.RULES for note in rule(model))
    return tuple(Notes([*troubles(model), *not_recorded]))


@cached(for_good=True)
def troubles(model: Model) -> tuple[Note, ...]:
    """The same without what was not recorded."""
    if is_snapshot(model.trace):
        return tuple(model.trace.notes)
    if model.foreign_program is not None:
        return tuple(
            Notes([recording.foreign(model.foreign_program), *model.trace.notes, *_of_rules(model, times.RULES)])
        )
    # without the device that the program used nothing else says much
    kernels = no_kernels(model)
    first = [] if kernels is None or kernels is nothing_shown() else [kernels]
    rules = (*devices.RULES, *times.RULES, *profiler.RULES)
    return tuple(Notes([*first, *model.notes, *_of_rules(model, rules)]))


def _of_rules(model: Model, rules: Sequence[Callable[[Model], Iterator[Note]]]) -> Iterator[Note]:
    """What rules find."""
    return (note for rule in rules for note in rule(model))
