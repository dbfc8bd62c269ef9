"""Commands that print a table; `torch_tb_profiler.tables.listing` has an entry for each."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.options import declare_outputs, declare_trace
from torch_tb_profiler.tables.listing import TABLES, ListedTable


class TableCommand:
    """Prints one of the tables; its docstring is what the list says."""

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
        parser.add_argument("--filter", default="", metavar="TEXT", help="which rows: docs/tables.md has the language")
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
        from torch_tb_profiler.cli.work import tables

        tables.run(self._of, arguments)


def table(name: str) -> TableCommand:
    """The command that prints the table of this name."""
    return TableCommand(TABLES[name])
