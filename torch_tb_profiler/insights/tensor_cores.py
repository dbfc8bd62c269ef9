"""Matrix products without tensor cores on a GPU that has them."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.kernels.table import kernel_totals
from torch_tb_profiler.analysis.operators.calls import operator_calls
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.model import Model

#: the first compute capability with tensor cores
FIRST_MAJOR = 7
#: with more than this of the kernel time undecided, whether tensor cores are used is not known
MOST_UNDECIDED = 0.1
#: with less than this of the kernel time in such products there is little to gain
LITTLE = 0.1


def _apply(model: Model) -> Finding | None:
    devices = model.trace.header.devices
    major = devices[0].get("computeMajor") if devices else None
    if not isinstance(major, int) or major < FIRST_MAJOR:
        return None
    totals = kernel_totals(model)
    if not totals.kernel_ns or totals.tensor_core_ns or totals.undecided_ns > MOST_UNDECIDED * totals.kernel_ns:
        return None
    calls = operator_calls(model)
    of_operators = int(calls.kernel_self.sum())
    eligible = int(np.where(calls.bottom, calls.kernel_self, 0).sum())
    if not eligible:
        return None
    share = eligible / of_operators
    return Finding(
        id="tensor_cores",
        severity="medium" if share >= LITTLE else "low",
        title="Tensor cores are not used",
        detail=(
            f"Kernels with {100 * share:.0f} % of the time were launched by operators that could use tensor cores, and "
            "none of them does. Automatic mixed precision runs them in 16 bits on tensor cores; for 32-bit products "
            "TF32 does so on Ampere and later."
        ),
        values={"share": share},
        saving_ns=None,
        evidence=(
            Evidence("eligible_kernel_time", "Kernel time of eligible operators", eligible, "ns", "operators"),
            Evidence("eligible_share", "Share of the kernel time of all operators", share, "fraction", "operators"),
            Evidence(
                "tensor_core_share", "Kernel time using tensor cores", totals.tensor_core_share, "fraction", "kernels"
            ),
        ),
        links=(Link("mixed_precision", "Automatic mixed precision", "https://pytorch.org/docs/stable/amp.html"),),
    )


RULE = Rule("tensor_cores", "deviceProperties of compute capability 7.0 or later, kernels, operators", _apply)
