"""The text of a stored file as far as it can be unpacked: for what is sent or searched, as the reader takes it."""

from __future__ import annotations

from typing import BinaryIO

from torch_tb_profiler.trace.unpack import Limits, StoredFile, UnpackError, text_of


class ReadableText:
    """The text of a stored file, up to its end or to where it cannot be unpacked.

    What shows or copies a trace ends where its reader does.
    """

    def __init__(self, stream: BinaryIO, limits: Limits | None = None) -> None:
        self._text = text_of(StoredFile(stream), limits or Limits())
        self._ended = False

    def readinto(self, buffer: memoryview) -> int:
        """Read some bytes; 0 at the end. Raises OSError and StorageError when the file itself cannot be read."""
        try:
            count = 0 if self._ended else self._text.readinto(buffer) or 0
        except UnpackError:
            count = 0
        self._ended = not count
        return count
