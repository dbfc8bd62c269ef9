"""Which ranks stopped a job, and the report that says it: schema hang/1.0."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

import msgspec

from torch_tb_profiler.hangs.dump import DumpedCall
from torch_tb_profiler.hangs.job import HungJob, RankGroup
from torch_tb_profiler.hangs.waits import Wait, waits_of
from torch_tb_profiler.reason import Reason, Value
from torch_tb_profiler.words.sentences import section

Answer = Literal["yes", "partly", "cannot"]
Kind = Literal["host_stopped", "device_stopped", "desync", "deadlock", "missing"]
_ORDER: Sequence[Kind] = ("desync", "device_stopped", "host_stopped", "deadlock", "missing")


class Named(msgspec.Struct, frozen=True):
    """A rank that stopped the job, as far as the dumps show.

    rank      number of the rank in the job
    kind      in which way
    call      the call that it did not finish, or did not enter; null: unknown
    group     description of its process group
    line      where the program called, or called last; null: no stack was recorded
    evidence  why it is named
    """

    rank: int
    kind: Kind
    call: str | None
    group: str | None
    line: str | None
    evidence: str


class RankWait(msgspec.Struct, frozen=True, rename={"on": "for"}):
    """A rank in its first unfinished call.

    rank   number of the rank in the job
    for    number of each rank that it waits for; empty where none of them can be told
    call   which
    group  description of its process group
    line   where the program called; null: no stack was recorded
    """

    rank: int
    on: list[int]
    call: str
    group: str
    line: str | None


class GroupState(msgspec.Struct, frozen=True):
    """How far the members of a process group came in the first call that any of them has not finished.

    name         of the group
    description  what torch calls it
    ranks        number of each member
    call         which
    finished     number of each rank that has finished it
    entered      number of each rank that has queued it, and not finished it
    not_entered  number of each rank that has not queued it
    unknown      number of each rank without a dump, or with one that does not say
    """

    name: str
    description: str
    ranks: list[int]
    call: str
    finished: list[int]
    entered: list[int]
    not_entered: list[int]
    unknown: list[int]


class LeftOut(msgspec.Struct, frozen=True):
    """A file that is no part of the report.

    file    its path
    reason  why, a sentence that goes on after the name of the file
    """

    file: str
    reason: str


class HangReport(msgspec.Struct, frozen=True):
    """What the dumps of a job say.

    schema     version of these keys
    answer     yes: who stopped it, or that nothing hangs; partly: a part is missing or cannot be told; cannot: no dump
               could be read
    sentence   the answer in words
    ranks      how many the job has
    dumps      how many of them left a dump that could be read
    named      the ranks that stopped it
    waits      the ranks with an unfinished call
    groups     process groups with an unfinished collective
    left_out   files that say nothing
    """

    schema: str
    answer: Answer
    sentence: str
    ranks: int
    dumps: int
    named: list[Named]
    waits: list[RankWait]
    groups: list[GroupState]
    left_out: list[LeftOut]


class SaidOfHang(msgspec.Struct, frozen=True):
    """A sentence, for saying it in another language.

    key     which of the sentences of its kind
    text    in English
    values  what it says, by name
    """

    key: str
    text: str
    values: Mapping[str, Value]


class LastCall(msgspec.Struct, frozen=True):
    """The last call of a rank that has no unfinished one.

    rank   number of the rank in the job
    call   which
    group  description of its process group
    line   where the program called; null: no stack was recorded
    """

    rank: int
    call: str
    group: str
    line: str | None


class ExplainedReport(msgspec.Struct, frozen=True):
    """A report, and what a page shows beside it.

    sentence   of which the report's sentence consists
    evidence   of each named rank
    left_out   why each file is left out
    others     ranks without an unfinished call
    finished   by named rank its last finished collectives, the newest first
    """

    report: HangReport
    sentence: list[SaidOfHang]
    evidence: list[SaidOfHang]
    left_out: list[Reason]
    others: list[LastCall]
    finished: dict[int, list[DumpedCall]]


def diagnose(job: HungJob) -> HangReport:
    """Return the report of a job."""
    return explained(job).report


def explained(job: HungJob, left_out: Sequence[tuple[str, Reason]] = ()) -> ExplainedReport:
    """Return the report of a job with what explains it. left_out: files with the reason of each."""
    waits = waits_of(job)
    named, evidence = _named(job, waits)
    sentence = _sentences(job, waits, named, evidence)
    report = HangReport(
        "hang/1.0",
        _answer(job, waits, named),
        " ".join(part.text for part in sentence),
        len(job.ranks),
        len(job.dumps),
        named,
        [
            RankWait(
                rank,
                sorted(wait.on),
                title(wait.call),
                wait.group.description,
                wait.call.line or None,
            )
            for rank, wait in waits.items()
        ],
        _group_states(waits),
        _without_reasons(left_out),
    )
    others = [
        LastCall(rank, title(dump.calls[-1]), job.group_of(rank, dump.calls[-1]).description, dump.last_line or None)
        for rank, dump in job.dumps.items()
        if rank not in waits and dump.calls
    ]
    finished = {suspect.rank: _finished(job, suspect.rank) for suspect in named}
    return ExplainedReport(report, sentence, evidence, [reason for _, reason in left_out], others, finished)


def several_jobs(folders: Sequence[str], left_out: Sequence[tuple[str, Reason]]) -> ExplainedReport:
    """Return the report of dumps that are not of one job. folders: two of them that have a dump of one rank."""
    said = _said("sentence", "several", dict(zip(("one", "other"), folders, strict=True)))
    report = HangReport("hang/1.0", "cannot", said.text, 0, 0, [], [], [], _without_reasons(left_out))
    return ExplainedReport(report, [said], [], [reason for _, reason in left_out], [], {})


def _without_reasons(left_out: Sequence[tuple[str, Reason]]) -> list[LeftOut]:
    return [LeftOut(file, reason.text) for file, reason in left_out]


def _said(name: str, key: str, values: Mapping[str, Value]) -> SaidOfHang:
    return SaidOfHang(key, section("hangs", name).say(key, values), values)


def _finished(job: HungJob, rank: int) -> list[DumpedCall]:
    calls = job.dumps[rank].calls if rank in job.dumps else []
    return [call for call in reversed(calls) if call.is_finished and not call.is_transfer]


def title(call: DumpedCall) -> str:
    """Name a call: "all_reduce #6", "send 0->3"."""
    return call.operator if call.is_transfer else f"{call.operator} #{call.number}"


def ranks_text(ranks: Iterable[int]) -> str:
    """Name ranks, neighbours as ranges.

    >>> ranks_text([6, 4, 0, 1, 2])
    '0–2, 4 and 6'
    """
    runs: list[list[int]] = []
    for rank in sorted(ranks):
        if runs and rank == runs[-1][1] + 1:
            runs[-1][1] = rank
        else:
            runs.append([rank, rank])
    texts: list[str] = []
    for first, last in runs:
        texts += [f"{first}–{last}"] if last > first + 1 else map(str, sorted({first, last}))
    return " and ".join(filter(None, (", ".join(texts[:-1]), *texts[-1:])))


def _named(job: HungJob, waits: Mapping[int, Wait]) -> tuple[list[Named], list[SaidOfHang]]:
    """Find the ranks that stopped the job, and the evidence for each.

    Those whose own call shows it, those that others wait for while they wait for nobody, and those in a cycle.
    """
    waiting: dict[int, list[int]] = defaultdict(list)
    for rank, wait in waits.items():
        for other in wait.on:
            waiting[other].append(rank)
    named = []
    for rank, wait in waits.items():
        if rank in wait.odd:
            named.append(_name(job, rank, "desync", wait))
        elif (wait.passed or wait.group.ranks == (rank,)) and not wait.on and not wait.differs:
            named.append(_name(job, rank, "device_stopped", wait))
    for rank, waiters in waiting.items():
        if rank not in waits:
            kind: Kind = "missing" if rank in job.missing else "host_stopped"
            named.append(_name(job, rank, kind, _best_known(waits, waiters), waiters))
    for cycle in _cycles(waits):
        named += [_name(job, rank, "deadlock", waits[rank]) for rank in cycle]
    named.sort(key=lambda each: (_ORDER.index(each[0].kind), each[0].rank))
    return [each for each, _ in named], [evidence for _, evidence in named]


def _best_known(waits: Mapping[int, Wait], waiters: Sequence[int]) -> Wait:
    """Choose the call in which most ranks wait; a collective, whose number says which one, before transfers."""
    alike = Counter((waits[rank].group, title(waits[rank].call)) for rank in waiters)

    def weight(wait: Wait) -> tuple[bool, int]:
        return not wait.call.is_transfer, alike[wait.group, title(wait.call)]

    return max((waits[rank] for rank in waiters), key=weight)


def _name(job: HungJob, rank: int, kind: Kind, wait: Wait, waiters: Sequence[int] = ()) -> tuple[Named, SaidOfHang]:
    """wait: its own, or of the first rank that waits for it. waiters: those ranks."""
    line = wait.call.line if not waiters else job.dumps[rank].last_line if rank in job.dumps else ""
    group = wait.group.description
    values: dict[str, Value] = {
        "call": title(wait.call),
        "group": group,
        "waiting": ranks_text(waiters),
        "waiters": len(waiters),
        "passed": ranks_text(wait.passed),
        "passers": len(wait.passed),
        "others": ranks_text(wait.on),
        "other_count": len(wait.on),
    }
    if kind == "desync":
        values |= _differing(rank, wait)
    evidence = _said("evidence", kind, values)
    return Named(rank, kind, title(wait.call), group, line or None, evidence.text), evidence


def _differing(rank: int, wait: Wait) -> dict[str, Value]:
    """Tell what a rank passes or calls, and what another one does."""
    assert wait.differs is not None
    calls = wait.group.calls[wait.call.number]
    mine = calls.get(rank, wait.call)
    # those who call it like most come first; some sizes are unknown
    others = sorted(calls.items(), key=lambda item: (item[0] in wait.odd, item[0]))
    theirs = next(
        call
        for _, call in others
        if _value(call, wait.differs) != _value(mine, wait.differs)
        and (wait.differs != "size" or min(call.elements) >= 0)
    )
    return {"differs": wait.differs, "mine": _value(mine, wait.differs), "theirs": _value(theirs, wait.differs)}


def _value(call: DumpedCall, differs: str) -> str:
    if differs == "operator":
        return call.operator
    if differs == "dtype":
        return call.dtypes
    return " → ".join(f"{count:,}" for count in call.elements)


def _cycles(waits: Mapping[int, Wait]) -> list[list[int]]:
    """Find the cycles of ranks that wait for each other alone, each from its smallest rank on."""
    free = {rank for wait in waits.values() for rank in wait.on} - set(waits)
    free |= {rank for rank, wait in waits.items() if not wait.on}
    grown = True
    while grown:
        waiting = {rank for rank, wait in waits.items() if rank not in free and wait.on & free}
        free |= waiting
        grown = bool(waiting)
    cycles: list[list[int]] = []
    seen: set[int] = set()
    for start in sorted(set(waits) - free):
        path: list[int] = []
        rank = start
        while rank not in seen:
            seen.add(rank)
            path.append(rank)
            rank = min(waits[rank].on)
        if rank in path:
            cycles.append(path[path.index(rank) :])
    return cycles


def _answer(job: HungJob, waits: Mapping[int, Wait], named: Sequence[Named]) -> Answer:
    if not job.dumps:
        return "cannot"
    is_shown = any(each.kind != "missing" for each in named) and not _is_tied(waits)
    return "yes" if is_shown or not (waits or job.missing) else "partly"


def _is_tied(waits: Mapping[int, Wait]) -> bool:
    """Whether ranks call one thing differently and neither side is larger."""
    return any(wait.differs and set(wait.odd) >= set(wait.group.ranks) for wait in waits.values())


def _sentences(
    job: HungJob, waits: Mapping[int, Wait], named: Sequence[Named], evidence: Sequence[SaidOfHang]
) -> list[SaidOfHang]:
    say = partial(_said, "sentence")
    if not job.dumps:
        return [say("unread", {})]
    if not waits:
        return [say("nothing", {"ranks": len(job.dumps), "missing": ranks_text(job.missing)})]
    if not named:
        stuck = [wait for wait in waits.values() if not wait.on]
        first = max(stuck, key=lambda wait: sum(other.group is wait.group for other in stuck))
        inside = [rank for rank, wait in waits.items() if wait.group is first.group and not wait.on]
        place = {"call": title(first.call), "group": first.group.description, "ranks": ranks_text(inside)}
        return [say("unclear" if first.unknown else "all_entered", place)]
    alike: dict[tuple[Kind, str | None, str | None], list[tuple[Named, SaidOfHang]]] = defaultdict(list)
    for each, why in zip(named, evidence, strict=True):
        alike[each.kind, each.call, each.group].append((each, why))
    sentences = [_about(waits, kind, same) for (kind, _, _), same in alike.items()]
    if waiting := set(waits) - {each.rank for each in named}:
        sentences.append(say("waiting", {"waiting": len(waiting), "named": len(named)}))
    return sentences + [say("advice", {"kind": kind}) for kind in dict.fromkeys(each.kind for each in named)]


def _about(waits: Mapping[int, Wait], kind: Kind, pairs: Sequence[tuple[Named, SaidOfHang]]) -> SaidOfHang:
    """Write the sentence about ranks that stopped in one call. pairs: with the evidence for each."""
    same = [each for each, _ in pairs]
    first, evidence = pairs[0]
    passed = {rank for each in same if each.rank in waits for rank in waits[each.rank].passed}
    values: dict[str, Value] = {
        **evidence.values,
        "ranks": ranks_text(each.rank for each in same),
        "count": len(same),
        "call": first.call or "",
        "group": first.group or "",
        "passed": ranks_text(passed),
        "passers": len(passed),
        "line": first.line or "",
        "evidence": evidence.text,
    }
    return _said("sentence", kind, values)


def _group_states(waits: Mapping[int, Wait]) -> list[GroupState]:
    """One state for each group in whose collectives a rank waits, the one with the most waiting ranks first."""
    numbers: dict[RankGroup, list[DumpedCall]] = defaultdict(list)
    for wait in waits.values():
        if not wait.call.is_transfer:
            numbers[wait.group].append(wait.call)
    states = []
    for group, calls in sorted(numbers.items(), key=lambda item: (-len(item[1]), item[0].name, item[0].ranks)):
        call = min(calls, key=lambda each: each.number)
        by_state: dict[str, list[int]] = defaultdict(list)
        for rank in group.ranks:
            by_state[_state(group, rank, call.number)].append(rank)
        states.append(
            GroupState(
                group.name,
                group.description,
                list(group.ranks),
                title(call),
                by_state["finished"],
                by_state["entered"],
                by_state["not_entered"],
                by_state["unknown"],
            )
        )
    return states


def _state(group: RankGroup, rank: int, number: int) -> str:
    if group.finished.get(rank, -1) >= number:
        return "finished"
    if rank not in group.entered:
        return "unknown"
    return "entered" if group.entered[rank] >= number else "not_entered"
