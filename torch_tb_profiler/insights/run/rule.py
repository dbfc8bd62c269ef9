"""What a rule over several ranks is, and what it says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from typing import TYPE_CHECKING

import msgspec

from torch_tb_profiler.insights.rule import Cause, FoundCause, RunInstance
from torch_tb_profiler.words import Section, section

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.replay.effects import ChangeEffect
    from torch_tb_profiler.insights.run.facts import RunFacts


class RunFinding(Cause, frozen=True, kw_only=True):
    """A cause of lost time in a run of several ranks. What it saves is of the average step of all ranks, when all are
    replayed together.

    workers     the ranks that have to change; empty if it is all of them
    instances   where it can be seen, the most costly first
    """

    workers: tuple[str, ...]
    instances: tuple[RunInstance, ...]


class RunFound(FoundCause, frozen=True, kw_only=True):
    """What a rule over ranks found, before its saving is known.

    workers, instances   as in RunFinding
    remedy    what removes the cause: effects of each rank, in their order; None for a warning
    changes   what `remedy` is made of: what refuses them, refuses it
    bound     what it saves is the most that any remedy can
    alone_ns  what it saves alone of an average step, where the reduction of the ranks says it (docs/ranks.md); None:
              what the replay says
    count     how many places there are; None: as many as instances
    """

    workers: tuple[str, ...] = ()
    remedy: tuple[tuple[ChangeEffect, ...], ...] | None = None
    bound: bool = True
    alone_ns: float | None = None
    instances: tuple[RunInstance, ...] = ()
    count: int | None = None


class RunRule(msgspec.Struct, frozen=True):
    """A rule over ranks.

    id, number, family   as of a Rule
    find      what it finds: nothing, or the causes with the most costly first
    replaces  ids of rules that say the same less precisely: left out when this one finds something
    """

    id: str
    number: str
    family: str
    find: Callable[[RunFacts], Sequence[RunFound]]
    replaces: tuple[str, ...] = ()

    @property
    def words(self) -> Section:
        """What it says."""
        return section(f"rules/{self.family}", self.id)


def run_rule(
    number: str, replaces: tuple[str, ...] = ()
) -> Callable[[Callable[[RunFacts], Iterable[RunFound]]], RunRule]:
    """Make a rule over ranks of a function with its name that yields what it finds."""

    def made(find: Callable[[RunFacts], Iterable[RunFound]]) -> RunRule:
        @wraps(find)
        def found(facts: RunFacts) -> tuple[RunFound, ...]:
            return tuple(find(facts))

        return RunRule(find.__name__, number, find.__module__.rpartition(".")[2], found, replaces)

    return made
