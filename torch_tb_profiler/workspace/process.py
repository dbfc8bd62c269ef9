"""Resources of this process: log, numbers from the environment, threads, memory, temporary directories."""

from __future__ import annotations

import contextlib
import ctypes
import logging
import os
import shutil
import stat
import tempfile
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from types import ModuleType

from torch_tb_profiler.defaults import LOG_LEVEL

LEVELS = ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL")

_NAME = "torch_tb_profiler"


def configure_logging(usual: str = "WARNING") -> None:
    """Print the log of this package; once, however often it is called. usual: level where the environment has none."""
    logger = logging.getLogger(_NAME)
    if logger.handlers:
        return
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("%(levelname).1s %(asctime)s torch_profiler: %(message)s"))
    logger.addHandler(handler)
    # TensorBoard's own handler would print each line a second time.
    logger.propagate = False
    wanted = os.environ.get(LOG_LEVEL, usual).strip().upper()
    logger.setLevel(wanted if wanted in LEVELS else usual)
    if wanted not in LEVELS:
        logger.warning("%s=%s is none of %s; %s is used", LOG_LEVEL, wanted, ", ".join(LEVELS), usual)


log = logging.getLogger(__name__)


def int_from_environment(variable: str, default: int, least: int = 0) -> int:
    """Return the integer in an environment variable; `default` if it is not set, not a number or below `least`."""
    text = os.environ.get(variable, "")
    if text.isdecimal() and int(text) >= least:
        return int(text)
    if text:
        log.warning("%s=%s is not a number from %d up; %d is used", variable, text, least, default)
    return default


STOP_SECONDS = 5.0


class BackgroundThread(ABC):
    """One thread; `name` shows in debuggers."""

    def __init__(self, name: str) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Stop the work; return when it has ended, or after `STOP_SECONDS`."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(timeout=STOP_SECONDS)

    @abstractmethod
    def _work(self) -> None:
        """Do the work, and end soon after `_stop` is set."""


#: bytes that glibc keeps at the end of its heap, and size from which a block gets pages of its own
TRIM_THRESHOLD, MMAP_THRESHOLD = 16 << 20, 32 << 20
_STATM = Path("/proc/self/statm")
_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3


def trim_memory() -> None:
    """Return freed memory to the system: glibc keeps over half of a large trace below small blocks in use."""
    with _other_libraries():
        ctypes.CDLL(None).malloc_trim(0)


def resident_bytes() -> int:
    """Return the resident memory of this process, in bytes; 0 where the system does not say."""
    try:
        return int(_STATM.read_bytes().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def tune_malloc() -> None:
    """Let glibc keep less freed memory from now on; only for processes of our own."""
    with _other_libraries():
        library = ctypes.CDLL(None)
        library.mallopt(_M_MMAP_THRESHOLD, MMAP_THRESHOLD)
        library.mallopt(_M_TRIM_THRESHOLD, TRIM_THRESHOLD)


@contextlib.contextmanager
def _other_libraries() -> Iterator[None]:
    """Ignore that the C library is not glibc, or cannot be loaded."""
    with contextlib.suppress(AttributeError, OSError, TypeError):
        yield


#: idle seconds before a model or timeline is dropped; opening it takes some tenths of a second per million events
UNUSED_SECONDS = 60.0
#: seconds between two looks
PAUSE_SECONDS = 10.0


class IdleTrimmer(BackgroundThread):
    """Frees, again and again, what was not used for `UNUSED_SECONDS`.

    drops: each drops what was not used for so many seconds, and returns how many those were
    """

    def __init__(self, drops: Sequence[Callable[[float], int]], pause: float = PAUSE_SECONDS) -> None:
        self._drops = drops
        self._pause = pause
        super().__init__("torch-profiler-unused")

    def look(self, seconds: float = UNUSED_SECONDS) -> None:
        """Drop everything that was not used for so long."""
        if sum([drop(seconds) for drop in self._drops]):
            trim_memory()

    def _work(self) -> None:
        while not self._stop.wait(self._pause):
            self.look()


fcntl: ModuleType | None
try:
    import fcntl
except ImportError:  # on Windows an open file cannot be removed
    fcntl = None

_PREFIX = "torch_tb_profiler-"
#: a file in each directory, locked for as long as it is used
_MARK = "in-use"
#: seconds after which a directory that nobody has locked counts as left over
LEFT_OVER_SECONDS = 3600


class TemporaryDirectory:
    """A directory that is removed by `close`, or by the next process. Raises OSError where there can be none."""

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
    """Remove temporary directories of dead processes; those without a mark or of other users are not ours."""
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
    """Return whether a process holds the mark's lock. Raises OSError when that cannot be known."""
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
