"""Copies between host and device: from or to pageable memory, beside no kernel, or too many small ones."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.analysis.replay.changes import ScaleWork, free, fused_groups, pinned
from torch_tb_profiler.analysis.shared.compiled import compiled
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.insights.facts import CALLS, DEVICE, STEPS, Facts
from torch_tb_profiler.insights.places import groups_of_places, places_of
from torch_tb_profiler.insights.rule import Found, evidence, link, rule
from torch_tb_profiler.insights.shared.copies import (
    Direction,
    HostMemory,
    StepCopies,
    copies_of,
    heavy_places,
    large_reads,
    unseen_rate,
)
from torch_tb_profiler.insights.shared.frames import SAVES, in_frames
from torch_tb_profiler.insights.shared.recurring import by_place, is_loop_known, recurring
from torch_tb_profiler.model import Model

#: operators that do nothing but copy
_COPYING = frozenset({"aten::copy_", "aten::clone", "aten::_foreach_copy_"})


@rule("R5", STEPS, DEVICE, CALLS, replay=True)
def pageable_input(facts: Facts) -> Iterator[Found]:
    """Large copies to the device come from pageable memory."""
    found = copies_of(facts)
    large = found.bytes >= facts.limit("pageable_input", "large_bytes")
    found = found.take((found.direction == Direction.TO_DEVICE) & (found.memory == HostMemory.PAGEABLE) & large)
    n = facts.steps
    for copies in heavy_places(facts, found, "row", facts.limit("pageable_input", "least_share")):
        rows, rate = facts.longest_first(copies.row), unseen_rate(facts, "HtoD")
        size, took = float(copies.bytes.sum()), float(copies.duration_ns.sum())
        yield Found(
            values={
                "bytes": round(size / n),
                "ns": took / n,
                "rate": size / took,
                "loader": len(facts.model.dataloader_rows) > 0,
            },
            rows=rows,
            changes=(pinned("HtoD", rows=rows, rate=rate),),
            evidence=(
                evidence("copies_per_step", took / n, "ns", "kernels"),
                evidence("copied_bytes", size / n, "bytes", "kernels"),
                evidence("copies_exposed", float(copies.exposed_ns.sum()) / n, "ns", "trace"),
                evidence("copy_count", len(rows) / n, "count", "trace"),
            ),
            links=(link("pinned_memory"),),
            confidence="high" if is_loop_known(facts) and rate is None else "medium",
        )


@rule("R6", STEPS, DEVICE, CALLS, replay=True)
def exposed_copies(facts: Facts) -> Iterator[Found]:
    """Find copies that run while no kernel does, though their memory would let them run beside kernels."""
    found = copies_of(facts)
    large = found.bytes >= facts.limit("exposed_copies", "large_bytes")
    # of a call that takes pageable memory the memory is the cause, not the order
    found = found.take(large & (found.memory != HostMemory.PAGEABLE) & ~found.reads)
    found = found.take(recurring(facts, found.row))
    both = (found.take(found.direction == way) for way in (Direction.TO_DEVICE, Direction.TO_HOST))
    exposed = [each for each in both if _is_exposed(facts, each)]
    n = facts.steps
    for copies in sorted(exposed, key=lambda each: -int(each.exposed_ns.sum())):
        rows, alone = facts.longest_first(copies.row), float(copies.exposed_ns.sum())
        size, whole = float(copies.bytes.sum()), float(copies.duration_ns.sum())
        sure = bool((copies.memory == HostMemory.PINNED).all())
        yield Found(
            values={
                "ns": alone / n,
                "bytes": round(size / n),
                "hidden": 1 - alone / whole,
                "to_device": bool((copies.direction == Direction.TO_DEVICE).all()),
            },
            rows=rows,
            changes=(ScaleWork(0.0, "copies", None, tuple(rows.tolist())),),
            evidence=(
                evidence("copies_per_step", whole / n, "ns", "kernels"),
                evidence("copies_exposed", alone / n, "ns", "trace"),
                evidence("copied_bytes", size / n, "bytes", "kernels"),
            ),
            links=(link("cuda_streams"),),
            confidence="medium" if sure and facts.is_training else "low",
        )


@rule("R72", STEPS, DEVICE, replay=True)
def device_copies(facts: Facts) -> Iterator[Found]:
    """Large copies from one place of the memory of a device to another."""
    found = copies_of(facts)
    large = found.bytes >= facts.limit("device_copies", "large_bytes")
    found = found.take(large & (found.direction == Direction.ON_DEVICE))
    n, strings = facts.steps, facts.trace.strings
    graphs = strings.where(lambda name: "GraphLaunch" in name, facts.trace.events.name[facts.trace.launches.row]).any()
    for copies in heavy_places(facts, found, "row", facts.limit("device_copies", "least_share")):
        alone = int(copies.exposed_ns.sum())
        if facts.share(alone) < facts.limit("device_copies", "least_share"):
            continue
        rows, size = facts.longest_first(copies.row), float(copies.bytes.sum())
        yield Found(
            values={
                "count": len(rows) / n,
                "bytes": round(size / n),
                "ns": float(copies.duration_ns.sum()) / n,
                "share": facts.share(alone),
                "how": "graph" if graphs else "compiled" if compiled(facts.model).is_used else "eager",
            },
            rows=rows,
            changes=(
                ScaleWork(0.0, "copies", None, tuple(rows.tolist())),
                free(rows=[*copies.call[copies.call >= 0].tolist(), *_copying_operators(facts, copies).tolist()]),
            ),
            evidence=(
                evidence("copies_per_step", float(copies.duration_ns.sum()) / n, "ns", "kernels"),
                evidence("copies_exposed", alone / n, "ns", "trace"),
                evidence("copied_bytes", size / n, "bytes", "kernels"),
            ),
            links=(link("cuda_graphs" if graphs else "tensor_views"),),
            confidence="medium",
        )


def _copying_operators(facts: Facts, found: StepCopies) -> Int32:
    """Return the operators that do nothing but copy, around some copies."""
    model = facts.model
    node = model.device_links.operator_node[np.searchsorted(model.device_work.row, found.row)]
    rows = distinct(take_known(model.tree.row, node[node >= 0]))
    copying = facts.trace.strings.where(_COPYING.__contains__, facts.trace.events.name[rows])
    copies: Int32 = rows[copying[facts.trace.events.name[rows]]]
    return copies


def _is_exposed(facts: Facts, found: StepCopies) -> bool:
    if not len(found):
        return False
    exposed, whole = float(found.exposed_ns.sum()), float(found.duration_ns.sum())
    hidden = 1 - exposed / whole if whole else 1.0
    limits = facts.limit("exposed_copies", "most_hidden"), facts.limit("exposed_copies", "least_share")
    return hidden < limits[0] and facts.share(exposed) >= limits[1]


@rule("R7", STEPS, DEVICE, CALLS, replay=True)
def tiny_copies(facts: Facts) -> Iterator[Found]:
    """Many small copies from the same place, each with a launch of its own."""
    found = copies_of(facts)
    tiny = (found.bytes >= 0) & (found.bytes < facts.limit("tiny_copies", "tiny_bytes"))
    # reads of one number, and copies that the host waits for, are reported as waits
    found = found.take(tiny & ~found.reads & ~(found.blocks & (found.direction == Direction.TO_HOST)))
    found = found.take((found.direction != Direction.ON_DEVICE) | ~_part_of_another(facts.model, found))
    found = found.take(recurring(facts, found.row))
    many: list[tuple[StepCopies, Direction]] = []
    for way in (Direction.TO_DEVICE, Direction.TO_HOST, Direction.ON_DEVICE):
        of_way = found.take(found.direction == way)
        least = facts.limit("tiny_copies", "least_on_device" if way is Direction.ON_DEVICE else "least_per_step")
        places = by_place(facts, of_way.row, np.ones(len(of_way), np.int64))
        many += [(of_way.take(at), way) for at in places if len(at) >= least * facts.steps]
    for of, way in sorted(many, key=lambda each: -len(each[0])):
        yield _small(facts, of, way)


def _small(facts: Facts, copies: StepCopies, way: Direction) -> Found:
    rows, n = facts.longest_first(copies.row), facts.steps
    whose = _whose(facts, copies) if way is Direction.ON_DEVICE else "program"
    return Found(
        values={
            "count": len(rows) / n,
            "way": way.name.lower(),
            "name": str(facts.trace.strings[facts.trace.events.name[rows[0]]]),
            "bytes": round(float(copies.bytes.sum()) / len(rows)),
            "whose": whose,
        },
        rows=rows,
        changes=(fused_groups(_groups(facts, copies)),),
        evidence=(
            evidence("copy_count", len(rows) / n, "count", "kernels"),
            evidence("copies_per_step", float(copies.duration_ns.sum()) / n, "ns", "kernels"),
            evidence("copy_calls", float(copies.call_ns.sum()) / n, "ns", "trace"),
        ),
        links=(link("tuning_synchronization") if whose == "program" else link("ddp_arguments"),),
        confidence="medium",
    )


def _groups(facts: Facts, copies: StepCopies) -> list[tuple[list[int], int]]:
    """Join copies of one place, step and device: one takes as long as the longest, and their bytes at its rate."""
    place = groups_of_places(facts.model, copies.row)
    of = group([place, facts.step_of(copies.row), copies.device])
    rate = facts.limit("tiny_copies", "bytes_per_ns")
    together: list[tuple[list[int], int]] = []
    for at in np.split(np.argsort(of.inverse, kind="stable"), np.cumsum(of.count())[:-1]):
        took = copies.duration_ns[at]
        target = min(int(took.sum()), int(took.max()) + int(copies.bytes[at].sum() / rate))
        together.append((copies.row[at].tolist(), target))
    return together


def _part_of_another(model: Model, copies: StepCopies) -> Bool:
    """Mark copies inside a larger operator, such as a clone: the operator matters, not its copy."""
    tree, events = model.structure.tree, model.trace.events
    if not len(tree):
        return np.zeros(len(copies), np.bool_)
    call = np.maximum(copies.call, 0)
    node = model.structure.nesting.innermost(events.track[call], events.start[call])
    own = nearest(tree.parent, tree.is_operator, node).astype(np.int64)
    around = nearest(tree.parent, tree.is_operator, take_known(tree.parent, own)).astype(np.int64)
    is_aten = model.trace.strings.where(lambda name: name.startswith("aten::"), tree.name)
    inside: Bool = (copies.call >= 0) & (around >= 0)
    inside[inside] = is_aten[tree.name[around[inside]]]
    return inside


def _whose(facts: Facts, copies: StepCopies) -> str:
    """DistributedDataParallel copies buffers in its forward, and gradients on the thread of the autograd engine."""
    model = facts.model
    code = facts.trace.strings.code("DistributedDataParallel.forward")
    if code < 0 or not bool((model.tree.name == code).any()):
        return "program"
    places = places_of(model, copies.row)
    if bool((places.annotation == code).all()):
        return "buffers"
    engine = copies.call[copies.call >= 0]
    on_main = facts.trace.events.track[engine] == main_lane(model)
    return "gradients" if facts.is_training and not on_main.any() else "program"


@rule("R8", STEPS, DEVICE, CALLS, replay=True)
def pageable_output(facts: Facts) -> Iterator[Found]:
    """Large copies to pageable memory of the host hold the host up in every step."""
    found = large_reads(facts)
    # a checkpoint has a rule of its own
    found = found.take(~in_frames(facts.model, found.call, SAVES))
    n = facts.steps
    for copies in heavy_places(facts, found, "call", facts.limit("pageable_output", "least_share")):
        calls, rate = facts.longest_first(copies.call), unseen_rate(facts, "DtoH")
        size, took, held = float(copies.bytes.sum()), float(copies.duration_ns.sum()), float(copies.call_ns.sum())
        yield Found(
            values={
                "ns": held / n,
                "step_ns": facts.step_ns,
                "call": str(facts.trace.strings[facts.trace.events.name[calls[0]]]),
                "bytes": round(size / n),
                "copies_ns": took / n,
            },
            rows=calls,
            changes=(pinned("DtoH", rows=copies.row, rate=rate),),
            evidence=(
                evidence("blocked_per_step", held / n, "ns", "trace"),
                evidence("copies_per_step", took / n, "ns", "kernels"),
                evidence("copied_bytes", size / n, "bytes", "kernels"),
                evidence("copy_count", len(calls) / n, "count", "trace"),
            ),
            links=(link("pinned_memory"),),
            confidence="high" if is_loop_known(facts) and rate is None else "medium",
        )
