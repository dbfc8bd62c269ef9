"""Two traces part by part, and tables of two traces side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Annotated, Any

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, InlineTable, Ns, TraceMeta
from torch_tb_profiler.analysis.compare.comparison import ROOT, Comparison, ComparisonEntry
from torch_tb_profiler.analysis.compare.program import EntrySide, EntryTimes, WholeTimes, whole_times
from torch_tb_profiler.analysis.kernels import KernelTable
from torch_tb_profiler.analysis.operators.table import OperatorTable
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result, column, column_of
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.trace.lazy_columns import FieldDeclaration
from torch_tb_profiler.words.sentences import because

#: by what the names of their columns begin with: how label, text and id begin
SIDES = {
    "": ("Baseline ", "Baseline: ", "baseline "),
    "exp_": ("Experiment ", "Experiment: ", "experiment "),
    "delta_": ("Δ ", "Experiment − baseline: ", "delta "),
}


class BothSides(Result):
    """A table with columns of the baseline, of the experiment (`exp_…`) and of the change (`delta_…`).

    A subclass declares the three as one. They stand at the end; one that it names itself stays where it is.
    """

    def __init_subclass__(cls, group: str, both: Collection[str], hidden: Collection[str] = ()) -> None:
        """Declare columns on both sides.

        both     columns that become three
        hidden   which of these are hidden, by their own names
        """
        hints = cls.__annotations__
        for name in both:
            one = vars(cls)[name].known
            delattr(cls, name)
            for side, (label, text, id_) in SIDES.items():
                words = {
                    "label": label + one["label"],
                    "text": text + one["text"],
                    "id": id_ + (one["id"] or f"{group}.{name}"),
                }
                hints[side + name] = hints[name]
                setattr(cls, side + name, FieldDeclaration({**one, **words, "hidden": side + name in hidden}))
        super().__init_subclass__(group)


def of_both(left: Mapping[str, Any], right: Mapping[str, Any]) -> dict[str, Any]:
    """Return columns of both sides and the change, by the names they have in a table."""
    found: dict[str, Any] = {}
    for name, a in left.items():
        b = right[name]
        found |= {name: a, f"exp_{name}": b, f"delta_{name}": b - a}
    return found


class Delta(Tabular, msgspec.Struct, frozen=True):
    """A table of both sides by name: of each column its left and right values; by the largest change, descending.

    A name that a side does not have counts 0 there.
    """

    name: tuple[str, ...]
    left: dict[str, Int64]
    right: dict[str, Int64]

    def __len__(self) -> int:
        return len(self.name)

    def to_columns(self) -> dict[str, Any]:
        """Return the left and right values of each column side by side."""
        found: dict[str, Any] = {"name": self.name}
        for key in self.left:
            found[f"{key}_left"], found[f"{key}_right"] = self.left[key], self.right[key]
        return found


def delta(left: Any, right: Any, by: tuple[str, ...]) -> Delta:
    """Join two tables of sums; `by` names the columns whose change decides the order, the first that changed counts."""
    names = list(dict.fromkeys([*left.name, *right.name]))
    columns = [c for c in left.__struct_fields__ if c != "name"]
    sides = [_spread(table, names, columns) for table in (left, right)]
    changes = [np.abs(sides[1][c] - sides[0][c]) for c in by]
    changed = next((c for c in changes if c.any()), None)
    if changed is None:
        changed = sides[0][by[0]] if sides[0][by[0]].any() else sides[0][by[-1]]
    order = np.argsort(-changed, kind="stable")
    return Delta(
        tuple(names[i] for i in order.tolist()),
        {c: sides[0][c][order] for c in columns},
        {c: sides[1][c][order] for c in columns},
    )


def _spread(table: Any, names: list[str], columns: list[str]) -> dict[str, Int64]:
    place = {name: i for i, name in enumerate(names)}
    at = np.array([place[name] for name in table.name], np.int64)
    found = {}
    for key in columns:
        values = np.zeros(len(names), np.int64)
        values[at] = getattr(table, key)
        found[key] = values
    return found


NOTHING = EntryTimes(0, 0, 0)


class WhichPart(msgspec.Struct, frozen=True):
    """Which part."""

    path: Annotated[str, Meta(description="Which part: 0 is everything, 0-2 its third part.")] = ROOT


class ComparePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part around the one that is asked for.

    path      where it is: 0-2 is the third part of everything
    name      in the baseline, null if it has nothing there
    exp_name  in the experiment, null if it has nothing there
    kind      what it is on both sides, or group
    """

    path: str
    name: str | None
    exp_name: str | None
    kind: str


class CompareMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside a comparison; the fields of one trace are of the baseline.

    exp        the experiment
    path       of the part: 0 is everything, 0-2 its third part
    name       of the part in the baseline; null of everything, and when it has nothing there
    exp_name   the same in the experiment
    kind       what the part is on both sides, or group; null of everything
    trail      the parts from everything, which is left out, down to this one
    steps      how many steps the baseline has
    exp_steps  how many steps the experiment has
    """

    exp: TraceMeta
    path: str
    name: str | None
    exp_name: str | None
    kind: str | None
    trail: Sequence[ComparePart]
    steps: Count
    exp_steps: Count


class CompareTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Time of a part in baseline and experiment, and experiment − baseline.

    duration_ns, exp_duration_ns, delta_duration_ns  Σ durations on the host
    device_ns, exp_device_ns, delta_device_ns        Σ durations of the device work launched in it
    total_ns, exp_total_ns, delta_total_ns           of each node its device time, of nodes without any the duration
    """

    duration_ns: Ns
    exp_duration_ns: Ns
    delta_duration_ns: Ns
    device_ns: Ns
    exp_device_ns: Ns
    delta_device_ns: Ns
    total_ns: Ns
    exp_total_ns: Ns
    delta_total_ns: Ns


class ComparedParts(BothSides, group="parts", both=("duration_ns", "device_ns", "total_ns")):
    """A row for each part, in the order of the program."""

    path: Sequence[str | None] = column(
        "Path", "Where the part is: 0 is the root, 0-2 its third part; empty if there is nothing to open."
    )
    name: Sequence[str | None] = column(
        "Baseline",
        "Name of the part in the baseline; for several between two pairs, the first and the last; empty if the "
        "baseline has nothing there.",
    )
    exp_name: Sequence[str | None] = column("Experiment", "The same in the experiment.")
    kind: Sequence[str] = column(
        "Kind",
        "What it is on both sides (module, backward, dataloader, optimizer, step, label, communication, "
        "operator), or group. At the end of the root: before (work launched before the recording) and rest "
        "(everything that is in no part).",
    )
    has_parts: Sequence[bool] = column("Has parts", "Whether it consists of parts that can be paired.")
    duration_ns: Sequence[int] = column("Host", "Σ durations on the host.")
    device_ns: Sequence[int] = column("Device", "Σ durations of the kernels, copies and fills launched in it.")
    total_ns: Sequence[int] = column("Time", "Σ of the device time of each node, or of its duration if it has none.")


class ComparedOperators(
    BothSides,
    group="compare_operators",
    both=("calls", "host_self_ns", "host_total_ns", "device_self_ns", "device_total_ns"),
):
    """A row for each operator; see `Delta`."""

    name: tuple[str, ...] = column_of(OperatorTable, "name")
    calls: Int64 = column_of(OperatorTable, "calls")
    host_self_ns: Int64 = column_of(OperatorTable, "host_self_ns")
    host_total_ns: Int64 = column_of(OperatorTable, "host_total_ns")
    device_self_ns: Int64 = column_of(OperatorTable, "device_self_ns")
    device_total_ns: Int64 = column_of(OperatorTable, "device_total_ns")


class ComparedKernels(BothSides, group="compare_kernels", both=("calls", "total_ns")):
    """A row for each kernel; see `Delta`."""

    name: tuple[str, ...] = column_of(KernelTable, "name")
    short_name: Sequence[str] = column_of(KernelTable, "short_name")
    calls: Int64 = column_of(KernelTable, "calls")
    total_ns: Int64 = column_of(KernelTable, "total_ns")


class CompareAnswer(Answer, frozen=True, kw_only=True):
    """A part of two traces.

    meta       which traces, and which part of them
    totals     its time
    parts      what it consists of
    operators  by name
    kernels    by name
    """

    meta: CompareMeta
    totals: CompareTotals
    parts: InlineTable
    operators: InlineTable
    kernels: InlineTable


