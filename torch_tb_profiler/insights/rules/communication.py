"""Communication that no computation hides, and collectives that are too slow, too small, or not needed."""

from __future__ import annotations

import math
from collections.abc import Iterator

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import kernels, merged_collectives, scale, without
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.order import percentile
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import COMMUNICATION, HOST, MACHINE, PROPERTIES, STEPS, Facts
from torch_tb_profiler.insights.rule import Found, evidence, has_host_range, link, rule
from torch_tb_profiler.insights.shared.collective_calls import (
    CollectiveCalls,
    Exchanges,
    collective_calls,
    object_exchanges,
    steps_with,
)
from torch_tb_profiler.insights.shared.communication import (
    ONE_RANK,
    bus_bytes,
    exposed_communication,
    held_transfers,
    most_exposed,
    most_sent,
    transfer_links,
)
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.communication import ProcessGroup


@rule("R43", STEPS, MACHINE, COMMUNICATION, symptom=True)
def communication(facts: Facts) -> Iterator[Found]:
    """Communication that no computation hides."""
    exposed = exposed_communication(facts)
    if exposed is None:
        return
    communications = facts.model.communications
    held = held_transfers(facts.model)
    sent = most_sent([(communications, communications.duration)], facts.is_training, None if held is None else held.how)
    shown = [exposed.evidence, evidence("share_of_step", exposed.share, "fraction", "overview")]
    if held is not None:
        shown.append(evidence("launch_delay", held.delay_ns, "ns", "distributed"))
    yield Found(
        values={"share": exposed.share, "sent": sent, **most_exposed(facts)},
        rows=facts.longest_first(facts.communication_rows),
        refused=ONE_RANK,
        evidence=tuple(shown),
        links=transfer_links(sent),
    )


class Slow(msgspec.Struct, frozen=True):
    """Operations slower than any link.

    calls           how many
    share           their part of the time of all operations
    bus_bandwidth   bytes a second, of all of them together
    row             shape (n,): their events
    """

    calls: int
    share: float
    bus_bandwidth: float
    row: Int32


@rule("R46", STEPS, MACHINE, COMMUNICATION, PROPERTIES, replaces=("communication",), symptom=True)
def slow_communication(facts: Facts) -> Iterator[Found]:
    """Large collectives in one node that take longer than any link there needs."""
    exposed = exposed_communication(facts)
    slow = _slow_operations(facts) if exposed is not None else None
    if exposed is None or slow is None:
        return
    yield Found(
        values={
            "share": exposed.share,
            "slow": slow.share,
            "calls": slow.calls,
            "gigabytes": round(slow.bus_bandwidth / 1e9, 1),
        },
        rows=facts.longest_first(slow.row),
        refused=ONE_RANK,
        confidence="medium",
        evidence=(
            exposed.evidence,
            evidence("slow_operations", slow.calls, "count", "distributed"),
            evidence("slow_share", slow.share, "fraction", "distributed"),
        ),
        links=(link("nccl_troubleshooting"),),
    )


def _slow_operations(facts: Facts) -> Slow | None:
    """None if they are not most of the communication on devices."""
    model = facts.model
    communications = model.communications
    slowest = facts.limit("slow_communication", "slowest_link")
    operations, duration = communications.operations, communications.duration
    timed = operations.on_device & (duration > 0)
    moved = bus_bytes(communications, lambda group: _is_in_one_node(model, group))
    large = facts.limit("slow_communication", "large_bytes")
    slow = timed & (moved >= large) & (moved < slowest * duration / 1e9)
    spent = int(duration[slow].sum())
    if not spent or spent < facts.limit("slow_communication", "least_share_of_time") * int(duration[timed].sum()):
        return None
    ranges = np.flatnonzero(slow[communications.ranges.operation])
    rows = facts.communication_rows
    at_start = isin(model.trace.events.start[rows], communications.ranges.start[ranges])
    share = spent / int(duration[timed].sum())
    return Slow(int(slow.sum()), share, float(moved[slow].sum()) / spent * 1e9, rows[at_start])


