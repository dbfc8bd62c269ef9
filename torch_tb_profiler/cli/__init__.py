"""The command line: `torch-tb-profiler COMMAND`.

Belongs here: one file per command, which reads arguments and hands over. Does not belong here: any logic.
"""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Sequence

from torch_tb_profiler import __version__
from torch_tb_profiler.cli.command import Command
from torch_tb_profiler.cli.errors import UserError
from torch_tb_profiler.cli.ingest import Ingest
from torch_tb_profiler.cli.memory import Memory
from torch_tb_profiler.cli.report import Report
from torch_tb_profiler.cli.serve import Serve
from torch_tb_profiler.cli.summary import Summary

COMMANDS: tuple[Command, ...] = (
    Serve(),
    Report(),
    Summary(),
    Ingest(),
    Memory(),
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit code."""
    parser = argparse.ArgumentParser(prog="torch-tb-profiler", description="PyTorch profiles in a browser.")
    parser.add_argument("--version", action="version", version=f"%(prog)s {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in COMMANDS:
        text = inspect.getdoc(command) or ""
        of_command = commands.add_parser(command.name, help=text.partition("\n")[0], description=text)
        command.declare(of_command)
        of_command.set_defaults(perform=command.run)
    arguments = parser.parse_args(argv)
    try:
        arguments.perform(arguments)
        sys.stdout.flush()
    except BrokenPipeError:
        # who read the output has enough; Python flushes once more when it ends
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except UserError as error:
        print(f"torch-tb-profiler: {error}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        return 130
    return 0
