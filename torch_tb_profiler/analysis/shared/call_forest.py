"""Sums over the call tree, shared by the analyses of one model."""

from __future__ import annotations

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.forest import Forest
from torch_tb_profiler.model import Model


@cached
def call_forest(model: Model) -> Forest:
    """Sums over the call tree."""
    return Forest(model.tree.parent)
