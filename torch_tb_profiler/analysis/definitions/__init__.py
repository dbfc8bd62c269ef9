"""What every reported number means, a file per view. Shown by the UI, repeated word for word by docs/views."""

from torch_tb_profiler.analysis.definitions.compare import COMPARE_KERNELS, COMPARE_OPERATORS, COMPARE_PARTS
from torch_tb_profiler.analysis.definitions.definition import ColumnType, Definition, Unit
from torch_tb_profiler.analysis.definitions.distributed import DISTRIBUTED, DISTRIBUTED_OPERATIONS
from torch_tb_profiler.analysis.definitions.kernels import KERNELS
from torch_tb_profiler.analysis.definitions.memory import MEMORY
from torch_tb_profiler.analysis.definitions.modules import HOOKS, MODULES
from torch_tb_profiler.analysis.definitions.operators import OPERATORS
from torch_tb_profiler.analysis.definitions.overview import OVERVIEW
from torch_tb_profiler.analysis.definitions.stacks import STACKS
from torch_tb_profiler.analysis.definitions.trace import SLICES
from torch_tb_profiler.analysis.definitions.traces import TRACES, TRACES_BY_NAME

__all__ = [
    "COMPARE_KERNELS",
    "COMPARE_OPERATORS",
    "COMPARE_PARTS",
    "DISTRIBUTED",
    "DISTRIBUTED_OPERATIONS",
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
