"""`torch-tb-profiler sql`."""

from __future__ import annotations

import argparse
import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from torch_tb_profiler.cli.messages import UserError, lines_of, tell
from torch_tb_profiler.cli.parsers import declare_outputs, declare_trace

if TYPE_CHECKING:
    from torch_tb_profiler.cli.work import outputs
    from torch_tb_profiler.cli.work.targets import Target
    from torch_tb_profiler.tables.sql.answer import SqlRows
    from torch_tb_profiler.tables.sql.database import Database

#: rows that are printed as text
ROWS = 1_000
_STDIN = "-"
_PROMPT, _MORE = "sql> ", "...> "


class SqlCommand:
    """Query a trace, or all traces of a run, in SQL. Needs the extra `sql`."""

    name = "sql"
    #: QUERY may stand behind options, and be left out
    intermixed = True

    def declare(self, parser: argparse.ArgumentParser) -> None:
        declare_trace(parser, of_run=True)
        parser.add_argument(
            "query",
            metavar="QUERY",
            nargs="?",
            help="one SELECT; - reads it from stdin; without it and without -f, queries are read one after another",
        )
        parser.add_argument("-f", "--file", metavar="FILE", help="read the query from a file")
        parser.add_argument("--worker", help="only this worker of the run; its tables then need no schema name")
        declare_outputs(parser)
        parser.epilog = (
            "Examples:\n"
            '  torch-tb-profiler sql TRACE "select kind, ms(sum(duration_ns)) from kernels group by 1 order by 2"\n'
            '  torch-tb-profiler sql LOGDIR/RUN "select worker, step_ns, named from ranks"\n'
            '  torch-tb-profiler sql TRACE "select column_name, unit, meaning from columns" --csv\n'
            "The tables `columns` and `traces` list what can be queried."
        )

    def run(self, arguments: argparse.Namespace) -> None:
        from torch_tb_profiler.cli.work import outputs
        from torch_tb_profiler.cli.work.traces import chosen
        from torch_tb_profiler.tables.sql.database import Database, TraceSource
        from torch_tb_profiler.workspace import process

        process.configure_logging()
        form, target = outputs.format_of(arguments)
        statement = _statement(arguments)
        if arguments.worker is None:
            del arguments.worker  # `chosen` would take the first
        with chosen(arguments) as found:
            database = Database(
                [
                    TraceSource(found.run.name, file.worker, file.span, trace.ask)
                    for file, trace in zip(found.files, found.traces, strict=True)
                ]
            )
            if statement is None:
                _shell(database, arguments)
            else:
                _write(database.rows(statement), form, target, arguments)


def _statement(arguments: argparse.Namespace) -> str | None:
    """Return the query of the arguments; None if queries are typed one after another. Raises UserError."""
    from torch_tb_profiler.tables.sql.connection import LONGEST_STATEMENT

    if arguments.query is not None and arguments.file is not None:
        raise UserError("a query and -f exclude each other: use one of them")
    reads_stdin = _STDIN in (arguments.query, arguments.file)
    if arguments.path == _STDIN and (reads_stdin or (arguments.query is None and arguments.file is None)):
        raise UserError("stdin is the trace: give the query as an argument, or with -f FILE")
    if arguments.file is not None and not reads_stdin:
        try:
            return Path(arguments.file).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            told = error.strerror if isinstance(error, OSError) else "is not text in UTF-8"
            raise UserError(f"cannot read {arguments.file}: {told}") from None
    if reads_stdin or (arguments.query is None and not sys.stdin.isatty()):
        return sys.stdin.read(LONGEST_STATEMENT + 1)
    return str(arguments.query) if arguments.query is not None else None


def _write(query_rows: SqlRows, form: outputs.Format, target: Target | None, arguments: argparse.Namespace) -> None:
    from torch_tb_profiler.analysis.tabular import Page, PageMeta
    from torch_tb_profiler.cli.work import outputs
    from torch_tb_profiler.cli.work.text_table import stdout_style, text_table
    from torch_tb_profiler.tables.sql.answer import table_of_rows

    columns, rows = table_of_rows(query_rows.columns, query_rows.types, query_rows.rows)
    page = Page(meta=PageMeta(total=len(query_rows), matched=len(query_rows)), columns=columns, rows=rows)
    if form != "text":
        outputs.write(page, form, target)
        return
    width, colors = (None, False) if target else stdout_style(arguments.color)
    shown = {key: values[:ROWS] for key, values in rows.items()} if target is None else rows
    outputs.put(text_table(columns, shown, width, colors) + "\n", target)
    if target is None and len(query_rows) > ROWS:
        tell(f"{ROWS:,} of {len(query_rows):,} rows; --csv and other formats have all")


def _shell(database: Database, arguments: argparse.Namespace) -> None:
    """Answer queries from a terminal until it ends; each ends with a semicolon or an empty line."""
    from torch_tb_profiler.reason import ErrorWithReason

    with contextlib.suppress(ImportError):
        import readline  # noqa: F401 - lines can be edited and called back
    print(
        "A query ends with ; or an empty line. The tables `columns` and `traces` list what can be queried. Ctrl-D ends."
    )
    while (statement := _read()) is not None:
        try:
            _write(database.rows(statement), "text", None, arguments)
        except ErrorWithReason as error:
            tell(*lines_of(error))
        except KeyboardInterrupt:
            tell("ended")


def _read() -> str | None:
    """Return the next query; None at the end."""
    lines: list[str] = []
    while True:
        try:
            line = input(_MORE if lines else _PROMPT)
        except EOFError:
            print()
            return None
        except KeyboardInterrupt:
            print()
            lines.clear()
            continue
        if line.strip():
            lines.append(line)
        if lines and (not line.strip() or line.rstrip().endswith(";")):
            return "\n".join(lines)
