"""What `torch-tb-profiler mcp` does."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from types import FrameType

from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.cli.ending import ended_by_signals
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.mcp.catalog import Catalog
from torch_tb_profiler.mcp.guide import SKILL
from torch_tb_profiler.mcp.tools import TOOLS
from torch_tb_profiler.mcp.tools.sql import Queries
from torch_tb_profiler.tables.sql.errors import INSTALL
from torch_tb_profiler.workspace import logs

#: seconds of --time-limit
_LONGEST = 3600


def run(arguments: argparse.Namespace) -> None:
    if arguments.skill:
        sys.stdout.write(SKILL)
        return
    if arguments.root is None:
        raise UserError("ROOT is missing: the directory whose traces an agent may ask about")
    if not 0 < arguments.time_limit <= _LONGEST:
        raise UserError(f"--time-limit must be above 0 and at most {_LONGEST}")
    try:
        from torch_tb_profiler.mcp.server import Limits, serve
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in ("mcp", "mcp_types", "anyio"):
            raise
        raise UserError("mcp needs a package: pip install 'torch-tb-profiler[mcp]'") from None
    logs.configure()
    try:
        catalog = Catalog(arguments.root, arguments.cache_dir)
    except ProfileError as error:
        raise UserError(str(error)) from None
    if arguments.sql and find_spec("duckdb") is None:
        raise UserError(INSTALL)

    def end(number: int, _: FrameType | None) -> None:
        # a thread waits for the next line of stdin, and cannot be woken
        catalog.abandon()
        os._exit(128 + number)

    limits = Limits(seconds=arguments.time_limit)
    with ended_by_signals(end, with_ctrl_c=True):
        if not arguments.sql:
            serve(catalog, limits)
            return
        queries = Queries()
        try:
            serve(catalog, limits, (*TOOLS, queries.tool()))
        finally:
            queries.close()
