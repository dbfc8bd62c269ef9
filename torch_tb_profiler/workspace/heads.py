"""The first bytes of files whose names do not say whether they are traces: read once per state of a file."""

from __future__ import annotations

import io
import time
from collections.abc import Iterable, Sequence
from typing import BinaryIO

from torch_tb_profiler.discovery import Content, examine, must_be_examined
from torch_tb_profiler.storage import Entry, StorageError, storage_for
from torch_tb_profiler.trace.unpack import GZIP_MAGIC, ZSTD_MAGIC, Limits, StoredFile, text_of

#: of a compressed file
STORED_BYTES = 64 * 1024
#: of text
TEXT_BYTES = 256 * 1024

#: a step of looking ends after so many files, or so many seconds
MOST_FILES = 5000
MOST_SECONDS = 0.5

_Version = tuple[int, int, str]


class Heads:
    """What is known of the contents of files. Not thread-safe."""

    def __init__(self) -> None:
        self._known: dict[str, tuple[_Version, Content]] = {}
        # thousands of files are skipped for the same few reasons
        self._contents: dict[Content, Content] = {}

    def content_of(self, entry: Entry) -> Content | None:
        """What was found when the file was last looked at; None when it never was."""
        known = self._known.get(entry.url)
        return known[1] if known else None

    def waiting(self, entries: Iterable[Entry]) -> list[Entry]:
        """Those of all files there are that must be looked at, the likely traces first; others are forgotten."""
        known, found = self._known, []
        self._known = {}
        for entry in entries:
            if not must_be_examined(entry):
                continue
            before = known.get(entry.url)
            if before:
                self._known[entry.url] = before
            if not before or before[0] != _version(entry):
                found.append(entry)
        found.sort(key=lambda entry: "trace" not in entry.path.lower())
        return found

    def look(self, entries: Sequence[Entry], most: int = MOST_FILES, seconds: float = MOST_SECONDS) -> int:
        """Look at files until `most` are done or the time is over; how many were."""
        end = time.monotonic() + seconds
        for done, entry in enumerate(entries[:most], start=1):
            version: _Version
            try:
                with storage_for(entry.url).open(entry.url) as stream:
                    content, version = examine_stream(stream), _version(entry)
            except (StorageError, OSError) as error:
                # a version that no file has: it is tried again after the next listing
                content, version = Content(_why(error)), (-1, -1, "")
            self._known[entry.url] = version, self._contents.setdefault(content, content)
            if time.monotonic() > end:
                return done
        return min(most, len(entries))


def examine_stream(stream: BinaryIO) -> Content:
    """Judge a file by its first bytes. Raises OSError."""
    head = stream.read(STORED_BYTES)
    if not head.startswith((GZIP_MAGIC, ZSTD_MAGIC)):
        head += stream.read(TEXT_BYTES - len(head))
        return examine(head, whole=len(head) < TEXT_BYTES)
    text, broken = _unpack(head)
    cut = len(head) == STORED_BYTES
    if broken and not text:
        return Content(f"cannot be read: {broken}")
    return examine(text, whole=not cut and len(text) < TEXT_BYTES)


def _unpack(head: bytes) -> tuple[bytes, str]:
    """As much text as the first bytes of a file give, and why it is not more."""
    buffer = memoryview(bytearray(TEXT_BYTES))
    length, broken = 0, ""
    try:
        text = text_of(StoredFile(io.BytesIO(head)), Limits())
        while length < TEXT_BYTES:
            count = text.readinto(buffer[length:])
            if not count:
                break
            length += count
    except OSError as error:
        broken = str(error)
    return bytes(buffer[:length]), broken


def _version(entry: Entry) -> _Version:
    return entry.size, entry.modified_ns, entry.etag


def _why(error: Exception) -> str:
    return str(error) if isinstance(error, StorageError) else f"cannot be read: {error}"
