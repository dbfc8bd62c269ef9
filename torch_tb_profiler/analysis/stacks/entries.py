"""Entries of call stacks: merging those of the same names, filtering by file, and their ids.

The id of an entry is made of the names on the way to it, so it is the same in every trace.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.forest import RootPaths
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.nesting import by_depth, depths, nearest
from torch_tb_profiler.arrays.types import Int64, Ints, UInt64
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.spill import spilled

Weight = Literal["device", "host"]
EntryKind = Literal["frame", "builtin", "module", "annotation", "operator", "device", "other", "smaller"]
#: what device work does; of the host only calls of communication have one
EntryRole = Literal["compute", "communication", "copy"]
Hash = UInt64

#: most entries of a level that are compared one by one
_FEW = 30

#: first time of an entry without events: later than any event
NEVER_SEEN = np.iinfo(np.int64).max


class Labels(msgspec.Struct, frozen=True):
    """Names and kinds of stack entries, numbered; roles of those that have one, by number."""

    names: list[str] = msgspec.field(default_factory=list)
    kinds: list[EntryKind] = msgspec.field(default_factory=list)
    numbers: dict[tuple[str, EntryKind], int] = msgspec.field(default_factory=dict)
    roles: dict[int, EntryRole] = msgspec.field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str, kind: EntryKind) -> int:
        found = self.numbers.setdefault((name, kind), len(self.names))
        if found == len(self.names):
            self.names.append(name)
            self.kinds.append(kind)
        return found

    def of_codes(self, strings: Any, codes: Ints, number: Callable[[str], int]) -> Int64:
        """Return the numbers of a column of string codes; `number` is called once for each text."""
        different, place = distinct_places(codes)
        return np.array([number(strings[code]) for code in different.tolist()], np.int64)[place]

    def short_name(self, label: int) -> str | None:
        """Return the short name of device work; None for the rest."""
        return short_name(self.names[label]) if self.kinds[label] == "device" else None

    def hashes(self) -> Hash:
        """Return hashes that depend on nothing but the texts."""
        texts = (
            f"{kind} {name}".encode(errors="surrogatepass") for kind, name in zip(self.kinds, self.names, strict=True)
        )
        return np.array([int.from_bytes(blake2b(text, digest_size=8).digest(), "little") for text in texts], np.uint64)


class EntryColumns(msgspec.Struct, frozen=True):
    """Entries of stacks: the innermost name, and the entry around it. Times in ns.

    parent  shape (entries,): -1 at the top
    calls   of a range how often it began, of device work how often it ran
    first   when it was first seen
    """

    parent: Int64
    label: Int64
    calls: Int64
    first: Int64
    self_host: Int64
    self_device: Int64

    @classmethod
    def of(cls, parent: Int64, label: Int64) -> EntryColumns:
        """Entries without any time."""
        none = np.zeros(len(parent), np.int64)
        return cls(parent.astype(np.int64), label, none, none + NEVER_SEEN, none, none)

    @classmethod
    def joined(cls, *pieces: EntryColumns) -> EntryColumns:
        return cls(*(np.concatenate([getattr(p, name) for p in pieces]) for name in cls.__struct_fields__))


class StackEntries(EntryColumns, frozen=True):
    """Merged entries: parents stand before their children."""

    labels: Labels
    no_stack_ns: int
    has_frames: bool

    def __len__(self) -> int:
        return len(self.parent)

    def self_ns(self, weight: Weight) -> Int64:
        return self.self_host if weight == "host" else self.self_device


def merged(raw: EntryColumns, labels: Labels, no_stack_ns: int, has_frames: bool) -> StackEntries:
    """Merge entries level by level from the top: equal labels below the same entry are one entry."""
    raw = spilled(raw)
    merged_place = np.full(len(raw.parent) + 1, -1, np.int64)
    parents, found_labels = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    entries, bounds = 0, [0]
    for level in by_level(raw.parent):
        keys = (merged_place[raw.parent[level]] + 1) * len(labels) + raw.label[level]
        different, place = _few_distinct(keys) if len(keys) <= _FEW else distinct_places(keys)
        merged_place[level] = entries + place
        parents.append(different // len(labels) - 1)
        found_labels.append(different % len(labels))
        entries += len(different)
        bounds.append(entries)
    parent, place = np.concatenate(parents), merged_place[:-1]
    first = np.full(entries, NEVER_SEEN)
    np.minimum.at(first, place, raw.first)
    for begin, end in reversed(list(pairwise(bounds[1:]))):
        # of a view of itself numpy would copy all of it for each level
        np.minimum.at(first, parent[begin:end], first[begin:end].copy())
    return StackEntries(
        labels=labels,
        parent=parent,
        label=np.concatenate(found_labels),
        calls=sums_at(place, raw.calls, entries),
        first=first,
        self_host=sums_at(place, raw.self_host, entries),
        self_device=sums_at(place, raw.self_device, entries),
        no_stack_ns=no_stack_ns,
        has_frames=has_frames,
    )


def _few_distinct(values: Int64) -> tuple[Int64, Int64]:
    """Return `distinct_places` without numpy's cost per call: deep stacks have thousands of narrow levels."""
    given = values.tolist()
    different = sorted(set(given))
    number = {value: place for place, value in enumerate(different)}
    return np.array(different, np.int64), np.array([number[value] for value in given], np.int64)


