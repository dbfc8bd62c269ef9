"""`torch-tb-profiler sql`."""

from __future__ import annotations

import argparse

from torch_tb_profiler.cli.options import declare_outputs, declare_trace


class Sql:
    """Query a trace, or all traces of a run, in SQL (docs/sql.md). Needs the extra `sql`."""

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
        from torch_tb_profiler.cli.work import sql

        sql.run(arguments)
