"""HolisticTraceAnalysis from its released package: load, and the analyses it has that need no further input.

python holistic.py FILE...    ranks are counted in the order given
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable
from typing import Any

from own import cpu, peak, say

ANALYSES: dict[str, Callable[[Any], object]] = {
    "temporal breakdown": lambda a: a.get_temporal_breakdown(visualize=False),
    "idle time": lambda a: a.get_idle_time_breakdown(visualize=False),
    "kernels": lambda a: a.get_gpu_kernel_breakdown(visualize=False),
    "GPU annotations": lambda a: a.get_gpu_user_annotation_breakdown(visualize=False),
    "overlap": lambda a: a.get_comm_comp_overlap(visualize=False),
    "launches": lambda a: a.get_cuda_kernel_launch_stats(visualize=False),
    "queue length": lambda a: a.get_queue_length_summary(),
    "memory bandwidth": lambda a: a.get_memory_bw_summary(),
    "operators' kernels": lambda a: a.get_aten_op_kernels_and_delay(),
}


def main() -> None:
    from hta.trace_analysis import TraceAnalysis

    say(imported=cpu())
    began, wall = cpu(), time.monotonic()
    analysis = TraceAnalysis(trace_files=dict(enumerate(sys.argv[1:])))
    say(loaded=cpu() - began)
    failed: list[str] = []
    for name, ask in ANALYSES.items():
        try:
            with contextlib.redirect_stdout(sys.stderr):
                ask(analysis)
        except Exception as error:  # noqa: BLE001 - the others are still worth their time
            failed.append(f"{name}: {type(error).__name__}")
    say(cpu=cpu() - began, wall=time.monotonic() - wall, peak=peak(), unanswered=failed)


if __name__ == "__main__":  # it starts processes by import of this module
    main()
