"""Large collectives in one node that take longer than any link there needs."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.arrays.distinct import among
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import COMMUNICATION, MACHINE, PROPERTIES, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.bus import bus_bytes
from torch_tb_profiler.insights.shared.exposed import ONE_RANK, exposed_communication
from torch_tb_profiler.insights.shared.links import NCCL_TROUBLESHOOTING
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.process_groups import ProcessGroup


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


def slow_operations(facts: Facts) -> Slow | None:
    """None if they are not most of the communication on devices."""
    model = facts.model
    found = model.communications
    slowest = facts.limit("slow_communication", "slowest_link")
    operations, duration = found.operations, found.duration
    timed = operations.on_device & (duration > 0)
    moved = bus_bytes(found, lambda group: _is_in_one_node(model, group))
    large = facts.limit("slow_communication", "large_bytes")
    slow = timed & (moved >= large) & (moved < slowest * duration / 1e9)
    spent = int(duration[slow].sum())
    if not spent or spent < facts.limit("slow_communication", "least_share_of_time") * int(duration[timed].sum()):
        return None
    ranges = np.flatnonzero(slow[found.ranges.operation])
    rows = facts.communication_rows
    at_start = among(model.trace.events.start[rows], found.ranges.start[ranges])
    share = spent / int(duration[timed].sum())
    return Slow(int(slow.sum()), share, float(moved[slow].sum()) / spent * 1e9, rows[at_start])


def _is_in_one_node(model: Model, group: ProcessGroup) -> bool:
    """The file lists all devices of the node; ranks are numbered node by node."""
    devices = len(model.trace.header.devices)
    if not devices:
        return False
    world = model.trace.header.distributed.get("world_size")
    if isinstance(world, int) and world <= devices:
        return True
    return bool(group.ranks) and len({rank // devices for rank in group.ranks}) == 1


def _find(facts: Facts) -> Sequence[Found]:
    exposed = exposed_communication(facts)
    slow = slow_operations(facts) if exposed is not None else None
    if exposed is None or slow is None:
        return ()
    return (
        Found(
            title="Communication waits for a late rank, or for a broken link",
            detail=(
                f"{100 * exposed.share:.1f} % of the average step is communication that nothing hides, and "
                f"{100 * slow.share:.0f} % of the time of all operations went into {slow.calls} large ones with a bus "
                f"bandwidth of {slow.bus_bandwidth / 1e9:.1f} GB/s inside one node: no link there is that slow."
            ),
            advice=(
                "Compare the traces of all ranks in the Distributed view: this rank may wait for others that come "
                "late. If none is late, `NCCL_DEBUG=INFO` shows which way the data took, and `nvidia-smi topo -m` and "
                "`nvidia-smi nvlink -s` show the links."
            ),
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
                Evidence("slow_operations", "Large operations below 5 GB/s", slow.calls, "count", "distributed"),
                Evidence(
                    "slow_share", "Their share of the time of communication", slow.share, "fraction", "distributed"
                ),
            ),
            links=(NCCL_TROUBLESHOOTING,),
        ),
    )


RULE = Rule(
    "slow_communication",
    "R46",
    (STEPS, MACHINE, COMMUNICATION, PROPERTIES),
    _find,
    replaces=("communication",),
    symptom=True,
)
