"""Which arguments of commands name what is read."""

from __future__ import annotations

import argparse

#: attributes of parsed arguments, each None, a path, or a list of paths; `tests/unit/test_targets.py` compares them
#: with what commands declare
READ = ("path", "paths", "base", "compare", "against", "file", "config", "error", "scheduler_file", "logdir", "root")


def paths_read(arguments: argparse.Namespace) -> list[str]:
    """The paths that a command was given to read, as they were written; `-` is stdin."""
    given = [getattr(arguments, name, None) for name in READ]
    return [str(path) for each in given if each for path in (each if isinstance(each, list) else [each])]
