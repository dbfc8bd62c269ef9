"""Where the time goes by call stack: stacks of the same names are one entry, seen from the top or from the bottom."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from itertools import pairwise
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.analysis.launchers import NOT_RECORDED
from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.stacks.call_stacks import SOURCE_FRAME
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.distinct import distinct_places
from torch_tb_profiler.arrays.grouping import least_at, sums_at
from torch_tb_profiler.arrays.lookup import places_of, take_known
from torch_tb_profiler.arrays.nesting import by_depth, depths, nearest
from torch_tb_profiler.arrays.preorder import preorder
from torch_tb_profiler.arrays.types import Bool, Int64, Ints
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import NN_MODULE
from torch_tb_profiler.model.stack_contexts import contexts
from torch_tb_profiler.model.steps import PROFILER_STEP

Weight = Literal["device", "host"]
Direction = Literal["top_down", "bottom_up"]
Kind = Literal["frame", "builtin", "module", "annotation", "operator", "device", "other", "smaller"]

#: entries below the smallest share
SMALLER = "(smaller)"
#: time in files that the filter leaves out, where it leaves nothing around them
OTHER_FILES = "(other files)"
#: steps are one entry
ANY_STEP = "ProfilerStep#…"

#: the share of the whole below which entries are folded together, unless asked otherwise
SMALLEST_SHARE = 0.0002

#: of bound methods; another object is no other stack
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_LATE = np.iinfo(np.int64).max
_MULTIPLIER = np.uint64(6364136223846793005)
#: ids are read by JavaScript, whose whole numbers end at 2**53
_UNUSED_BITS = np.uint64(12)

Hash = npt.NDArray[np.uint64]


@dataclass(frozen=True)
class StackTable(Tabular):
    """Stacks as a tree in preorder, siblings as they were first seen; parallel columns, times in ns.

    Definitions of the columns: `definitions.STACKS`. `parent` is a row of this table, -1 at the top. Of every row,
    total_ns = self_ns + Σ total_ns of the rows directly below; Σ self_ns = whole_ns.

    above        the entries around what was asked for, from the top down; None when it is everything
    whole_ns     time of what is shown: of all stacks, or of the entry asked for
    all_ns       time of all stacks
    no_stack_ns  the part of the device time that was launched outside of all frames, operators and annotations
    entries      different stacks with any time of this weight, shown or not, seen from the top
    limit_ns     entries with less are folded together
    """

    weight: Weight
    direction: Direction
    id: Int64
    parent: Int64
    name: tuple[str, ...]
    kind: tuple[Kind, ...]
    self_ns: Int64
    total_ns: Int64
    calls: Int64
    folded: Int64
    above: StackTable | None
    whole_ns: int
    all_ns: int
    no_stack_ns: int
    entries: int
    limit_ns: int

    missing_below_zero: ClassVar[tuple[str, ...]] = ("parent",)

    def __len__(self) -> int:
        return len(self.name)


@dataclass(frozen=True)
class Labels:
    """What can stand in a stack: names with their kinds, numbered."""

    names: list[str] = field(default_factory=list)
    kinds: list[Kind] = field(default_factory=list)
    numbers: dict[tuple[str, Kind], int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.names)

    def number(self, name: str, kind: Kind) -> int:
        found = self.numbers.setdefault((name, kind), len(self.names))
        if found == len(self.names):
            self.names.append(name)
            self.kinds.append(kind)
        return found

    def of_codes(self, strings: Any, codes: Ints, number: Callable[[str], int]) -> Int64:
        """The numbers of a column of string codes; `number` is asked once for each text."""
        different, place = distinct_places(codes)
        return np.array([number(strings[code]) for code in different.tolist()], np.int64)[place]

    def hashes(self) -> Hash:
        """Depend on nothing but the texts."""
        texts = (
            f"{kind} {name}".encode(errors="surrogatepass") for kind, name in zip(self.kinds, self.names, strict=True)
        )
        return np.array([int.from_bytes(blake2b(text, digest_size=8).digest(), "little") for text in texts], np.uint64)


@dataclass(frozen=True)
class Stacks:
    """Entries of stacks: what is innermost, and the entry of what is around it. Times in ns.

    parent  shape (entries,): -1 at the top; after merging, parents stand before their children
    calls   of a range how often it began, of device work how often it ran
    first   when it was first seen
    """

    labels: Labels
    parent: Int64
    label: Int64
    calls: Int64
    first: Int64
    self_host: Int64
    self_device: Int64
    no_stack_ns: int
    has_frames: bool

    def __len__(self) -> int:
        return len(self.parent)

    def self_ns(self, weight: Weight) -> Int64:
        return self.self_host if weight == "host" else self.self_device


def stack_weights(model: Model) -> tuple[Weight, ...]:
    """What stacks of this trace can be weighted by; the first is what matters most."""
    return ("device", "host") if model.has_device_work else ("host",)


def stacks(
    model: Model,
    weight: Weight | None = None,
    direction: Direction = "top_down",
    files: str = "",
    root: int = 0,
    smallest_share: float = SMALLEST_SHARE,
) -> StackTable | None:
    """Time by call stack; None when there is no entry `root`.

    direction       top_down: from what was called first to what it called; bottom_up: from what took the time to
                    its callers
    files           words, of which a frame's file must contain one, and none of those after a -; other frames are
                    left out and their time is that of what is around them
    root            the `id` of an entry: only it and what is below
    smallest_share  entries with less than this share of what is asked for are folded together
    """
    found = all_stacks(model)
    if files.strip():
        found = _only_files(found, files)
    chosen = weight or stack_weights(model)[0]
    build = _top_down if direction == "top_down" else _bottom_up
    return build(found, chosen, root, smallest_share)


@remembered
def all_stacks(model: Model) -> Stacks:
    """Every stack that ran, with the device work that was launched from it at its end, merged."""
    trace, labels, calls = model.trace, Labels(), model.tree
    strings = trace.strings
    found = contexts(model)
    label_of = np.concatenate([_call_labels(model, labels), _frame_labels(model, labels)])
    start_of = np.concatenate([calls.start, model.frames.start])
    ran = _Columns(
        found.parent,
        label_of[found.innermost],
        (np.arange(len(found.parent)) < found.ranges).astype(np.int64),
        start_of[found.innermost],
        found.self_ns,
        np.zeros(len(found.parent), np.int64),
    )
    recorded = not len(model.frames) and bool((trace.operators.call_stack > 0).any())
    if recorded:
        ran = _with_recorded_stacks(model, labels, ran)

    rows = trace.device_work.row[model.is_work]
    launch = model.device.launch[model.is_work]
    duration = np.maximum(trace.events.duration[rows], 0)
    above = take_known(found.of_launch, launch)
    api = take_known(trace.events.name[trace.launches.row].astype(np.int64), launch)
    lost = above < 0
    outside, place = distinct_places(api[lost])
    above[lost] = len(ran.parent) + place
    launchers = [labels.number(f"({strings[a]})" if a >= 0 else NOT_RECORDED, "other") for a in outside.tolist()]
    around = _Columns.of(np.full(len(outside), -1), np.array(launchers, np.int64))
    names = labels.of_codes(strings, trace.events.name[rows], lambda name: labels.number(name, "device"))
    work = replace(
        _Columns.of(above, names),
        calls=np.ones(len(rows), np.int64),
        first=trace.events.start[rows],
        self_device=duration,
    )
    return _merged(
        _Columns.joined(ran, around, work), labels, int(duration[lost].sum()), recorded or len(model.frames) > 0
    )


def _call_labels(model: Model, labels: Labels) -> Int64:
    tree, strings = model.tree, model.trace.strings
    is_operator = tree.is_operator
    found = np.empty(len(tree), np.int64)
    found[is_operator] = labels.of_codes(strings, tree.name[is_operator], lambda name: labels.number(name, "operator"))
    found[~is_operator] = labels.of_codes(
        strings,
        tree.name[~is_operator],
        lambda name: labels.number(ANY_STEP if PROFILER_STEP.fullmatch(name) else name, "annotation"),
    )
    return found


def _frame_labels(model: Model, labels: Labels) -> Int64:
    def number(name: str) -> int:
        name = _ADDRESS.sub("", name)
        if name.startswith(NN_MODULE):
            return labels.number(name.removeprefix(NN_MODULE), "module")
        return labels.number(name, "frame" if SOURCE_FRAME.match(name) else "builtin")

    return labels.of_codes(model.trace.strings, model.frames.name, number)


@dataclass(frozen=True)
class _Columns:
    """Of entries, before they are merged."""

    parent: Int64
    label: Int64
    calls: Int64
    first: Int64
    self_host: Int64
    self_device: Int64

    @classmethod
    def of(cls, parent: Int64, label: Int64) -> _Columns:
        """Entries without any time."""
        none = np.zeros(len(parent), np.int64)
        return cls(parent.astype(np.int64), label, none, none + _LATE, none, none)

    @classmethod
    def joined(cls, *pieces: _Columns) -> _Columns:
        return cls(*(np.concatenate([getattr(p, name) for p in pieces]) for name in cls.__dataclass_fields__))


def _with_recorded_stacks(model: Model, labels: Labels, ran: _Columns) -> _Columns:
    """Put the frames of `Call stack` around operators; torch wrote them there before it recorded frames.

    What an operator around has in its stack, too, is there already. The stack of an annotation is that of its
    __enter__, so what it encloses says better where it is.
    """
    tree, strings = model.tree, model.trace.strings
    own = np.where(tree.is_operator, model.trace.operators.call_stack[tree.operator], 0)
    known = nearest(tree.parent, own > 0, tree.parent)
    around = np.where(known >= 0, own[known], 0) if len(tree) else own
    having = np.flatnonzero((own > 0) & (own != around))
    # one chain of frames for all that are called by the same and differ by the same frames
    pairs, pair = distinct_places(own[having].astype(np.int64) * len(strings) + around[having])
    chains = [
        [labels.number(frame, "frame") for frame in _further(strings[key // len(strings)], strings[key % len(strings)])]
        for key in pairs.tolist()
    ]
    above = ran.parent[having]
    heads, head = distinct_places((above + 1) * len(pairs) + pair)
    lengths = np.array([len(chain) for chain in chains], np.int64)
    chain_of = heads % len(pairs) if len(pairs) else heads
    size = lengths[chain_of]
    end = np.cumsum(size)
    parent = len(ran.parent) + np.arange(int(size.sum())) - 1
    filled = size > 0
    parent[(end - size)[filled]] = (heads // max(len(pairs), 1) - 1)[filled]
    texts = [chains[chain] for chain in chain_of.tolist()]
    label = np.array([number for chain in texts for number in chain], np.int64)
    last = np.where(filled, len(ran.parent) + end - 1, heads // max(len(pairs), 1) - 1)
    parents = ran.parent.copy()
    parents[having] = last[head]
    return _Columns.joined(replace(ran, parent=parents), _Columns.of(parent, label))


def _further(stack: str, around: str) -> list[str]:
    """The frames of a stack that the one around does not have, outermost first."""
    frames, outer = stack.split(";")[::-1], around.split(";")[::-1] if around else []
    return frames[len(outer) :] if frames[: len(outer)] == outer else frames


def _merged(raw: _Columns, labels: Labels, no_stack_ns: int, has_frames: bool) -> Stacks:
    """Level by level from the top: equal labels below the same entry are one entry."""
    of = np.full(len(raw.parent) + 1, -1, np.int64)
    parents, found_labels = [np.empty(0, np.int64)], [np.empty(0, np.int64)]
    entries, bounds = 0, [0]
    for level in _levels(raw.parent):
        different, place = distinct_places((of[raw.parent[level]] + 1) * len(labels) + raw.label[level])
        of[level] = entries + place
        parents.append(different // len(labels) - 1)
        found_labels.append(different % len(labels))
        entries += len(different)
        bounds.append(entries)
    parent, place = np.concatenate(parents), of[:-1]
    first = least_at(place, raw.first, entries)
    for begin, end in reversed(list(pairwise(bounds[1:]))):
        np.minimum.at(first, parent[begin:end], first[begin:end])
    return Stacks(
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


def _levels(parent: Int64) -> list[Int64]:
    """Entries by their distance from the top."""
    return by_depth(depths(parent.astype(np.int32)))


def _only_files(found: Stacks, files: str) -> Stacks:
    words = files.casefold().split()
    wanted = [word for word in words if not word.startswith("-")]
    unwanted = [word[1:] for word in words if word.startswith("-") and len(word) > 1]

    def keeps(name: str, kind: Kind) -> bool:
        if kind not in ("frame", "builtin"):
            return True
        file = name.rpartition("): ")[0].rpartition("(")[0].casefold() if kind == "frame" else ""
        return (any(w in file for w in wanted) if wanted else bool(file)) and not any(w in file for w in unwanted)

    names, kinds = found.labels.names, found.labels.kinds
    keep = np.array([keeps(name, kind) for name, kind in zip(names, kinds, strict=True)], np.bool_)[found.label]
    kept = np.flatnonzero(keep)
    place = places_of(kept, len(found) + 1)
    parent = found.parent.astype(np.int32)
    # time of what is left out belongs to what is around it, at the top to an entry of its own
    owner = place[nearest(parent, keep, np.arange(len(found), dtype=np.int32))]
    owner[owner < 0] = len(kept)
    labels = Labels(list(names), list(kinds), dict(found.labels.numbers))

    def per_owner(values: Int64) -> Int64:
        return sums_at(owner, values, len(kept) + 1)

    rest = labels.number(OTHER_FILES, "other")
    raw = _Columns(
        parent=np.append(place[nearest(parent, keep, parent[kept])], -1),
        label=np.append(found.label[kept], rest),
        calls=np.append(found.calls[kept], 0),
        first=np.append(found.first[kept], _LATE),
        self_host=per_owner(found.self_host),
        self_device=per_owner(found.self_device),
    )
    return _merged(raw, labels, found.no_stack_ns, found.has_frames)


# what is shown ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Shown:
    """The entries of an answer, in any order, and those that are folded into one below each of them."""

    label: Int64
    parent: Int64
    id: Int64
    self_ns: Int64
    total_ns: Int64
    calls: Int64
    first: Int64
    small_parent: Int64
    small_ns: Int64
    small_calls: Int64

    def __len__(self) -> int:
        return len(self.label)

    def chain_to(self, id_: int) -> Int64:
        """The entries from the top down to the one of an id, without it."""
        found: list[int] = []
        at = int(self.parent[np.flatnonzero(self.id == id_)[0]])
        while at >= 0:
            found.append(at)
            at = int(self.parent[at])
        return np.array(found[::-1], np.int64)


@dataclass(frozen=True)
class _Whole:
    """What a table says about all of it."""

    found: Stacks
    weight: Weight
    direction: Direction
    all_ns: int
    entries: int

    def table(self, shown: _Shown, whole_ns: int, limit_ns: int, above: StackTable | None) -> StackTable:
        folds, fold = distinct_places(shown.small_parent)
        entries = len(shown)
        parent = np.concatenate([shown.parent, folds])
        turns = np.argsort(np.append(shown.first, np.full(len(folds), _LATE)), kind="stable")
        order = preorder(parent.astype(np.int32), turns)
        place = places_of(order, len(parent) + 1)
        folded_ns = sums_at(fold, shown.small_ns, len(folds))
        names, kinds = self.found.labels.names, self.found.labels.kinds

        def column(values: Int64, of_folds: Int64) -> Int64:
            return np.concatenate([values, of_folds])[order]

        labels = column(shown.label, np.full(len(folds), -1)).tolist()
        return StackTable(
            weight=self.weight,
            direction=self.direction,
            id=column(shown.id, -1 - np.arange(len(folds))),
            parent=place[parent[order]],
            name=tuple(names[label] if label >= 0 else SMALLER for label in labels),
            kind=tuple(kinds[label] if label >= 0 else "smaller" for label in labels),
            self_ns=column(shown.self_ns, folded_ns),
            total_ns=column(shown.total_ns, folded_ns),
            calls=column(shown.calls, sums_at(fold, shown.small_calls, len(folds))),
            folded=column(np.zeros(entries, np.int64), np.bincount(fold, minlength=len(folds))),
            above=above,
            whole_ns=whole_ns,
            all_ns=self.all_ns,
            no_stack_ns=self.found.no_stack_ns if self.weight == "device" else 0,
            entries=self.entries,
            limit_ns=limit_ns,
        )

    def chain(self, shown: _Shown, rows: Int64) -> StackTable:
        """Some entries, each below the one before it."""
        none = np.empty(0, np.int64)
        columns = (shown.id, shown.self_ns, shown.total_ns, shown.calls, shown.first)
        id_, self_ns, total_ns, calls, first = (column[rows] for column in columns)
        parent = np.arange(len(rows)) - 1
        part = _Shown(shown.label[rows], parent, id_, self_ns, total_ns, calls, first, none, none, none)
        return self.table(part, self.all_ns, 1, None)


def _totals(found: Stacks, own: Int64, levels: list[Int64]) -> Int64:
    """Of each entry: its own time and that of all below."""
    total = own.copy()
    for level in reversed(levels[1:]):
        np.add.at(total, found.parent[level], total[level])
    return total


def _top_down(found: Stacks, weight: Weight, root: int, smallest_share: float) -> StackTable | None:
    own = found.self_ns(weight)
    levels = _levels(found.parent)
    total, state, hashes = _totals(found, own, levels), np.zeros(len(found) + 1, np.uint64), found.labels.hashes()
    for level in levels:
        state[level] = state[found.parent[level]] * _MULTIPLIER + hashes[found.label[level]]
    none = np.empty(0, np.int64)
    everything = _Shown(
        found.label, found.parent, _ids(state[:-1]), own, total, found.calls, found.first, none, none, none
    )
    whole = _Whole(found, weight, "top_down", int(own.sum()), int(np.count_nonzero(total)))
    shown, whole_ns, above = total > 0, whole.all_ns, None
    if root:
        is_root = shown & (everything.id == root)
        if not is_root.any():
            return None
        shown &= nearest(found.parent.astype(np.int32), is_root, np.arange(len(found), dtype=np.int32)) >= 0
        whole_ns, above = int(total[is_root][0]), whole.chain(everything, everything.chain_to(root))
    limit = _limit(whole_ns, smallest_share)
    kept, small = np.flatnonzero(shown & (total >= limit)), np.flatnonzero(shown & (total < limit))
    place = places_of(kept, len(found) + 1)
    # below what is folded is folded, too
    small = small[(place[found.parent[small]] >= 0) | (found.parent[small] < 0)]
    part = _Shown(
        label=found.label[kept],
        parent=place[found.parent[kept]],
        id=everything.id[kept],
        self_ns=own[kept],
        total_ns=total[kept],
        calls=found.calls[kept],
        first=found.first[kept],
        small_parent=place[found.parent[small]],
        small_ns=total[small],
        small_calls=found.calls[small],
    )
    return whole.table(part, whole_ns, limit, above)


@dataclass(frozen=True)
class _Ends:
    """Entries in which time was spent; on the way from them to the top `at` is how far it has come."""

    at: Int64
    self_ns: Int64
    calls: Int64
    first: Int64

    def take(self, chosen: Int64 | Bool) -> _Ends:
        return _Ends(self.at[chosen], self.self_ns[chosen], self.calls[chosen], self.first[chosen])


def _bottom_up(found: Stacks, weight: Weight, root: int, smallest_share: float) -> StackTable | None:
    own = found.self_ns(weight)
    at = np.flatnonzero(own > 0)
    ends, state, above = _Ends(at, own[at], found.calls[at], found.first[at]), np.uint64(0), None
    entries = int(np.count_nonzero(_totals(found, own, _levels(found.parent))))
    whole = _Whole(found, weight, "bottom_up", int(own.sum()), entries)
    hashes = found.labels.hashes()
    limit = _limit(whole.all_ns, smallest_share)
    while root:
        # what an id stands for is known when somebody has walked there
        shown, reached = _callers(found, hashes, ends, state, limit, root)
        if reached is not None:
            above = whole.chain(shown, shown.chain_to(root))
            ends, state = reached
            limit = _limit(int(ends.self_ns.sum()), smallest_share)
            break
        if limit == 1:
            return None
        limit = max(1, limit // 16)
    shown, _ = _callers(found, hashes, ends, state, limit, 0)
    return whole.table(shown, int(ends.self_ns.sum()), limit, above)


def _callers(
    found: Stacks, hashes: Hash, ends: _Ends, state: np.uint64, limit: int, wanted: int
) -> tuple[_Shown, tuple[_Ends, np.uint64] | None]:
    """What the time was spent in, who called that, who called those, …, as far as it is worth `limit`.

    Stops at the entry of the id `wanted` (0: none), and gives the ends that lead there and the state before it.
    """
    labels = len(found.labels)
    columns: list[list[Int64]] = []
    folds: list[list[Int64]] = []
    states = np.empty(0, np.uint64)
    group = np.full(len(ends.at), -1, np.int64)
    reached = None
    while len(ends.at):
        different, place = distinct_places((group + 1) * labels + found.label[ends.at])
        parent, label, n = different // labels - 1, different % labels, len(different)
        total, calls = sums_at(place, ends.self_ns, n), sums_at(place, ends.calls, n)
        first = least_at(place, ends.first, n)
        before = np.append(states, state)[parent]
        after = before * _MULTIPLIER + hashes[label]
        big = total >= limit
        folds.append([parent[~big], total[~big], calls[~big]])
        number = np.where(big, len(states) + np.cumsum(big) - 1, -1)
        states = np.append(states, after[big])
        at_top = found.parent[ends.at] < 0
        own = sums_at(place[at_top], ends.self_ns[at_top], n)
        columns.append([c[big] for c in (label, parent, _ids(after), own, total, calls, first)])
        is_wanted = np.flatnonzero(big & (_ids(after) == wanted))
        if len(is_wanted):
            reached = ends.take(place == is_wanted[0]), before[is_wanted[0]]
            break
        group = number[place]
        onwards = (group >= 0) & ~at_top
        group, ends = group[onwards], ends.take(onwards)
        ends = replace(ends, at=found.parent[ends.at])
    joined = [
        np.concatenate([np.empty(0, np.int64), *(level[column] for level in levels)])
        for levels, width in ((columns, 7), (folds, 3))
        for column in range(width)
    ]
    return _Shown(*joined), reached


def _limit(whole_ns: int, smallest_share: float) -> int:
    return max(1, int(np.ceil(whole_ns * smallest_share)))


def _ids(state: Hash) -> Int64:
    """Never 0, which stands for everything."""
    return np.maximum((state >> _UNUSED_BITS).astype(np.int64), 1)
