"""What a command is."""

from __future__ import annotations

import argparse
from typing import Protocol


class Command(Protocol):
    """One file per command; its docstring is its help text."""

    name: str

    def declare(self, parser: argparse.ArgumentParser) -> None:
        """Declare the arguments."""
        ...

    def run(self, arguments: argparse.Namespace) -> None:
        """Do it. Raises UserError."""
        ...
