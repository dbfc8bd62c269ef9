"""A process of its own that reads a snapshot from stdin into a column file, within limits of memory and time.

Whatever a file makes the unpickler do, it does it here: the parent sees an outcome or an end. Snapshots may be packed
as gzip or Zstandard, or in the HTML pages that `_memory_viz.py trace_plot` writes.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.snapshot.state import write
from torch_tb_profiler.snapshot.unpickle_stream import SnapshotError, unpickle_stream
from torch_tb_profiler.trace.column_file import Writer
from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, UnpackError, text_of
from torch_tb_profiler.words.sentences import because

_HEAD_BYTES = 256
_PAGE = lazy_pattern(rb"\A(?:\xef\xbb\xbf)?\s*<", re.DOTALL)
_BASE64 = lazy_pattern(rb'"base64"\s*:\s*"([A-Za-z0-9+/]*={0,2})"')


def pickle_in(stream: BinaryIO, limits: Limits) -> Readable:
    """Open the pickle in a file. Raises SnapshotError; an OSError while it is read says what is damaged."""
    text = _PeekableText(text_of(StoredFile(stream), limits))
    if not _PAGE.match(text.peek(_HEAD_BYTES)):
        return text
    found = _BASE64.search(text.rest())
    if found is None:
        raise SnapshotError(because("no_snapshot", {"is": "page"}))
    try:
        return io.BytesIO(base64.b64decode(found[1]))
    except binascii.Error:
        raise SnapshotError(because("no_snapshot", {"is": "page"})) from None


class _PeekableText:
    """A text whose first bytes can be looked at before they are read."""

    def __init__(self, text: Readable) -> None:
        self._text = text
        self._ahead = b""

    def _more(self) -> bytes:
        block = bytearray(1 << 16)
        return bytes(block[: self._text.readinto(memoryview(block)) or 0])

    def peek(self, count: int) -> bytes:
        while len(self._ahead) < count:
            more = self._more()
            if not more:
                break
            self._ahead += more
        return self._ahead[:count]

    def rest(self) -> bytes:
        pieces = [self._ahead]
        while more := self._more():
            pieces.append(more)
        return b"".join(pieces)

    def readinto(self, buffer: memoryview, /) -> int | None:
        if self._ahead:
            count = min(len(buffer), len(self._ahead))
            buffer[:count] = self._ahead[:count]
            self._ahead = self._ahead[count:]
            return count
        return self._text.readinto(buffer)


#: of memory beside what the file takes, and bytes of memory for each byte of its text
FREE_BYTES = 512 << 20
TIMES = 4

_STEP = 1 << 20


class Outcome(msgspec.Struct, frozen=True):
    """The result of the process. reason: why there is no column file; None if there is one."""

    reason: Reason | None = None


def main() -> None:
    """Run with arguments: the column file, the greatest expansion of a packed file, and seconds of the processor."""
    target, expansion, seconds = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    limit_time(seconds)
    outcome = convert(target, Limits(expansion=expansion), memory_limit())
    sys.stdout.buffer.write(msgspec.json.encode(outcome))
    sys.stdout.flush()


def convert(target: Path, limits: Limits, progress: Callable[[int], None]) -> Outcome:
    """Read stdin and write the columns."""
    try:
        progress(0)
        read = 0

        def count(size: int) -> None:
            nonlocal read
            read = size
            progress(size)

        found = unpickle_stream(pickle_in(sys.stdin.buffer, limits), count)
        with Writer(target) as writer:
            writer.finish(write(found, writer, read))
        return Outcome()
    except (SnapshotError, UnpackError) as error:
        return Outcome(error.reason)
    except MemoryError:
        return Outcome(because("snapshot_limits", {"limit": "memory"}))
    except OSError as error:
        return Outcome(because("not_written", {"error": str(error)}))


def memory_limit() -> Callable[[int], None]:
    """Return a callback that raises this process's memory limit with the bytes read, where the system can."""
    try:
        import resource
    except ImportError:
        return lambda _: None
    base = _address_space()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    allowed = 0

    def allow(read: int) -> None:
        nonlocal allowed
        wanted = base + FREE_BYTES + TIMES * read
        if wanted - allowed < _STEP:
            return
        allowed = wanted + TIMES * 8 * _STEP
        if hard != resource.RLIM_INFINITY:
            allowed = min(allowed, hard)
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_AS, (allowed, hard))

    return allow


def limit_time(seconds: int) -> None:
    """Let the system end this process after so many seconds of the processor."""
    try:
        import resource
    except ImportError:
        return
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))


def _address_space() -> int:
    """Return the bytes of the address space that the process has now; 0 where the system does not tell."""
    try:
        import resource

        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        return pages * resource.getpagesize()
    except (ImportError, OSError, ValueError):
        return 1 << 30


if __name__ == "__main__":
    main()
