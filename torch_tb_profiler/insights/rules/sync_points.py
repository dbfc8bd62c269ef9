"""Calls in which the host stops and waits for the device."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from torch_tb_profiler.analysis.replay.changes import without
from torch_tb_profiler.arrays.distinct import among, distinct
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import CALLS, DEVICE, STEPS
from torch_tb_profiler.insights.rule import Found, Rule
from torch_tb_profiler.insights.shared.allocations import freeing_waits
from torch_tb_profiler.insights.shared.anomaly import in_checks
from torch_tb_profiler.insights.shared.copies import large_reads
from torch_tb_profiler.insights.shared.links import PINNED_MEMORY
from torch_tb_profiler.insights.shared.logging_frames import in_frames, in_logging
from torch_tb_profiler.insights.shared.saving_frames import SAVES
from torch_tb_profiler.insights.shared.waits import (
    ASYNCHRONOUS,
    SYNC_DEBUG,
    WaitedFor,
    Waits,
    by_line,
    wait_evidence,
    waits,
)
from torch_tb_profiler.insights.shared.wording import how_often, ms
from torch_tb_profiler.late_pattern import late_pattern

#: by what the program asked for
_ADVICE: Mapping[str, str] = {
    "value": (
        "Keep the value on the device, `total += loss.detach()`, and read it every few steps: "
        "`if step % 50 == 0: print(total.item())`."
    ),
    "value_inference": (
        "Keep the value on the device and read it once for many: test for the end of a sequence every few tokens, or "
        "copy all values together at the end, `torch.stack(values).tolist()`."
    ),
    "condition": (
        "Choose on the device, `torch.where(condition, a, b)`, or check only every few steps: `if tensor:` and "
        "`torch.equal(a, b)` wait for the value."
    ),
    "grad_scaler": (
        "`GradScaler` reads whether a gradient is infinite. An optimizer with `fused=True` checks that on the device; "
        "with `torch.bfloat16` no scaler is needed."
    ),
    "copy_back": (
        "Copy into pinned memory without waiting: `host = torch.empty_like(x, device='cpu', pin_memory=True)`, "
        "`host.copy_(x, non_blocking=True)`, `event.record()`. Call `event.synchronize()` only where the values "
        "are used."
    ),
    "copy_to": (
        "Copy without waiting: `x.pin_memory().to(device, non_blocking=True)`, or create the tensor on the device, "
        "`torch.full(size, value, device=device)`."
    ),
    "device": (
        "Leave `torch.cuda.synchronize()` out of the loop; to measure time use "
        "`torch.cuda.Event(enable_timing=True)` and read it after the last step."
    ),
    "stream": (
        "Let streams wait for one another instead of the host: `stream.wait_event(event)`. Wait on the host only "
        "where a value is used there, as late as can be."
    ),
    "runtime": (
        "Let the engine wait later: start the next batch before it waits for the results of this one, with an "
        "asynchronous copy into pinned memory and an event that is waited for when they are used."
    ),
    "operator": (
        '`torch.cuda.set_sync_debug_mode("warn")` names each line that waits. Keep sizes and values that the operator '
        "needs on the host as Python numbers, or on the device as tensors."
    ),
}
_OF: Mapping[WaitedFor, str] = {
    WaitedFor.CONDITION: "condition",
    WaitedFor.COPY_BACK: "copy_back",
    WaitedFor.COPY_TO: "copy_to",
    WaitedFor.DEVICE: "device",
    WaitedFor.STREAM: "stream",
}
#: how the calls of the devices that torch runs on begin: NVIDIA, AMD, Intel (three layers), Ascend
_APIS = ("cuda", "hip", "ur", "pi", "ze", "acl")
GRAD_SCALER = late_pattern(r"torch/(?:cuda/)?amp/grad_scaler\.py\(")
_LINKS = {
    "copy_back": PINNED_MEMORY,
    "copy_to": PINNED_MEMORY,
    "device": ASYNCHRONOUS,
    "stream": ASYNCHRONOUS,
    "runtime": ASYNCHRONOUS,
}
#: told by rules of their own
_OTHERS = (WaitedFor.DYNAMIC, WaitedFor.PAGEABLE)


def _find(facts: Facts) -> Sequence[Found]:
    found = waits(facts.model)
    names = facts.trace.strings.where(lambda name: "barrier" in name.lower(), np.maximum(found.operator, 0))
    is_barrier = (found.operator >= 0) & names[np.maximum(found.operator, 0)]
    others = in_logging(facts.model, found.row) | in_checks(facts.model, found.row) | np.isin(found.asked, _OTHERS)
    # what the allocator waits for before it gives memory back is its own rule's
    others |= is_barrier | among(found.row, freeing_waits(facts.model)) | in_frames(facts.model, found.row, SAVES)
    # the copies of another rule, and what waits for them in the same operator
    others |= among(found.place, found.place[among(found.row, large_reads(facts).call)])
    return [
        _of_line(facts, line) for line in by_line(facts, found.take(~others), facts.limit("sync_points", "least_share"))
    ]


def _of_line(facts: Facts, group: Waits) -> Found:
    trace = facts.trace
    waited = int(group.waited_ns.sum())
    share, waited_ns = facts.share(waited), waited / facts.steps
    call = str(trace.strings[int(trace.events.name[group.row[0]])])
    operator = str(trace.strings[int(group.operator[0])]) if group.operator[0] >= 0 else ""
    how = _how(facts, group, call)
    # what is left of many lines together
    what = "" if len(distinct(group.operator)) > 1 else operator or call
    return Found(
        title=f"The host waits for the device in {what or 'other operators'}",
        detail=(
            f"{f'`{what}` stops' if what else 'Other operators stop'} the host "
            f"{how_often(group.times, facts.steps)} until the device is done: "
            f"{ms(waited_ns)}, {100 * share:.1f} % of the average step."
        ),
        advice=_ADVICE[how],
        values={
            "what": what,
            "times": group.times,
            "steps": facts.steps,
            "waited_ns": waited_ns,
            "share": share,
            "how": how,
        },
        rows=group.longest,
        changes=(without("sync", rows=group.row),),
        # less is what any program waits for that uses a value once a step
        least_share=facts.limit("sync_points", "least_share"),
        confidence="medium" if how in ("operator", "runtime") else "high",
        evidence=wait_evidence(facts, group, call),
        links=(_LINKS.get(how, SYNC_DEBUG),),
    )


def _how(facts: Facts, group: Waits, call: str) -> str:
    kinds = {WaitedFor(each) for each in group.asked.tolist()}
    if len(kinds) > 1:
        return "operator"
    (kind,) = kinds
    if kind == WaitedFor.VALUE and bool(in_frames(facts.model, group.row[:1], GRAD_SCALER)[0]):
        return "grad_scaler"
    if kind == WaitedFor.VALUE:
        return "value" if facts.is_training else "value_inference"
    if group.operator[0] >= 0:
        return _OF.get(kind, "operator")
    # torch copies in operators; what it waits for outside of them is the program's own call
    is_torch = call.startswith(_APIS) and bool(facts.model.structure.tree.is_operator.any())
    return _OF[kind] if is_torch and kind in (WaitedFor.DEVICE, WaitedFor.STREAM) else "runtime"


RULE = Rule("sync_points", "R9", (STEPS, DEVICE, CALLS), _find, replay=True)
