"""Which collectives of the ranks are the same one, rank after rank: what is kept is one entry for each collective.

Rules, in words: docs/ranks.md. A process group is joined here when every collective of it has a number that
says which it is (Comms Id, else Seq), or when all ranks called the same ones in the same order. Where that fails,
`doubted` says so, and `matching` looks closer.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields

import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.called import Called, is_between_two
from torch_tb_profiler.ranks.operations import comparable_size, may_differ

#: Seq is not believed where more than this part of a group's matches have different steps
MOST_STEPS_APART = 0.5
_SEND, _RECV = KINDS.index("send"), KINDS.index("recv")
_BARRIER, _OTHER = KINDS.index("barrier"), KINDS.index("other")
#: of sends and receives: places in a step
_IN_STEP = 1 << 32
#: Comms Ids of a new group that are looked for in others
_SAMPLE = 16


@dataclass
class Codes:
    """Numbers of what is the same on all ranks, by first appearance."""

    of: dict[Hashable, int] = field(default_factory=dict)

    def all(self, values: Sequence[Hashable]) -> Int64:
        """Of each value, and -1 at the end for none."""
        return np.array([*(self.of.setdefault(value, len(self.of)) for value in values), -1], np.int64)


@dataclass
class _Known:
    """The collectives of a group so far. Columns are of shape (collectives,).

    by_order    whether the order tells them, else a number
    by_id       whether that is the Comms Id
    key         number of each; of those by order what they look like
    number      in the whole run
    apart       whether some rank called it in another step
    shared      whether several ranks have it
    """

    by_order: bool
    by_id: bool
    key: Int64
    kind: Int8
    dtype: Int32
    size: Int64
    step: Int32
    name: Int32
    number: Int32
    apart: Bool
    shared: Bool
    order: Int64 | None = None

    def place(self, key: Int64) -> Int64:
        """Of each key its position, -1 for new ones."""
        if self.order is None:
            self.order = np.argsort(self.key, kind="stable")
        at = np.minimum(np.searchsorted(self.key, key, sorter=self.order), len(self.key) - 1)
        found = self.order[at]
        return np.where(self.key[found] == key, found, -1)

    def extend(self, other: _Known) -> None:
        for each in fields(self):
            mine = getattr(self, each.name)
            if isinstance(mine, np.ndarray) and each.name != "order":
                setattr(self, each.name, np.concatenate((mine, getattr(other, each.name))))
        self.order = None


class Join:
    """Numbers the collectives of a run.

    groups     process groups, as first seen
    doubted    groups whose collectives have to be looked at more closely, by their place in `groups`
    count      how many collectives there are
    pairs      ranks that send and receive, the lower first
    """

    def __init__(self) -> None:
        self.groups: list[ProcessGroup] = []
        self.group_codes, self.texts, self.steps = Codes(), Codes(), Codes()
        self.doubted: set[int] = set()
        self.count = 0
        self.pairs: list[tuple[int, int]] = []
        self._known: dict[Hashable, _Known] = {}

    def pair_of_numbers(self) -> Int64:
        """Shape (collectives,): index into `pairs`, -1 for those that are no sends and receives."""
        codes = {pair: at for at, pair in enumerate(self.pairs)}
        found = np.full(self.count, -1, np.int64)
        for key, known in self._known.items():
            if isinstance(key, tuple):
                _, one, other = key
                found[known.number] = codes.setdefault((min(one, other), max(one, other)), len(codes))
        self.pairs = list(codes)
        return found

    def add(self, of: Called) -> Int64:
        """Shape (rows,): the number of each collective, the same again when the same rank is added again.

        -1 for sends and receives of which the other side is not known, and in groups that are doubted.
        """
        numbers = np.full(len(of), -1, np.int64)
        group = self.group_numbers(of.groups)[of.group]
        dtype = np.where(of.dtype > 0, self.texts.all(of.dtypes)[of.dtype], -1)
        name = self.texts.all(of.names)[of.name]
        step = self.steps.all(of.steps)[of.step]
        if not len(of):
            return numbers
        size = np.where(of.kind == _BARRIER, -1, comparable_size(of.kind, of.in_bytes, of.out_bytes, self.sizes[group]))
        free = may_differ(of.kind, of.in_bytes, of.out_bytes, self.sizes[group])
        between_two = is_between_two(of)
        few = len(self.groups) <= np.iinfo(np.int16).max
        order = np.argsort(group.astype(np.int16) if few else group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-1))
        for at, rows in zip(group[order][starts].tolist(), np.split(order, starts[1:]), strict=True):
            two = between_two[rows]
            for key, part in (*self._pairs(at, of, rows[two]), *(((at, rows[~two]),) if not two.all() else ())):
                columns = (of.kind, dtype, size, step, name)
                if isinstance(key, tuple):
                    nth = _in_step(step[part])
                    mine = self._new(nth, part, *columns, False, False)
                    mine.kind[:], mine.size[:] = _SEND, -1
                    found = self._join(key, mine, np.zeros(len(part), np.bool_))
                else:
                    numbered = _numbers_of(of.identity[part], of.sequence[part])
                    if numbered is None:
                        self.doubted.add(at)
                        continue
                    mine = self._new(numbered, part, *columns, not numbered.size, bool((of.identity[part] >= 0).all()))
                    found = self._join(key, mine, free[part])
                if found is None:
                    self.doubted.add(at)
                else:
                    numbers[part] = found
        if self.doubted:
            numbers[np.isin(group, list(self.doubted)) & ~between_two] = -1
        return numbers

    def group_numbers(self, groups: Sequence[ProcessGroup]) -> Int64:
        """Of each group its place in `groups`, and -1 at the end."""
        codes = self.group_codes.all([group_key(of) for of in groups])
        for of, code in zip(groups, codes.tolist(), strict=False):
            if code == len(self.groups):
                self.groups.append(of)
        return codes

    @property
    def sizes(self) -> Int64:
        """Of each group how many ranks it has, 0 where not known; and 0 at the end."""
        return np.array([*(of.size for of in self.groups), 0], np.int64)

    def _new(
        self,
        key: Int64,
        rows: Int64,
        kind: Int64,
        dtype: Int64,
        size: Int64,
        step: Int64,
        name: Int64,
        by_order: bool,
        by_id: bool,
    ) -> _Known:
        n = len(rows)
        kinds = kind[rows].astype(np.int8)
        return _Known(
            by_order,
            by_id,
            np.zeros(n, np.int64) if by_order else key,
            kinds,
            dtype[rows].astype(np.int32),
            size[rows],
            step[rows].astype(np.int32),
            np.where(kinds == _OTHER, name[rows], -1).astype(np.int32),
            np.empty(0, np.int32),
            np.zeros(n, np.bool_),
            np.zeros(n, np.bool_),
        )

    def _pairs(self, at: int, of: Called, rows: Int64) -> list[tuple[Hashable, Int64]]:
        """Sends and receives of a group by who sends and who receives."""
        if not len(rows) or of.number < 0:
            return []
        members = self.groups[at].ranks
        peer = of.peer[rows]
        if len(members) == 2 and of.number in members:
            peer = np.where(peer < 0, members[0] + members[1] - of.number, peer)
        found: list[tuple[Hashable, Int64]] = []
        for kind in (_SEND, _RECV):
            for other in np.unique(peer[(peer >= 0) & (of.kind[rows] == kind)]).tolist():
                ends = (of.number, other) if kind == _SEND else (other, of.number)
                found.append(((at, *ends), rows[(peer == other) & (of.kind[rows] == kind)]))
        return found

    def _is_known_elsewhere(self, identities: Int64) -> bool:
        """Whether some of a new group's Comms Ids are of a group that another rank calls otherwise."""
        some = identities[:: max(1, len(identities) // _SAMPLE)]
        return any(bool((of.place(some) >= 0).any()) for of in self._known.values() if of.by_id)

    def _join(self, key: Hashable, mine: _Known, free: Bool) -> Int64 | None:
        """The numbers of a rank's collectives of a group; None when they contradict what is known."""
        known = self._known.get(key)
        if known is None and mine.by_id and self._is_known_elsewhere(mine.key):
            return None
        if known is None:
            mine.number = self._take(len(mine.key))
            self._known[key] = mine
            return mine.number.astype(np.int64)
        if (known.by_order, known.by_id) != (mine.by_order, mine.by_id):
            return None
        if mine.by_order:
            same = _is_alike(mine, known)
            known.shared |= same
            return known.number.astype(np.int64) if same else None
        if np.array_equal(mine.key, known.key) and _is_alike(mine, known):
            known.shared[:] = True
            return known.number.astype(np.int64)
        place = known.place(mine.key)
        both = np.flatnonzero(place >= 0)
        if _contradicts(known, place[both], mine, both, free[both]):
            return None
        at = place[both]
        known.shared[at] = True
        known.apart[at] |= (known.step[at] != mine.step[both]) & (known.step[at] >= 0) & (mine.step[both] >= 0)
        if np.count_nonzero(known.apart) > MOST_STEPS_APART * np.count_nonzero(known.shared):
            return None
        new = np.flatnonzero(place < 0)
        if len(new):
            place[new] = len(known.key) + np.arange(len(new))
            mine.number = self._take(len(new))
            for name in ("key", "kind", "dtype", "size", "step", "name", "apart", "shared"):
                setattr(mine, name, getattr(mine, name)[new])
            known.extend(mine)
        return known.number[place].astype(np.int64)

    def _take(self, count: int) -> Int32:
        self.count += count
        return np.arange(self.count - count, self.count, dtype=np.int32)


def group_key(of: ProcessGroup) -> tuple[object, ...]:
    """What tells a process group from others."""
    return of.name, of.ranks or of.description


def _numbers_of(identity: Int64, sequence: Int64) -> Int64 | None:
    """What numbers the collectives of a group, empty when nothing does; None when some have none, or the same one."""
    by_id, by_sequence = identity >= 0, sequence >= 0
    if by_id.all():
        numbers = identity
    elif by_sequence.all() and not by_id.any():
        numbers = sequence
    elif not by_id.any() and not by_sequence.any():
        return np.empty(0, np.int64)
    else:
        return None
    if (np.diff(numbers) > 0).all():
        return numbers
    ordered = np.sort(numbers)
    return numbers if (ordered[1:] != ordered[:-1]).all() else None


def _in_step(step: Int64) -> Int64:
    """The n-th of each step, with the step.

    >>> _in_step(np.array([3, 3, 4])).tolist() == [4 << 32, (4 << 32) + 1, 5 << 32]
    True
    """
    order = np.argsort(step, kind="stable")
    first = np.searchsorted(step[order], step[order])
    nth = np.empty(len(step), np.int64)
    nth[order] = np.arange(len(step)) - first
    return (step + 1) * _IN_STEP + nth


def _is_alike(mine: _Known, known: _Known) -> bool:
    """Whether all of a group look the same, as is the rule."""
    columns = ("kind", "dtype", "size", "step", "name")
    return all(np.array_equal(getattr(mine, name), getattr(known, name)) for name in columns)


def _contradicts(known: _Known, at: Int64, mine: _Known, rows: Int64, free: Bool) -> bool:
    """Whether what has one number looks different."""
    dtype, size = known.dtype[at], known.size[at]
    if (known.kind[at] != mine.kind[rows]).any() or (known.name[at] != mine.name[rows]).any():
        return True
    if ((dtype != mine.dtype[rows]) & (dtype >= 0) & (mine.dtype[rows] >= 0)).any():
        return True
    other = (size != mine.size[rows]) & (size >= 0) & (mine.size[rows] >= 0)
    if (other & ~free).any():
        return True
    # the same sizes in another order: counted from another start
    return bool(other.any()) and np.array_equal(np.sort(size[free]), np.sort(mine.size[rows][free]))