def _is_in_one_node(model: Model, group: ProcessGroup) -> bool:
    """Tell whether a group is in one node: the file lists all devices of it, and ranks are numbered node by node."""
    devices = len(model.trace.header.devices)
    if not devices:
        return False
    world = model.trace.header.distributed.get("world_size")
    if isinstance(world, int) and world <= devices:
        return True
    return bool(group.ranks) and len({rank // devices for rank in group.ranks}) == 1


@rule("R48", STEPS, COMMUNICATION, over_ranks=True)
def tiny_collectives(facts: Facts) -> Iterator[Found]:
    """Many collectives so small that each takes its latency, and no more for its size."""
    calls, small_bytes = collective_calls(facts), facts.limit("tiny_collectives", "small_bytes")
    small = (calls.in_bytes >= 0) & (calls.in_bytes < small_bytes)
    tiny = calls.take(small & calls.has_kind("all_reduce", "reduce_scatter", "all_gather", "broadcast", "reduce"))
    tiny = tiny.take(~tiny.inside(_is_sync_batchnorm))  # these depend on one another
    if tiny.per_step <= facts.limit("tiny_collectives", "least_per_step"):
        return
    groups = _neighbours(tiny)
    yield Found(
        values={
            "calls": round(tiny.per_step),
            "kilobytes": round(small_bytes / 1024),
            "largest": int(tiny.in_bytes.max()),
        },
        rows=facts.longest_first(tiny.row),
        changes=(merged_collectives(groups, int(percentile(tiny.duration, 10))),) if groups else (),
        refused=ONE_RANK,
        evidence=(
            evidence("tiny_collectives_per_step", tiny.per_step, "count", "distributed"),
            evidence("tiny_collectives_time", float(tiny.duration.sum()) / facts.steps, "ns", "distributed"),
        ),
        links=(link("ddp_buckets"),),
    )


def _neighbours(tiny: CollectiveCalls) -> list[list[int]]:
    """Return the rows of successive operations in a step with one kind, process group and element type."""
    of = tiny.of.operations
    key = np.stack((tiny.step, of.kind[tiny.operation], of.group[tiny.operation], of.dtype[tiny.operation]), axis=1)
    begins = np.flatnonzero(np.append(True, (key[1:] != key[:-1]).any(axis=1)))
    return [part.tolist() for part in np.split(tiny.row, begins[1:]) if len(part) > 1]


_SYNC_BATCHNORM = lazy_pattern(r"^SyncBatchNorm(?:Backward)?$")


@rule("R57", STEPS, HOST, COMMUNICATION, over_ranks=True)
def sync_batchnorm(facts: Facts) -> Iterator[Found]:
    """Many layers of SyncBatchNorm exchange their statistics one by one."""
    calls = collective_calls(facts)
    calls = calls.take(calls.inside(_is_sync_batchnorm))
    if calls.per_step <= facts.limit("sync_batchnorm", "least_per_step"):
        return
    yield Found(
        values={"calls": round(calls.per_step)},
        rows=facts.longest_first(calls.row),
        changes=(kernels(0, rows=calls.row),),
        refused=ONE_RANK,
        confidence="medium",
        evidence=(
            evidence("sync_batchnorm_calls", calls.per_step, "count", "distributed"),
            evidence("sync_batchnorm_time", float(calls.duration.sum()) / facts.steps, "ns", "distributed"),
        ),
        links=(link("sync_batchnorm"),),
    )


def _is_sync_batchnorm(name: str) -> bool:
    """Tell whether an operator is a SyncBatchNorm, forward or backward."""
    return _SYNC_BATCHNORM.match(name) is not None


@rule("R58", STEPS, COMMUNICATION)
def barriers(facts: Facts) -> Iterator[Found]:
    """Barriers inside of steps."""
    calls = collective_calls(facts)
    calls = calls.take(calls.has_kind("barrier"))
    spent = float(np.maximum(calls.duration, 0).sum())
    in_steps = steps_with(facts, "barriers", calls.step, spent)
    if not in_steps:
        return
    yield Found(
        values={"calls": len(calls), "in": in_steps, "steps": facts.steps, "share": facts.share(spent)},
        rows=facts.longest_first(calls.row),
        refused=ONE_RANK,
        confidence="medium",
        evidence=(
            evidence("barriers", len(calls), "count", "distributed"),
            evidence("barrier_time", spent / facts.steps, "ns", "distributed"),
        ),
        links=(link("barrier"),),
    )


@rule("R58", STEPS, HOST, COMMUNICATION, over_ranks=True)
def object_collectives(facts: Facts) -> Iterator[Found]:
    """Find steps that send Python objects to other ranks."""
    calls = collective_calls(facts)
    exchanges = object_exchanges(facts, calls)
    step = facts.step_of(exchanges.row)
    exchanges = exchanges.take(step >= 0)
    spent = int((exchanges.end - exchanges.start).sum())
    in_steps = steps_with(facts, "object_collectives", step[step >= 0], spent)
    if not in_steps:
        return
    sent = calls.take(exchanges.include(calls.of.operations.host_start[calls.operation]))
    yield Found(
        values={"calls": len(exchanges), "in": in_steps, "steps": facts.steps, "share": facts.share(spent)},
        rows=facts.longest_first(sent.row),
        changes=(
            scale(factor=0, intervals=np.stack((exchanges.track, exchanges.start, exchanges.end), axis=1)),
            without(rows=_device_calls(facts, exchanges)),
            kernels(0, rows=sent.row),
        ),
        refused=ONE_RANK,
        confidence="medium",
        evidence=(
            evidence("object_collectives", len(exchanges), "count", "distributed"),
            evidence("object_time", spent / facts.steps, "ns", "stacks"),
        ),
        links=(link("object_collectives"),),
    )


def _device_calls(facts: Facts, exchanges: Exchanges) -> Int32:
    """Return the calls to the device that exchanges make on their own threads."""
    events, calls = facts.trace.events, facts.model.launches.row
    found = []
    for track in distinct(exchanges.track).tolist():
        mine = calls[events.track[calls] == track]
        found.append(mine[exchanges.take(exchanges.track == track).include(events.start[mine])])
    return np.concatenate(found)


#: what NCCL runs on
_LOWEST_CAPABILITY = 3.5


@rule("R50", HOST, PROPERTIES)
def distributed_backend(facts: Facts) -> Iterator[Found]:
    """DistributedDataParallel on GPUs without NCCL."""
    model = facts.model
    if not has_host_range(model, "DistributedDataParallel.forward"):
        return
    backends = _backends(model)
    capable = [d for d in model.trace.header.devices if _capability(d) >= _LOWEST_CAPABILITY]
    if not capable or "nccl" in backends:
        return
    yield Found(
        values={"backends": ", ".join(sorted(backends))},
        severity="medium",
        evidence=(evidence("nccl_gpus", len(capable), "count", "overview"),),
        links=(link("which_backend"),),
    )


def _backends(model: Model) -> set[str]:
    """Libraries named by ranges (`nccl:all_reduce`) and by communication kernels."""
    events, strings = model.trace.events, model.trace.strings
    named = {strings[code].partition(":")[0] for code in set(events.name[model.communication_rows].tolist())}
    running = events.name[model.device_work.row[model.device_links.is_communication]]
    if any("nccl" in strings[code].lower() for code in set(running.tolist())):
        named.add("nccl")
    if model.trace.header.distributed.get("backend") == "nccl":
        named.add("nccl")
    return named


def _capability(device: dict[str, object]) -> float:
    try:
        return float(f"{device.get('computeMajor')}.{device.get('computeMinor')}")
    except ValueError:
        return math.nan
