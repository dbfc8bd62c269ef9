"""Kinds of steps: which steps run another program than others, and what those of each kind take."""

from torch_tb_profiler.analysis.step_kinds.find import KindId, Kinds, StepKind, step_kinds
from torch_tb_profiler.analysis.step_kinds.warm_up import warm_up_ratio

__all__ = ["KindId", "Kinds", "StepKind", "step_kinds", "warm_up_ratio"]
