"""The numbers of one recording that are compared: parts of each step, and the time of each name. Small enough to store.

Kept as JSON it is the baseline that `torch-tb-profiler check --save` writes: no trace is needed beside it.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Bytes, Count, Ns
from torch_tb_profiler.analysis.capture import Scalar, capture
from torch_tb_profiler.analysis.change.named import NamedTable, calls_by_name, kernels_by_name, operators_by_name
from torch_tb_profiler.analysis.device_use import kernel_devices, step_use
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.run_metrics.metrics import memory_peak
from torch_tb_profiler.analysis.shared.compiled import compiled
from torch_tb_profiler.analysis.shared.per_step import step_of_times, steps_of_work
from torch_tb_profiler.analysis.waterfall import Waterfall, waterfall
from torch_tb_profiler.analysis.waterfall.waterfall import Basis, is_below
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.api_call_names import SYNCHRONIZE
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
    kernels: NamedTable
    operators: NamedTable
    calls: NamedTable
    notes: list[RecordedNote]
    fingerprint: Fingerprint
    sha256: list[str] = []

    @property
    def kept(self) -> slice:
        """The steps that are compared."""
        return slice(self.first_kept, None)

    def cause(self, wanted: str) -> list[int]:
        """Σ over lanes of a cause and those below it, for each step, ns; 0 of one that did not occur."""
        chosen = [ns for cause, ns in self.causes.items() if is_below(cause, wanted)]
        return [sum(each) for each in zip(*chosen, strict=True)] if chosen else [0] * len(self.steps)

    def cause_alone(self, wanted: str) -> list[int]:
        """The same without those below it."""
        return self.causes.get(wanted, [0] * len(self.steps))

    @property
    def busy(self) -> list[int] | None:
        """Σ over devices of the time in which any kernel, copy or fill ran, for each step, ns; None without devices."""
        if self.basis == "host":
            return None
        return [sum(each) for each in zip(*map(self.cause, BUSY_CAUSES), strict=True)]


def recording_figures(model: Model, run: str) -> RecordingFigures:
    """The figures of one trace. run: the name of its run."""
    found, use = waterfall(model), step_use(model)
    has_devices, recorded = found.basis == "devices", capture(model)
    kernels, syncs, used = _kernels(model), _syncs(model), set(kernel_devices(model))
    return RecordingFigures(
        run=run,
        ranks=1,
        basis=found.basis,
        lanes=len(found.devices) if has_devices else 1,
        steps=list(model.steps.names),
        first_kept=1 if len(model.steps) > LEAST_STEPS else 0,
        cut_off=sum(note.count for note in model.steps.notes if note.kind == "incomplete_last_steps"),
        step_ns=found.step_ns.tolist(),
        causes=_causes(found),
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
    """A driver's call inside a runtime's is part of it."""
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
    """How many of some moments on the host are in each step; what lies before the first or after the last is not."""
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
