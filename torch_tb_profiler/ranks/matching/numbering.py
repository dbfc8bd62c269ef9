"""Number the collectives of a run, rank after rank; one entry per collective is kept.

A process group is joined here when every collective of it has a number (Comms Id, else Seq), or when all ranks called
the same ones in the same order. Groups where that fails are `doubted`, and `match` compares them all at once.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model.communication import KINDS, ProcessGroup
from torch_tb_profiler.ranks.matching.operations import (
    CalledOperations,
    comparable_size,
    is_between_two,
    size_may_differ,
)

#: Seq is not trusted if more than this share of a group's matches have different steps
MOST_STEPS_APART = 0.5
_SEND, _RECV = KINDS.index("send"), KINDS.index("recv")
_BARRIER, _OTHER = KINDS.index("barrier"), KINDS.index("other")
#: keys of sends and receives: step × this + place in the step
_IN_STEP = 1 << 32
#: most Comms Ids of a new group that are looked up in other groups
_SAMPLE = 16
#: most signatures of ranks that are remembered; ranks of one pipeline stage share one
_MOST_SIGNATURES = 16
#: kind, dtype, size, step and name of some collectives, as in `_Known`
_Columns = tuple[Int8, Int32, Int64, Int32, Int32]
#: types, names, steps, sizes of groups and first codes of a rank's collectives
_Texts = tuple[Sequence[str], Sequence[str], Sequence[str], tuple[int, ...], list[int]]


class SharedCodes(msgspec.Struct):
    """Numbers of what is the same on all ranks, by first appearance."""

    of: dict[Hashable, int] = msgspec.field(default_factory=dict)

    def all(self, values: Sequence[Hashable]) -> Int64:
        """Return the number of each value, and -1 at the end for none."""
        return np.array([*(self.of.setdefault(value, len(self.of)) for value in values), -1], np.int64)


class _Known(msgspec.Struct):
    """The collectives of a group so far. Columns are of shape (collectives,).

    by_order    whether the order tells them, else a number
    by_id       whether that is the Comms Id
    key         number of each; of those by order what they look like
    number      in the whole run
    differs     whether some rank called it in another step
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
    differs: Bool
    shared: Bool
    order: Int64 | None = None

    def place(self, key: Int64) -> Int64:
        """Return the position of each key, -1 for new ones."""
        if self.order is None:
            self.order = np.argsort(self.key, kind="stable")
        at = np.minimum(np.searchsorted(self.key, key, sorter=self.order), len(self.key) - 1)
        found = self.order[at]
        return np.where(self.key[found] == key, found, -1)

    def extend(self, other: _Known) -> None:
        for name in self.__struct_fields__:
            mine = getattr(self, name)
            if isinstance(mine, np.ndarray) and name != "order":
                setattr(self, name, np.concatenate((mine, getattr(other, name))))
        self.order = None


class _Part(msgspec.Struct, frozen=True):
    """The collectives of a rank in one group.

    group   index into the groups of the rank, of the first one that is the same
    two     rows that are sends and receives; rows: the others
    columns, free   of the others: what they look like, and which sizes may differ between ranks
    """

    group: int
    two: Int64
    rows: Int64
    columns: _Columns
    free: Bool


class _RankSignature(msgspec.Struct, frozen=True):
    """The signature of the collectives of some ranks. Columns are of shape (rows,); those of `_Known` are shared.

    columns, texts   by which it is known again
    """

    columns: tuple[Int64, ...]
    texts: _Texts
    parts: list[_Part]
    kind: Int64
    dtype: Int64
    size: Int64
    step: Int64
    name: Int64

    def of(self, rows: Int64) -> _Columns:
        return (
            self.kind[rows].astype(np.int8),
            self.dtype[rows].astype(np.int32),
            self.size[rows],
            self.step[rows].astype(np.int32),
            self.name[rows].astype(np.int32),
        )


