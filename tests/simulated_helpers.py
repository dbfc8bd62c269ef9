"""Processes that help to read a file, without processes: what they say comes in any order, after any time, or never."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

import msgspec
import pytest

from torch_tb_profiler.trace import TraceError, collect, read_to_file, text
from torch_tb_profiler.trace.helper import Batch, BatchDecoder, DecodedBatch, HelperAnswer, Helpers


class Simulated:
    """losses: how often one is gone when it is looked for answers"""

    def __init__(self, seed: int, count: int = 3, losses: float = 0.0) -> None:
        self._random = random.Random(seed)
        self._decoders: dict[int, BatchDecoder] = {source: BatchDecoder() for source in range(count)}
        self._given: dict[int, list[Batch]] = {source: [] for source in self._decoders}
        self._losses = losses
        self.batches = 0
        self.closed = 0

    def have_room(self) -> bool:
        return bool(self._given) and self._random.random() < 0.7

    def are_there(self) -> bool:
        return bool(self._given)

    def give(self, batch: Batch) -> bool:
        if not self._given:
            return False
        self.batches += 1
        self._random.choice(list(self._given.values())).append(batch)
        return True

    def answers(self, seconds: float) -> Sequence[HelperAnswer]:
        if self._given and self._random.random() < self._losses:
            gone = self._random.choice(list(self._given))
            return [HelperAnswer(batch.number, gone, None) for batch in self._given.pop(gone)]
        busy = [source for source, batches in self._given.items() if batches]
        if not busy or (not seconds and self._random.random() < 0.5):
            return []
        source = self._random.choice(busy)
        found = self._decoders[source].decode(self._given[source].pop(0))
        # as it comes from a process
        return [
            HelperAnswer(found.number, source, msgspec.msgpack.decode(msgspec.msgpack.encode(found), type=DecodedBatch))
        ]

    def give_up(self, number: int) -> None:
        raise AssertionError(f"all batches are answered, but {number} was waited for")

    def close(self) -> None:
        self.closed += 1


@contextmanager
def small_pieces() -> Iterator[None]:
    """So that small files have many chunks, batches and row groups."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "CHUNK_BYTES", 4096)
        patch.setattr(collect, "ROW_GROUP", 300)
        yield


def columns_of(content: bytes, path: Path, helpers: Helpers | None) -> bytes:
    """The column file, or why there is none."""
    path.unlink(missing_ok=True)
    try:
        read_to_file(BytesIO(content), path, helpers=helpers)
    except TraceError as error:
        return str(error.reason).encode()
    return path.read_bytes()
