"""Sorting, filtering and paging of every answer that is a table (docs/tables.md)."""

from torch_tb_profiler.web.table_query.answer import WHOLE, TableAnswer
from torch_tb_profiler.web.table_query.route import answer_query, ask_table

__all__ = ["WHOLE", "TableAnswer", "answer_query", "ask_table"]
