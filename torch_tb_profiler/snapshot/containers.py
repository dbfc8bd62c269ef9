"""What a snapshot is packed in: gzip, Zstandard, and the HTML pages that `_memory_viz.py trace_plot` writes."""

from __future__ import annotations

import base64
import binascii
import io
import re
from typing import BinaryIO

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.snapshot.harvest import SnapshotError
from torch_tb_profiler.trace.unpack import Limits, Readable, StoredFile, text_of
from torch_tb_profiler.words.reasons import because

_HEAD_BYTES = 256
_PAGE = lazy_pattern(rb"\A(?:\xef\xbb\xbf)?\s*<", re.DOTALL)
_BASE64 = lazy_pattern(rb'"base64"\s*:\s*"([A-Za-z0-9+/]*={0,2})"')


def pickle_in(stream: BinaryIO, limits: Limits) -> Readable:
    """The text of the pickle in a file. Raises SnapshotError; an OSError while it is read says what is damaged."""
    text = _Ahead(text_of(StoredFile(stream), limits))
    if not _PAGE.match(text.peek(_HEAD_BYTES)):
        return text
    found = _BASE64.search(text.rest())
    if found is None:
        raise SnapshotError(because("no_snapshot", {"is": "page"}))
    try:
        return io.BytesIO(base64.b64decode(found[1]))
    except binascii.Error:
        raise SnapshotError(because("no_snapshot", {"is": "page"})) from None


class _Ahead:
    """A text whose first bytes can be looked at."""

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
