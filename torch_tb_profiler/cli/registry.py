"""The list of commands. A command is imported only when it runs or its help is shown."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple

from torch_tb_profiler.cli.command import Command
from torch_tb_profiler.tables.listing import COMMANDS as TABLES


class CommandEntry(NamedTuple):
    """Where to find a command.

    module  that has it
    made_by  its class, or a function
    help  what it does, in a line: the first of its docstring
    arguments  of the class or function
    """

    module: str
    made_by: str
    help: str
    arguments: tuple[str, ...] = ()

    def load(self) -> Command:
        """Import the command."""
        command: Command = getattr(import_module(self.module), self.made_by)(*self.arguments)
        return command


def _own(made_by: str, text: str) -> CommandEntry:
    return CommandEntry(f"{__package__}.{made_by.lower()}", made_by, text)


#: by name, in the order of the help
COMMANDS: Mapping[str, CommandEntry] = {
    "serve": _own("Serve", "Show the profiles below a directory in a browser, without TensorBoard."),
    "report": _own("Report", "Write a trace, or a run, with all views into one HTML file that needs no server."),
    "summary": _own("Summary", "Print a trace in a few numbers: step time, device use, owners of device work, notes."),
    "health": _own("Health", "List what is wrong with a trace, and the code that records what is missing."),
    "doctor": _own(
        "Doctor",
        "Print what a bug report needs: versions, files found and skipped, health of traces, cache, storage.",
    ),
    "export": _own("Export", "Write a part of a trace, call stacks for other programs, or a table to a file."),
    "completion": _own("Completion", "Print the script that completes commands and options in a shell."),
    "cache": _own("Cache", "Show the size of the cache of traces, shrink it, or empty it."),
    "ingest": _own(
        "Ingest", "Read every rank of a job, on this machine or on a Dask cluster, and summarize all ranks together."
    ),
    "check": _own("Check", "Fail when new recordings are slower than a baseline: for continuous integration."),
    "compare": _own(
        "Compare",
        "Show what changed between recordings: by how much, how certain that is, and in which kernels and operators.",
    ),
    "memory": _own("Memory", "Summarize a memory snapshot: peaks, what was in use, and why memory ran out."),
    "mcp": CommandEntry(
        "torch_tb_profiler.mcp.command",
        "Mcp",
        "Answer an agent's questions about the traces below a directory, over the Model Context Protocol.",
    ),
    "sql": _own("Sql", "Query a trace, or all traces of a run, in SQL (docs/sql.md). Needs the extra `sql`."),
    **{name: CommandEntry(f"{__package__}.tables", "table", of.command.help, (name,)) for name, of in TABLES.items()},
}
