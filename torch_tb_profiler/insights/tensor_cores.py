"""Matrix products without tensor cores on a GPU that has them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.kernels.table import kernel_totals
from torch_tb_profiler.analysis.shared.tensor_cores import FIRST_CAPABILITY, eligible_device_work
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.model import Model

#: with more than this of the time of compute kernels undecided, whether tensor cores are used is not known
MOST_UNDECIDED = 0.1
#: with less than this of the time of compute kernels in such products there is little to gain
LITTLE = 0.1


def _apply(model: Model) -> Finding | None:
    devices = model.trace.header.devices
    major = devices[0].get("computeMajor") if devices else None
    if not isinstance(major, int) or major < FIRST_CAPABILITY[0]:
        return None
    totals = kernel_totals(model)
    found = totals.tensor_cores
    if found is None or found.yes or found.unknown > MOST_UNDECIDED:
        return None
    rows = model.device_work.row[eligible_device_work(model)]
    eligible = int(np.maximum(model.trace.events.duration[rows], 0).sum())
    if not eligible:
        return None
    share = eligible / totals.compute_ns
    return Finding(
        id="tensor_cores",
        severity="medium" if share >= LITTLE else "low",
        title="Tensor cores are not used",
        detail=(
            f"Kernels with {100 * share:.0f} % of the time do work that tensor cores could do, and none of them uses "
            "these. Automatic mixed precision runs them in 16 bits on tensor cores; for 32-bit products "
            "TF32 does so on Ampere and later."
        ),
        values={"share": share},
        saving_ns=None,
        evidence=(
            Evidence("eligible_kernel_time", "Kernel time that could use tensor cores", eligible, "ns", "kernels"),
            Evidence("eligible_share", "Share of the time of compute kernels", share, "fraction", "kernels"),
            Evidence(
                "tensor_cores_yes", "Time of compute kernels using tensor cores", found.yes, "fraction", "kernels"
            ),
        ),
        links=(Link("mixed_precision", "Automatic mixed precision", "https://pytorch.org/docs/stable/amp.html"),),
    )


RULE = Rule("tensor_cores", "deviceProperties of compute capability 7.0 or later, kernels", _apply)
