"""What is kept of all ranks while they are reduced: an entry for each collective, little for each rank."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import msgspec
import numpy as np
from msgspec.structs import replace

from torch_tb_profiler.arrays.types import Bool, Float32, Float64, Int8, Int32, Int64
from torch_tb_profiler.model.communication import KINDS, nccl_tests_bytes
from torch_tb_profiler.ranks.matching.match import match_closely
from torch_tb_profiler.ranks.matching.numbering import CollectiveNumbering, SharedCodes
from torch_tb_profiler.ranks.matching.operations import CalledOperations, TimedOperations, is_between_two
from torch_tb_profiler.ranks.peers import WorkOfRank, work_of_rank
from torch_tb_profiler.ranks.summary import RankHead, RankSteps, RankSummary

#: collectives of ranks that are kept in memory; beyond, a summary is read again when it is needed again
KEPT_ROWS = 8_000_000
#: collectives of ranks that are compared all at once; beyond, each rank with the first one
MOST_COMPARED_AT_ONCE = 2_000_000
_LONG = np.iinfo(np.uint32).max


class RankCollectives(msgspec.Struct, frozen=True):
    """The collectives of one rank, in the order of its calls, shape (rows,).

    step       index into the steps of the rank, -1 outside
    number     of the collective in the run, -1 for none that others can have
    duration   ns, -1 without any
    own        ns that the rank did itself since the collective before (see `summary_columns`); NaN where unknown
    """

    step: Int64
    number: Int64
    duration: Int64
    own: Float32


class CollectiveSignature(msgspec.Struct, frozen=True):
    """What collectives of one row have in common. bytes: as nccl-tests counts them, None if unknown or unequal."""

    group: int
    name: str
    kind: str
    dtype: str
    bytes: int | None
    algorithm: int


class CollectiveState(msgspec.Struct):
    """What is kept of each collective, shape (collectives,).

    signature   index into `RunData.signatures`, -1 where not seen
    step        index into `CollectiveNumbering.steps`, -1
    ranks       how many have it
    timed       how many of them have its duration
    shortest    ns: the transfer
    last        the rank with the shortest: it came last
    total       ns: Σ durations
    """

    signature: Int32
    step: Int32
    ranks: Int32
    timed: Int32
    shortest: Int64
    last: Int32
    total: Int64

    @classmethod
    def of(cls, size: int) -> CollectiveState:
        none = np.full(size, -1, np.int32)
        zero = np.zeros(size, np.int32)
        most = np.full(size, np.iinfo(np.int64).max)
        return cls(none, none.copy(), zero, zero.copy(), most, none.copy(), np.zeros(size, np.int64))

    def grown(self, size: int) -> CollectiveState:
        """Make room for more."""
        have = len(self.signature)
        if size <= have:
            return self
        more = CollectiveState.of(max(size, have + have // 2) - have)
        names = self.__struct_fields__
        return CollectiveState(*(np.concatenate((getattr(self, name), getattr(more, name))) for name in names))

    def cut(self, size: int) -> CollectiveState:
        """Drop the spare room."""
        return CollectiveState(*(getattr(self, name)[:size].copy() for name in self.__struct_fields__))

    def add(self, rank: int, rows: RankCollectives) -> None:
        """Count what a rank has."""
        number, duration = rows.number, rows.duration
        if int(number.min(initial=0)) < 0:
            here = np.flatnonzero(number >= 0)
            number, duration = number[here], duration[here]
        self.ranks[number] += 1
        if int(duration.min(initial=0)) < 0:
            timed = np.flatnonzero(duration >= 0)
            number, duration = number[timed], duration[timed]
        self.timed[number] += 1
        self.total[number] += duration
        shorter = duration < self.shortest[number]
        self.last[number[shorter]] = rank
        self.shortest[number[shorter]] = duration[shorter]


class RunData(msgspec.Struct, dict=True):
    """All ranks of a run, in order of rank.

    summaries    may be read again each time one is taken
    operators    by code in `work_names` what launches a kernel; empty for none
    own          of each rank, shape (its steps,), ns: Σ own time; NaN without collectives
    heads, steps, programs, work   of each rank; programs: of each step a number of its sequence of collectives
    """

    summaries: Sequence[RankSummary]
    heads: list[RankHead] = msgspec.field(default_factory=list)
    steps: list[RankSteps] = msgspec.field(default_factory=list)
    programs: list[Int64] = msgspec.field(default_factory=list)
    work: list[WorkOfRank] = msgspec.field(default_factory=list)
    work_names: SharedCodes = msgspec.field(default_factory=SharedCodes)
    operators: dict[int, str] = msgspec.field(default_factory=dict)
    numbering: CollectiveNumbering = msgspec.field(default_factory=CollectiveNumbering)
    state: CollectiveState = msgspec.field(default_factory=lambda: CollectiveState.of(0))
    signatures: list[CollectiveSignature] = msgspec.field(default_factory=list)
    collectives: list[int] = msgspec.field(default_factory=list)
    own: list[Float64] = msgspec.field(default_factory=list)
    _codes: dict[CollectiveSignature, int] = msgspec.field(default_factory=dict)
    _kept: dict[int, RankCollectives] = msgspec.field(default_factory=dict)
    _numbers: dict[int, Int32] = msgspec.field(default_factory=dict)

    @classmethod
    def read(cls, summaries: Sequence[RankSummary], with_work: bool = True) -> RunData:
        """Read every rank once, and again where its collectives need a closer look.

        with_work: else `work` is empty
        """
        run = cls(summaries)
        kept = 0
        for number, summary in enumerate(summaries):
            of = summary.called
            rows = run._first(number, summary, of)
            if with_work:
                run.work.append(work_of_rank(summary, run.work_names, run.operators))
            kept += len(of)
            if kept <= KEPT_ROWS:
                run._kept[number] = rows
        if run.numbering.doubted:
            run._look_closely()
        run.state = run.state.cut(run.numbering.count)
        return run

    def _first(self, number: int, summary: RankSummary, calls: CalledOperations) -> RankCollectives:
        numbers = self.numbering.add(calls)
        self.heads.append(self._with_known_groups(summary.head))
        self.steps.append(summary.steps)
        self.programs.append(summary.steps.program)
        self.collectives.append(len(calls))
        own = _own(summary)
        self.own.append(_of_steps(calls.step, own, len(summary.steps)))
        rows = RankCollectives(calls.step, numbers, calls.duration, own)
        self._see(calls, summary.calls.algorithm, rows.number)
        self.state.add(number, rows)
        kept = _narrowed(rows)
        before = self._kept.get(number - 1)
        if before is not None and np.array_equal(before.step, kept.step):
            kept = replace(kept, step=before.step)
        return kept

    def _with_known_groups(self, head: RankHead) -> RankHead:
        """Share the groups of earlier ranks: each may list thousands of ranks."""
        codes = self.numbering.group_numbers(head.groups)[:-1].tolist()
        groups = tuple(
            known if (known := self.numbering.groups[code]) == mine else mine
            for code, mine in zip(codes, head.groups, strict=True)
        )
        return msgspec.structs.replace(head, groups=groups)

    def _see(self, calls: CalledOperations, algorithm: Int8, number: Int64) -> None:
        """Take over what collectives look like that were not seen before."""
        self.state = self.state.grown(self.numbering.count)
        new = np.flatnonzero(number >= 0)
        new = new[self.state.signature[number[new]] < 0]
        if not len(new):
            return
        groups = self.numbering.group_numbers(calls.groups)
        columns = (calls.group, calls.name, calls.dtype, calls.in_bytes, calls.out_bytes, calls.kind)
        keys = _mixed(*(values[new] for values in columns))
        _, first, place = np.unique(keys, return_index=True, return_inverse=True)
        codes = []
        for row in new[first].tolist():
            code = int(groups[calls.group[row]])
            kind = KINDS[int(calls.kind[row])]
            sent, received = int(calls.in_bytes[row]), int(calls.out_bytes[row])
            # of unequal parts: each rank has sizes of its own, and other ones in each call
            uneven = kind == "all_to_all" and sent != received
            signature = CollectiveSignature(
                code,
                calls.names[int(calls.name[row])],
                kind,
                calls.dtypes[int(calls.dtype[row])],
                None if uneven else nccl_tests_bytes(kind, sent, received, self.numbering.groups[code].size),
                int(algorithm[row]),
            )
            codes.append(self._codes.setdefault(signature, len(self._codes)))
            if codes[-1] == len(self.signatures):
                self.signatures.append(signature)
        self.state.signature[number[new]] = np.array(codes, np.int32)[place.reshape(-1)]
        self.state.step[number[new]] = self.numbering.steps.all(calls.steps)[calls.step[new]]

    def _look_closely(self) -> None:
        """Match again what is in doubt: all ranks at once where they are few, else each rank with the first."""
        calls = (
            [summary.timed for summary in self.summaries] if sum(self.collectives) <= MOST_COMPARED_AT_ONCE else None
        )
        if calls is not None:
            numbers = [self.numbering.add(of) for of in calls]
            between = [is_between_two(of) for of in calls]
            closer = match_closely(calls, self.numbering.count)
            numbers_of_ranks = [np.where(two, a, b) for two, a, b in zip(between, numbers, closer, strict=True)]
        else:
            numbers_of_ranks = self._with_the_first()
        self._numbers = {rank: numbers.astype(np.int32) for rank, numbers in enumerate(numbers_of_ranks)}
        self.numbering.count = max((int(numbers.max(initial=-1)) for numbers in numbers_of_ranks), default=-1) + 1
        self.state, self.signatures = CollectiveState.of(self.numbering.count), []
        self._codes.clear()
        for rank, summary in enumerate(self.summaries):
            called = summary.called
            rows = RankCollectives(called.step, numbers_of_ranks[rank], called.duration, _own(summary))
            self._see(called, summary.calls.algorithm, rows.number)
            self.state.add(rank, rows)
            if rank in self._kept:
                self._kept[rank] = _narrowed(rows)

    def _with_the_first(self) -> list[Int64]:
        """Match the groups in doubt of each rank with the first rank that has the group."""
        first: dict[int, TimedOperations] = {}
        numbered: dict[int, Int64] = {}
        of_ranks = []
        for summary in self.summaries:
            of = summary.timed
            numbers = self.numbering.add(of)
            group = self.numbering.group_numbers(of.groups)[of.group]
            for group_number in sorted(self.numbering.doubted & set(group.tolist())):
                rows = np.flatnonzero((group == group_number) & ~is_between_two(of))
                mine = of.take(rows)
                if group_number not in first:
                    first[group_number] = mine
                    numbered[group_number] = self._new_numbers(len(rows))
                    numbers[rows] = numbered[group_number]
                    continue
                reference, other = match_closely([first[group_number], mine], 0)
                known = dict(zip(reference.tolist(), numbered[group_number].tolist(), strict=True))
                known.pop(-1, None)
                numbers[rows] = [known.get(each, -1) for each in other.tolist()]
                alone = rows[numbers[rows] < 0]
                numbers[alone] = self._new_numbers(len(alone))
            of_ranks.append(numbers)
        return of_ranks

    def _new_numbers(self, count: int) -> Int64:
        self.numbering.count += count
        return np.arange(self.numbering.count - count, self.numbering.count)

    def __len__(self) -> int:
        return len(self.heads)

    def rows(self, rank: int) -> RankCollectives:
        """Return the collectives of a rank, by its place."""
        kept = self._kept.get(rank)
        if kept is None:
            summary = self.summaries[rank]
            of = summary.called
            numbers = self._numbers.get(rank)
            number = self.numbering.add(of) if numbers is None else numbers.astype(np.int64)
            kept = RankCollectives(of.step, number, of.duration, _own(summary))
        return RankCollectives(kept.step, kept.number.astype(np.int64), _widened(kept.duration), kept.own)

    def each(self) -> Iterator[tuple[int, RankCollectives]]:
        """Iterate over the collectives of all ranks."""
        return ((rank, self.rows(rank)) for rank in range(len(self)))

    @cached_property
    def is_shared(self) -> Bool:
        """Shape (collectives,): whether several ranks have it, and no more than its group has."""
        sizes = self.numbering.sizes
        known = np.array([*(bool(of.ranks) for of in self.numbering.groups), True])
        group = np.array([*(each.group for each in self.signatures), -1])[self.state.signature]
        too_many = ~known[group] & (sizes[group] > 0) & (self.state.ranks > sizes[group])
        found: Bool = (self.state.ranks > 1) & ~too_many
        return found

    @cached_property
    def is_whole(self) -> Bool:
        """Shape (collectives,): whether all ranks of its group are here, as far as its size is known; both of a pair.

        Of some of a group's ranks the shortest duration may hold waiting for the others.
        """
        sizes = self.numbering.sizes[np.array([*(each.group for each in self.signatures), -1])[self.state.signature]]
        sizes = np.where(self.numbering.pair_of_numbers() >= 0, 2, sizes)
        found: Bool = self.state.timed >= sizes
        return found


def _of_steps(step: Int64, own: Float32, steps: int) -> Float64:
    known = (step >= 0) & ~np.isnan(own)
    if not known.all():
        step, own = step[known], own[known]
    total = np.bincount(step, own, steps)
    return np.where(np.bincount(step, minlength=steps) > 0, total, np.nan)


def _own(summary: RankSummary) -> Float32:
    own = summary.calls.own
    found: Float32 = np.where(own >= 0, own, np.nan).astype(np.float32)
    return found


def _mixed(*columns: Int64) -> Int64:
    """One number for each row of some columns."""
    found = np.zeros(len(columns[0]), np.int64)
    for values in columns:
        found = found * np.int64(1_000_003) ^ (values + (found >> np.int64(29)))
    return found


def _narrowed(rows: RankCollectives) -> RankCollectives:
    """Store a collective in 14 bytes where durations are below four seconds and steps are few."""
    long = len(rows.duration) and int(rows.duration.max()) >= _LONG
    duration: Any = rows.duration if long else rows.duration.astype(np.uint32)
    few = int(rows.step.max(initial=-1)) <= np.iinfo(np.int16).max
    step: Any = rows.step.astype(np.int16 if few else np.int32)
    number: Any = rows.number.astype(np.int32)
    return RankCollectives(step, number, duration, rows.own)


def _widened(duration: Int64) -> Int64:
    """−1 was the largest number of the narrow ones."""
    if duration.dtype != np.uint32:
        return duration
    return np.where(duration == _LONG, -1, duration.astype(np.int64))
