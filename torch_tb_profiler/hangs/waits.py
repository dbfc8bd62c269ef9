"""For whom a rank waits in its first unfinished call, and what that call shows about the rank itself.

Times of ranks are never compared: their clocks differ. Numbers of sends and receives are never compared either: each
rank counts its own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Literal

import msgspec

from torch_tb_profiler.hangs.dump import DumpedCall
from torch_tb_profiler.hangs.job import HungJob, RankGroup
from torch_tb_profiler.lazy_pattern import lazy_pattern

_TRANSFER = lazy_pattern(r"(send|recv) ([0-9]+)(?:->|<-)([0-9]+)")

#: collectives that some ranks may finish before others have taken part
_ROOTED = lazy_pattern(r"_?(?:broadcast|reduce|gather|scatter)(?:_oop)?$")

Difference = Literal["operator", "dtype", "size"]


class Wait(msgspec.Struct, frozen=True):
    """A rank in its first unfinished call.

    on           the ranks that it waits for
    not_entered  members that have not queued the call, of those with a dump
    passed       members that have finished the call, or provably went on after it
    unknown      members whose dump does not say whether they entered the call
    differs      how members called it differently; None where they agree
    odd          the members that call it unlike most; all that differ where no side is larger
    """

    call: DumpedCall
    group: RankGroup
    on: frozenset[int] = frozenset()
    not_entered: frozenset[int] = frozenset()
    passed: frozenset[int] = frozenset()
    unknown: frozenset[int] = frozenset()
    differs: Difference | None = None
    odd: frozenset[int] = frozenset()


def waits_of(job: HungJob) -> dict[int, Wait]:
    """Return the wait of each rank that has an unfinished call."""
    differences: dict[tuple[RankGroup, int], tuple[Difference | None, frozenset[int]]] = {}
    waits = {}
    for rank, call in job.pending.items():
        group = job.group_of(rank, call)
        if call.is_transfer:
            waits[rank] = _of_transfer(job, call, group)
            continue
        at = group, call.number
        if at not in differences:
            differences[at] = _difference(group.calls[call.number])
        differs, odd = differences[at]
        if differs is None:
            waits[rank] = _of_collective(job, rank, call, group)
        else:
            waits[rank] = Wait(call, group, frozenset() if rank in odd else odd, differs=differs, odd=odd)
    return waits


def _of_transfer(job: HungJob, call: DumpedCall, group: RankGroup) -> Wait:
    """Let a send or receive wait for the other end, unless that is in the same transfer."""
    parts = _TRANSFER.match(call.operator)
    if parts is None or not all(int(place) < len(group.ranks) for place in parts.groups()[1:]):
        return Wait(call, group)
    other = group.ranks[int(parts[3])]
    theirs = job.pending.get(other)
    back = "recv" if parts[1] == "send" else "send"
    if theirs is not None and job.group_of(other, theirs) is group:
        match = _TRANSFER.match(theirs.operator)
        if match is not None and match.groups() == (back, parts[3], parts[2]):
            return Wait(call, group)
    return Wait(call, group, frozenset({other}))


def _of_collective(job: HungJob, rank: int, call: DumpedCall, group: RankGroup) -> Wait:
    others = set(group.ranks) - {rank}
    not_entered = {other for other in others if group.entered.get(other, call.number) < call.number}
    passed = {other for other in others if group.finished.get(other, -1) >= call.number}
    if not_entered:
        return Wait(call, group, frozenset(not_entered), frozenset(not_entered), frozenset(passed))
    unknown = others - set(group.entered)
    passed |= unknown & _gone_on(job, rank, call)
    unknown -= passed
    if passed and not (_ROOTED.match(call.operator) and passed != others):
        return Wait(call, group, passed=frozenset(passed))
    elsewhere = {other for other in others - unknown - passed if _is_elsewhere(job, other, group, call.number)}
    silent = unknown & job.missing
    return Wait(call, group, frozenset(elsewhere | silent), unknown=frozenset(unknown - silent))


def _is_elsewhere(job: HungJob, rank: int, group: RankGroup, number: int) -> bool:
    """Whether a rank that has queued a call is still in one before it."""
    pending = job.pending.get(rank)
    return pending is not None and (job.group_of(rank, pending), pending.number) != (group, number)


def _gone_on(job: HungJob, rank: int, call: DumpedCall) -> set[int]:
    """Find the ranks that have provably passed a call: with others they finished one that comes later in the program.

    The order of the program is that of `rank`, which has queued both.
    """
    later: dict[RankGroup, int] = {}
    for each in job.unfinished(rank):
        if each.record > call.record and not each.is_transfer:
            later.setdefault(job.group_of(rank, each), each.number)
    return {other for group, number in later.items() if group.finished_beside(rank) >= number for other in group.ranks}


def _difference(calls: Mapping[int, DumpedCall]) -> tuple[Difference | None, frozenset[int]]:
    """How ranks call one collective differently, and who differs from most of them. calls: by rank."""
    kinds: dict[Difference, dict[int, object]] = {
        "operator": {rank: call.operator for rank, call in calls.items()},
        "dtype": {rank: call.dtypes for rank, call in calls.items()},
        "size": {rank: call.elements for rank, call in calls.items() if min(call.elements) >= 0},
    }
    for kind, values in kinds.items():
        counts = Counter(values.values()).most_common()
        if len(counts) > 1:
            is_tied = counts[0][1] == counts[1][1]
            return kind, frozenset(rank for rank, value in values.items() if is_tied or value != counts[0][0])
    return None, frozenset()
