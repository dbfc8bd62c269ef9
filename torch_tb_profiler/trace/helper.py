"""A process that decodes batches of chunks: reads them from stdin, writes the decoded events to stdout.

A batch is the length of its head (4 bytes, little endian), the head (MessagePack), and the texts of its chunks.
An answer is its length (8 bytes), then MessagePack; a length of 0 says that the process is ready. It ends with its
stdin.
"""

from __future__ import annotations

import gc
import os
import struct
import sys
from collections.abc import Sequence
from typing import BinaryIO, Protocol

import msgspec

from torch_tb_profiler.codec import msgpack_decoder
from torch_tb_profiler.trace.collect import GatheredColumns, Gatherer
from torch_tb_profiler.trace.decode import EventDecoder
from torch_tb_profiler.trace.events import Chunk
from torch_tb_profiler.trace.notes import Note

#: texts and their bytes beyond which a decoder starts again
_MOST_TEXTS, _MOST_TEXT_BYTES = 1 << 16, 16 << 20


class Batch(msgspec.Struct, frozen=True):
    """Chunks that follow each other.

    number    of the batch, ascending in the order of the file
    since     number of the first batch since text was given back: what was found in those before does not count
    exact     whether the text of `ts` is kept
    """

    number: int
    since: int
    exact: bool
    chunks: tuple[Chunk, ...]


class DecodedBatch(msgspec.Struct, array_like=True):
    """What one decoder has found in a batch.

    chunks    how many were decoded; the next one cannot be without the text around it
    is_first  whether it numbers texts and tracks from the start
    """

    number: int
    chunks: int
    is_first: bool
    gathered: GatheredColumns
    notes: list[Note]


class BatchDecoder:
    """Decodes batches in the order of the file, with a numbering of its own."""

    def __init__(self) -> None:
        self._since = -1
        self._texts = self._text_bytes = 0
        self._gatherer = Gatherer()
        self._notes: list[Note] = []
        self._decoder = EventDecoder(exact=False, note=self._notes.append)
        self._exact = False

    def decode(self, batch: Batch) -> DecodedBatch:
        is_first = batch.since != self._since or self._texts > _MOST_TEXTS or self._text_bytes > _MOST_TEXT_BYTES
        if is_first:
            self._since = batch.since
            self._gatherer = Gatherer()
            self._texts = self._text_bytes = 0
            self._decoder = EventDecoder(exact=batch.exact, note=self._notes.append)
        done = 0
        while done < len(batch.chunks) and self._gather(batch.chunks[done]):
            done += 1
        gathered = self._gatherer.packed()
        self._texts += len(gathered.texts) + len(gathered.tracks.keys)
        self._text_bytes += sum(map(len, gathered.texts))
        notes = self._notes.copy()
        self._notes.clear()
        return DecodedBatch(batch.number, done, is_first, gathered, notes)

    def _gather(self, chunk: Chunk) -> bool:
        """Return whether a chunk could be decoded. Its events are freed on return: the next ones reuse their memory."""
        events = self._decoder.alone(chunk)
        if events is None:
            return False
        text = chunk.text
        self._gatherer.add(events, chunk.offset, len(text) - 2, lambda: bytes(text[1:-1]))
        return True


class HelperAnswer(msgspec.Struct, frozen=True):
    """What became of a batch.

    source   which decoder, for as long as it is used
    found    None if its process is gone
    """

    number: int
    source: int
    found: DecodedBatch | None


class Helpers(Protocol):
    """Processes that decode batches while the reader does other things."""

    def have_room(self) -> bool:
        """Return whether one can take a batch now."""

    def are_there(self) -> bool:
        """Return whether any process is left."""

    def give(self, batch: Batch) -> bool:
        """Give a batch to a process; return whether one has taken it, as the last one with room may be gone."""

    def answers(self, seconds: float) -> Sequence[HelperAnswer]:
        """Return the available answers, in any order; wait at most this long for the first."""

    def give_up(self, number: int) -> None:
        """End the process that has a batch; `answers` then reports it."""

    def close(self) -> None: ...


_BATCH_LENGTH = struct.Struct("<I")
_FOUND_LENGTH = struct.Struct("<Q")


class _Head(msgspec.Struct, array_like=True):
    """The head of a batch. chunks: offset, bytes and certainty of each"""

    number: int
    since: int
    exact: bool
    chunks: list[tuple[int, int, bool]]


_encode = msgspec.msgpack.Encoder().encode
_decode_head = msgpack_decoder(_Head).decode
_decode_found = msgpack_decoder(DecodedBatch).decode


def encode_batch(batch: Batch) -> list[bytes | memoryview]:
    """Encode a batch for stdin of a helper, in pieces: joining would copy its text again."""
    chunks = [(chunk.offset, len(chunk.text), chunk.certain) for chunk in batch.chunks]
    head = _encode(_Head(batch.number, batch.since, batch.exact, chunks))
    return [_BATCH_LENGTH.pack(len(head)) + head, *(chunk.text for chunk in batch.chunks)]


def read_decoded(stream: BinaryIO) -> DecodedBatch | None:
    """Return the next answer of a helper; None if it is ready. Raises EOFError when it is gone."""
    (length,) = _FOUND_LENGTH.unpack(_read_exactly(stream, _FOUND_LENGTH.size))
    return _decode_found(_read_exactly(stream, length)) if length else None


def main() -> None:
    gc.disable()  # millions of objects, none of them part of a cycle
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # anything that a library prints
    decoder = BatchDecoder()
    try:
        _send(replies, b"")
        while True:
            _send(replies, _encode(decoder.decode(_read_batch(sys.stdin.buffer))))
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the reader has ended, or needs no help any more


def _read_batch(stream: BinaryIO) -> Batch:
    (length,) = _BATCH_LENGTH.unpack(_read_exactly(stream, _BATCH_LENGTH.size))
    head = _decode_head(_read_exactly(stream, length))
    chunks = [
        Chunk(_read_exactly(stream, length), offset, certain, last=False) for offset, length, certain in head.chunks
    ]
    return Batch(head.number, head.since, head.exact, tuple(chunks))


def _send(replies: BinaryIO, found: bytes) -> None:
    left = memoryview(_FOUND_LENGTH.pack(len(found)) + found)
    while left:
        left = left[replies.write(left) :]


def _read_exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data
