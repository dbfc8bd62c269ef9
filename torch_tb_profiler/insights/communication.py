"""Communication behind which nothing is computed."""

from __future__ import annotations

from torch_tb_profiler.analysis.device_use import step_use
from torch_tb_profiler.analysis.overview.overview import average_step
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.insights.slow_communication import SEVERE, THRESHOLD, slow_operations
from torch_tb_profiler.model import Model


def _apply(model: Model) -> Finding | None:
    average = average_step(model)
    if average.step_ns <= 0:
        return None
    use = step_use(model)
    if use is not None and use.exposed_communication_ns is not None:
        exposed = float(use.exposed_communication_ns.mean())
        label = "Exposed communication, average per step"
        evidence = Evidence("exposed_communication_per_step", label, exposed, "ns", "steps")
    else:  # a library without kernels: what the host did
        exposed = average.category_ns.get("communication", 0.0)
        evidence = Evidence("communication_per_step", "Communication, average per step", exposed, "ns", "overview")
    share = exposed / average.step_ns
    if share <= THRESHOLD or slow_operations(model):
        # sending less does not help who waits
        return None
    return Finding(
        id="communication",
        severity="high" if share >= SEVERE else "medium",
        title="Steps wait for communication",
        detail=(
            f"{100 * share:.1f} % of the average step is communication that no computation hides. Send less: compress "
            "gradients with a communication hook, accumulate gradients over several batches before exchanging them, or "
            "use a larger batch per device. A larger batch changes how training converges; an optimizer such as LAMB "
            "is made for that."
        ),
        values={"share": share},
        saving_ns=exposed,
        evidence=(
            evidence,
            Evidence("share_of_step", "Share of the average step", share, "fraction", "overview"),
        ),
        links=(
            Link("ddp_hooks", "Communication hooks of DDP", "https://pytorch.org/docs/stable/ddp_comm_hooks.html"),
            Link(
                "gradient_accumulation",
                "Gradient accumulation",
                "https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",
            ),
            Link("lamb", "LAMB", "https://nvidia.github.io/apex/optimizers.html#apex.optimizers.FusedLAMB"),
        ),
    )


RULE = Rule("communication", "communication kernels or collective ranges, and steps", _apply)
