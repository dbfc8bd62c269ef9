"""Which part of the step an operator belongs to."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from torch_tb_profiler.analysis.shared.backward import evaluates
from torch_tb_profiler.arrays.distinct import among
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int8, Int64
from torch_tb_profiler.model import Model

Phase = Literal["forward", "backward", "optimizer"]
PHASES: tuple[Phase, ...] = get_args(Phase)


def phase_of(model: Model, node: Int64) -> Int8:
    """Index into PHASES of each node of the call tree, -1 for no node; all but the other two is forward.

    node   shape (n,): positions in `Model.tree`, -1 for none
    """
    tree = model.tree
    optimizes = among(tree.row, model.optimizer_rows)
    found = np.where(node >= 0, PHASES.index("forward"), -1).astype(np.int8)
    found[nearest(tree.parent, optimizes, node) >= 0] = PHASES.index("optimizer")
    found[nearest(tree.parent, evaluates(model), node) >= 0] = PHASES.index("backward")
    return found
