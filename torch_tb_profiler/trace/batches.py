"""Batches of chunks that are decoded apart from the rest of their file, and what is found in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import msgspec

from torch_tb_profiler.trace.chunk import Chunk
from torch_tb_profiler.trace.decode import EventDecoder
from torch_tb_profiler.trace.gather import Gathered, Gatherer
from torch_tb_profiler.trace.notes import Note

#: texts and their bytes, of which a decoder that knows more begins anew
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


class Found(msgspec.Struct, array_like=True):
    """What one decoder has found in a batch.

    chunks    how many were decoded; the next one cannot be without the text around it
    is_first  whether it numbers texts and tracks from the start
    """

    number: int
    chunks: int
    is_first: bool
    gathered: Gathered
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

    def decode(self, batch: Batch) -> Found:
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
        return Found(batch.number, done, is_first, gathered, notes)

    def _gather(self, chunk: Chunk) -> bool:
        """Whether a chunk could be decoded. Its events are gone on return, so that the next ones take their place."""
        events = self._decoder.alone(chunk)
        if events is None:
            return False
        text = chunk.text
        self._gatherer.add(events, chunk.offset, len(text) - 2, lambda: bytes(text[1:-1]))
        return True


class Answer(msgspec.Struct, frozen=True):
    """What became of a batch.

    source   which decoder, for as long as it is used
    found    None if its process is gone
    """

    number: int
    source: int
    found: Found | None


class Helpers(Protocol):
    """Processes that decode batches while the reader does other things."""

    def have_room(self) -> bool:
        """Whether one may be given a batch now."""

    def are_there(self) -> bool:
        """Whether any may come to have room."""

    def give(self, batch: Batch) -> bool:
        """Whether one has taken it; the last that had room may be gone."""

    def answers(self, seconds: float) -> Sequence[Answer]:
        """Those that have come, in any order; waits until there is one, but not longer than so many seconds."""

    def give_up(self, number: int) -> None:
        """End the process that has a batch; `answers` then tells of it."""

    def close(self) -> None: ...
