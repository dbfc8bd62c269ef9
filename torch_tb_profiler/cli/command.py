"""What a command is."""

from __future__ import annotations

import argparse
from typing import Protocol


class Command(Protocol):
    """One file per command; its docstring is its help text, of which the first line is in the registry, too.

    The file is imported for help, so it imports nothing beside the standard library and what else is light in `cli`;
    functions import what they need. Examples for the help are `parser.epilog`, whose lines begin with two spaces.
    """

    name: str

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, arguments: argparse.Namespace) -> int | None:
        """Do it; returns the exit code, None for 0. Raises UserError."""
        ...