class CollectiveNumbering:
    """Numbers the collectives of a run.

    groups     process groups, as first seen
    doubted    groups whose collectives have to be looked at more closely, by their place in `groups`
    count      how many collectives there are
    pairs      ranks that send and receive, the lower first
    """

    def __init__(self) -> None:
        self.groups: list[ProcessGroup] = []
        self.group_codes, self.texts, self.steps = SharedCodes(), SharedCodes(), SharedCodes()
        self.doubted: set[int] = set()
        self.count = 0
        self.pairs: list[tuple[int, int]] = []
        self._known: dict[Hashable, _Known] = {}
        self._signatures: list[_RankSignature] = []

    def pair_of_numbers(self) -> Int64:
        """Index of each operation into `pairs`, shape (collectives,); -1 for other than sends and receives."""
        codes = {pair: at for at, pair in enumerate(self.pairs)}
        found = np.full(self.count, -1, np.int64)
        for key, known in self._known.items():
            if isinstance(key, tuple):
                _, one, other = key
                found[known.number] = codes.setdefault((min(one, other), max(one, other)), len(codes))
        self.pairs = list(codes)
        return found

    def add(self, calls: CalledOperations) -> Int64:
        """Return the number of each collective, shape (rows,); adding a rank twice returns equal numbers.

        -1 for sends and receives with an unknown other side, and in doubted groups.
        """
        numbers = np.full(len(calls), -1, np.int64)
        codes = self.group_numbers(calls.groups)
        if not len(calls):
            return numbers
        look = self._signature_of(calls, codes)
        for part in sorted(look.parts, key=lambda each: codes[each.group]):
            group = int(codes[part.group])
            for key, rows in self._pairs(group, calls, part.two):
                mine = self._new(_in_step(look.step[rows]), look.of(rows), False, False)
                mine.kind[:], mine.size[:] = _SEND, -1
                numbers[rows] = self._numbers(group, key, mine, np.zeros(len(rows), np.bool_))
            if not len(part.rows):
                continue
            identity = calls.identity[part.rows]
            numbered = _numbers_of(identity, calls.sequence[part.rows])
            if numbered is None:
                self.doubted.add(group)
                continue
            mine = self._new(numbered, part.columns, not numbered.size, bool((identity >= 0).all()))
            numbers[part.rows] = self._numbers(group, group, mine, part.free)
        if self.doubted:
            numbers[np.isin(codes[calls.group], list(self.doubted)) & ~is_between_two(calls)] = -1
        return numbers

    def _numbers(self, group: int, key: Hashable, mine: _Known, free: Bool) -> Int64:
        """Return the numbers of a group's collectives; -1 if they contradict known ones: the group becomes doubted."""
        numbers = self._join(key, mine, free)
        if numbers is None:
            self.doubted.add(group)
            return np.full(len(free), -1, np.int64)
        return numbers

    def _signature_of(self, calls: CalledOperations, codes: Int64) -> _RankSignature:
        """Return the signature of a rank's collectives, mostly the arrays of an earlier rank."""
        sizes = tuple(self.groups[code].size for code in codes[:-1].tolist())
        first = {code: at for at, code in reversed(list(enumerate(codes[:-1].tolist())))}
        texts = (calls.dtypes, calls.names, calls.steps, sizes, [first[code] for code in codes[:-1].tolist()])
        columns = (calls.group, calls.kind, calls.name, calls.dtype, calls.step, calls.in_bytes, calls.out_bytes)
        for at, known in enumerate(self._signatures):
            if known.texts == texts and all(map(np.array_equal, known.columns, columns)):
                self._signatures.insert(0, self._signatures.pop(at))
                return known
        look = self._new_signature(calls, columns, texts)
        self._signatures = [look, *self._signatures[: _MOST_SIGNATURES - 1]]
        return look

    def _new_signature(self, calls: CalledOperations, columns: tuple[Int64, ...], texts: _Texts) -> _RankSignature:
        *_, sizes, first = texts
        group = np.array([*first, -1], np.int64)[calls.group]
        size = np.array([*sizes, 0], np.int64)[calls.group]
        look = _RankSignature(
            columns,
            texts,
            [],
            calls.kind,
            np.where(calls.dtype > 0, self.texts.all(calls.dtypes)[calls.dtype], -1),
            np.where(calls.kind == _BARRIER, -1, comparable_size(calls.kind, calls.in_bytes, calls.out_bytes, size)),
            self.steps.all(calls.steps)[calls.step],
            np.where(calls.kind == _OTHER, self.texts.all(calls.names)[calls.name], -1),
        )
        free, between_two = size_may_differ(calls.kind, calls.in_bytes, calls.out_bytes, size), is_between_two(calls)
        order = np.argsort(group, kind="stable")
        starts = np.flatnonzero(np.diff(group[order], prepend=-2))
        for rows in np.split(order, starts[1:]):
            two = between_two[rows]
            rest = rows[~two]
            look.parts.append(_Part(int(group[rows[0]]), rows[two], rest, look.of(rest), free[rest]))
        return look

    def group_numbers(self, groups: Sequence[ProcessGroup]) -> Int64:
        """Return the place of each group in `groups`, and -1 at the end."""
        codes = self.group_codes.all([group_key(of) for of in groups])
        for of, code in zip(groups, codes.tolist(), strict=False):
            if code == len(self.groups):
                self.groups.append(of)
        return codes

    @property
    def sizes(self) -> Int64:
        """Ranks in each group, 0 where unknown; and 0 at the end."""
        return np.array([*(of.size for of in self.groups), 0], np.int64)

    def _new(self, key: Int64, columns: _Columns, by_order: bool, by_id: bool) -> _Known:
        n = len(columns[0])
        none = np.zeros(n, np.bool_)
        key = np.zeros(n, np.int64) if by_order else key
        return _Known(by_order, by_id, key, *columns, np.empty(0, np.int32), none, none.copy())

    def _pairs(self, group: int, calls: CalledOperations, rows: Int64) -> list[tuple[Hashable, Int64]]:
        """Split sends and receives of a group by sender and receiver."""
        if not len(rows) or calls.number < 0:
            return []
        members = self.groups[group].ranks
        peer = calls.peer[rows]
        if len(members) == 2 and calls.number in members:
            peer = np.where(peer < 0, members[0] + members[1] - calls.number, peer)
        found: list[tuple[Hashable, Int64]] = []
        for kind in (_SEND, _RECV):
            for other in np.unique(peer[(peer >= 0) & (calls.kind[rows] == kind)]).tolist():
                ends = (calls.number, other) if kind == _SEND else (other, calls.number)
                found.append(((group, *ends), rows[(peer == other) & (calls.kind[rows] == kind)]))
        return found

    def _is_known_elsewhere(self, identities: Int64) -> bool:
        """Tell whether Comms Ids of a new group belong to a group that other ranks call by another name."""
        some = identities[:: max(1, len(identities) // _SAMPLE)]
        return any(bool((of.place(some) >= 0).any()) for of in self._known.values() if of.by_id)

    def _join(self, key: Hashable, mine: _Known, free: Bool) -> Int64 | None:
        """Return the numbers of a rank's collectives of a group; None if they contradict known ones."""
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
        known.differs[at] |= (known.step[at] != mine.step[both]) & (known.step[at] >= 0) & (mine.step[both] >= 0)
        if np.count_nonzero(known.differs) > MOST_STEPS_APART * np.count_nonzero(known.shared):
            return None
        new = np.flatnonzero(place < 0)
        if len(new):
            place[new] = len(known.key) + np.arange(len(new))
            mine.number = self._take(len(new))
            for name in ("key", "kind", "dtype", "size", "step", "name", "differs", "shared"):
                setattr(mine, name, getattr(mine, name)[new])
            known.extend(mine)
        return known.number[place].astype(np.int64)

    def _take(self, count: int) -> Int32:
        self.count += count
        return np.arange(self.count - count, self.count, dtype=np.int32)


def group_key(of: ProcessGroup) -> tuple[object, ...]:
    """Return what distinguishes a process group from others."""
    return of.name, of.ranks or of.description


def _numbers_of(identity: Int64, sequence: Int64) -> Int64 | None:
    """Return the numbers of a group's collectives, empty without any; None if some lack one, or share one."""
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
    """Combine each step with the place among the rows of that step.

    >>> _in_step(np.array([3, 3, 4])).tolist() == [4 << 32, (4 << 32) + 1, 5 << 32]
    True
    """
    order = np.argsort(step, kind="stable")
    first = np.searchsorted(step[order], step[order])
    nth = np.empty(len(step), np.int64)
    nth[order] = np.arange(len(step)) - first
    return (step + 1) * _IN_STEP + nth


def _is_alike(mine: _Known, known: _Known) -> bool:
    """Tell whether all collectives of a group look like the known ones, the usual case."""
    columns = ("kind", "dtype", "size", "step", "name")
    pairs = ((getattr(mine, name), getattr(known, name)) for name in columns)
    return all(one is other or np.array_equal(one, other) for one, other in pairs)


def _contradicts(known: _Known, at: Int64, mine: _Known, rows: Int64, free: Bool) -> bool:
    """Tell whether collectives with equal numbers look different."""
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
