"""Some events of a trace file as text."""

from __future__ import annotations

import msgspec


class Chunk(msgspec.Struct, frozen=True):
    """Some events of the list.

    text      `[event, event, …]`, of a memoryview valid only until the next chunk is asked for
    offset    of the first event in the text of the file
    certain   false if the cut is a guess: ask for a shorter chunk if this one does not decode
    last      the last chunk of the file, or before damage
    ahead     bytes of the text that had been read from the offset on
    room      bytes of the buffer that it was read to; 0 when this chunk cannot be given back
    """

    text: memoryview | bytes
    offset: int
    certain: bool
    last: bool
    ahead: int = 0
    room: int = 0
