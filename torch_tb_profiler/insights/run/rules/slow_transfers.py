"""Large collectives inside of a host whose transfers take longer than any link there needs."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import collectives
from torch_tb_profiler.insights.rule import Evidence
from torch_tb_profiler.insights.run.facts import RunFacts
from torch_tb_profiler.insights.run.rule import RunFound, RunRule
from torch_tb_profiler.insights.run.transfers import longest, scaled, transfers
from torch_tb_profiler.insights.shared.links import NCCL_TROUBLESHOOTING

_LISTED = 20


def _find(facts: RunFacts) -> Sequence[RunFound]:
    slowest = facts.limit("slow_communication", "slowest_link") / 1e9  # bytes per ns
    large = facts.limit("slow_communication", "large_bytes")
    known = transfers(facts)
    slow = known.take((known.nodes == 1) & (known.bus_bytes >= large) & (known.bus_bytes < slowest * known.transfer_ns))
    spent, whole = int(slow.transfer_ns.sum()), int(known.transfer_ns.sum())
    if not len(slow) or spent < facts.limit("slow_communication", "least_share_of_time") * whole:
        return ()
    operations = slow.operations
    bandwidth = float(slow.bus_bytes.sum()) / spent  # GB/s
    return (
        RunFound(
            title="Transfers inside a host are slower than any link",
            detail=(
                f"{operations} large collectives have a bus bandwidth of {bandwidth:.1f} GB/s between devices of one "
                f"host, without the waiting for late ranks: {100 * spent / whole:.0f} % of the time of all transfers. "
                f"At {slowest:.0f} GB/s, which the slowest link has, they would take {100 * bandwidth / slowest:.0f} % "
                "of that."
            ),
            advice=(
                "`NCCL_DEBUG=INFO` says which way the data takes: `SHM` or `NET/Socket` in place of `P2P` is slow. "
                "See `nvidia-smi topo -m` and `nvidia-smi nvlink -s` for the links, and leave `NCCL_P2P_DISABLE` unset."
            ),
            values={
                "calls": operations,
                "gigabytes": round(bandwidth, 1),
                "share": spent / whole,
                "link": round(slowest, 1),
                "left": bandwidth / slowest,
            },
            remedy=scaled(facts, slow, slow.bus_bytes / (slowest * slow.transfer_ns)),
            changes=(collectives(0.5),),
            bound=False,
            instances=longest(facts, slow, _LISTED),
            count=operations,
            confidence="medium",
            evidence=(
                Evidence(
                    "slow_transfers", "Large collectives below the slowest link", operations, "count", "distributed"
                ),
                Evidence(
                    "slow_transfer_time",
                    "Their transfers, average per step",
                    spent / facts.steps,
                    "ns",
                    "distributed",
                ),
            ),
            links=(NCCL_TROUBLESHOOTING,),
        ),
    )


RULE = RunRule("slow_transfers", "R46", _find, replaces=("exposed_transfer",))
