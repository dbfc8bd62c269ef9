"""Small files of the cache: written whole or not at all, for their owner alone, with a digest of every byte."""

from __future__ import annotations

import contextlib
import itertools
import os
import threading
from collections.abc import Iterable
from hashlib import blake2b
from pathlib import Path

from torch_tb_profiler.regular_file import open_file
from torch_tb_profiler.trace.column_file import ColumnFileError
from torch_tb_profiler.trace.files import PART, writer_mark

#: a file is these bytes, the digest of the rest, and the rest
MAGIC = b"TTPS1\n"
_DIGEST = 16
_numbers = itertools.count()


def checksummed(content: bytes) -> bytes:
    """Return the content of a file that holds `content` and its digest."""
    return MAGIC + _digest(content) + content


def verified(stored: bytes) -> bytes | None:
    """Return what `checksummed` was given; None if any byte has changed."""
    head = len(MAGIC) + _DIGEST
    content = stored[head:]
    return content if stored[:head] == MAGIC + _digest(content) else None


def read_checksummed(path: Path) -> bytes | None:
    """Return what `write_checksummed` wrote; None if it is damaged. Raises OSError."""
    with open_file(path) as stream:
        return verified(stream.read())


def write_checksummed(path: Path, content: bytes) -> None:
    """Replace a file. Raises OSError, and leaves nothing then."""
    part = part_of(path)
    try:
        with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as out:
            out.write(checksummed(content))
        part.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            part.unlink(missing_ok=True)
        raise


def touch(path: Path) -> None:
    """Say that a file is used now; what a link leads to stays as it is. Raises OSError."""
    os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)


def part_of(path: Path) -> Path:
    """Return a name beside a file for what becomes it; another one for every call of every process."""
    return path.with_name(f"{path.name}.{writer_mark(os.getpid())}-{threading.get_ident()}-{next(_numbers)}{PART}")


def remove_parts(folders: Iterable[Path], name: str, process: int) -> None:
    """Remove what a process that has ended has left unfinished, of files whose names begin so."""
    for folder in folders:
        with contextlib.suppress(OSError):
            for part in list(folder.glob(f"{name}*.{writer_mark(process)}-*{PART}")):
                part.unlink(missing_ok=True)


def _digest(content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST).digest()


_KINDS = (ArithmeticError, AssertionError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
_OWN = __name__.partition(".")[0]


def is_broken(error: Exception) -> bool:
    """Return whether an error may come from a file that was made elsewhere, though its checksums hold.

    Errors of this package do not: they are messages to whoever asked for something that does not exist.
    """
    is_own = type(error).__module__.partition(".")[0] == _OWN
    return isinstance(error, ColumnFileError) or (isinstance(error, _KINDS) and not is_own)
