"""Why a trace has no kernels."""

from __future__ import annotations

from torch_tb_profiler.analysis.shared.unrecorded import UNRECORDED
from torch_tb_profiler.late_pattern import late_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Note

TOUCHES = ("overview", "operators", "kernels")
ACTIVITIES = "profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])"
# Launches only: copies and sets of nothing call the API and run nothing, in every healthy trace.
LAUNCH_NAME = late_pattern(r"Launch.*Kernel|Kernel.*Launch")

NO_KERNELS = Note(
    "no_kernels",
    "info",
    "The trace contains no kernels: the profiler did not record a GPU, or the program did not use one.",
    touches=("kernels",),
    remedy=ACTIVITIES,
)

#: why records of a device are missing where those of calls of its API are not
_ASKED_FOR = (
    "The profiler was asked to record it, because it recorded calls of its API: the library that does so (CUPTI, "
    "roctracer) could not be used or lacked permission, another profiler was attached, or its buffers were lost."
)


def no_kernels(model: Model) -> Note | None:
    """`NO_KERNELS` itself unless the program used a device; None for a trace that has kernels."""
    whole, evidence = model.whole, model.unrecorded_device
    if evidence is not None:
        asked = whole.has_runtime and evidence != "ascend"
        return Note(
            "no_kernels",
            "info" if evidence == "properties" else "warning",
            UNRECORDED[evidence] + (f" {_ASKED_FOR}" if asked else ""),
            touches=TOUCHES,
            remedy=None if asked or evidence == "ascend" else ACTIVITIES,
            values={"evidence": evidence, "called": asked},
        )
    if whole.has_kernels:
        return None
    name = whole.trace.events.name[whole.launches.row]
    if whole.has_device_work and whole.trace.strings.where(LAUNCH_NAME.search, name)[name].any():
        return Note(
            "no_kernels",
            "warning",
            f"Copies were recorded, and none of the kernels that the program launched. {_ASKED_FOR}",
            touches=TOUCHES,
            values={"evidence": "copies", "called": True},
        )
    return NO_KERNELS
