"""Two traces part by part."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Columns, Count, Ns, Rows, TraceMeta, plain
from torch_tb_profiler.analysis.compare.columns import COMPARE_KERNELS, COMPARE_OPERATORS, COMPARE_PARTS
from torch_tb_profiler.analysis.compare.diff import (
    ROOT,
    Comparison,
    Delta,
    Node,
    Side,
    Times,
    delta,
)
from torch_tb_profiler.analysis.compare.whole_times import WholeTimes, whole_times
from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.question import NotFound, PairQuestion, Subject
from torch_tb_profiler.model.kernel_names.short import short_name
from torch_tb_profiler.words.reasons import because

NOTHING = Times(0, 0, 0)


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
    parts: Columns
    operators: Columns
    kernels: Columns


def _compare(left: Subject, right: Subject, asked: WhichPart) -> CompareAnswer:
    path = asked.path or ROOT
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
        operators=_both_sides(operators, COMPARE_OPERATORS),
        kernels=_both_sides(kernels, COMPARE_KERNELS),
    )


def _part(node: Node) -> ComparePart:
    return ComparePart(path=node.path, name=_name(node.left), exp_name=_name(node.right), kind=_kind(node))


def _others(left: WholeTimes, right: WholeTimes) -> dict[str, tuple[Times, Times]]:
    """What everything has besides parts, by kind; only what is there on a side. With the parts it adds up."""
    both = {"before": (left.before, right.before), "rest": (left.rest, right.rest)}
    return {kind: times for kind, times in both.items() if times != (NOTHING, NOTHING)}


def _parts(comparison: Comparison, node: Node, others: Mapping[str, tuple[Times, Times]]) -> Columns:
    rows: dict[str, list[Any]] = {key: [] for key in COMPARE_PARTS}
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
    return Columns(columns=list(COMPARE_PARTS.values()), rows=rows)


def _totals(left: Times, right: Times) -> CompareTotals:
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


def _both_sides(found: Delta, defined: Mapping[str, Definition]) -> Columns:
    rows: Rows = {"name": list(found.name)}
    if "short_name" in defined:
        rows["short_name"] = list(map(short_name, found.name))
    for key in defined:
        if key in found.left:
            a, b = found.left[key], found.right[key]
            rows |= {key: plain(a), f"exp_{key}": plain(b), f"delta_{key}": plain(b - a)}
    return Columns(columns=list(defined.values()), rows=rows)


def _name(side: Side) -> str | None:
    if not len(side.nodes):
        return None
    first = _short(side, 0)
    return first if len(side.nodes) == 1 else f"{first} … {_short(side, -1)}"


def _short(side: Side, place: int) -> str:
    return side.program.timed.name(int(side.nodes[place])).removeprefix("nn.Module: ")


def _kind(node: Node) -> str:
    kinds = {side.kind for side in (node.left, node.right) if len(side.nodes)}
    kind = kinds.pop() if len(kinds) == 1 else None
    return "group" if kind is None else kind.name.lower()


COMPARE = PairQuestion(
    name="compare",
    summary="Two traces, part by part",
    answer=CompareAnswer,
    parameters=WhichPart,
    compute=_compare,
)
