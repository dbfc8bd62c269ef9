"""The dumps of a job's ranks together: its process groups, and how far each rank came in each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property
from heapq import nlargest
from operator import itemgetter

from torch_tb_profiler.hangs.dump import Dump, DumpedCall, DumpedGroup


class RankGroup:
    """A group of ranks, as all of their dumps know it. Groups are equal only to themselves.

    ranks     its members, in the order of their ranks within the group
    entered   by rank the number of the last collective that it queued, where that is known
    finished  by rank the number of the last collective that it saw finished, where that is known
    calls     recorded collectives by number, then by rank
    """

    def __init__(self, name: str, description: str, ranks: tuple[int, ...]) -> None:
        self.name, self.description, self.ranks = name, description or name, ranks
        self.entered: dict[int, int] = {}
        self.finished: dict[int, int] = {}
        self.calls: dict[int, dict[int, DumpedCall]] = defaultdict(dict)

    @cached_property
    def _most_finished(self) -> list[tuple[int, int]]:
        return nlargest(2, self.finished.items(), key=itemgetter(1))

    def finished_beside(self, rank: int) -> int:
        """Return the number of the last collective that a member beside one saw finished; -1 where that is unknown."""
        return max((number for other, number in self._most_finished if other != rank), default=-1)


class HungJob:
    """Dumps by rank, and the process groups that they tell of. dumps: those that could be read."""

    def __init__(self, dumps: Mapping[int, Dump]) -> None:
        self.dumps = dict(sorted(dumps.items()))
        self._groups: dict[tuple[int, str], RankGroup] = {}
        self._number_groups()
        self._counted = self._with_counts()
        for rank, dump in self.dumps.items():
            for call in dump.calls:
                if not call.is_transfer:
                    self.group_of(rank, call).calls[call.number][rank] = call
            for group in dump.groups:
                self._place(rank, dump, group)

    def _number_groups(self) -> None:
        """Find the groups: by name and members, as ranks that build groups locally may use one name for several."""
        unlisted: dict[str, list[int]] = defaultdict(list)
        for rank, dump in self.dumps.items():
            for group in dump.groups:
                if not group.ranks:
                    unlisted[group.name].append(rank)
        known: dict[tuple[str, tuple[int, ...]], RankGroup] = {}
        for rank, dump in self.dumps.items():
            for group in dump.groups:
                ranks = group.ranks or tuple(unlisted[group.name])
                if (key := (group.name, ranks)) not in known:
                    known[key] = RankGroup(group.name, group.description, ranks)
                self._groups[rank, group.name] = known[key]

    def _with_counts(self) -> set[RankGroup]:
        """Find the groups whose status counts collectives.

        The status of a group with sends and receives counts these. Where a rank's newest recorded collective is not the
        one that its status calls the last, the status of that group is not used, for any rank.
        """
        counted = set(self._groups.values())
        for rank, dump in self.dumps.items():
            for group in dump.groups:
                recorded = dump.last_numbers.get(group.name)
                if group.name in dump.transfers or (recorded is not None and group.enqueued not in (None, recorded)):
                    counted.discard(self._groups[rank, group.name])
        return counted

    def _place(self, rank: int, dump: Dump, group: DumpedGroup) -> None:
        """Note how far a rank came in a group."""
        entered, finished = dump.last_numbers.get(group.name), dump.last_finished.get(group.name)
        unfinished = [
            call.number
            for call in dump.calls
            if call.group == group.name and not call.is_finished and not call.is_transfer
        ]
        if unfinished:
            # a dump of unfinished calls alone: what came before has finished
            finished = max(finished or 0, min(unfinished) - 1)
        target = self._groups[rank, group.name]
        if target in self._counted:
            entered = group.enqueued if group.enqueued is not None else entered
            finished = group.finished if group.finished is not None else finished
        if entered is not None:
            target.entered[rank] = entered
        if finished is not None:
            target.finished[rank] = finished

    @cached_property
    def ranks(self) -> list[int]:
        """Every rank that a group has as a member, or that left a dump."""
        return sorted(set(self.dumps).union(*(group.ranks for group in set(self._groups.values()))))

    @cached_property
    def missing(self) -> set[int]:
        """Ranks without a dump."""
        return set(self.ranks) - set(self.dumps)

    def group_of(self, rank: int, call: DumpedCall) -> RankGroup:
        """Return the group of a call; one of the rank alone where its dump does not list the group."""
        if (rank, call.group) not in self._groups:
            self._groups[rank, call.group] = RankGroup(call.group, "", (rank,))
        return self._groups[rank, call.group]

    @cached_property
    def pending(self) -> dict[int, DumpedCall]:
        """The first unfinished call of each rank that has any."""
        return {rank: calls[0] for rank in self.dumps if (calls := self.unfinished(rank))}

    def unfinished(self, rank: int) -> list[DumpedCall]:
        """Return the unfinished calls of a rank, in its order."""
        return [call for call in self.dumps[rank].calls if not call.is_finished and not self._is_counted(rank, call)]

    def _is_counted(self, rank: int, call: DumpedCall) -> bool:
        """Whether the status of its group has a call as finished."""
        group = self.group_of(rank, call)
        return not call.is_transfer and group in self._counted and call.number <= group.finished.get(rank, -1)
