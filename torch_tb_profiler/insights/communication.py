"""Communication behind which nothing is computed."""

from __future__ import annotations

from torch_tb_profiler.insights.exposed import SEVERE, exposed_communication
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.insights.slow_communication import slow_operations
from torch_tb_profiler.model import Model


def _apply(model: Model) -> Finding | None:
    exposed = exposed_communication(model)
    if exposed is None or slow_operations(model):
        # sending less does not help who waits
        return None
    return Finding(
        id="communication",
        severity="high" if exposed.share >= SEVERE else "medium",
        title="Steps wait for communication",
        detail=(
            f"{100 * exposed.share:.1f} % of the average step is communication that no computation hides. Send less: "
            "compress gradients with a communication hook, accumulate gradients over several batches before exchanging "
            "them, or use a larger batch per device. A larger batch changes how training converges; an optimizer such "
            "as LAMB is made for that."
        ),
        values={"share": exposed.share},
        saving_ns=exposed.ns,
        evidence=(
            exposed.evidence,
            Evidence("share_of_step", "Share of the average step", exposed.share, "fraction", "overview"),
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
