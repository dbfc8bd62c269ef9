"""Directories for as long as a process lives, also when it is killed: what it left the next one removes."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import time
from pathlib import Path
from types import ModuleType

fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # Windows, where a file that is open cannot be removed
    fcntl = None

_PREFIX = "torch_tb_profiler-"
#: a file in each directory, locked for as long as it is used
_MARK = "in-use"
#: after which a directory that nobody has locked is left over
LEFT_OVER_SECONDS = 3600


class TemporaryDirectory:
    """`close` it. Raises OSError where there can be none."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX))
        self._mark = os.open(self.path / _MARK, os.O_RDWR | os.O_CREAT, 0o600)
        if fcntl is not None:
            with contextlib.suppress(OSError):  # not every file system has locks
                fcntl.flock(self._mark, fcntl.LOCK_EX)

    def close(self) -> None:
        """Remove it with all that is in it."""
        if self._mark >= 0:
            os.close(self._mark)
            self._mark = -1
        shutil.rmtree(self.path, ignore_errors=True)


def remove_left_overs() -> None:
    """Those of processes that are gone; those without a mark, or of other users, are not ours."""
    now = time.time()
    with contextlib.suppress(OSError):
        for path in list(Path(tempfile.gettempdir()).glob(f"{_PREFIX}*")):
            with contextlib.suppress(OSError):
                mark = path / _MARK
                folder, status = path.lstat(), mark.lstat()
                is_ours = stat.S_ISDIR(folder.st_mode) and stat.S_ISREG(status.st_mode)
                if hasattr(os, "geteuid"):
                    is_ours = is_ours and folder.st_uid == status.st_uid == os.geteuid()
                if is_ours and now - status.st_mtime > LEFT_OVER_SECONDS and not _is_used(mark):
                    shutil.rmtree(path, ignore_errors=True)


def _is_used(mark: Path) -> bool:
    """Raises OSError when that cannot be known."""
    if fcntl is None:
        mark.unlink()  # refused while it is open
        return False
    handle = os.open(mark, os.O_RDWR | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False
