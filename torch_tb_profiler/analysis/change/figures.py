"""The numbers of one recording that are compared: parts of each step, and the time of each name. Small enough to store.

Kept as JSON it is the baseline that `torch-tb-profiler check --save` writes: no trace is needed beside it.
`differences` says what forbids comparing two of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from operator import methodcaller
from typing import Annotated, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Bytes, Count, Ns
from torch_tb_profiler.analysis.capture import Scalar, capture
from torch_tb_profiler.analysis.change.shares import (
    MOST_NAMES,
    TimesByName,
    TimesOfName,
    calls_by_name,
    kernels_by_name,
    operators_by_name,
)
from torch_tb_profiler.analysis.device_use import kernel_devices, step_use
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.run_metrics import memory_peak
from torch_tb_profiler.analysis.shared.compiled import compiled
from torch_tb_profiler.analysis.shared.operator_times import step_of_times, steps_of_work
from torch_tb_profiler.analysis.waterfall import Waterfall, waterfall
from torch_tb_profiler.analysis.waterfall.waterfall import Basis, is_below
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.trace import Category, Note, Severity

#: of what is written; a file with a higher one is of a newer program
SCHEMA = 1

#: the first step is left out if at least this many remain
LEAST_STEPS = 4

#: a step is slow from this multiple of the median step on
SLOW = 1.5

#: of notes, whose sentences may hold what the profiler logged
LONGEST_TEXT = 300

#: causes in which a device was busy, those below them included
BUSY_CAUSES = ("compute", "exposed_communication", "exposed_copy")

PerStep = Annotated[list[Ns], Meta(description="one for each step")]
Counts = Annotated[list[Count], Meta(description="how many in each step")]


class Fingerprint(msgspec.Struct, frozen=True, kw_only=True):
    """What has to be alike for two recordings to be comparable.

    devices     names of the devices that ran kernels, by number; null if the file does not name one
    world_size  how many processes the program has; null if the file does not contain it
    step_rule   by which the steps were found
    options     what of record_shapes, with_stack, profile_memory, with_modules and with_flops was recorded
    versions    of drivers and libraries, as the header says
    """

    devices: list[str | None]
    world_size: int | None
    step_rule: str
    options: dict[str, bool]
    versions: dict[str, Scalar]


class RecordedNote(msgspec.Struct, frozen=True, kw_only=True):
    """What is wrong with a recording.

    kind      of docs/health.md
    severity  error: something is lost or wrong; warning: numbers are probably wrong; info: good to know
    count     how often it occurred
    text      a sentence
    """

    kind: str
    severity: Severity
    count: Count
    text: str


class RecordingFigures(msgspec.Struct, frozen=True, kw_only=True):
    """One recording: of one process, or of several ranks together (`together.py`). All lists have one entry per step.

    schema                how many versions of this type there were, this one included
    run                   name of the run
    ranks                 how many processes it is of
    basis                 whether `causes` are of devices, or of the main thread where no device ran kernels
    lanes                 how many devices, or main threads, `causes` are added up over
    steps                 names of the steps
    first_kept            how many of the first steps are left out of every comparison: 1 where four or more remain
    cut_off               how many steps the recording did not hold to their end; they are in no list
    step_ns               the step; of several ranks that of the slowest
    causes                by cause of the waterfall: Σ over `lanes`; of one process they add up to `lanes` × `step_ns`
    communication_known   false if communication is known only from calls on the host: its exposure is then unknown
    kernel_calls          kernels that ran
    sync_calls            calls that wait for a device, of the runtime's or driver's API; null if it was not recorded
    graph_breaks          calls of compiled code in compiled code; null without compiled code
    compilations          ranges in which something is compiled
    peak_bytes            most memory in use at once on the device that used most; null if it was not recorded
    kernels               by name; time of device
    operators             by name; time on the host is their own, that of devices of what they launched themselves
    calls                 of the device's API by name
    notes                 what is wrong with the recording
    fingerprint           what has to be alike on both sides
    sha256                of the files it was made from, by worker, as stored; nothing for remote files
    """

    schema: int = SCHEMA
    run: str
    ranks: Count
    basis: Basis
    lanes: Count
    steps: list[str]
    first_kept: Count
    cut_off: Count
    step_ns: PerStep
    causes: dict[str, PerStep]
    communication_known: bool
    kernel_calls: Counts
    sync_calls: Counts | None
    graph_breaks: Counts | None
    compilations: Counts
    peak_bytes: Bytes | None
    kernels: TimesByName
    operators: TimesByName
    calls: TimesByName
    notes: list[RecordedNote]
    fingerprint: Fingerprint
    sha256: list[str] = []

    @property
    def kept(self) -> slice:
        """The steps that are compared."""
        return slice(self.first_kept, None)

    def cause(self, wanted: str) -> list[int]:
        """Return a cause and those below it, Σ over lanes for each step, ns; 0 if it did not occur."""
        chosen = [ns for cause, ns in self.causes.items() if is_below(cause, wanted)]
        return [sum(each) for each in zip(*chosen, strict=True)] if chosen else [0] * len(self.steps)

    def cause_alone(self, wanted: str) -> list[int]:
        """Return a cause without those below it."""
        return self.causes.get(wanted, [0] * len(self.steps))

    @property
    def busy(self) -> list[int] | None:
        """Σ over devices of the time in which any kernel, copy or fill ran, for each step, ns; None without devices."""
        if self.basis == "host":
            return None
        return [sum(each) for each in zip(*map(self.cause, BUSY_CAUSES), strict=True)]


def recording_figures(model: Model, run: str) -> RecordingFigures:
    """Compute the figures of one trace. run: the name of its run."""
    parts, use = waterfall(model), step_use(model)
    has_devices, recorded = parts.basis == "devices", capture(model)
    kernels, syncs, used = _kernels(model), _syncs(model), set(kernel_devices(model))
    return RecordingFigures(
        run=run,
        ranks=1,
        basis=parts.basis,
        lanes=len(parts.devices) if has_devices else 1,
        steps=list(model.steps.names),
        first_kept=1 if len(model.steps) > LEAST_STEPS else 0,
        cut_off=sum(note.count for note in model.steps.notes if note.kind == "incomplete_last_steps"),
        step_ns=parts.step_ns.tolist(),
        causes=_causes(parts),
        communication_known=use is None or use.exposed_communication_ns is not None,
        kernel_calls=kernels,
        sync_calls=syncs,
        graph_breaks=_graph_breaks(model),
        compilations=_counts(model, model.tree.start[compiled(model).compilations]),
        peak_bytes=memory_peak(model),
        kernels=kernels_by_name(model),
        operators=operators_by_name(model),
        calls=calls_by_name(model),
        notes=[_note(each) for each in troubles(model)],
        fingerprint=Fingerprint(
            devices=[each.name for each in recorded.devices if each.id in used],
            world_size=recorded.distributed.world_size if recorded.distributed else None,
            step_rule=model.steps.rule,
            options={
                name: bool(recorded.found.get(name)) if said is None else said
                for name, said in recorded.options.items()
            },
            versions=recorded.versions,
        ),
    )


def _causes(found: Waterfall) -> dict[str, list[int]]:
    sums = found.ns.sum(axis=0)
    return {cause: sums[:, at].tolist() for at, cause in enumerate(found.causes)}


def _kernels(model: Model) -> list[int]:
    work, step = steps_of_work(model)
    inside = model.in_steps
    return _per_step(model, step[inside.device_category[work] == Category.KERNEL])


def _syncs(model: Model) -> list[int] | None:
    """Count synchronizing calls; a driver's call inside a runtime's is part of it."""
    if not model.has_runtime:
        return None
    inside, events = model.in_steps, model.trace.events
    row = inside.launches.row
    name = events.name[row]
    waits = model.trace.strings.where(SYNCHRONIZE.search, name)[name]
    is_inner = (inside.launch_links.duration == 0) & (events.duration[row] > 0)
    return _counts(model, events.start[row[waits & ~is_inner]])


def _graph_breaks(model: Model) -> list[int] | None:
    found = compiled(model.in_steps)
    if not len(found.regions):
        return None
    return _counts(model, model.in_steps.tree.start[found.nested])


def _counts(model: Model, start: Int64) -> list[int]:
    """Count moments on the host per step, without those before the first or after the last."""
    steps = model.steps
    if not len(steps):
        return []
    inside = (start >= steps.host_start[0]) & (start < steps.host_end[-1])
    return _per_step(model, step_of_times(model, start[inside]))


def _per_step(model: Model, step: Int64) -> list[int]:
    counts: list[int] = np.bincount(step, minlength=len(model.steps)).tolist()
    return counts if len(model.steps) else []


def _note(note: Note) -> RecordedNote:
    return RecordedNote(kind=note.kind, severity=note.severity, count=note.count, text=note.text[:LONGEST_TEXT])


#: what a difference forbids: every verdict, those of other hardware (allowed by choice), those of host time, or none
Forbids = Literal["all", "across", "host", "nothing"]

#: options that make the host slower
SLOWING = ("record_shapes", "with_stack", "profile_memory")


class RecordingDifference(msgspec.Struct, frozen=True, kw_only=True):
    """Something that is not alike on both sides.

    what     which of the things that have to be alike
    forbids  all: nothing can be judged; across: neither, but for those who ask for it; host: times of the host and of
             steps; nothing
    base     what it is in the baseline
    new      what it is in the new recordings
    text     a sentence
    """

    what: str
    forbids: Forbids
    base: str
    new: str
    text: str


def _devices(each: RecordingFigures) -> str:
    names = [name or "unnamed" for name in each.fingerprint.devices]
    counts = {name: names.count(name) for name in sorted(set(names))}
    return ", ".join(name if count == 1 else f"{count} × {name}" for name, count in counts.items()) or "no device"


def _number(value: int | None) -> str:
    return "unknown" if value is None else str(value)


def _versions(each: RecordingFigures) -> str:
    return ", ".join(f"{name} {value}" for name, value in sorted(each.fingerprint.versions.items())) or "not recorded"


_RULES: tuple[tuple[str, Forbids, Callable[[RecordingFigures], str], str], ...] = (
    ("step_rule", "all", lambda each: each.fingerprint.step_rule, "Steps were found by different rules"),
    ("basis", "all", lambda each: each.basis, "Kernels of devices were recorded on one side only"),
    ("devices", "across", _devices, "The devices differ"),
    ("world_size", "across", lambda each: _number(each.fingerprint.world_size), "The number of processes differs"),
    ("ranks", "across", lambda each: str(each.ranks), "The number of recorded ranks differs"),
    *(
        (
            option,
            "host",
            lambda each, option=option: "on" if each.fingerprint.options.get(option) else "off",
            f"{option} was on for a part of the recordings only, which makes the host slower",
        )
        for option in SLOWING
    ),
    ("versions", "nothing", _versions, "Versions of drivers or libraries differ"),
)


def differences(base: Sequence[RecordingFigures], new: Sequence[RecordingFigures]) -> list[RecordingDifference]:
    """List what is not the same in all recordings of both sides, in the order of the rules. Each side has one or
    more.
    """
    unequal = []
    for what, forbids, of, text in _RULES:
        sides = [sorted({of(each) for each in side}) for side in (base, new)]
        if len({*sides[0], *sides[1]}) > 1:
            before, after = (" and ".join(side) for side in sides)
            unequal.append(
                RecordingDifference(
                    what=what,
                    forbids=forbids,
                    base=before,
                    new=after,
                    text=f"{text}: {before} in the baseline, {after} in the new recording{'s' * (len(new) > 1)}.",
                )
            )
    return unequal


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
        causes={cause: sums(methodcaller("cause_alone", cause)) for cause in causes},
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
