"""Combines the ranks of one recording: steps are those of the slowest rank, devices are summed over all ranks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence

import msgspec

from torch_tb_profiler.analysis.change.figures import LEAST_STEPS, RecordedNote, RecordingFigures
from torch_tb_profiler.analysis.change.named import MOST_NAMES, Named, NamedTable


def together(ranks: Sequence[RecordingFigures]) -> RecordingFigures:
    """Combine one or more ranks, by worker. They run the same step together, so they are no independent samples.

    Steps that a rank lacks are left out. Counts and sums are of all ranks; a part of a step is the mean over `lanes`.
    """
    if len(ranks) == 1:
        return ranks[0]
    first = ranks[0]
    names = [name for name in first.steps if all(name in each.steps for each in ranks)]
    at = [[each.steps.index(name) for name in names] for each in ranks]

    def rows(of: Callable[[RecordingFigures], list[int]]) -> list[list[int]]:
        """By rank, of the steps that all have."""
        return [[of(each)[place] for place in places] for each, places in zip(ranks, at, strict=True)]

    def sums(of: Callable[[RecordingFigures], list[int]]) -> list[int]:
        return _sums(rows(of))

    def known(of: Callable[[RecordingFigures], list[int] | None]) -> list[int] | None:
        """Null where a rank does not know."""
        return None if any(of(each) is None for each in ranks) else sums(lambda each: of(each) or [])

    def table(of: Callable[[RecordingFigures], NamedTable]) -> NamedTable:
        return _table([(of(each), places) for each, places in zip(ranks, at, strict=True)])

    peaks = [each.peak_bytes for each in ranks if each.peak_bytes is not None]
    causes = dict.fromkeys(cause for each in ranks for cause in each.causes)
    return msgspec.structs.replace(
        first,
        ranks=sum(each.ranks for each in ranks),
        basis="devices" if all(each.basis == "devices" for each in ranks) else "host",
        lanes=sum(each.lanes for each in ranks),
        steps=names,
        first_kept=1 if len(names) > LEAST_STEPS else 0,
        cut_off=max(each.cut_off for each in ranks),
        step_ns=[max(column) for column in zip(*rows(lambda each: each.step_ns), strict=True)],
        causes={cause: sums(lambda each, cause=cause: each.cause_alone(cause)) for cause in causes},  # type: ignore[misc]
        communication_known=all(each.communication_known for each in ranks),
        kernel_calls=sums(lambda each: each.kernel_calls),
        sync_calls=known(lambda each: each.sync_calls),
        graph_breaks=known(lambda each: each.graph_breaks),
        compilations=sums(lambda each: each.compilations),
        peak_bytes=max(peaks) if len(peaks) == len(ranks) else None,
        kernels=table(lambda each: each.kernels),
        operators=table(lambda each: each.operators),
        calls=table(lambda each: each.calls),
        notes=_notes(note for each in ranks for note in each.notes),
        fingerprint=msgspec.structs.replace(
            first.fingerprint,
            devices=[name for each in ranks for name in each.fingerprint.devices],
            step_rule=" and ".join(sorted({each.fingerprint.step_rule for each in ranks})),
            options={
                name: any(each.fingerprint.options.get(name, False) for each in ranks)
                for name in first.fingerprint.options
            },
        ),
    )


def _sums(rows: Sequence[Sequence[int]]) -> list[int]:
    return [sum(column) for column in zip(*rows, strict=True)]


def _table(parts: Sequence[tuple[NamedTable, list[int]]]) -> NamedTable:
    """Tables of ranks, and which of their steps."""
    of_name: dict[str, list[Named]] = {}
    rests = []
    for table, places in parts:
        for named in table.names:
            of_name.setdefault(named.name, []).append(_of_steps(named, places))
        if table.rest is not None:
            rests.append(_of_steps(table.rest, places))
    joined = [_joined(each) for each in of_name.values()]
    joined.sort(key=lambda each: (-sum(each.device_ns) - sum(each.host_ns), each.name))
    rests += [msgspec.structs.replace(each, name="", owner=None) for each in joined[MOST_NAMES:]]
    # which names these are is not known: of each rank they may be others
    left_out = max(table.left_out for table, _ in parts) + len(joined[MOST_NAMES:])
    return NamedTable(names=joined[:MOST_NAMES], left_out=left_out, rest=_joined(rests) if rests else None)


def _of_steps(named: Named, places: list[int]) -> Named:
    calls, device, host = ([each[at] for at in places] for each in (named.calls, named.device_ns, named.host_ns))
    return msgspec.structs.replace(named, calls=calls, device_ns=device, host_ns=host)


def _joined(parts: Sequence[Named]) -> Named:
    return msgspec.structs.replace(
        parts[0],
        calls=_sums([each.calls for each in parts]),
        device_ns=_sums([each.device_ns for each in parts]),
        host_ns=_sums([each.host_ns for each in parts]),
    )


def _notes(notes: Iterable[RecordedNote]) -> list[RecordedNote]:
    """One of each kind, with the count of all ranks."""
    found: dict[str, RecordedNote] = {}
    counts: Counter[str] = Counter()
    for note in notes:
        found.setdefault(note.kind, note)
        counts[note.kind] += note.count
    return [msgspec.structs.replace(note, count=counts[kind]) for kind, note in found.items()]
