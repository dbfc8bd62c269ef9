"""The work of the settled steps in groups with one id, and how much faster each piece could be."""

from __future__ import annotations

from functools import cached_property

import msgspec
import numpy as np

from torch_tb_profiler.analysis.flops.calls import Activities, work_counts
from torch_tb_profiler.analysis.flops.rates import share_of_call
from torch_tb_profiler.analysis.roofline.activities import BOUNDS, activity_roofs, reached_ns
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import percentile
from torch_tb_profiler.arrays.types import Bool, Float64, Int8, Int32, Int64
from torch_tb_profiler.insights.candidates.answer import CandidateKind
from torch_tb_profiler.insights.candidates.identity import (
    CallArguments,
    call_arguments,
    identify,
    identify_call,
)
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.model.kernel_names.family import KernelKind
from torch_tb_profiler.model.kernel_names.short import short_name

_KINDS: tuple[CandidateKind, ...] = ("operator", "kernel", "copy", "collective")
#: share of the roof that good code reaches, where this trace has nothing to compare with (docs/read-the-roofline.md)
_REACHED = {"compute": 0.75, "memory": 0.85, "link": 0.85}
_REACHED_BY_ATTENTION, _LEAST_REACHED = 0.65, 0.6
#: the same work was as fast as its fastest tenth, where it ran often enough to say so
_FAST_PERCENT, _FEWEST_CALLS = 10, 10
_NO_ARGUMENTS = CallArguments(None, {}, ())


class WorkPieces(msgspec.Struct, frozen=True):
    """Work in the settled steps: compute kernels, copies and fills, then collectives; without a device, operators by
    themselves. Parallel, shape (pieces,).

    row, duration   the event, and ns
    node            the operator around it, a position in `Model.tree`; -1 for none
    replayed        by a CUDA graph
    kind            index into _KINDS
    roof_ns         its share of the least time of its call; NaN: unknown
    likely_ns       its share of what its call takes at what this trace reaches; NaN: unknown
    bound           index into BOUNDS; -1: unknown
    below_wave      it has fewer blocks than the device has multiprocessors
    why             why its FLOP or bytes are unknown, index into UNKNOWNS; -1 where they are known
    """

    row: Int32
    duration: Int64
    node: Int64
    replayed: Bool
    kind: Int8
    roof_ns: Float64
    likely_ns: Float64
    bound: Int8
    below_wave: Bool
    why: Int8

    def take(self, chosen: Bool | Int64) -> WorkPieces:
        """Select some of them."""
        return WorkPieces(*(getattr(self, name)[chosen] for name in self.__struct_fields__))


def pieces_of(facts: Facts, steps: Int64) -> WorkPieces:
    """Collect the work of some steps, indices into the steps of the model."""
    model = facts.model
    counts = work_counts(model)
    activities, roofs = counts.activities, activity_roofs(model)
    is_copy = activities.recorded >= 0
    kind = np.where(is_copy, _KINDS.index("copy"), np.where(activities.node >= 0, 0, _KINDS.index("kernel")))
    links = model.device_links
    at = np.flatnonzero(links.is_communication & (model.trace.events.duration[model.device_work.row] > 0))
    row, count = model.device_work.row[at], len(at)
    pieces = WorkPieces(
        row=np.concatenate([activities.row, row]),
        duration=np.concatenate([activities.duration, model.trace.events.duration[row]]),
        node=np.concatenate([activities.node, links.operator_node[at]]).astype(np.int64),
        replayed=np.concatenate([activities.replay >= 0, np.zeros(count, np.bool_)]),
        kind=np.concatenate([kind, np.full(count, _KINDS.index("collective"))]).astype(np.int8),
        roof_ns=np.concatenate([roofs.roof_ns, np.full(count, np.nan)]),
        likely_ns=np.concatenate([_likely_ns(facts, activities), np.full(count, np.nan)]),
        bound=np.concatenate([roofs.bound, np.full(count, BOUNDS.index("link"))]).astype(np.int8),
        below_wave=np.concatenate([roofs.below_wave, np.zeros(count, np.bool_)]),
        why=np.concatenate([activities.why, np.full(count, -1)]).astype(np.int8),
    )
    return pieces.take(np.isin(facts.step_of(pieces.row), steps))


def _likely_ns(facts: Facts, activities: Activities) -> Float64:
    """Return what activities take at what the trace reaches of its device, else at what good code reaches."""
    model = facts.model
    roofs = activity_roofs(model)
    strings, names = model.trace.strings, model.trace.events.name[activities.row]
    is_attention = strings.where(_is_attention, names)[names] if len(names) else np.zeros(0, np.bool_)
    share = np.ones(len(activities))
    for bound, reached in _REACHED.items():
        share[roofs.bound == BOUNDS.index(bound)] = reached
    share[is_attention & (roofs.bound == BOUNDS.index("compute"))] = _REACHED_BY_ATTENTION
    # a trace in which all such work is slow does not show what the device can do
    best = share_of_call(work_counts(model), reached_ns(model))
    shows = (best > roofs.roof_ns) & (best * _LEAST_REACHED <= roofs.roof_ns)
    return np.where(shows, best, roofs.roof_ns / share)


