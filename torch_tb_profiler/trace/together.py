"""One file read by several processes: the reader cuts chunks, all decode them, the reader puts in order what was found.

What is read is the same, to the byte, as when the reader is alone. What cannot be told of a chunk without the text
around it (a cut that was a guess, an early end of the list) is left to the reader: it goes back to that chunk, and on
from there.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator

import msgspec

from torch_tb_profiler.trace.collect import BATCH_CHUNKS, Collector, NameNumbering
from torch_tb_profiler.trace.decode import EventDecoder
from torch_tb_profiler.trace.events import Chunk
from torch_tb_profiler.trace.helper import Batch, BatchDecoder, DecodedBatch, Helpers
from torch_tb_profiler.trace.text import ChunkedText

#: batches that are cut and not yet put in order
MOST_AHEAD = 24
#: how often the reader goes back before it goes on alone: each time costs what was decoded ahead
MOST_GIVEN_BACK = 8
#: seconds without an answer to the batch that is waited for, after which its process is given up
PATIENCE = 20.0

#: the number of the reader's own decoder among the sources
_OWN = -1


class _Pending(msgspec.Struct):
    """A batch that was not put in order yet. found: None until it is decoded; lost: whether its process is gone"""

    batch: Batch
    source: int = _OWN
    found: DecodedBatch | None = None
    lost: bool = False


class ParallelReader:
    """Reads the chunks of a text with helpers, then without."""

    def __init__(
        self,
        text: ChunkedText,
        collector: Collector,
        helpers: Helpers,
        decoder: EventDecoder,
    ) -> None:
        self._text = text
        self._collector = collector
        self._helpers = helpers
        self._decoder = decoder
        self._decode_here: Callable[[Chunk], None]
        self._chunks: Iterator[Chunk] = text.chunks()
        self._building: list[Chunk] = []
        self._pending: deque[_Pending] = deque()
        self._by_number: dict[int, _Pending] = {}
        self._own = BatchDecoder()
        self._numberings: dict[int, NameNumbering] = {}
        self._next_number = self._since = 0
        self._given_back = 0

    def read(self, decode_here: Callable[[Chunk], None], on_progress: Callable[[], None]) -> None:
        """Read all; `on_progress` is called now and then.

        decode_here: decodes a chunk of the text that cannot be decoded alone, and collects what is in it
        """
        self._decode_here = decode_here
        self._text.settle = self._settle
        try:
            while self._step():
                on_progress()
        finally:
            self._helpers.close()
        for chunk in self._chunks:
            self._decode_here(chunk)
            on_progress()

    def _step(self) -> bool:
        """Go on; False when there is nothing more to do for helpers."""
        while self._helpers.have_room() and self._is_room():
            batch = self._next_batch()
            if batch is None:
                return self._finish()
            if not self._helpers.give(batch):
                self._decode_own(batch)
        self._put_in_order()
        if self._given_back > MOST_GIVEN_BACK or not self._helpers.are_there():
            return self._finish()
        if not self._is_room():
            self._wait()
        elif (batch := self._next_batch()) is None:
            return self._finish()
        else:
            self._decode_own(batch)
        self._hear(0)
        return True

    def _is_room(self) -> bool:
        return len(self._pending) < MOST_AHEAD

    def _finish(self) -> bool:
        """Put all in order. Always False."""
        self._settle()
        return False

    # cutting ------------------------------------------------------------------------------------------------

    def _next_batch(self) -> Batch | None:
        """Return the next chunks; None at the end of those that can be decoded apart."""
        for chunk in self._chunks:
            if not chunk.room:
                self._decode_here(chunk)
                continue
            self._building.append(msgspec.structs.replace(chunk, text=bytes(chunk.text)))
            if self._cut_so_far() % BATCH_CHUNKS == 0:
                return self._built()
        return self._built() if self._building else None

    def _cut_so_far(self) -> int:
        ahead = sum(len(pending.batch.chunks) for pending in self._pending)
        return self._collector.chunks_taken + ahead + len(self._building)

    def _built(self) -> Batch:
        batch = Batch(self._next_number, self._since, self._decoder.exact, tuple(self._building))
        self._next_number += 1
        self._building.clear()
        self._by_number[batch.number] = pending = _Pending(batch)
        self._pending.append(pending)
        return batch

    # decoding -----------------------------------------------------------------------------------------------

    def _decode_own(self, batch: Batch) -> None:
        self._by_number[batch.number].found = self._own.decode(batch)

    def _hear(self, seconds: float) -> bool:
        """Take answers; whether there was one."""
        answers = self._helpers.answers(seconds)
        for answer in answers:
            pending = self._by_number.get(answer.number)
            if pending is not None:
                pending.source, pending.found, pending.lost = answer.source, answer.found, answer.found is None
        return bool(answers)

    def _wait(self) -> None:
        """Until something is known of the oldest batch."""
        oldest = self._pending[0]
        until = time.monotonic() + PATIENCE
        while oldest.found is None and not oldest.lost:
            left = until - time.monotonic()
            if left <= 0:
                self._helpers.give_up(oldest.batch.number)
                until += PATIENCE
            self._hear(max(left, 0.1))

    # putting in order ---------------------------------------------------------------------------------------

    def _settle(self) -> bool:
        """Put the chunks so far in order; return whether text was given back."""
        before = self._given_back
        if self._building:
            self._decode_own(self._built())
        while self._pending:
            self._wait()
            self._put_in_order()
        return self._given_back > before

    def _put_in_order(self) -> None:
        while self._pending and (self._pending[0].found is not None or self._pending[0].lost):
            pending = self._pending.popleft()
            del self._by_number[pending.batch.number]
            # what is lost is decoded by a decoder that is used once: the other has seen what comes behind it
            found = pending.found or BatchDecoder().decode(pending.batch)
            numbering = NameNumbering() if found.is_first else self._numberings[pending.source]
            if not pending.lost:
                self._numberings[pending.source] = numbering
            self._collector.put_chunks(found.chunks, found.gathered, numbering)
            for note in found.notes:
                self._decoder.note(note)
            if found.chunks < len(pending.batch.chunks):
                self._go_back(pending.batch.chunks[found.chunks :])

    def _go_back(self, chunks: tuple[Chunk, ...]) -> None:
        """Go back to the first of these chunks: decode it with the text around it, and cut the text after it again."""
        later = [chunk for pending in self._pending for chunk in pending.batch.chunks]
        first = self._text.give_back([*chunks, *later, *self._building])
        self._building.clear()
        self._pending.clear()
        self._by_number.clear()
        self._numberings.clear()
        self._since = self._next_number
        self._given_back += 1
        self._decode_here(first)
