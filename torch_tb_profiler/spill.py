"""Large arrays of results, in an unnamed file that the system reads from when they are used.

A process needs few of its arrays at a time. `spilled` writes the large ones to a file and gives read-only views of
it; `let_go` takes their pages from the process, and they come back when they are touched. The system keeps them in its
cache of files as long as it has room, so that little is read from the disk.

Nothing is spilled before `use` was called, by a process that is all ours. Where the system cannot do it, or has no
room, arrays stay in memory.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import tempfile
import threading
from collections.abc import Callable, Iterator
from functools import cached_property, wraps
from io import FileIO
from pathlib import Path
from typing import Any, TypeVar, cast
from weakref import WeakSet, ref

import msgspec
import numpy as np
import numpy.typing as npt

T = TypeVar("T")
AnyArray = npt.NDArray[Any]

#: bytes from which on an array is spilled
LEAST = 1 << 20
#: bytes of one file; a larger array has its own. A file goes when the last of its arrays does
FILE = 16 << 20
#: bytes that are left to others on the disk
ROOM = 1 << 30
#: bytes of files in the memory of the process, beside its libraries, above which they are released
HELD = 48 << 20
#: seconds between two looks at that
_EVERY = 0.01
#: of a tuple, list or dictionary with more values these are not looked at: they are many small ones
_MOST_VALUES = 64
_STATM = Path("/proc/self/statm")
_MOUNTS = Path("/proc/self/mountinfo")
#: kinds of file systems in memory, and over a network
_NO_DISK = frozenset(
    ("tmpfs", "ramfs", "nfs", "nfs4", "cifs", "smb3", "9p", "afs", "beegfs", "ceph", "glusterfs", "gpfs", "lustre")
)


class SpillFiles:
    """Files in a directory that hold arrays."""

    def __init__(self, directory: Path, least: int = LEAST) -> None:
        self.directory, self._least = directory, least
        self._maps: WeakSet[mmap.mmap] = WeakSet()
        #: the file that has room, its pages, and where what was written ends
        self._file: FileIO | None = None
        self._map: mmap.mmap | None = None
        self._end = 0
        #: by identity, the view of an array that others still hold
        self._views: dict[int, tuple[ref[AnyArray], ref[AnyArray]]] = {}
        self._lock = threading.Lock()
        self._libraries = _of_files()
        self._blocks, self._done = 0, threading.Event()

    def put(self, values: AnyArray) -> AnyArray:
        """Return the same values in a file; `values` themselves if few, in a file already, or impossible to write."""
        if values.nbytes < self._least or values.dtype.hasobject or 0 in values.strides or _is_spilled(values):
            return values
        with self._lock:
            key = id(values)
            known = self._views.get(key)
            if known is not None and known[0]() is values and (view := known[1]()) is not None:
                return view
            try:
                view = self._written(values)
            except OSError:
                return values
            self._views[key] = ref(values, lambda _: self._views.pop(key, None)), ref(view)
            return view

    def let_go(self) -> None:
        """Take the pages of all files from the process."""
        with self._lock:
            maps = list(self._maps)
        for each in maps:
            each.madvise(mmap.MADV_DONTNEED)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Let pages go whenever they are many, until the block ends, and then. Blocks of several threads share it."""
        with self._lock:
            self._blocks += 1
            if self._blocks == 1:
                self._done = threading.Event()
                watch = threading.Thread(target=self._watch, args=(self._done,), name="spilled arrays", daemon=True)
                with contextlib.suppress(RuntimeError):  # the system has no thread left: pages go at the end
                    watch.start()
        try:
            yield
        finally:
            with self._lock:
                self._blocks -= 1
                if not self._blocks:
                    self._done.set()
            self.let_go()

    def _watch(self, done: threading.Event) -> None:
        while not done.wait(_EVERY):
            with contextlib.suppress(OSError):  # no file is left to open: at another time
                if _of_files() - self._libraries > HELD:
                    self.let_go()

    def _written(self, values: AnyArray) -> AnyArray:
        content = np.ascontiguousarray(values).reshape(-1).view(np.uint8).data
        file, held, begin = self._place(len(content))
        done = 0
        while done < len(content):
            done += os.pwrite(file.fileno(), content[done:], begin + done)
        self._end = begin + done
        return np.frombuffer(held, values.dtype, values.size, begin).reshape(values.shape)

    def _place(self, size: int) -> tuple[FileIO, mmap.mmap, int]:
        """Return a file with so much room behind what it holds, its pages, and where the room begins."""
        begin = -(-self._end // mmap.PAGESIZE) * mmap.PAGESIZE
        if self._file is None or self._map is None or begin + size > len(self._map):
            self._file, self._map = None, None  # it goes with its arrays
            length = max(FILE, size)
            free = os.statvfs(self.directory)
            if free.f_bavail * free.f_frsize < ROOM + length:
                raise OSError("there is little room")
            if len(self._maps) >= _files_allowed():
                raise OSError("there are few files left to open")
            file = tempfile.TemporaryFile(dir=self.directory, buffering=0)  # noqa: SIM115 - as long as it has room
            file.truncate(length)
            self._map = mmap.mmap(file.fileno(), length, prot=mmap.PROT_READ)
            self._maps.add(self._map)
            self._file, self._end, begin = file, 0, 0
        return self._file, self._map, begin


def _files_allowed() -> int:
    """Return a quarter of the files that the process may have open; 1,024 where there is no limit."""
    import resource

    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1024 if allowed == resource.RLIM_INFINITY else allowed // 4


def _is_spilled(values: AnyArray) -> bool:
    base: object = values
    while isinstance(base, np.ndarray):
        base = base.base
    return isinstance(base.obj if isinstance(base, memoryview) else base, mmap.mmap)


def _of_files() -> int:
    """Return the bytes of files in the memory of the process."""
    return int(_STATM.read_bytes().split()[2]) * mmap.PAGESIZE


_used: SpillFiles | None = None


def use(directory: Path) -> None:
    """Put large arrays into files from now on, where the system can: there, or where temporary files are.

    Neither where that is memory itself, nor over a network.
    """
    global _used  # noqa: PLW0603 - one for the process
    if not hasattr(mmap, "MADV_DONTNEED") or not _STATM.exists():
        return
    with contextlib.suppress(OSError):  # there may be no place for temporary files, and few files left to open
        found = directory if _is_disk(directory) else Path(tempfile.gettempdir())
        if _is_disk(found) and (_used is None or _used.directory != found):
            _used = SpillFiles(found)


def _is_disk(directory: Path) -> bool:
    """Return whether files of a directory are on a disk of this machine, as far as the system says."""
    try:
        device = directory.stat().st_dev
        mounts = _MOUNTS.read_text().splitlines()
    except OSError:
        return False
    number = f"{os.major(device)}:{os.minor(device)}"
    kinds = {line.partition(" - ")[2].partition(" ")[0] for line in mounts if line.split(" ", 3)[2] == number}
    return not any(kind in _NO_DISK or kind.startswith("fuse") for kind in kinds)


@contextlib.contextmanager
def watched() -> Iterator[None]:
    """Keep spilled arrays out of memory but for what is used, while something is computed."""
    with contextlib.nullcontext() if _used is None else _used.watched():
        yield


def spilled_property(compute: Callable[[Any], T]) -> cached_property[T]:
    """Make a cached property whose value is spilled."""

    @wraps(compute)
    def computed(owner: Any) -> T:
        return spilled(compute(owner))

    return cached_property(computed)


def spilled(result: T) -> T:
    """Spill the large arrays of a result: an array, or what has arrays in its fields.

    Its fields are changed, not copied. Objects in fields of a plain object are left alone: they belong to others.
    """
    return result if _used is None else cast(T, _put(_used, result))


def _put(files: SpillFiles, value: object, inside: bool = False) -> object:
    if isinstance(value, np.ndarray):
        return files.put(value)
    if isinstance(value, tuple | list | dict) and len(value) > _MOST_VALUES:
        return value
    if type(value) is tuple:
        return tuple(_put(files, each, inside) for each in value)
    if isinstance(value, list):
        value[:] = [_put(files, each, inside) for each in value]
    elif isinstance(value, dict):
        value.update({key: _put(files, each, inside) for key, each in value.items()})
    elif isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            before = getattr(value, name)
            after = _put(files, before, inside)
            if after is not before:
                msgspec.structs.force_setattr(value, name, after)
        _put(files, getattr(value, "__dict__", None), inside)
    elif not inside and not isinstance(value, type):
        _put(files, getattr(value, "__dict__", None), inside=True)
    return value
