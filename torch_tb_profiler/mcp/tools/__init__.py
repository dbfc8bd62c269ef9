"""The tools: a file each, and a line here."""

from __future__ import annotations

from torch_tb_profiler.mcp.tool import AnyTool
from torch_tb_profiler.mcp.tools.candidates import CANDIDATES
from torch_tb_profiler.mcp.tools.compare import COMPARE
from torch_tb_profiler.mcp.tools.explain import EXPLAIN
from torch_tb_profiler.mcp.tools.hang import HANG
from torch_tb_profiler.mcp.tools.prove import PROVE
from torch_tb_profiler.mcp.tools.ranks import RANKS
from torch_tb_profiler.mcp.tools.step import STEP
from torch_tb_profiler.mcp.tools.summary import SUMMARY
from torch_tb_profiler.mcp.tools.tables import DEFINITIONS, TABLE
from torch_tb_profiler.mcp.tools.traces import TRACES

TOOLS: tuple[AnyTool, ...] = (
    TRACES,
    SUMMARY,
    STEP,
    TABLE,
    EXPLAIN,
    CANDIDATES,
    COMPARE,
    PROVE,
    RANKS,
    HANG,
    DEFINITIONS,
)
