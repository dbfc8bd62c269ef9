"""Communication that no computation hides: how much, what it moves over each link, what holds it up, what helps."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.device_time import WHY, communication_kernels, exposure, step_of_operations
from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.analysis.overview import average_step
from torch_tb_profiler.analysis.program.kinds import PHASES
from torch_tb_profiler.analysis.replay.quality import ReplayRefusal
from torch_tb_profiler.analysis.waterfall import average, waterfall
from torch_tb_profiler.arrays.grouping import group, sums_at
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Float64, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.rule import Evidence, Link, evidence, link
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import KINDS, Communications, ProcessGroup, bus_factor, nccl_tests_bytes
from torch_tb_profiler.reason import Value

#: why what communication costs is no saving
ONE_RANK = ReplayRefusal("one_rank_communication", "savings")


class Exposed(msgspec.Struct, frozen=True):
    """Of the average step.

    ns        exposed communication
    share     its part of the step, 0…1
    evidence  where to see it
    """

    ns: float
    share: float
    evidence: Evidence


def exposed_communication(facts: Facts) -> Exposed | None:
    """None without steps, and where it is too little to be worth a word."""
    model = facts.model
    step_ns, use = facts.step_ns, step_use(model)
    if step_ns <= 0:
        return None
    if use is not None and use.exposed_communication_ns is not None:
        exposed, view = float(use.exposed_communication_ns.mean()), "steps"
    else:  # a library without kernels: the thread of the steps waits; other threads may compute beside its calls
        waited = sum(part.ns for part in average(waterfall(model)) if part.cause.endswith(".collective"))
        exposed, view = waited or average_step(model).category_ns.get("communication", 0.0), "overview"
    share = exposed / step_ns
    if share <= facts.limit("communication", "least_share"):
        return None
    return Exposed(exposed, share, evidence("exposed_communication_per_step", exposed, "ns", view))


def most_exposed(facts: Facts) -> dict[str, Value]:
    """Of one name, group and phase the operations of the steps that are exposed longest, as a finding names them: how
    much of a step, ns, and why they were not hidden. Empty where nothing is exposed.
    """
    model = facts.model
    communications, exposed = model.communications, exposure(model)
    inside = np.flatnonzero((step_of_operations(model) >= 0) & (exposed.exposed_ns > 0))
    if not len(inside):
        return {}
    ns, operations = exposed.exposed_ns[inside], communications.operations
    alike = group([operations.name[inside], operations.group[inside], exposed.phase[inside]])
    total = sums_at(alike.inverse, ns, len(alike))
    longest = int(np.argmax(total))
    mine = inside[alike.inverse == longest]
    why = WHY[int(np.argmax(np.bincount(exposed.why[mine], exposed.exposed_ns[mine])))]
    first = int(mine[0])
    return {
        "collective": communications.names[int(operations.name[first])],
        "members": communications.groups[int(operations.group[first])].label,
        "phase": PHASES[int(exposed.phase[first])].value,
        "exposed_ns": int(total[longest]) / facts.steps,
        "why": why,
    }


def bus_bytes(communications: Communications, wanted: Callable[[ProcessGroup], bool]) -> Float64:
    """Shape (operations,): bytes as the bus bandwidth counts them; 0 where unknown, or of a group not wanted."""
    operations = communications.operations
    if not len(communications):
        return np.zeros(0)
    columns = (operations.kind, operations.group, operations.in_bytes, operations.out_bytes)
    same = group([column.astype(np.int64) - int(column.min()) for column in columns])
    moved = np.zeros(len(same))
    for at, first in enumerate(same.first.tolist()):
        kind, ranks = KINDS[int(operations.kind[first])], communications.groups[int(operations.group[first])]
        size = nccl_tests_bytes(kind, int(operations.in_bytes[first]), int(operations.out_bytes[first]), ranks.size)
        factor = bus_factor(kind, ranks.size)
        moved[at] = size * factor if factor and size and wanted(ranks) else 0.0
    found: Float64 = moved[same.inverse]
    return found


#: as in `analysis.device_time`
Held = Literal["overtaken", "asynchronous", "queued"]

#: least share of exposed communication that is held up in one way for that way to be named
_MOST = 0.5


class HeldTransfers(msgspec.Struct, frozen=True):
    """how: most of them are held up. delay_ns: from the end of a launch to the start of its kernel, the median."""

    how: Held
    delay_ns: float


def held_transfers(model: Model) -> HeldTransfers | None:
    """Say what holds up the collectives in the steps; None where that may be the host, or no launch is known."""
    kernels = communication_kernels(model.in_steps)
    least = _MOST * int(kernels.exposed.sum())
    how = next((how for how, ns in kernels.ways.items() if least and int(ns.sum()) >= least), None)
    return None if how is None else HeldTransfers(how, median(kernels.delay))


#: what takes most of the time
Sent = Literal["gradients", "exchanges", "others", Held]

#: what is advised without a word on who waits for whom is true of all
_OF_ALL: Mapping[Sent, frozenset[Held]] = {"gradients": frozenset(("asynchronous", "queued"))}
_LINKS: Mapping[Sent, str] = {
    "gradients": "ddp_hooks",
    "exchanges": "all_to_all",
    "others": "asynchronous_collectives",
}


def transfer_links(sent: Sent) -> tuple[Link, ...]:
    """Return the page on what to do, where there is one."""
    return (link(_LINKS[sent]),) if sent in _LINKS else ()


def most_sent(ranks: Iterable[tuple[Communications, Int64]], is_training: bool, held: Held | None) -> Sent:
    """Say what most of the time goes to, or what holds it up where the advice on that would be wrong.

    ranks   of each its communication, and the time of each operation, ns; below 0 where unknown
    held    what holds up most of it; None where that may be the host
    """
    sent = _most_time(ranks, is_training)
    return sent if held is None or held in _OF_ALL.get(sent, ()) else held


def _most_time(ranks: Iterable[tuple[Communications, Int64]], is_training: bool) -> Sent:
    spent = np.zeros(len(KINDS))
    for of, ns in ranks:
        spent += np.bincount(of.operations.kind, np.maximum(ns, 0), len(KINDS))
    kind = KINDS[int(np.argmax(spent))]
    if kind == "all_to_all":
        return "exchanges"
    return "gradients" if is_training and kind in ("all_reduce", "reduce_scatter") else "others"
