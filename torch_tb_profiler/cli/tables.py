"""Commands that print a table; `torch_tb_profiler.tables.listing` has an entry for each."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

from torch_tb_profiler.cli.messages import UserError, nearest, tell
from torch_tb_profiler.cli.parsers import declare_outputs, declare_trace
from torch_tb_profiler.tables.listing import TABLES, ListedTable

if TYPE_CHECKING:
    from torch_tb_profiler.analysis.tabular import Column, Page, Table
    from torch_tb_profiler.tables.query import Query, TableAnswer
    from torch_tb_profiler.tables.query.grammar import QueryProblem

#: default number of rows printed as text
ROWS = 20


class TableCommand:
    """Prints one of the tables; the list has its help text."""

    def __init__(self, of: ListedTable) -> None:
        self.name = of.name
        self.__doc__ = of.command.help
        self._of = of

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser, of_run=self._of.command.of_run)
        for option in self._of.options:
            parser.add_argument(
                f"--{option.name.replace('_', '-')}",
                choices=option.values or None,
                metavar=None if option.values else option.name.upper(),
                help=option.help,
            )
        parser.add_argument(
            "--filter",
            default="",
            metavar="TEXT",
            help="which rows: words, conditions such as calls>10",
        )
        usual = self._of.command.sort or "the order of the table"
        parser.add_argument(
            "--sort",
            metavar="COLUMNS",
            help=f"such as -calls,name; - puts the largest first (default: {usual})",
        )
        parser.add_argument("--limit", metavar="N", help="rows, or `all` (default: 20 as text, all in other formats)")
        parser.add_argument(
            "--columns", metavar="COLUMNS", help="comma-separated keys, or `all` (default as text: a selection)"
        )
        declare_outputs(parser)
        parser.epilog = (
            f"Example:\n  torch-tb-profiler {self.name} LOGDIR/RUN --limit 5 --csv\n"
            "`--limit 1 --json` describes every column."
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import outputs
        from torch_tb_profiler.cli.work.text_table import stdout_style, text_table
        from torch_tb_profiler.tables.query import Query, TableAnswer
        from torch_tb_profiler.tables.query.grammar import QueryProblem
        from torch_tb_profiler.workspace import process

        of = self._of
        process.configure_logging()
        form, target = outputs.format_of(arguments)
        limit = _limit(arguments.limit, ROWS if form == "text" else "all")
        table = TableAnswer(_made(of, arguments, limit))
        query = Query(sort=_sort(of, arguments, table), filter=arguments.filter, limit=limit)
        keys = _keys(of, arguments.columns, table, form == "text")
        try:
            page = _counted(table.page(query, keys), table)
            depth = _depth(table, query) if form == "text" else None
        except QueryProblem as problem:
            raise UserError(_explained(problem, table)) from None
        if form != "text":
            outputs.write(page, form, target)
            return
        width, colors = (None, False) if target else stdout_style(arguments.color)
        outputs.put(text_table(page.columns, page.rows, width, colors, depth) + "\n", target)
        _say_what_is_left(page, arguments)


def table(name: str) -> TableCommand:
    """Return the command that prints the table of this name."""
    return TableCommand(TABLES[name])


def _made(listed: ListedTable, arguments: argparse.Namespace, limit: int | Literal["all"]) -> Table[Any]:
    if listed.command.of_run:
        from torch_tb_profiler.cli.work import table_sources

        return table_sources.TABLES_OF_RUNS[listed.name](arguments)
    from torch_tb_profiler.cli.work.table_sources import is_of_steps, table_of_trace
    from torch_tb_profiler.cli.work.traces import chosen

    given = {option.name: getattr(arguments, option.name) for option in listed.options}
    params = {name: value for name, value in given.items() if value is not None}
    if listed.name == "slices" and limit != "all" and not arguments.filter and arguments.sort is None:
        params["most"] = str(limit)  # do not collect millions of events for a few rows
    with chosen(arguments) as traces:
        return traces.ask(partial(table_of_trace, listed, params), of_steps=is_of_steps(listed))


def _limit(text: str | None, usual: int | Literal["all"]) -> int | Literal["all"]:
    if text is None:
        return usual
    if text == "all":
        return "all"
    if not text.isdecimal() or len(text) > 10 or not 0 < int(text) < 2**31:
        raise UserError(f"--limit must be a whole number from 1 on, or `all`, not {text!r}")
    return int(text)


def _sort(listed: ListedTable, arguments: argparse.Namespace, table: TableAnswer) -> str:
    """Return the requested order, else the usual one, by those columns that this table has."""
    if arguments.sort is not None:
        return str(arguments.sort)
    return ",".join(each for each in listed.command.sort.split(",") if each.removeprefix("-") in table.keys)


def _keys(listed: ListedTable, wanted: str | None, table: TableAnswer, is_text: bool) -> list[str] | None:
    """Return the keys of the columns to write; None for all."""
    if wanted == "all":
        return table.keys if is_text else None
    if wanted is None:
        return [key for key in listed.command.shown.split() if key in table.keys] if is_text else None
    return [each.strip() for each in wanted.split(",")]


def _counted(page: Page[Any], table: TableAnswer) -> Page[Any]:
    """Correct the row counts of a page whose table has only its first rows."""
    total = table.table.meta.total
    if total <= len(table):
        return page
    from msgspec.structs import replace

    return replace(page, meta=replace(page.meta, total=total, matched=total))


def _depth(table: TableAnswer, query: Query) -> Sequence[int] | None:
    """Return the indentation of the name in each row, if the rows are a tree in its own order."""
    if query.sort or query.filter or "depth" not in table.keys:
        return None
    found: Sequence[int] = table.page(query, ["depth"]).rows["depth"]
    return found


def _explained(problem: QueryProblem, table: TableAnswer) -> str:
    if problem.kind != "unknown_column" or problem.name is None:
        return f"{problem} (in {problem.token!r})" if problem.kind == "bad_regex" else str(problem)
    return f"{problem}{nearest(problem.name, table.keys)}; there are {', '.join(table.keys)}"


def _say_what_is_left(page: Page[Any], arguments: argparse.Namespace) -> None:
    """Print on stderr how many rows are left out, and notes about the rows."""
    columns: Sequence[Column] = page.columns
    shown = len(page.rows[columns[0].key]) if columns else 0
    if shown < page.meta.matched:
        of = f"{page.meta.matched:,}" + (f" of {page.meta.total:,}" if page.meta.matched < page.meta.total else "")
        tell(f"{shown:,} of {of} rows; --limit all shows all")
    elif not page.meta.total:
        tell(f"{arguments.path}: it has no rows of this kind")
    for note in getattr(page.meta, "notes", ()):
        if note.severity != "info":
            tell(f"{note.severity}: {note.text}")
