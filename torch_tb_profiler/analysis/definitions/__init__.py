"""What every reported number means, a file per view. Shown by the UI, repeated word for word by docs/views."""

from torch_tb_profiler.analysis.compare.columns import COMPARE_KERNELS, COMPARE_OPERATORS, COMPARE_PARTS
from torch_tb_profiler.analysis.definition import ColumnType, Definition, Unit
from torch_tb_profiler.analysis.kernels.columns import KERNELS
from torch_tb_profiler.analysis.memory.columns import MEMORY
from torch_tb_profiler.analysis.modules.columns import HOOKS, MODULES
from torch_tb_profiler.analysis.operators.columns import OPERATORS
from torch_tb_profiler.analysis.overview.columns import OVERVIEW
from torch_tb_profiler.analysis.run_metrics.columns import TRACES, TRACES_BY_NAME
from torch_tb_profiler.analysis.slices.columns import SLICES
from torch_tb_profiler.analysis.stacks.columns import STACKS

__all__ = [
    "COMPARE_KERNELS",
    "COMPARE_OPERATORS",
    "COMPARE_PARTS",
    "HOOKS",
    "KERNELS",
    "MEMORY",
    "MODULES",
    "OPERATORS",
    "OVERVIEW",
    "SLICES",
    "STACKS",
    "TRACES",
    "TRACES_BY_NAME",
    "ColumnType",
    "Definition",
    "Unit",
]
