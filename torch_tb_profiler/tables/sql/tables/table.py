"""What a table is."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import msgspec

from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks.reduction import RunResult
from torch_tb_profiler.tables.sql.columns import SqlColumn, Values


class SqlTable(msgspec.Struct, frozen=True):
    """A table about one trace.

    meaning  what one of its rows is
    fill     the values of each column, all of one length
    """

    name: str
    meaning: str
    columns: tuple[SqlColumn, ...]
    fill: Callable[[Model], Mapping[str, Values]]


class RunTable(msgspec.Struct, frozen=True):
    """A table about all ranks of a span of a run together; run and span are put before its columns.

    fill     the values of each column, all of one length
    """

    name: str
    meaning: str
    columns: tuple[SqlColumn, ...]
    fill: Callable[[RunResult], Mapping[str, Sequence[object]]]