def _is_attention(kernel: str) -> bool:
    family = family_of(kernel)
    return family is not None and family.kind is KernelKind.ATTENTION


class WorkGroup(msgspec.Struct, frozen=True, dict=True):
    """Work with one id, its arguments, and its pieces in order of their rows."""

    id: str
    kind: CandidateKind
    name: str
    arguments: CallArguments
    facts: Facts
    pieces: WorkPieces

    @cached_property
    def time_ns(self) -> int:
        """Σ of its pieces."""
        return int(self.pieces.duration.sum())

    @cached_property
    def roof_ns(self) -> float | None:
        """Σ of the least times; None unless it is known of all pieces."""
        roof = float(self.pieces.roof_ns.sum())
        return None if np.isnan(roof) else roof

    @cached_property
    def call(self) -> Int64:
        """Shape (n,): which call each piece is of, counted from 0."""
        keys = np.where(self.pieces.node >= 0, self.pieces.node, -1 - np.arange(len(self.pieces.node)))
        # a graph runs the operator that it captured once for every replay
        keys = np.where(self.pieces.replayed, -1 - np.arange(len(keys)), keys)
        return group([keys - int(keys.min())]).inverse

    @property
    def calls(self) -> int:
        """How often the work ran."""
        return int(self.call.max()) + 1 if len(self.call) else 0

    @cached_property
    def targets_ns(self) -> tuple[Float64, Float64, Float64] | None:
        """What each piece takes at the least, the likely and the largest headroom; None where the roof is unknown."""
        if self.roof_ns is None:
            return None
        duration = self.pieces.duration.astype(np.float64)
        roof = np.minimum(self.pieces.roof_ns, duration)
        low = duration.copy()
        if self.calls >= _FEWEST_CALLS:
            of_call = sums_at(self.call, self.pieces.duration, self.calls)
            fast = percentile(of_call, _FAST_PERCENT)
            low = duration * np.minimum(fast / np.maximum(of_call, 1), 1)[self.call]
        low = np.maximum(low, roof)
        likely = np.clip(self.pieces.likely_ns, roof, low)
        return low, likely, roof

    @cached_property
    def headroom_ns(self) -> tuple[float, float, float] | None:
        """Time above each target; None where the roof is unknown."""
        if self.targets_ns is None:
            return None
        low, likely, high = (self.time_ns - float(target.sum()) for target in self.targets_ns)
        return low, likely, high

    def kernels(self, most: int) -> list[str]:
        """Return short names of its kernels, those that take most time first."""
        names = self.facts.trace.events.name[self.pieces.row]
        groups = group([names])
        time = sums_at(groups.inverse, self.pieces.duration, len(groups))
        order = np.argsort(-time, kind="stable")[:most]
        return [short_name(str(self.facts.trace.strings[int(names[groups.first[at]])])) for at in order]


def groups_of(facts: Facts, pieces: WorkPieces) -> list[WorkGroup]:
    """Group work by its id."""
    model = facts.model
    tree, operators, strings = model.tree, model.trace.operators, model.trace.strings
    if not len(pieces.row):
        return []
    operator = take_known(tree.operator, pieces.node)
    work_of = np.full(len(model.trace.events), -1, np.int64)
    work_of[model.trace.device_work.row] = np.arange(len(model.trace.device_work.row))
    grid = take_known(model.trace.device_work.grid, work_of[pieces.row], missing=0)
    is_operator = pieces.kind == _KINDS.index("operator")
    name = np.where(is_operator, take_known(tree.name, pieces.node), model.trace.events.name[pieces.row])
    columns = (
        pieces.kind.astype(np.int64),
        name.astype(np.int64),
        *(
            take_known(getattr(operators, field), operator, missing=0).astype(np.int64)
            for field in ("input_dims", "input_type", "concrete_inputs", "input_strides")
        ),
        np.where(pieces.kind == _KINDS.index("kernel"), grid, 0).astype(np.int64),
    )
    same = group(columns)
    ids: list[str] = []
    known: dict[str, tuple[CandidateKind, str, CallArguments]] = {}
    for first in same.first.tolist():
        kind, text = _KINDS[int(pieces.kind[first])], str(strings[int(name[first])])
        arguments = call_arguments(*(str(strings[int(column[first])]) for column in columns[2:6]))
        if kind == "kernel":
            arguments = _NO_ARGUMENTS
            key = identify(kind, short_name(text), str(strings[int(columns[6][first])]))
        else:
            text = text if kind in ("operator", "copy") else short_name(text)
            key = identify_call(kind, text, arguments)
        ids.append(key)
        known.setdefault(key, (kind, text, arguments))
    number = {key: place for place, key in enumerate(known)}
    of = np.array([number[key] for key in ids], np.int64)[same.inverse]
    order = np.argsort(of, kind="stable")
    bounds = np.searchsorted(of[order], np.arange(len(number) + 1))
    found = []
    for (key, (kind, text, arguments)), begin, end in zip(known.items(), bounds, bounds[1:], strict=False):
        chosen = order[begin:end]
        found.append(WorkGroup(key, kind, text, arguments, facts, pieces.take(chosen)))
    return found
