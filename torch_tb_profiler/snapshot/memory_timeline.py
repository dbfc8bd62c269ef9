"""Files of `profiler.export_memory_timeline`: bytes by category over time, as the live memory profiler saw them.

`.json` has times in µs and, for each, bytes by category; `.raw.json.gz` has one change of bytes per row. The categories
are those of `torch.profiler._memory_profiler`. An `.html` file holds a picture and no numbers.
"""

from __future__ import annotations

from typing import Any, BinaryIO

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.codec import from_json
from torch_tb_profiler.reason import ErrorWithReason
from torch_tb_profiler.trace.files import ReadableText
from torch_tb_profiler.trace.unpack import Limits
from torch_tb_profiler.words.sentences import because

CATEGORIES = (
    "parameter",
    "optimizer_state",
    "input",
    "temporary",
    "activation",
    "gradient",
    "autograd_detail",
    "unknown",
)
_MOST_BYTES = 1 << 29
_READ_BYTES = 1 << 20
_RAW_FIELDS = 4


class MemoryTimelineError(ErrorWithReason):
    """A file is none of export_memory_timeline, or cannot be read."""


class MemoryTimeline(msgspec.Struct, frozen=True):
    """Bytes in use by category. time_ns: Unix time, shape (times,); bytes: shape (times, categories)."""

    time_ns: Int64
    bytes: Int64

    @property
    def peak(self) -> int:
        """Return the index of the first time with the most bytes in use."""
        return int(np.argmax(self.bytes.sum(axis=1)))


def read_memory_timeline(stream: BinaryIO, limits: Limits) -> MemoryTimeline:
    """Read a `.json` or `.raw.json` file, packed or not. Raises MemoryTimelineError."""
    try:
        text = _whole(stream, limits)
        decoded = from_json(text, list[list[Any]])
    except (OSError, RecursionError, msgspec.MsgspecError):
        raise MemoryTimelineError(because("no_memory_timeline")) from None
    try:
        found = _of_sums(decoded) if _has_lists(decoded) else _of_changes(decoded)
    except (ValueError, OverflowError, TypeError, IndexError):
        found = None
    if found is None or not len(found.time_ns):
        raise MemoryTimelineError(because("no_memory_timeline"))
    return found


def _whole(stream: BinaryIO, limits: Limits) -> bytes:
    text, size = ReadableText(stream, limits), 0
    pieces: list[bytes] = []
    while size <= _MOST_BYTES:
        block = bytearray(_READ_BYTES)
        count = text.readinto(memoryview(block))
        if not count:
            return b"".join(pieces)
        pieces.append(bytes(block[:count]))
        size += count
    raise MemoryTimelineError(because("too_large", {"bytes": _MOST_BYTES}))


def _has_lists(decoded: list[list[Any]]) -> bool:
    return len(decoded) == 2 and len(decoded[1]) > 0 and isinstance(decoded[1][0], list)


def _of_sums(decoded: list[list[Any]]) -> MemoryTimeline:
    """Read [times in µs, bytes by category of each]; the first category is only the axis of a plot."""
    times, sizes = decoded
    time, table = np.array(times, np.int64), np.array(sizes, np.int64)
    if time.ndim != 1 or table.shape != (len(time), len(CATEGORIES) + 1) or (table < 0).any():
        raise ValueError
    return MemoryTimeline(time * 1000, table[:, 1:])


def _of_changes(decoded: list[list[Any]]) -> MemoryTimeline:
    """Read [time in ns, action, bytes, category] for each change; a time of -1 is before the recording."""
    table = np.array(decoded, np.int64)
    if table.ndim != 2 or table.shape[1] != _RAW_FIELDS or (table[:, 3] < 0).any():
        raise ValueError
    change = np.zeros((len(table), len(CATEGORIES)), np.int64)
    change[np.arange(len(table)), table[:, 3]] = table[:, 2]
    known = table[:, 0] >= 0
    first = int(table[known, 0].min()) if known.any() else 0
    return MemoryTimeline(np.where(known, table[:, 0], first), np.cumsum(change, axis=0))
