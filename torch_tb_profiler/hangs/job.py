"""The dumps of a job's ranks together: its process groups, and how far each rank came in each of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from torch_tb_profiler.hangs.dump import Call, Dump

#: a process group: its name, and its members. Ranks that build groups locally may use one name for several
Key = tuple[str, tuple[int, ...]]


class Job:
    """Dumps by rank.

    dumps  those that could be read
    """

    def __init__(self, dumps: Mapping[int, Dump]) -> None:
        self.dumps = dict(sorted(dumps.items()))
        self._keys: dict[tuple[int, str], Key] = {}
        self.descriptions: dict[Key, str] = {}
        unlisted: dict[str, list[int]] = defaultdict(list)
        for rank, dump in self.dumps.items():
            for group in dump.groups:
                if not group.ranks:
                    unlisted[group.name].append(rank)
        for rank, dump in self.dumps.items():
            for group in dump.groups:
                key = group.name, group.ranks or tuple(unlisted[group.name])
                self._keys[rank, group.name] = key
                self.descriptions[key] = group.description or group.name

    @cached_property
    def ranks(self) -> list[int]:
        """Every rank that a group has as a member, or that left a dump."""
        return sorted({rank for _, members in self.descriptions for rank in members} | set(self.dumps))

    @cached_property
    def missing(self) -> set[int]:
        """Ranks without a dump."""
        return set(self.ranks) - set(self.dumps)

    def key_of(self, rank: int, call: Call) -> Key:
        """Return the group of a call; one of the rank alone where its dump does not list the group."""
        return self._keys.get((rank, call.group), (call.group, (rank,)))

    @cached_property
    def pending(self) -> dict[int, Call]:
        """The first unfinished call of each rank that has any."""
        return {rank: calls[0] for rank in self.dumps if (calls := self.unfinished(rank))}

    def call_of(self, rank: int, key: Key, number: int) -> Call | None:
        """Return a rank's collective of a number in a group, if the dump still has it."""
        return self._calls.get((rank, key, number))

    def unfinished(self, rank: int) -> list[Call]:
        """Return the unfinished calls of a rank, in its order; empty without a dump."""
        calls = self.dumps[rank].calls if rank in self.dumps else []
        return [call for call in calls if not call.is_finished and not self._is_seen_finished(rank, call)]

    def _is_seen_finished(self, rank: int, call: Call) -> bool:
        key = self.key_of(rank, call)
        return not call.is_transfer and key in self._counted and call.number <= (self.finished(rank, key) or -1)

    def entered(self, rank: int, key: Key) -> int | None:
        """Return the number of the last collective that a rank queued in a group; None where that is not known."""
        return self._reached.get((rank, key), (None, None))[0]

    def finished(self, rank: int, key: Key) -> int | None:
        """Return the number of the last collective of a group that a rank saw finished; None where not known."""
        return self._reached.get((rank, key), (None, None))[1]

    @cached_property
    def _calls(self) -> dict[tuple[int, Key, int], Call]:
        return {
            (rank, self.key_of(rank, call), call.number): call
            for rank, dump in self.dumps.items()
            for call in dump.calls
            if not call.is_transfer
        }

    @cached_property
    def _reached(self) -> dict[tuple[int, Key], tuple[int | None, int | None]]:
        """Numbers of the last collective entered and finished, by rank and group."""
        reached: dict[tuple[int, Key], tuple[int | None, int | None]] = {}
        counted = self._counted
        for rank, dump in self.dumps.items():
            open_numbers: dict[str, int] = {}
            for call in dump.calls:
                if not call.is_finished and not call.is_transfer:
                    open_numbers[call.group] = min(call.number, open_numbers.get(call.group, call.number))
            for group in dump.groups:
                key = self._keys[rank, group.name]
                entered, finished = dump.last_numbers.get(group.name), dump.last_finished.get(group.name)
                if group.name in open_numbers:
                    # a dump of unfinished calls alone: what came before has finished
                    finished = max(finished or 0, open_numbers[group.name] - 1)
                if key in counted:
                    entered = group.enqueued if group.enqueued is not None else entered
                    finished = group.finished if group.finished is not None else finished
                reached[rank, key] = entered, finished
        return reached

    @cached_property
    def _counted(self) -> set[Key]:
        """Groups whose status counts collectives.

        The status of a group with sends and receives counts these. Where a rank's newest recorded collective is not the
        one that its status calls the last, the status of that group is not used, for any rank.
        """
        keys = set(self.descriptions)
        for rank, dump in self.dumps.items():
            transfers = set(dump.transfers)
            for group in dump.groups:
                recorded = dump.last_numbers.get(group.name)
                if group.name in transfers or (recorded is not None and group.enqueued not in (None, recorded)):
                    keys.discard(self._keys[rank, group.name])
        return keys