def _compare(left: Subject, right: Subject, params: WhichPart) -> CompareAnswer:
    path = params.path or ROOT
    comparison = Comparison(left.model, right.model, "all")
    trail = comparison.trail(path)
    if not trail:
        raise NotFound(because("no_such_part", {"part": path}))
    node = trail[-1]
    whole = path == ROOT
    beginning = comparison.beginning()
    sums = whole_times(beginning[0]), whole_times(beginning[1])
    if whole:
        times = sums[0].whole, sums[1].whole
        tables = [program.everything() for program in (comparison.left, comparison.right)]
    else:
        times = node.left.times, node.right.times
        tables = [(side.operators(), side.kernels()) for side in (node.left, node.right)]
    operators = delta(tables[0][0], tables[1][0], ("device_self_ns", "host_self_ns"))
    kernels = delta(tables[0][1], tables[1][1], ("total_ns",))
    part = _part(node)
    return CompareAnswer(
        meta=CompareMeta(
            **left.about("compare"),
            exp=TraceMeta(**right.about("compare")),
            path=path,
            name=None if whole else part.name,
            exp_name=None if whole else part.exp_name,
            kind=None if whole else part.kind,
            trail=[_part(around) for around in trail[1:]],
            steps=len(comparison.left.steps),
            exp_steps=len(comparison.right.steps),
        ),
        totals=_totals(*times),
        parts=_parts(comparison, node, _others(*sums) if whole else {}),
        operators=ComparedOperators(name=operators.name, **of_both(operators.left, operators.right)).as_columns(),
        kernels=ComparedKernels(
            name=kernels.name,
            short_name=list(map(short_name, kernels.name)),
            **of_both(kernels.left, kernels.right),
        ).as_columns(),
    )


def _part(node: ComparisonEntry) -> ComparePart:
    return ComparePart(path=node.path, name=_name(node.left), exp_name=_name(node.right), kind=_kind(node))


def _others(left: WholeTimes, right: WholeTimes) -> dict[str, tuple[EntryTimes, EntryTimes]]:
    """Return what the whole trace has besides parts, by kind, if a side has any. With the parts it adds up."""
    both = {"before": (left.before, right.before), "rest": (left.rest, right.rest)}
    return {kind: times for kind, times in both.items() if times != (NOTHING, NOTHING)}


def _parts(
    comparison: Comparison, node: ComparisonEntry, others: Mapping[str, tuple[EntryTimes, EntryTimes]]
) -> InlineTable:
    rows: dict[str, list[Any]] = {key: [] for key in ComparedParts.columns}
    for child in comparison.children(node):
        row = {
            **msgspec.structs.asdict(_part(child)),
            "has_parts": comparison.has_children(child),
            **msgspec.structs.asdict(_totals(child.left.times, child.right.times)),
        }
        for key, value in row.items():
            rows[key].append(value)
    for kind, (left, right) in others.items() if rows["path"] else ():
        names = {"name": None if left == NOTHING else kind, "exp_name": None if right == NOTHING else kind}
        row = {"path": None, **names, "kind": kind, "has_parts": False}
        for key, value in (row | msgspec.structs.asdict(_totals(left, right))).items():
            rows[key].append(value)
    return ComparedParts(**rows).as_columns()


def _totals(left: EntryTimes, right: EntryTimes) -> CompareTotals:
    return CompareTotals(
        duration_ns=left.duration_ns,
        exp_duration_ns=right.duration_ns,
        delta_duration_ns=right.duration_ns - left.duration_ns,
        device_ns=left.device_ns,
        exp_device_ns=right.device_ns,
        delta_device_ns=right.device_ns - left.device_ns,
        total_ns=left.total_ns,
        exp_total_ns=right.total_ns,
        delta_total_ns=right.total_ns - left.total_ns,
    )


def _name(side: EntrySide) -> str | None:
    if not len(side.nodes):
        return None
    first = _short(side, 0)
    return first if len(side.nodes) == 1 else f"{first} … {_short(side, -1)}"


def _short(side: EntrySide, place: int) -> str:
    return side.program.timed.name(int(side.nodes[place])).removeprefix("nn.Module: ")


def _kind(node: ComparisonEntry) -> str:
    kinds = {side.kind for side in (node.left, node.right) if len(side.nodes)}
    kind = kinds.pop() if len(kinds) == 1 else None
    return "group" if kind is None else kind.name.lower()


COMPARE = Question(
    name="compare",
    summary="Two traces, part by part",
    compute=_compare,
)
