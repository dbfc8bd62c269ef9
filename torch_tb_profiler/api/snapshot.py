"""One memory snapshot."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from torch_tb_profiler.analysis.question import Refused
from torch_tb_profiler.analysis.snapshot.alive import (
    AgainstBy,
    AgainstRows,
    AliveBy,
    AliveRows,
    FramesShown,
    Side,
    WhichTree,
    against,
    alive_rows,
    alive_stacks,
)
from torch_tb_profiler.analysis.snapshot.allocation_patterns import Growth, LifetimeRows, lifetime_rows
from torch_tb_profiler.analysis.snapshot.frames import stack_names
from torch_tb_profiler.analysis.snapshot.history import Curves, Moment, device_history, moments, position_of
from torch_tb_profiler.analysis.snapshot.layout import PoolRow, SegmentLayout, pools, segment_layout
from torch_tb_profiler.analysis.snapshot.lifetimes import Lifetimes
from torch_tb_profiler.analysis.snapshot.link import SnapshotLink, link
from torch_tb_profiler.analysis.snapshot.linked_alive import LinkedAliveRows, LinkedBy, linked_alive
from torch_tb_profiler.analysis.snapshot.oom import Oom
from torch_tb_profiler.analysis.snapshot.summary import MemorySnapshot, SnapshotFinding, memory_snapshot
from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE
from torch_tb_profiler.analysis.stacks.stack_table import Direction, StackTable
from torch_tb_profiler.api.errors import ProfileError, profile_errors
from torch_tb_profiler.api.results import Rows
from torch_tb_profiler.api.trace import TraceProfile
from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note
from torch_tb_profiler.workspace import Unavailable
from torch_tb_profiler.workspace.local_workspace import LocalTrace

T = TypeVar("T")


class SnapshotProfile:
    """A memory snapshot: what `torch.cuda.memory._dump_snapshot` wrote, read when it is first asked for.

    `at` is a moment: start, peak, reserved_peak, oom, snapshot, end, or the number of a record. `device` is the number
    of a device; without it that with most records. Bytes are those requested unless they are called otherwise.
    """

    def __init__(self, source: LocalTrace, run: str) -> None:
        self.source = source
        self.run = run

    def __repr__(self) -> str:
        return f"<memory snapshot {self.file!r}>"

    @property
    def _file(self) -> TraceFile:
        return self.source.file

    @property
    def file(self) -> str:
        """The name of the file."""
        return self._file.entry.path.rpartition("/")[2]

    @property
    def worker(self) -> str:
        return self._file.worker

    @property
    def moment(self) -> str:
        """Of several snapshots of a worker which."""
        return self._file.span

    @property
    def rank(self) -> int | None:
        return self._file.rank

    def ask(self, question: Callable[[Model], T]) -> T:
        """Return the answer of a function of the model. Raises ProfileError."""
        with profile_errors((Unavailable, Refused)):
            return self.source.ask(question)

    @property
    def summary(self) -> MemorySnapshot:
        """Peaks, what is in use at the end, what contradicts itself, failed allocations, growth, by device."""
        return self.ask(memory_snapshot)

    @property
    def answer(self) -> str:
        """One sentence: why memory ran out, else what was most."""
        return self.summary.text

    @property
    def notes(self) -> Rows[Note]:
        """What is wrong with the file."""
        return Rows(self.ask(lambda model: model.trace.notes))

    @property
    def devices(self) -> tuple[int, ...]:
        return tuple(device.device for device in self.summary.devices)

    @property
    def ooms(self) -> Rows[Oom]:
        """Failed allocations, and why they failed."""
        return Rows(self.summary.ooms)

    @property
    def findings(self) -> Rows[SnapshotFinding]:
        """What to change: leaks, fragmentation, work of the allocator that leads to nothing."""
        return Rows(self.summary.findings)

    def growth(self, device: int | None = None) -> Growth:
        """Find what grows from step to step."""
        return next(each.growth for each in self.summary.devices if device in (None, each.device))

    def moments(self, device: int | None = None) -> Rows[Moment]:
        """Moments worth looking at."""
        return Rows(self.ask(lambda model: moments(device_history(model, device))))

    def curves(self, device: int | None = None) -> Curves:
        """Return what was in use before the first record and after each."""
        return self.ask(lambda model: device_history(model, device).curves)

    def lives(self, device: int | None = None) -> Lifetimes:
        """Every allocation from its birth to its release."""
        return self.ask(lambda model: device_history(model, device).lifetimes)

    def alive(
        self, at: str | int = "peak", by: AliveBy = "line", since: str | int | None = None, device: int | None = None
    ) -> AliveRows:
        """Return what is in use at a moment; with `since` also how much more that is than then."""

        def rows(model: Model) -> AliveRows:
            history = device_history(model, device)
            before = None if since is None else position_of(history, str(since))
            return alive_rows(history, stack_names(model), position_of(history, str(at)), by, before)

        return self.ask(rows)

    def stacks(
        self,
        at: str | int = "peak",
        direction: Direction = "top_down",
        frames: FramesShown = "python",
        device: int | None = None,
        smallest_share: float = SMALLEST_SHARE,
    ) -> StackTable:
        """Return what is in use at a moment by call stack; columns called ns hold bytes here."""

        def tree(model: Model) -> StackTable | None:
            history = device_history(model, device)
            which = WhichTree(direction=direction, frames=frames)
            return alive_stacks(history, stack_names(model), position_of(history, str(at)), which, smallest_share)

        found = self.ask(tree)
        assert found is not None
        return found

    def layout(self, at: str | int = "peak", device: int | None = None) -> SegmentLayout:
        """Return the segments at a moment, and what is in them."""

        def found(model: Model) -> SegmentLayout:
            history = device_history(model, device)
            return segment_layout(history, position_of(history, str(at)))

        return self.ask(found)

    def pools(self, at: str | int = "peak", device: int | None = None) -> Rows[PoolRow]:
        """Pools × streams × size classes at a moment."""
        return Rows(pools(self.layout(at, device)))

    def against(
        self,
        other: SnapshotProfile,
        by: AgainstBy = "line",
        at: str | int = "peak",
        other_at: str | int | None = None,
        device: int | None = None,
    ) -> AgainstRows:
        """Compare what is in use at a moment with another snapshot (there at `other_at`, else at the same)."""

        def moment_of(model: Model, wanted: str | int) -> Side:
            history = device_history(model, device)
            return history, stack_names(model), position_of(history, str(wanted))

        def found(own: Model) -> AgainstRows:
            wanted = at if other_at is None else other_at
            return other.ask(lambda theirs: against(moment_of(theirs, wanted), moment_of(own, at), by))

        return self.ask(found)

    def lifetimes(self, device: int | None = None) -> LifetimeRows:
        """Return how long the allocations of each stack live."""
        return self.ask(lambda model: lifetime_rows(device_history(model, device), stack_names(model)))

    def link(self, trace: TraceProfile) -> SnapshotLink:
        """Return whether a trace is of the same process, and how its clock differs."""
        return self.ask(lambda own: trace.ask(lambda other: link(other, own)))

    def alive_in_trace(
        self, trace: TraceProfile, at: str | int = "peak", by: LinkedBy = "module", device: int | None = None
    ) -> LinkedAliveRows:
        """Attribute what is in use at a moment by a trace of the same process. Raises ProfileError for another one."""

        def rows(own: Model, other: Model) -> LinkedAliveRows:
            found = link(other, own)
            if found.offset_ns is None:
                raise ProfileError(f"{trace.file} is not linked to {self.file}: {found.reason}")
            history = device_history(own, found.device if device is None else device)
            return linked_alive(other, own, history, found, position_of(history, str(at)), by)

        return self.ask(lambda own: trace.ask(lambda other: rows(own, other)))

    def frames_of(self, stack: int) -> tuple[str, ...]:
        """Return the frames of a stack from the innermost outwards."""
        return self.ask(lambda model: tuple(stack_names(model).frames_of(stack)))
