"""Communication behind which nothing else runs."""

from __future__ import annotations

from torch_tb_profiler.analysis.overview.overview import average_step
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.insights.slow_communication import SEVERE, THRESHOLD, slow_operations
from torch_tb_profiler.model import Model


def _apply(model: Model) -> Finding | None:
    average = average_step(model)
    share = average.share("communication")
    if share <= THRESHOLD or slow_operations(model):
        # sending less does not help who waits
        return None
    uncovered = average.category_ns["communication"]
    return Finding(
        id="communication",
        severity="high" if share >= SEVERE else "medium",
        title="Steps wait for communication",
        detail=(
            f"{100 * share:.1f} % of the average step is communication that no compute kernel or copy hides. Send "
            "less: compress gradients with a communication hook, accumulate gradients over several batches before "
            "exchanging them, or use a larger batch per device. A larger batch changes how training converges; an "
            "optimizer such as LAMB is made for that."
        ),
        values={"share": share},
        saving_ns=uncovered,
        evidence=(
            Evidence("communication_per_step", "Communication, average per step", uncovered, "ns", "overview"),
            Evidence("share_of_step", "Share of the average step", share, "fraction", "overview"),
        ),
        links=(
            Link("Communication hooks of DDP", "https://pytorch.org/docs/stable/ddp_comm_hooks.html"),
            Link(
                "Gradient accumulation",
                "https://pytorch.org/docs/stable/notes/amp_examples.html#gradient-accumulation",
            ),
            Link("LAMB", "https://nvidia.github.io/apex/optimizers.html#apex.optimizers.FusedLAMB"),
        ),
    )


RULE = Rule("communication", "communication kernels or collective ranges, and steps", _apply)