def by_level(parent: Int64) -> list[Int64]:
    """Group entries by their distance from the top."""
    return by_depth(depths(parent.astype(np.int32)))


_MULTIPLIER = 6364136223846793005
_INVERSE = pow(_MULTIPLIER, -1, 2**64)
#: ids are read by JavaScript, whose whole numbers end at 2**53
_UNUSED_BITS = np.uint64(12)


def onwards(state: Hash, hashes: Hash) -> Hash:
    """Return the state after one more name each; that of the top is 0."""
    return state * np.uint64(_MULTIPLIER) + hashes


def ids(state: Hash) -> Int64:
    """Return ids, never 0, which stands for everything."""
    return np.maximum((state >> _UNUSED_BITS).astype(np.int64), 1)


class TextHashes:
    """States after the names from nodes of a forest upwards, without walking there.

    hashes   shape (n,): of the name of each node
    """

    def __init__(self, walks: RootPaths, hashes: Hash) -> None:
        self._walks = walks
        self._sums = np.append(walks.folded(hashes, _INVERSE), np.uint64(0))  # the last place is beyond the root
        powers = np.full(int(walks.length.max(initial=0)) + 1, _MULTIPLIER, np.uint64)
        powers[0] = 1
        self._powers: Hash = np.multiply.accumulate(powers)
        inverses = np.full(len(powers), _INVERSE, np.uint64)
        inverses[0] = 1
        self._inverses: Hash = np.multiply.accumulate(inverses)

    def of(self, node: Int64, labels: Int64, state: np.uint64) -> Hash:
        """From a state on, after so many names from each node upwards: one or more, but no more than there are.

        node, labels   shape (m,)
        Returns shape (m,): what `onwards` gives one name after the other.
        """
        beyond = self._walks.ancestor(node, labels)
        sums: Hash = self._sums[node] - self._inverses[labels] * self._sums[beyond]
        found: Hash = state * self._powers[labels] + self._powers[labels - 1] * sums
        return found


#: time in files that the filter leaves out, where it leaves nothing around them
OTHER_FILES = "(other files)"


def only_files(entries: StackEntries, files: str) -> StackEntries:
    """Keep the Python frames of some files. files: words; a file contains one of them, and none of those after a -.

    The time of other frames becomes that of what is around them.
    """
    words = files.casefold().split()
    wanted = [word for word in words if not word.startswith("-")]
    unwanted = [word[1:] for word in words if word.startswith("-") and len(word) > 1]

    def keeps(name: str, kind: EntryKind) -> bool:
        if kind not in ("frame", "builtin"):
            return True
        file = name.rpartition("): ")[0].rpartition("(")[0].casefold() if kind == "frame" else ""
        return (any(w in file for w in wanted) if wanted else bool(file)) and not any(w in file for w in unwanted)

    names, kinds = entries.labels.names, entries.labels.kinds
    keep = np.array([keeps(name, kind) for name, kind in zip(names, kinds, strict=True)], np.bool_)[entries.label]
    kept = np.flatnonzero(keep)
    place = np.full(len(entries) + 1, -1, np.int64)
    place[kept] = np.arange(len(kept))
    parent = entries.parent.astype(np.int32)
    # time of what is left out belongs to what is around it, at the top to an entry of its own
    owner = place[nearest(parent, keep, np.arange(len(entries), dtype=np.int32))]
    owner[owner < 0] = len(kept)
    labels = Labels(list(names), list(kinds), dict(entries.labels.numbers), entries.labels.roles)

    def per_owner(values: Int64) -> Int64:
        return sums_at(owner, values, len(kept) + 1)

    rest = labels.number(OTHER_FILES, "other")
    raw = EntryColumns(
        parent=np.append(place[nearest(parent, keep, parent[kept])], -1),
        label=np.append(entries.label[kept], rest),
        calls=np.append(entries.calls[kept], 0),
        first=np.append(entries.first[kept], NEVER_SEEN),
        self_host=per_owner(entries.self_host),
        self_device=per_owner(entries.self_device),
    )
    return merged(raw, labels, entries.no_stack_ns, entries.has_frames)
