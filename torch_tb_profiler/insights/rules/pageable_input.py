"""Large copies to the device come from pageable memory."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import pinned
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.copies import Copies, Direction, HostMemory, copies_of, heavy_places, unseen_rate
from torch_tb_profiler.insights.shared.links import PINNED_MEMORY
from torch_tb_profiler.insights.shared.recurring import is_loop_known
from torch_tb_profiler.insights.shared.wording import mebibytes, ms


def _find(facts: Facts) -> Sequence[Found]:
    found = copies_of(facts)
    large = found.bytes >= facts.limit("pageable_input", "large_bytes")
    found = found.take((found.direction == Direction.TO_DEVICE) & (found.memory == HostMemory.PAGEABLE) & large)
    places = heavy_places(facts, found, "row", facts.limit("pageable_input", "least_share"))
    return [_of(facts, each) for each in places]


def _of(facts: Facts, found: Copies) -> Found:
    rows = facts.longest_first(found.row)
    n, size, took = facts.steps, float(found.bytes.sum()), float(found.duration_ns.sum())
    loader = len(facts.model.dataloader_rows) > 0
    rate = unseen_rate(facts, "HtoD")
    return Found(
        title="Data is copied from pageable memory",
        detail=(
            f"{mebibytes(size / n)} in each step are copied to the device from pageable memory: {ms(took / n)} "
            f"at {size / took:.3g} GB/s, and the host waits for it."
        ),
        advice=(
            "Set `DataLoader(…, pin_memory=True)` and copy with `batch.to(device, non_blocking=True)`."
            if loader
            else "Keep the data to be copied in pinned memory (`torch.empty(…, pin_memory=True)`, made once) and copy "
            "it with `.to(device, non_blocking=True)`."
        ),
        values={"bytes": round(size / n), "ns": took / n, "rate": size / took, "loader": loader},
        rows=rows,
        changes=(pinned("HtoD", rows=rows, rate=rate),),
        evidence=(
            Evidence("copies_per_step", "These copies, average per step", took / n, "ns", "kernels"),
            Evidence("copied_bytes", "Bytes, average per step", size / n, "bytes", "kernels"),
            Evidence(
                "copies_exposed", "Of that while no kernel runs", float(found.exposed_ns.sum()) / n, "ns", "trace"
            ),
            Evidence("copy_count", "Copies, average per step", len(rows) / n, "count", "trace"),
        ),
        links=(PINNED_MEMORY,),
        confidence="high" if is_loop_known(facts) and rate is None else "medium",
    )


RULE = Rule("pageable_input", "R5", (STEPS, DEVICE, CALLS), _find, replay=True)
