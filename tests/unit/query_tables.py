"""Tables to be filtered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.tabular import PageMeta, Table
from torch_tb_profiler.tables.query.answer import TableAnswer


def table(
    defined: Sequence[Definition],
    values: Mapping[str, Any],
    totals: Mapping[str, int] | None = None,
    averages: Sequence[str] = (),
) -> TableAnswer:
    return TableAnswer(Table(PageMeta(), defined, values, totals or {}, averages))
