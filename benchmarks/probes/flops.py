"""FLOP, bytes, coverage, utilizations and the roofline of a trace in a fresh interpreter: flops.py FILE

Counted from when steps, call tree, launches and owners are known, as other questions have them by then.
"""

from __future__ import annotations

import sys

from engine import prepared
from own import cpu, peak, say

from torch_tb_profiler.analysis.roofline.table import roofline
from torch_tb_profiler.analysis.roofline.utilization import step_flops


def main(path: str) -> None:
    model = prepared(path)
    _ = model.owners
    before, began = peak(), cpu()
    step_flops(model)
    roofline(model, "operator_shape")
    say(events=len(model.trace.events), flops=cpu() - began, more=peak() - before)


if __name__ == "__main__":
    main(sys.argv[1])
