"""The tables, a line each."""

from __future__ import annotations

from torch_tb_profiler.tables.sql.tables.device import COPIES, GAPS, KERNELS
from torch_tb_profiler.tables.sql.tables.events import EVENTS
from torch_tb_profiler.tables.sql.tables.host import FRAMES, LAUNCHES, OPERATORS
from torch_tb_profiler.tables.sql.tables.of_memory import MEMORY
from torch_tb_profiler.tables.sql.tables.of_program import MODULES, STEPS
from torch_tb_profiler.tables.sql.tables.of_ranks import COLLECTIVES, RANKS
from torch_tb_profiler.tables.sql.tables.table import RunTable, SqlTable

#: about one trace each
TABLES: tuple[SqlTable, ...] = (*(STEPS, OPERATORS, KERNELS, COPIES, LAUNCHES, GAPS, MODULES, FRAMES, MEMORY, EVENTS),)

#: about all ranks of a run
RUN_TABLES: tuple[RunTable, ...] = (RANKS, COLLECTIVES)
