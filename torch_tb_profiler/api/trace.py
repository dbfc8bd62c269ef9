"""One trace and its questions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar

import msgspec
from msgspec.structs import replace

from torch_tb_profiler.analysis.api_calls import (
    FULL_QUEUE,
    LaunchGrouping,
    LaunchStats,
    QueueLengths,
    StreamQueue,
    launch_stats,
    queue_lengths,
    stream_queues,
)
from torch_tb_profiler.analysis.change.question import CHANGE, ChangeAnswer, HowManyRows
from torch_tb_profiler.analysis.compare.comparison import Comparison
from torch_tb_profiler.analysis.compare.program import whole_times
from torch_tb_profiler.analysis.compare.question import delta
from torch_tb_profiler.analysis.compare.roofline import RooflineDelta, compare_roofline
from torch_tb_profiler.analysis.copies import Copies, copies
from torch_tb_profiler.analysis.device_time import DeviceTime, Window, device_time
from torch_tb_profiler.analysis.health.notes import health
from torch_tb_profiler.analysis.idle import KERNEL_WAIT_NS, IdleGaps, IdleTimes, Lanes, idle_gaps, idle_times
from torch_tb_profiler.analysis.kernels import KernelGrouping, KernelSequences, KernelTable, kernel_sequences, kernels
from torch_tb_profiler.analysis.memory.blocks import (
    AliveTable,
    BlockFilter,
    BlockOrder,
    BlockTable,
    alive,
    memory_events,
)
from torch_tb_profiler.analysis.memory.failures import Failure, failures
from torch_tb_profiler.analysis.memory.operators import MemoryOperators, memory_operators
from torch_tb_profiler.analysis.memory.records import MemoryCurve, memory_curves, memory_records
from torch_tb_profiler.analysis.modules import HookTable, ModuleTable, hooks, modules
from torch_tb_profiler.analysis.operators.table import (
    LaunchedKernels,
    OperatorGrouping,
    OperatorTable,
    operator_kernels,
    operator_stacks,
    operators,
)
from torch_tb_profiler.analysis.overview import Overview, StepTimes, overview, step_times
from torch_tb_profiler.analysis.program.graph_owners import GraphOwners, graph_owners
from torch_tb_profiler.analysis.program.phases import PhaseTimes, phase_times
from torch_tb_profiler.analysis.question import Question, Refused, Subject, answer_here
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.changes import Change
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.savings import Savings, WhatIf, savings, what_if
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.analysis.roofline.table import RooflineGrouping, RooflineTable, roofline
from torch_tb_profiler.analysis.roofline.utilization import StepFlops, step_flops
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.analysis.shared.owners import OwnerShares, Unattributed, owner_shares, unattributed
from torch_tb_profiler.analysis.stacks.entries import Weight
from torch_tb_profiler.analysis.stacks.flame_graph import SMALLEST_SHARE, stacks
from torch_tb_profiler.analysis.stacks.stack_table import Direction, StackTable
from torch_tb_profiler.analysis.waterfall import Waterfall, waterfall
from torch_tb_profiler.api.errors import ProfileError, check_changes, one_of, places_of_steps, profile_errors
from torch_tb_profiler.api.notebook import TraceInNotebook
from torch_tb_profiler.api.notebook_cards import shown_change
from torch_tb_profiler.api.queries import Queried
from torch_tb_profiler.api.results import Compared, Rows
from torch_tb_profiler.codec import convert
from torch_tb_profiler.insights import Finding, findings
from torch_tb_profiler.insights.candidates.answer import CandidateKind, CandidatesAnswer
from torch_tb_profiler.insights.candidates.question import CANDIDATES
from torch_tb_profiler.insights.summary.question import SUMMARY
from torch_tb_profiler.insights.summary.summary import SummaryAnswer
from torch_tb_profiler.model import Model, StepChoice
from torch_tb_profiler.model.patterns import check_pattern
from torch_tb_profiler.model.program_tree import Source
from torch_tb_profiler.model.selection import StepRange, UnknownStep
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.trace import Note
from torch_tb_profiler.workspace.answering.answerer import step_range, subject_of
from torch_tb_profiler.workspace.local_workspace import LocalTrace, ask_together
from torch_tb_profiler.workspace.status import OpenTrace, Unavailable

T = TypeVar("T")


class TraceProfile(TraceInNotebook, Queried):
    """One trace file. It is read when first asked for; answers are kept as long as its model is.

    run, worker, span    its names, as the server shows them
    file, size           path within what was opened, and bytes
    """

    def __init__(self, source: LocalTrace, names: OpenTrace) -> None:
        self.source = source
        self._names = names
        self.run, self.worker, self.span, self.size = names.run, names.worker, names.span, names.size
        self.file = source.file.entry.path

    def __repr__(self) -> str:
        return f"<trace {self.run!r}, worker {self.worker!r}, span {self.span!r}: {self.file}>"

    def _named_traces(self) -> Sequence[tuple[str, LocalTrace]]:
        return ((self.run, self.source),)

    def ask(self, question: Callable[[Model], T]) -> T:
        """Return the answer of any function of the model, such as those of `torch_tb_profiler.analysis`."""
        with profile_errors(Unavailable):
            return self.source.ask(question)

    def answer(self, name: str, /, from_step: str | None = None, to_step: str | None = None, **parameters: Any) -> Any:
        """Answer a question about one trace as /api/`name` does: a Struct, or a Table (`.to_pandas()`).

        `from_step` and `to_step` (names of steps, both or none) limit it to these steps and those between. docs/api.md
        lists questions and parameters. Raises ProfileError: no such question, value or steps, or nothing was recorded.
        """
        question = next((each for each in QUESTIONS if each.name == name), None)
        if question is None or question.scope != "trace":
            known = ", ".join(each.name for each in QUESTIONS if each.scope == "trace")
            raise ProfileError(f"there is no question {name!r} about one trace, only {known}")
        try:
            steps = step_range(from_step, to_step)
            params = convert(parameters, question.parameters)
            return self.ask(lambda model: self._answered(question, model, params, steps))
        except (msgspec.ValidationError, Refused, UnknownStep) as error:
            raise ProfileError(f"{name}: {error}") from None

    def _answered(
        self,
        question: Question,
        model: Model,
        params: msgspec.Struct,
        steps: StepRange | None,
    ) -> Any:
        subject = self.subject(model.of_steps(steps) if question.of_steps else model, steps)
        return answer_here(question, subject, params)

    def subject(self, model: Model, steps: StepRange | None = None) -> Subject:
        """Return the subject of a question. model: of this trace."""
        return subject_of(model, self._names, steps)

    def with_steps(self, rule: str | None = None, pattern: str | None = None) -> TraceProfile:
        """Return the trace with steps found by a rule, or by annotations whose names match a regular expression."""
        if rule is not None and rule not in RULES:
            raise ProfileError(f"{rule!r} is not a rule for steps, only {', '.join(map(repr, RULES))}")
        with profile_errors(ValueError):
            check_pattern(pattern or "")
        return TraceProfile(replace(self.source, choice=StepChoice(rule, pattern)), self._names)

    @property
    def model(self) -> Model:
        """Events, call tree, launches and steps, for questions of your own."""
        return self.ask(lambda model: model)

    @property
    def notes(self) -> Rows[Note]:
        """What was repaired, is missing or could not be computed."""
        return Rows(self.ask(health))

    @property
    def steps(self) -> StepTimes:
        """Every step and what its time went to."""
        return self.ask(step_times)

    def overview(self) -> Overview:
        return self.ask(overview)

    def summary(self) -> SummaryAnswer:
        """Return the trace in a few stable numbers: what `torch-tb-profiler summary --json` prints."""
        found: SummaryAnswer = self.answer(SUMMARY.name)
        return found

    def findings(self) -> Rows[Finding]:
        """Return what to do about it."""
        return Rows(self.ask(findings))

    def candidates(
        self, top: int = 20, *, kind: CandidateKind | None = None, finding: str | None = None
    ) -> CandidatesAnswer:
        """Return what is worth optimizing, with what a step saves by replay (docs/candidates.md)."""
        found: CandidatesAnswer = self.answer(CANDIDATES.name, top=top, kind=kind, finding=finding)
        return found

    # what limits the steps --------------------------------------------------------------------------------

    def waterfall(self) -> Waterfall:
        """Return where the time of each step went, by cause: exactly all of it (docs/waterfall.md)."""
        return self.ask(waterfall)

    def phases(self) -> PhaseTimes:
        """Time of each step by phase, on the host, on devices and of the step: exactly all of it."""
        return self.ask(phase_times)

    def flops(self) -> StepFlops:
        """FLOP of the average step, MFU and HFU, and how much of them is known (docs/views/roofline.md)."""
        return self.ask(step_flops)

    def roofline(self, group_by: RooflineGrouping = "operator") -> RooflineTable:
        """Compare time with the least time that the device needs; the rest is lost."""
        return self.ask(lambda model: roofline(model, one_of(RooflineGrouping, group_by)))

    def critical_path(self, steps: Sequence[str] | None = None) -> CriticalPath:
        """Return the critical path of the steps, or of those of some names (docs/replay.md)."""
        return self.ask(lambda model: critical_path(unchanged(graph_of(model)), places_of_steps(model, steps)))

    def what_if(self, *changes: Change, steps: Sequence[str] | None = None) -> WhatIf:
        """Replay the steps, or those of some names, after all of some changes (`replay.changes`)."""
        check_changes(changes)
        return self.ask(lambda model: what_if(model, changes, places_of_steps(model, steps)))

    def savings(self, *remedies: Sequence[Change]) -> Savings:
        """Return what each of several remedies (one or more changes) saves, alone and after those that save more."""
        for remedy in remedies:
            check_changes(remedy)
        return self.ask(partial(savings, remedies=remedies))

    # operators and kernels --------------------------------------------------------------------------------

    def operators(self, group_by: OperatorGrouping = "name") -> OperatorTable:
        return self.ask(partial(operators, group_by=one_of(OperatorGrouping, group_by)))

    def operator_stacks(self, name: str, input_shape: str | None = None) -> OperatorTable:
        """Return the calls of one operator by call stack."""
        return self.ask(partial(operator_stacks, name=name, input_shape=input_shape))

    def operator_kernels(self, name: str, input_shape: str | None = None) -> LaunchedKernels:
        """Return the kernels that one operator launched itself."""
        return self.ask(partial(operator_kernels, name=name, input_shape=input_shape))

    def kernel_sequences(self, among: Callable[[str], object] | None = None) -> KernelSequences:
        """Return which kernels one call of an operator launches, in order."""
        return self.ask(partial(kernel_sequences, among=among))

    def kernels(self, group_by: KernelGrouping = "name") -> KernelTable:
        return self.ask(partial(kernels, group_by=one_of(KernelGrouping, group_by)))

    def copies(self) -> Copies:
        return self.ask(copies)

    def unattributed(self) -> Rows[Unattributed]:
        """Return device work that no operator launched, by its owner."""
        return Rows(self.ask(unattributed))

    def owner_shares(self) -> OwnerShares | None:
        """Return how much of the device time has an owner, and how that is known; None without device time."""
        return self.ask(owner_shares)

    def graph_owners(self, capture: TraceProfile) -> GraphOwners:
        """Return the owners of graph work that this trace replays, by the trace that captured the graphs."""
        return self._with(capture, graph_owners)

    # device time ------------------------------------------------------------------------------------------

    def device_time(self, window: Window = "work") -> DeviceTime:
        """Split device time into computing, communicating, copying and idle, adding up exactly."""
        return self.ask(partial(device_time, window=one_of(Window, window)))

    def idle_times(self, per: Lanes = "device", kernel_wait_ns: int = KERNEL_WAIT_NS) -> IdleTimes:
        return self.ask(partial(idle_times, per=one_of(Lanes, per), kernel_wait_ns=kernel_wait_ns))

    def idle_gaps(self, per: Lanes = "device", kernel_wait_ns: int = KERNEL_WAIT_NS) -> IdleGaps:
        return self.ask(partial(idle_gaps, per=one_of(Lanes, per), kernel_wait_ns=kernel_wait_ns))

    def launch_stats(self, group_by: LaunchGrouping = "api") -> LaunchStats:
        return self.ask(partial(launch_stats, group_by=one_of(LaunchGrouping, group_by)))

    def queue_lengths(self, full: int = FULL_QUEUE) -> QueueLengths:
        return self.ask(partial(queue_lengths, full=full))

    def stream_queues(self) -> Rows[StreamQueue]:
        """Return the queue of every stream over time."""
        return Rows(self.ask(stream_queues))

    # memory and modules -----------------------------------------------------------------------------------

    @property
    def memory_devices(self) -> tuple[str, ...]:
        """Devices with memory records; the first is the default of the questions below."""
        return tuple(device.name for device in self.ask(memory_records).devices)

    @property
    def memory_failures(self) -> tuple[Failure, ...]:
        """Allocations that failed (`[OutOfMemory]`), and why."""
        return self.ask(failures)

    def memory_curve(self, device: str | None = None) -> MemoryCurve:
        name, found = self._memory_device(device), self.ask(memory_curves)
        curve = found.of(name)
        if curve is None:
            raise ProfileError(f"{self.file}: {found.reason or f'there are no totals for {name}'}")
        return curve

    def memory_operators(
        self, device: str | None = None, start_ns: int | None = None, end_ns: int | None = None
    ) -> MemoryOperators:
        place = self.memory_devices.index(self._memory_device(device))
        return self.ask(partial(memory_operators, start_ns=start_ns, end_ns=end_ns))[place]

    def memory_events(
        self,
        device: str | None = None,
        start_ns: int | None = None,
        end_ns: int | None = None,
        order: BlockOrder = "time",
        descending: bool = False,
        only: BlockFilter | None = None,
    ) -> BlockTable:
        """List allocations with their releases, of one device or of all."""
        name = None if device is None else self._memory_device(device)
        order = one_of(BlockOrder, order)
        question = partial(memory_events, start_ns=start_ns, end_ns=end_ns, device=name, order=order)
        return self.ask(partial(question, descending=descending, only=only))

    def memory_alive(self, device: str | None = None, time_ns: int | None = None) -> AliveTable:
        """Return the blocks in use at a time, by default at the peak."""
        return self.ask(partial(alive, device=self._memory_device(device), time_ns=time_ns))

    @property
    def module_sources(self) -> tuple[Source, ...]:
        return self.ask(module_sources)

    def modules(self, source: Source | None = None) -> ModuleTable:
        """Return time per module, of the first source that named any, or of this one."""
        named = self.module_sources
        chosen = one_of(Source, source) if source else (named[0] if named else "nn")
        return self.ask(partial(modules, source=chosen))

    def hooks(self) -> HookTable:
        """Return Lightning's hooks."""
        return self.ask(hooks)

    def stacks(
        self,
        weight: Weight | None = None,
        direction: Direction = "top_down",
        files: str = "",
        root: int = 0,
        smallest_share: float = SMALLEST_SHARE,
        with_forward: bool = False,
    ) -> StackTable:
        """Return time by call stack; docs/views/stacks.md describes the parameters."""
        chosen = None if weight is None else one_of(Weight, weight)
        direction = one_of(Direction, direction)
        found = self.ask(lambda model: stacks(model, chosen, direction, files, root, smallest_share, with_forward))
        if found is None:
            raise ProfileError(f"{self.file} has no call stack {root}")
        return found

    # two traces -------------------------------------------------------------------------------------------

    def compare(self, other: TraceProfile) -> Compared:
        """Compare with another trace: left is this one, right the other."""

        def compared(left: Model, right: Model) -> Compared:
            parts = Comparison(left, right, "all")
            sums: list[tuple[Any, Any]] = [program.everything() for program in (parts.left, parts.right)]
            left_sums, right_sums = map(whole_times, parts.beginning())
            return Compared(
                left_sums.whole,
                right_sums.whole,
                delta(sums[0][0], sums[1][0], ("device_self_ns", "host_self_ns")),
                delta(sums[0][1], sums[1][1], ("total_ns",)),
                parts,
                left_sums,
                right_sums,
            )

        return self._with(other, compared)

    def change(self, other: TraceProfile) -> ChangeAnswer:
        """Take apart exactly what changed in the mean step from this trace to another (docs/compare-two-runs.md)."""
        rows = HowManyRows()
        return shown_change(self._with(other, lambda a, b: CHANGE.compute(self.subject(a), other.subject(b), rows)))

    def compare_roofline(self, other: TraceProfile) -> RooflineDelta:
        """Compare FLOP, utilizations and lost time with another trace: left is this one, right the other."""
        return self._with(other, compare_roofline)

    def _with(self, other: TraceProfile, question: Callable[[Model, Model], T]) -> T:
        """Return the answer of a function of both models."""
        with profile_errors(Unavailable):
            return ask_together((self.source, other.source), lambda models: question(*models))

    def _memory_device(self, device: str | None) -> str:
        known = self.memory_devices
        if not known:
            raise ProfileError(f"{self.file} has no memory records: profile(profile_memory=True) records them")
        if device is None:
            return known[0]
        if device not in known:
            raise ProfileError(f"{self.file} has no memory of {device!r}, only of {', '.join(known)}")
        return device
