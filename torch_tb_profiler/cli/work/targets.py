"""Files that commands may write: none is also read by the command, and no trace or memory snapshot is overwritten.

Everything that writes a file of the user takes a `Target`, which `target_of` alone makes.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import stat
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from torch_tb_profiler.cli.messages import UserError
from torch_tb_profiler.cli.parsers import paths_read
from torch_tb_profiler.discovery.names import is_named_as_trace
from torch_tb_profiler.regular_file import open_file
from torch_tb_profiler.storage import StorageError, is_local, storage_for
from torch_tb_profiler.workspace.listing.sniff import examine_stream
from torch_tb_profiler.workspace.local_workspace import address_of
from torch_tb_profiler.workspace.recordings import RecordingError, expanded

#: device and number of a file: equal for all its names, links included
_Identity = tuple[int, int]


class Target(msgspec.Struct, frozen=True):
    """A file to be written, where nothing is lost by that."""

    path: Path


def target_of(
    arguments: argparse.Namespace, path: str | Path, is_trace: bool = False, also_read: Iterable[str] = ()
) -> Target:
    """Return the target at a path. Raises UserError if the command reads it, or if it is a trace or memory snapshot.

    is_trace   a trace is written, which may replace one that `export` wrote before
    also_read  paths and addresses that are read besides those of the arguments
    """
    path = Path(path)
    identity = _identity(path)
    if identity is None:
        return Target(path)
    if identity in _identities(arguments, also_read):
        raise UserError(f"{path} is read by this command: write to another file")
    if (what := _what_is_lost(path, is_trace)) is not None:
        raise UserError(f"{path} {what}; it is not overwritten: remove it first, or write to another file")
    return Target(path)


def refuse_same(paths: Iterable[str | Path]) -> None:
    """Refuse two outputs to the same file. Raises UserError."""
    seen = set()
    for path in paths:
        place = _identity(Path(path)) or os.path.realpath(path)
        if place in seen:
            raise UserError(f"{path} is named for two outputs: each needs a file of its own")
        if not _is_special(path):
            seen.add(place)


def refuse_stdout_of(arguments: argparse.Namespace) -> None:
    """Refuse output that is appended to a file that is read (`>> TRACE`). Raises UserError."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        if _of_status(os.fstat(sys.stdout.fileno())) in _identities(arguments, ()):
            raise UserError("the output goes to a file that is read by this command: write to another file")


def _identities(arguments: argparse.Namespace, also_read: Iterable[str]) -> set[_Identity | None]:
    return {identity for path in [*paths_read(arguments), *also_read] for identity in _of_input(path)} - {None}


def _of_input(path: str) -> Iterator[_Identity | None]:
    """Identities of the files that a path names: those of a glob, or one."""
    if path == "-":
        with contextlib.suppress(OSError):
            yield _of_status(os.fstat(0))
        return
    with contextlib.suppress(RecordingError, StorageError):  # reported where it is read
        for each in expanded(path):
            where = address_of(each).path
            if is_local(where):
                yield _identity(Path(storage_for(where).resolve(where)))


def _identity(path: Path) -> _Identity | None:
    """Return the identity of a file; None if no regular file is there."""
    try:
        return _of_status(path.stat())
    except (OSError, ValueError):  # nothing is there, or a name that no file can have
        return None


def _of_status(status: os.stat_result) -> _Identity | None:
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _is_special(path: str | Path) -> bool:
    """Return whether there is a pipe or a device, to which several outputs may go."""
    return Path(path).exists() and _identity(Path(path)) is None


def _what_is_lost(path: Path, is_trace: bool) -> str | None:
    """Say why a file must not be overwritten; None if it may be."""
    try:
        with open_file(path) as stream:
            found = examine_stream(stream)
    except OSError as error:
        return f"cannot be read to see what it is ({error.strerror or error})"
    if found.is_snapshot:
        return "is a memory snapshot"
    if found.reason is None:
        return None if is_trace and found.is_export else "is a trace"
    if not is_trace and path.stat().st_size and is_named_as_trace(path.name):
        return "has the name of a trace"
    return None
