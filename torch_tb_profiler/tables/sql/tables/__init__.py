"""The list of the tables, one line each."""

from __future__ import annotations

from torch_tb_profiler.tables.sql.columns import RunTable, SqlTable
from torch_tb_profiler.tables.sql.tables.device import COPIES, GAPS, KERNELS
from torch_tb_profiler.tables.sql.tables.host import EVENTS, FRAMES, LAUNCHES, OPERATORS
from torch_tb_profiler.tables.sql.tables.program import COLLECTIVES, MEMORY, MODULES, RANKS, STEPS

#: about one trace each
TABLES: tuple[SqlTable, ...] = (*(STEPS, OPERATORS, KERNELS, COPIES, LAUNCHES, GAPS, MODULES, FRAMES, MEMORY, EVENTS),)

#: about all ranks of a run
RUN_TABLES: tuple[RunTable, ...] = (RANKS, COLLECTIVES)
