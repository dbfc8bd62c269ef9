"""Texts that can be read: one that takes bytes back, and that of a stored file as far as it can be unpacked."""

from __future__ import annotations

from typing import BinaryIO

from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, UnpackError, text_of


class Rereadable:
    """What was given back comes first. How much is read at once never depends on how it is unpacked."""

    def __init__(self, stream: Readable) -> None:
        self._stream = stream
        self._ahead = memoryview(b"")
        self._end: OSError | bool = False

    def readinto(self, buffer: memoryview) -> int:
        """Fill the buffer; less only at the end of the text. Raises OSError where the text breaks off, each time."""
        done = min(len(buffer), len(self._ahead))
        buffer[:done] = self._ahead[:done]
        self._ahead = self._ahead[done:]
        while done < len(buffer) and not self._end:
            try:
                count = self._stream.readinto(buffer[done:])
            except OSError as error:
                self._end = error
                break
            if not count:
                self._end = True
                break
            done += count
        if not done and isinstance(self._end, OSError):
            raise self._end
        return done

    def give_back(self, text: bytes) -> None:
        self._ahead = memoryview(text + bytes(self._ahead))


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
