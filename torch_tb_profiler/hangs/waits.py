"""For whom a rank waits in its first unfinished call, and what that call shows about the rank itself.

Times of ranks are never compared: their clocks differ. Numbers of sends and receives are never compared either: each
rank counts its own.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Literal

import msgspec

from torch_tb_profiler.hangs.dump import Call
from torch_tb_profiler.hangs.job import Job, Key

_TRANSFER = re.compile(r"(send|recv) ([0-9]+)(?:->|<-)([0-9]+)")

#: collectives that some ranks may finish before others have taken part
_ROOTED = re.compile(r"_?(?:broadcast|reduce|gather|scatter)(?:_oop)?$")

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

    call: Call
    key: Key
    on: frozenset[int] = frozenset()
    not_entered: frozenset[int] = frozenset()
    passed: frozenset[int] = frozenset()
    unknown: frozenset[int] = frozenset()
    differs: Difference | None = None
    odd: frozenset[int] = frozenset()


def waits_of(job: Job) -> dict[int, Wait]:
    """Return the wait of each rank that has an unfinished call."""
    return {
        rank: _of_transfer(job, rank, call) if call.is_transfer else _of_collective(job, rank, call)
        for rank, call in job.pending.items()
    }


def _of_transfer(job: Job, rank: int, call: Call) -> Wait:
    """A send or receive waits for the other end, unless that is in the same transfer."""
    key = job.key_of(rank, call)
    members = key[1]
    parts = _TRANSFER.match(call.operator)
    if parts is None or not all(int(place) < len(members) for place in parts.groups()[1:]):
        return Wait(call, key)
    other = members[int(parts[3])]
    theirs = job.pending.get(other)
    back = "recv" if parts[1] == "send" else "send"
    if theirs is not None and job.key_of(other, theirs) == key:
        match = _TRANSFER.match(theirs.operator)
        if match is not None and match.groups() == (back, parts[3], parts[2]):
            return Wait(call, key)
    return Wait(call, key, frozenset({other}))


def _of_collective(job: Job, rank: int, call: Call) -> Wait:
    key = job.key_of(rank, call)
    others = set(key[1]) - {rank}
    differs, odd = _difference(job, key, call.number)
    if differs is not None:
        return Wait(call, key, frozenset() if rank in odd else odd - {rank}, differs=differs, odd=odd)
    entered = {other: job.entered(other, key) for other in others}
    not_entered = {other for other, number in entered.items() if number is not None and number < call.number}
    passed = {other for other in others if (job.finished(other, key) or -1) >= call.number}
    unknown = {other for other, number in entered.items() if number is None}
    if not_entered:
        return Wait(call, key, frozenset(not_entered), frozenset(not_entered), frozenset(passed))
    passed |= {other for other in unknown if _went_on(job, rank, call, other)}
    unknown -= passed
    if passed and not (_ROOTED.match(call.operator) and passed != others):
        return Wait(call, key, passed=frozenset(passed))
    elsewhere = {other for other in others - unknown - passed if _is_elsewhere(job, other, key, call.number)}
    silent = unknown & job.missing
    return Wait(call, key, frozenset(elsewhere | silent), unknown=frozenset(unknown - silent))


def _is_elsewhere(job: Job, rank: int, key: Key, number: int) -> bool:
    """Whether a rank that has queued a call is still in one before it."""
    pending = job.pending.get(rank)
    return pending is not None and (job.key_of(rank, pending), pending.number) != (key, number)


def _went_on(job: Job, rank: int, call: Call, other: int) -> bool:
    """Whether a rank without a dump has passed a call: others finished one with it that comes later in the program.

    The order of the program is that of `rank`, which has queued both.
    """
    for later in job.unfinished(rank):
        key = job.key_of(rank, later)
        if later.record > call.record and not later.is_transfer and other in key[1]:
            witnesses = set(key[1]) - {rank, other}
            if any((job.finished(witness, key) or -1) >= later.number for witness in witnesses):
                return True
    return False


def _difference(job: Job, key: Key, number: int) -> tuple[Difference | None, frozenset[int]]:
    """How the members of a group call one collective differently, and who differs from most of them."""
    calls = {rank: call for rank in key[1] if (call := job.call_of(rank, key, number)) is not None}
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
