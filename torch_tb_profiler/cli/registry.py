"""The list of commands. A command is imported only when it runs or its help is shown."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from importlib import import_module
from typing import NamedTuple, Protocol

from torch_tb_profiler.tables.listing import COMMANDS as TABLES


class Command(Protocol):
    """A command, in a file of its own; its docstring is its help text, and the registry repeats the first line.

    The file is imported for help, so it imports only the standard library and light modules of `cli`; functions import
    what they need. `parser.epilog` has examples, whose lines begin with two spaces.
    """

    name: str

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, arguments: argparse.Namespace) -> int | None:
        """Run the command; return the exit code, None for 0. Raises UserError."""
        ...


class CommandEntry(NamedTuple):
    """Where a command is defined.

    module     where it is
    factory    its class, or a function that returns it
    help       what it does, in one line: the first of its docstring
    arguments  of the factory
    """

    module: str
    factory: str
    help: str
    arguments: tuple[str, ...] = ()

    def load(self) -> Command:
        """Import the command."""
        command: Command = getattr(import_module(self.module), self.factory)(*self.arguments)
        return command


def _own(name: str, text: str) -> CommandEntry:
    return CommandEntry(f"{__package__}.{name}", f"{name.capitalize()}Command", text)


#: by what they are for, in the order of the help
GROUPS: Mapping[str, Mapping[str, CommandEntry]] = {
    "Why is it slow, and what to do": {
        "summary": _own(
            "summary", "Say what bounds a trace or all ranks of a run, what would save how much, and what to do."
        ),
        "findings": _own("findings", "List what costs time, how much, what to do about it, and where it can be seen."),
        "what-if": CommandEntry(
            f"{__package__}.what_if",
            "WhatIfCommand",
            "Say how long the steps of a trace would take after some changes, by replay.",
        ),
        "candidates": _own(
            "candidates", "List what is worth optimizing: work with its shapes, its roof, and what a step saves."
        ),
        "compare": _own(
            "compare",
            "Show what changed between recordings: by how much, how certain that is, in which kernels and operators.",
        ),
        "prove": _own(
            "prove", "Say whether a change removed the cause that a finding names, and gained what was predicted."
        ),
        "memory": _own("memory", "Summarize a memory snapshot: peaks, what was in use, and why memory ran out."),
        "hang": _own("hang", "Say which ranks stopped a distributed job, from its flight recorder dumps."),
        "health": _own("health", "List what is wrong with a trace, and the code that records what is missing."),
    },
    "The page": {
        # all views, served or in a file
        "serve": _own("serve", "Show the profiles below a directory in a browser, without TensorBoard."),
        "demo": _own("demo", "Show a sample profile in a browser: two ranks of a job, of which one is late."),
        "report": _own("report", "Write a trace, or a run, with all views into one HTML file that needs no server."),
    },
    "Tables": {
        **{
            name: CommandEntry(f"{__package__}.tables", "table", of.command.help, (name,))
            for name, of in TABLES.items()
        },
        "sql": _own("sql", "Query a trace, or all traces of a run, in SQL. Needs the extra `sql`."),
    },
    "Other programs": {
        "check": _own("check", "Fail when new recordings are slower than a baseline: for continuous integration."),
        "ingest": _own(
            "ingest",
            "Read every rank of a job, on this machine or on a Dask cluster, and summarize all ranks together.",
        ),
        "export": _own("export", "Write a part of a trace, call stacks for other programs, or a table to a file."),
        "mcp": CommandEntry(
            "torch_tb_profiler.mcp.command",
            "McpCommand",
            "Answer an agent's questions about the traces below a directory, over the Model Context Protocol.",
        ),
    },
    "This machine": {
        "doctor": _own(
            "doctor",
            "Print what a bug report needs: versions, files found and skipped, health of traces, cache, storage.",
        ),
        "cache": _own("cache", "Show the size of the cache of traces, shrink it, or empty it."),
        "completion": _own("completion", "Print the script that completes commands and options in a shell."),
    },
}
#: by name, in the order of the help
COMMANDS: Mapping[str, CommandEntry] = {name: entry for group in GROUPS.values() for name, entry in group.items()}
