"""Many small copies from the same place, each with a launch of its own."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import fused_groups
from torch_tb_profiler.analysis.shared.main_lane import main_lane
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.places import groups_of_places, places_of
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.copies import Copies, Direction, copies_of
from torch_tb_profiler.insights.shared.recurring import by_place, recurring
from torch_tb_profiler.model import Model

_WORDS = {Direction.TO_DEVICE: "to the device", Direction.TO_HOST: "to the host", Direction.ON_DEVICE: "on the device"}
_ADVICE = {
    Direction.TO_DEVICE: "Put the values into one tensor on the host and copy it once, then take views of it: "
    "`torch.tensor(values, pin_memory=True).to(device, non_blocking=True)`. Constants are copied once, before "
    "the loop.",
    Direction.TO_HOST: "Collect the values in one tensor on the device (`torch.stack(…)`) and copy that once: one "
    "`.cpu()` for all of them.",
    Direction.ON_DEVICE: "Copy lists of tensors with one call, `torch._foreach_copy_(targets, sources)`, or write the "
    "results into one tensor from the start (`out=`, `torch.cat`).",
}
_ON_GRADIENTS = (
    "DistributedDataParallel copies gradients to its buckets and back: `DistributedDataParallel(…, "
    "gradient_as_bucket_view=True)` lets gradients be views of the buckets."
)
_BUFFERS = (
    "DistributedDataParallel copies the buffers of the model for a broadcast in every forward: where they need not "
    "agree, `DistributedDataParallel(…, broadcast_buffers=False)` leaves that out."
)
_TUNING = Link(
    "tuning_synchronization",
    "Performance tuning guide: avoid unnecessary CPU-GPU synchronization",
    "https://docs.pytorch.org/tutorials/recipes/recipes/tuning_guide.html#avoid-unnecessary-cpu-gpu-synchronization",
)
_DDP = Link(
    "ddp_arguments",
    "DistributedDataParallel",
    "https://docs.pytorch.org/docs/stable/generated/torch.nn.parallel.DistributedDataParallel.html",
)


def _find(facts: Facts) -> Sequence[Found]:
    found = copies_of(facts)
    tiny = (found.bytes >= 0) & (found.bytes < facts.limit("tiny_copies", "tiny_bytes"))
    # who reads one number, or waits for his copy, is told of the waiting
    found = found.take(tiny & ~found.reads & ~(found.blocks & (found.direction == Direction.TO_HOST)))
    found = found.take((found.direction != Direction.ON_DEVICE) | ~_part_of_another(facts.model, found))
    found = found.take(recurring(facts, found.row))
    said: list[Found] = []
    for way in _WORDS:
        of_way = found.take(found.direction == way)
        least = facts.limit("tiny_copies", "least_on_device" if way is Direction.ON_DEVICE else "least_per_step")
        places = by_place(facts, of_way.row, np.ones(len(of_way), np.int64))
        said += [_of(facts, of_way.take(at), way) for at in places if len(at) >= least * facts.steps]
    return sorted(said, key=lambda each: -len(each.rows))


def _of(facts: Facts, found: Copies, way: Direction) -> Found:
    rows = facts.longest_first(found.row)
    n, size = facts.steps, float(found.bytes.sum())
    in_calls = float(found.call_ns.sum()) / n
    events = facts.trace.events
    name = str(facts.trace.strings[events.name[rows[0]]])
    whose = _whose(facts, found) if way is Direction.ON_DEVICE else "program"
    return Found(
        title="Many small copies",
        detail=(
            f"{len(rows) / n:.0f} copies {_WORDS[way]} in each step ({name}) move {size / len(rows) / 1024:.2g} KiB "
            "each, from the same place: what starts them takes longer than what they move."
        ),
        advice={"buffers": _BUFFERS, "gradients": _ON_GRADIENTS}.get(whose, _ADVICE[way]),
        values={
            "count": len(rows) / n,
            "way": way.name.lower(),
            "name": name,
            "bytes": round(size / len(rows)),
            "whose": whose,
        },
        rows=rows,
        changes=(fused_groups(_groups(facts, found)),),
        evidence=(
            Evidence("copy_count", "Copies, average per step", len(rows) / n, "count", "kernels"),
            Evidence(
                "copies_per_step", "These copies, average per step", float(found.duration_ns.sum()) / n, "ns", "kernels"
            ),
            Evidence("copy_calls", "The host is in their calls, average per step", in_calls, "ns", "trace"),
        ),
        links=(_TUNING if whose == "program" else _DDP,),
        confidence="medium",
    )


def _groups(facts: Facts, found: Copies) -> list[tuple[list[int], int]]:
    """Copies of one place, step and device as one, which takes as long as the longest and their bytes at its rate."""
    place = groups_of_places(facts.model, found.row)
    of = group([place, facts.step_of(found.row), found.device])
    rate = facts.limit("tiny_copies", "bytes_per_ns")
    together: list[tuple[list[int], int]] = []
    for at in np.split(np.argsort(of.of, kind="stable"), np.cumsum(of.count())[:-1]):
        took = found.duration_ns[at]
        target = min(int(took.sum()), int(took.max()) + int(found.bytes[at].sum() / rate))
        together.append((found.row[at].tolist(), target))
    return together


def _part_of_another(model: Model, found: Copies) -> Bool:
    """Which copies are made inside a larger operator, such as a clone: that one is to be looked at, not its copy."""
    tree, events = model.structure.tree, model.trace.events
    if not len(tree):
        return np.zeros(len(found), np.bool_)
    call = np.maximum(found.call, 0)
    node = model.structure.nesting.innermost(events.track[call], events.start[call])
    own = nearest(tree.parent, tree.is_operator, node).astype(np.int64)
    around = nearest(tree.parent, tree.is_operator, take_known(tree.parent, own)).astype(np.int64)
    is_aten = model.trace.strings.where(lambda name: name.startswith("aten::"), tree.name)
    inside: Bool = (found.call >= 0) & (around >= 0)
    inside[inside] = is_aten[tree.name[around[inside]]]
    return inside


def _whose(facts: Facts, found: Copies) -> str:
    """DistributedDataParallel copies buffers in its forward, and gradients on the thread of the autograd engine."""
    model = facts.model
    code = facts.trace.strings.code("DistributedDataParallel.forward")
    if code < 0 or not bool((model.tree.name == code).any()):
        return "program"
    places = places_of(model, found.row)
    if bool((places.annotation == code).all()):
        return "buffers"
    engine = found.call[found.call >= 0]
    on_main = facts.trace.events.track[engine] == main_lane(model)
    return "gradients" if facts.is_training and not on_main.any() else "program"


RULE = Rule("tiny_copies", "R7", (STEPS, DEVICE, CALLS), _find, replay=True)
