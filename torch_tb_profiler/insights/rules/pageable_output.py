"""Large copies to pageable memory of the host hold the host up in every step."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import pinned
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.copies import Copies, heavy_places, large_reads, unseen_rate
from torch_tb_profiler.insights.shared.links import PINNED_MEMORY
from torch_tb_profiler.insights.shared.logging_frames import in_frames
from torch_tb_profiler.insights.shared.recurring import is_loop_known
from torch_tb_profiler.insights.shared.saving_frames import SAVES
from torch_tb_profiler.insights.shared.wording import mebibytes, ms


def _find(facts: Facts) -> Sequence[Found]:
    found = large_reads(facts)
    # a checkpoint has a rule of its own
    found = found.take(~in_frames(facts.model, found.call, SAVES))
    places = heavy_places(facts, found, "call", facts.limit("pageable_output", "least_share"))
    return [_of(facts, each) for each in places]


def _of(facts: Facts, found: Copies) -> Found:
    calls = facts.longest_first(found.call)
    n, size, took = facts.steps, float(found.bytes.sum()), float(found.duration_ns.sum())
    rate = unseen_rate(facts, "DtoH")
    held = float(found.call_ns.sum())
    name = str(facts.trace.strings[facts.trace.events.name[calls[0]]])
    return Found(
        title="Copies to pageable memory block the host",
        detail=(
            f"{ms(held / n)} of each step ({ms(facts.step_ns)}) the host is in {name}, which returns when "
            f"{mebibytes(size / n)} are in pageable memory of the host; the copies take {ms(took / n)} of it, "
            "the rest is waiting for the device."
        ),
        advice=(
            "Leave the result on the device while it is only added to or averaged. Otherwise copy it into pinned "
            "memory made once, `host.copy_(x, non_blocking=True)`, and read it a step later, after an event."
        ),
        values={
            "ns": held / n,
            "step_ns": facts.step_ns,
            "call": name,
            "bytes": round(size / n),
            "copies_ns": took / n,
        },
        rows=calls,
        changes=(pinned("DtoH", rows=found.row, rate=rate),),
        evidence=(
            Evidence("blocked_per_step", "The host is in these calls, average per step", held / n, "ns", "trace"),
            Evidence("copies_per_step", "These copies, average per step", took / n, "ns", "kernels"),
            Evidence("copied_bytes", "Bytes, average per step", size / n, "bytes", "kernels"),
            Evidence("copy_count", "Copies, average per step", len(calls) / n, "count", "trace"),
        ),
        links=(PINNED_MEMORY,),
        confidence="high" if is_loop_known(facts) and rate is None else "medium",
    )


RULE = Rule("pageable_output", "R8", (STEPS, DEVICE, CALLS), _find, replay=True)
