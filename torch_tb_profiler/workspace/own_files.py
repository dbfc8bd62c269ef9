"""Folders of this user in which others may have put something: nothing in them is listed or removed through a link."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import tempfile
from pathlib import Path

#: whether the system can look at and remove names of a folder that is open; Windows cannot
_BY_HANDLE = {os.open, os.stat, os.unlink, os.rmdir} <= os.supports_dir_fd and os.listdir in os.supports_fd
_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


def require_private(directory: Path) -> int:
    """The owner that files of this user have in a directory.

    Raises OSError: it cannot be written, belongs to another user but the administrator, or everybody may write to it.
    Where all files have one owner, or rights that nobody has chosen, as on some file systems, these are no others'.
    """
    with tempfile.TemporaryFile(dir=directory) as probe:
        made = os.fstat(probe.fileno())
    status = directory.stat()
    # whoever owns a link decides what it leads to
    if not {status.st_uid, directory.lstat().st_uid} <= {made.st_uid, 0}:
        raise PermissionError(errno.EPERM, "it belongs to another user", str(directory))
    if status.st_mode & ~made.st_mode & stat.S_IWOTH:
        raise PermissionError(errno.EPERM, "everybody may write to it", str(directory))
    return made.st_uid


class OwnFolder:
    """An open folder: what is done in it is done there, whatever takes its place meanwhile. `close` it.

    handle: None where the system cannot look at and remove names by it
    owner: whose it must be, unless it is the administrator's
    above: the open folder that it is in, where it must be no link; None for a path of its own
    """

    def __init__(self, path: Path, owner: int, above: OwnFolder | None = None) -> None:
        """Raises OSError, also if it belongs to another user."""
        self.path, self.owner = path, owner
        self.handle: int | None = None
        if _BY_HANDLE:
            flags = _FLAGS if above is None else _FLAGS | os.O_NOFOLLOW
            name = path if above is None else path.name
            self.handle = os.open(name, flags, dir_fd=None if above is None else above.handle)
            status = os.fstat(self.handle)
        else:
            status = path.stat() if above is None else path.lstat()
        if status.st_uid not in (owner, 0) or not stat.S_ISDIR(status.st_mode):
            self.close()
            raise PermissionError(errno.EPERM, "it belongs to another user", str(path))

    def __enter__(self) -> OwnFolder:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def inside(self, name: str) -> OwnFolder:
        """A folder in it. Raises OSError."""
        return OwnFolder(self.path / name, self.owner, self)

    def close(self) -> None:
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None

    def names(self) -> list[str]:
        return os.listdir(self.path if self.handle is None else self.handle)  # noqa: PTH208 - names are enough

    def status(self, name: str) -> os.stat_result:
        """Of what has the name, which may be a link. Raises OSError."""
        return os.stat(self._at(name), dir_fd=self.handle, follow_symlinks=False)

    def begin(self, name: str, size: int) -> bytes:
        """The first bytes of a regular file; empty for anything else."""
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        with contextlib.suppress(OSError):
            handle = os.open(self._at(name), flags, dir_fd=self.handle)
            try:
                return os.read(handle, size) if stat.S_ISREG(os.fstat(handle).st_mode) else b""
            finally:
                os.close(handle)
        return b""

    def remove(self, name: str) -> None:
        """A file, or a link. Raises OSError."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self.handle)

    def remove_folder(self, name: str) -> None:
        """An empty folder. Raises OSError."""
        os.rmdir(self._at(name), dir_fd=self.handle)

    def _at(self, name: str) -> str:
        return name if self.handle is not None else str(self.path / name)
