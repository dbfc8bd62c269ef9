"""A process that decodes batches of chunks: takes them from stdin, says on stdout what it has found.

A batch is the length of what is said of it (4 bytes, little endian), that (MessagePack), and the texts of its chunks.
What was found is MessagePack behind its length (8 bytes); a length of 0 says that the process is ready. It ends with
its stdin.
"""

from __future__ import annotations

import gc
import os
import struct
import sys
from typing import BinaryIO

import msgspec

from torch_tb_profiler.codec import msgpack_decoder
from torch_tb_profiler.trace.batches import Batch, BatchDecoder, Found
from torch_tb_profiler.trace.chunk import Chunk

_BATCH_LENGTH = struct.Struct("<I")
_FOUND_LENGTH = struct.Struct("<Q")


class _Head(msgspec.Struct, array_like=True):
    """What is said of a batch. chunks: offset, bytes and certainty of each"""

    number: int
    since: int
    exact: bool
    chunks: list[tuple[int, int, bool]]


_encode = msgspec.msgpack.Encoder().encode
_decode_head = msgpack_decoder(_Head).decode
_decode_found = msgpack_decoder(Found).decode


def encode_batch(batch: Batch) -> list[bytes | memoryview]:
    """For stdin of a helper, in pieces: joined, the text of the batch would be copied once more."""
    chunks = [(chunk.offset, len(chunk.text), chunk.certain) for chunk in batch.chunks]
    head = _encode(_Head(batch.number, batch.since, batch.exact, chunks))
    return [_BATCH_LENGTH.pack(len(head)) + head, *(chunk.text for chunk in batch.chunks)]


def read_found(stream: BinaryIO) -> Found | None:
    """The next answer of a helper; None if it says that it is ready. Raises EOFError when it is gone."""
    (length,) = _FOUND_LENGTH.unpack(_exactly(stream, _FOUND_LENGTH.size))
    return _decode_found(_exactly(stream, length)) if length else None


def main() -> None:
    gc.disable()  # millions of objects, none of them part of a cycle
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)  # whatever a library prints
    decoder = BatchDecoder()
    try:
        _send(replies, b"")
        while True:
            _send(replies, _encode(decoder.decode(_read_batch(sys.stdin.buffer))))
    except (EOFError, BrokenPipeError):
        os._exit(0)  # the reader has ended, or needs no help any more


def _read_batch(stream: BinaryIO) -> Batch:
    (length,) = _BATCH_LENGTH.unpack(_exactly(stream, _BATCH_LENGTH.size))
    head = _decode_head(_exactly(stream, length))
    chunks = [Chunk(_exactly(stream, length), offset, certain, last=False) for offset, length, certain in head.chunks]
    return Batch(head.number, head.since, head.exact, tuple(chunks))


def _send(replies: BinaryIO, found: bytes) -> None:
    left = memoryview(_FOUND_LENGTH.pack(len(found)) + found)
    while left:
        left = left[replies.write(left) :]


def _exactly(stream: BinaryIO, count: int) -> bytes:
    data = stream.read(count)
    if len(data) < count:
        raise EOFError
    return data
