"""Why a trace has no kernels."""

from __future__ import annotations

from functools import cache

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note, Severity, note

TOUCHES = ("overview", "operators", "kernels")
# Launches only: copies and sets of nothing call the API and run nothing, in every healthy trace.
LAUNCH_NAME = lazy_pattern(r"Launch.*Kernel|Kernel.*Launch")


@cache
def nothing_shown() -> Note:
    """That there are no kernels, where nothing shows that the program used a device."""
    return note("no_kernels", "info", touches=("kernels",))


def no_kernels(model: Model) -> Note | None:
    """`nothing_shown()` itself unless the program used a device; None for a trace that has kernels."""
    whole, evidence = model.whole, model.unrecorded_device
    if evidence is not None:
        asked = whole.has_runtime and evidence != "ascend"
        severity: Severity = "info" if evidence == "properties" else "warning"
        return note("no_kernels", severity, touches=TOUCHES, values={"evidence": evidence, "called": asked})
    if whole.has_kernels:
        return None
    name = whole.trace.events.name[whole.launches.row]
    if whole.has_device_work and whole.trace.strings.where(LAUNCH_NAME.search, name)[name].any():
        return note("no_kernels", "warning", touches=TOUCHES, values={"evidence": "copies", "called": True})
    return nothing_shown()
