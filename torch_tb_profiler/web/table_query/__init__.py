"""Sorting, filtering and paging of every answer that is a table (docs/tables.md)."""

from torch_tb_profiler.web.table_query.answer import Query, TableAnswer
from torch_tb_profiler.web.table_query.route import answer_query, is_queried, page_of

__all__ = ["Query", "TableAnswer", "answer_query", "is_queried", "page_of"]
