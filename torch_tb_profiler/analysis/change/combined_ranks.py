"""Combines the ranks of one recording: steps are those of the slowest rank, devices are summed over all ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from torch_tb_profiler.analysis.change.figures import LEAST_STEPS, RecordedNote, RecordingFigures
from torch_tb_profiler.analysis.change.times_by_name import MOST_NAMES, TimesByName, TimesOfName


def combined_ranks(ranks: Sequence[RecordingFigures]) -> RecordingFigures:
    """Combine one or more ranks, by worker. They run the same step together, so they are no independent samples.

    Steps that a rank lacks are left out. Counts and sums are of all ranks; a part of a step is the mean over `lanes`.
    """
    if len(ranks) == 1:
        return ranks[0]
    first = ranks[0]
    names = [name for name in first.steps if all(name in rank.steps for rank in ranks)]
    places_of = [[rank.steps.index(name) for name in names] for rank in ranks]

    def rows(value: Callable[[RecordingFigures], list[int]]) -> list[list[int]]:
        """Return values by rank, of the steps that all have."""
        return [[value(rank)[place] for place in places] for rank, places in zip(ranks, places_of, strict=True)]

    def sums(value: Callable[[RecordingFigures], list[int]]) -> list[int]:
        return _sums(rows(value))

    def known(value: Callable[[RecordingFigures], list[int] | None]) -> list[int] | None:
        """Return the sum; None where a rank does not know."""
        return None if any(value(rank) is None for rank in ranks) else sums(lambda rank: value(rank) or [])

    def table(value: Callable[[RecordingFigures], TimesByName]) -> TimesByName:
        return _table([(value(rank), places) for rank, places in zip(ranks, places_of, strict=True)])

    peaks = [rank.peak_bytes for rank in ranks if rank.peak_bytes is not None]
    causes = dict.fromkeys(cause for rank in ranks for cause in rank.causes)
    return msgspec.structs.replace(
        first,
        ranks=sum(rank.ranks for rank in ranks),
        basis="devices" if all(rank.basis == "devices" for rank in ranks) else "host",
        lanes=sum(rank.lanes for rank in ranks),
        steps=names,
        first_kept=1 if len(names) > LEAST_STEPS else 0,
        cut_off=max(rank.cut_off for rank in ranks),
        step_ns=[max(column) for column in zip(*rows(lambda rank: rank.step_ns), strict=True)],
        causes={cause: sums(lambda rank, cause=cause: rank.cause_alone(cause)) for cause in causes},  # type: ignore[misc]
        communication_known=all(rank.communication_known for rank in ranks),
        kernel_calls=sums(lambda rank: rank.kernel_calls),
        sync_calls=known(lambda rank: rank.sync_calls),
        graph_breaks=known(lambda rank: rank.graph_breaks),
        compilations=sums(lambda rank: rank.compilations),
        peak_bytes=max(peaks) if len(peaks) == len(ranks) else None,
        kernels=table(lambda rank: rank.kernels),
        operators=table(lambda rank: rank.operators),
        calls=table(lambda rank: rank.calls),
        notes=_notes(note for rank in ranks for note in rank.notes),
        fingerprint=msgspec.structs.replace(
            first.fingerprint,
            devices=[name for rank in ranks for name in rank.fingerprint.devices],
            step_rule=" and ".join(sorted({rank.fingerprint.step_rule for rank in ranks})),
            options={
                name: any(rank.fingerprint.options.get(name, False) for rank in ranks)
                for name in first.fingerprint.options
            },
        ),
    )


def _sums(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _table(parts: Sequence[tuple[TimesByName, list[int]]]) -> TimesByName:
    """Combine tables of ranks, each given with its steps that count."""
    of_name: dict[str, list[TimesOfName]] = {}
    rests = []
    for table, places in parts:
        for named in table.names:
            of_name.setdefault(named.name, []).append(_of_steps(named, places))
        if table.rest is not None:
            rests.append(_of_steps(table.rest, places))
    joined = [_joined(each) for each in of_name.values()]
    joined.sort(key=lambda each: (-sum(each.device_ns) - sum(each.host_ns), each.name))
    rests += [msgspec.structs.replace(each, name="", owner=None) for each in joined[MOST_NAMES:]]
    # these names are unknown, and may differ between ranks
    left_out = max(table.left_out for table, _ in parts) + len(joined[MOST_NAMES:])
    return TimesByName(names=joined[:MOST_NAMES], left_out=left_out, rest=_joined(rests) if rests else None)


def _of_steps(named: TimesOfName, places: list[int]) -> TimesOfName:
    calls, device, host = ([each[at] for at in places] for each in (named.calls, named.device_ns, named.host_ns))
    return msgspec.structs.replace(named, calls=calls, device_ns=device, host_ns=host)


def _joined(parts: Sequence[TimesOfName]) -> TimesOfName:
    return msgspec.structs.replace(
        parts[0],
        calls=_sums([each.calls for each in parts]),
        device_ns=_sums([each.device_ns for each in parts]),
        host_ns=_sums([each.host_ns for each in parts]),
    )


def _notes(notes: Iterable[RecordedNote]) -> list[RecordedNote]:
    """Keep one of each kind, with the count of all ranks."""
    found: dict[str, RecordedNote] = {}
    counts: Counter[str] = Counter()
    for note in notes:
        found.setdefault(note.kind, note)
        counts[note.kind] += note.count
    return [msgspec.structs.replace(note, count=counts[kind]) for kind, note in found.items()]
