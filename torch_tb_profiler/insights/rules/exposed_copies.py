"""Copies between host and device run while no kernel does, though their memory would let them run beside kernels."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import ScaleWork
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule
from torch_tb_profiler.insights.shared.copies import Copies, Direction, HostMemory, copies_of
from torch_tb_profiler.insights.shared.recurring import recurring
from torch_tb_profiler.insights.shared.wording import mebibytes, ms

_STREAMS = Link("cuda_streams", "CUDA streams", "https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-streams")


def _find(facts: Facts) -> Sequence[Found]:
    found = copies_of(facts)
    large = found.bytes >= facts.limit("exposed_copies", "large_bytes")
    # of a call that takes pageable memory the memory is the cause, not the order
    found = found.take(large & (found.memory != HostMemory.PAGEABLE) & ~found.reads)
    found = found.take(recurring(facts, found.row))
    each = (found.take(found.direction == way) for way in (Direction.TO_DEVICE, Direction.TO_HOST))
    return sorted((_of(facts, of) for of in each if _is_exposed(facts, of)), key=lambda f: -float(f.values["ns"]))


def _is_exposed(facts: Facts, found: Copies) -> bool:
    if not len(found):
        return False
    exposed, whole = float(found.exposed_ns.sum()), float(found.duration_ns.sum())
    hidden = 1 - exposed / whole if whole else 1.0
    limits = facts.limit("exposed_copies", "most_hidden"), facts.limit("exposed_copies", "least_share")
    return hidden < limits[0] and facts.share(exposed) >= limits[1]


def _of(facts: Facts, found: Copies) -> Found:
    rows = facts.longest_first(found.row)
    n, exposed = facts.steps, float(found.exposed_ns.sum())
    size, whole = float(found.bytes.sum()), float(found.duration_ns.sum())
    to_device = bool((found.direction == Direction.TO_DEVICE).all())
    sure = bool((found.memory == HostMemory.PINNED).all())
    return Found(
        title="Copies run while nothing is computed",
        detail=(
            f"For {ms(exposed / n)} of each step the device only copies {'from' if to_device else 'to'} the host "
            f"({mebibytes(size / n)}); {100 * (1 - exposed / whole):.0f} % of the time of these copies a kernel runs."
        ),
        advice=(
            "Copy the next batch while this one is processed: `with torch.cuda.stream(side): nxt = "
            "batch.to(device, non_blocking=True)`, then `torch.cuda.current_stream().wait_stream(side)` before it is "
            "used."
            if to_device
            else "Copy on a stream of its own into pinned memory: `with torch.cuda.stream(side): "
            "host.copy_(result, non_blocking=True)` after `side.wait_stream(torch.cuda.current_stream())`, and read it "
            "after an event."
        ),
        values={
            "ns": exposed / n,
            "bytes": round(size / n),
            "hidden": 1 - exposed / whole,
            "to_device": to_device,
        },
        rows=rows,
        changes=(ScaleWork(0.0, "copies", None, tuple(rows.tolist())),),
        evidence=(
            Evidence("copies_per_step", "These copies, average per step", whole / n, "ns", "kernels"),
            Evidence("copies_exposed", "Of that while no kernel runs", exposed / n, "ns", "trace"),
            Evidence("copied_bytes", "Bytes, average per step", size / n, "bytes", "kernels"),
        ),
        links=(_STREAMS,),
        confidence="medium" if sure and facts.is_training else "low",
    )


RULE = Rule("exposed_copies", "R6", (STEPS, DEVICE, CALLS), _find, replay=True)
