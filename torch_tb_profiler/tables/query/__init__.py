"""Sorting, filtering and paging of every answer that is a table (docs/tables.md)."""

from torch_tb_profiler.tables.query.answer import Query, TableAnswer

__all__ = ["Query", "TableAnswer"]
