"""A pickle → columns, while it is read.

No class is ever looked up: a snapshot holds only lists, dicts, texts and numbers, and anything else ends the reading.
A frame of the pickle always ends between two records. There, the records so far are turned into columns and emptied:
a file of 100 MB takes about twice its size instead of five times.

The memory that a damaged or hostile file makes the unpickler take is limited by the process (`child`), not here.
"""

from __future__ import annotations

import gc
import io
import pickle
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import numpy as np

from torch_tb_profiler.reason import OTHER, ErrorWithReason, Reason, reason_of
from torch_tb_profiler.snapshot.records import Columns, RecordColumns, StackInterner, StringInterner
from torch_tb_profiler.trace.unpack import Readable
from torch_tb_profiler.words.sentences import because


class NotPlain(Exception):
    """A pickle names a class, or an object that is stored elsewhere."""


class PlainUnpickler(pickle.Unpickler):
    """Unpickler that ends with NotPlain instead of loading a class or a persistent object."""

    def find_class(self, module_name: str, global_name: str, /) -> NoReturn:
        raise NotPlain(f"{str(module_name)[:80]}.{str(global_name)[:80]}")

    def persistent_load(self, _: Any) -> NoReturn:
        raise NotPlain("a persistent object")


_FRAME = b"\x95"
#: fewest frames between two searches for the next list of records
_SEARCH_INTERVAL = 64
_LENGTH_BYTES = 8
#: longer lists are not scanned to their end beforehand
_LONGEST_FRAME = 1 << 30
_READ_BYTES = 128 * 1024


class SnapshotError(ErrorWithReason):
    """A file cannot be read as a snapshot; the reason goes on after the name of the file."""


class UnpickledSnapshot:
    """The content of a snapshot, as far as it could be read.

    root     the dict of the snapshot, without its records; empty if the file ends too early
    records  of each list of records the columns, and the place of the list in `device_traces` (-1: unknown)
    cut_off  why the file could not be read to its end
    """

    def __init__(self) -> None:
        self.strings = StringInterner()
        self.stacks = StackInterner(self.strings)
        self.columns = RecordColumns(self.strings, self.stacks)
        self.root: dict[str, Any] = {}
        self.records: list[tuple[int, list[Columns]]] = []
        self.cut_off: Reason | None = None


def unpickle_stream(text: Readable, progress: Callable[[int], None] = lambda _: None) -> UnpickledSnapshot:
    """Read a snapshot. Raises SnapshotError; MemoryError passes.

    progress: called with the number of bytes read
    """
    snapshot = UnpickledSnapshot()
    stream = _Source(text, progress)
    head = stream.peek(4)
    if len(head) < 2 or head[0] != 0x80 or head[1] > pickle.HIGHEST_PROTOCOL:
        raise SnapshotError(because("no_snapshot", {"is": "no_pickle"}))
    framed = head[2:3] == _FRAME
    source: Any = _FrameSource(stream, snapshot) if framed else stream
    unpickler = PlainUnpickler(source)
    if framed:
        source.begin(unpickler)
    with _uncollected():
        root, ended = _load(unpickler, snapshot)
        if ended and not _is_snapshot(root):
            raise SnapshotError(because("no_snapshot", {"is": "pickle"}))
        if ended:
            snapshot.root = root
        if ended:
            lists = _record_lists(root["device_traces"])
        else:
            lists = _unfinished(unpickler.memo.copy(), source.records if framed else None)
        _take_rest(snapshot, lists, source.pieces if framed else {}, known=ended)
    return snapshot


def _load(unpickler: PlainUnpickler, snapshot: UnpickledSnapshot) -> tuple[Any, bool]:
    """Return the root, and whether the file ended well."""
    try:
        return unpickler.load(), True
    except NotPlain as error:
        raise SnapshotError(because("no_snapshot", {"is": "pickle", "names": str(error)})) from None
    except MemoryError:
        raise
    except (EOFError, OSError) as error:
        snapshot.cut_off = because("cut_off", {"snapshot": True}) if isinstance(error, EOFError) else reason_of(error)
    except RecursionError:
        raise SnapshotError(because("no_snapshot", {"is": "pickle"})) from None
    except Exception as error:  # noqa: BLE001 - a damaged pickle raises whatever its values make of it
        if "truncated" in str(error):
            snapshot.cut_off = because("cut_off", {"snapshot": True})
        else:
            snapshot.cut_off = Reason(OTHER, f"it is damaged: {str(error)[:200]}")
    return {}, False


def _is_snapshot(root: Any) -> bool:
    if not isinstance(root, dict):
        return False
    segments, traces = root.setdefault("segments", []), root.setdefault("device_traces", [])
    known = root.keys() & {"allocator_settings", "external_annotations", "host_segments"}
    return isinstance(segments, list | tuple) and isinstance(traces, list | tuple) and bool(segments or traces or known)


def _record_lists(traces: Any) -> list[Any]:
    return [each if isinstance(each, list) else list(each) if isinstance(each, tuple) else [] for each in traces]


def _unfinished(memo: dict[int, Any], last: list[Any] | None) -> list[Any]:
    """Return the record lists of a truncated file, except those already taken.

    last: the list that was being filled; it gets the records that were not appended yet

    Raises SnapshotError if the file has no key of a snapshot.
    """
    values = list(memo.values())
    if not any(type(value) is str and value in ("segments", "device_traces") for value in values):
        raise SnapshotError(because("no_snapshot", {"is": "pickle"}))
    lists = [value for value in values if _holds_records(value)]
    appended = {id(record) for records in lists for record in records}
    loose = [each for each in values if type(each) is dict and "action" in each and id(each) not in appended]
    current = lists[-1] if lists else last
    if current is None:
        return [loose] if loose else []
    current += loose
    return lists or [current]


def _holds_records(value: Any) -> bool:
    return type(value) is list and len(value) > 0 and type(value[0]) is dict and "action" in value[0]


def _take_rest(snapshot: UnpickledSnapshot, lists: list[Any], pieces: dict[int, list[Columns]], known: bool) -> None:
    """Take the records left after reading, and concatenate the chunks of each list."""
    seen: set[int] = set()
    for place, records in enumerate(lists):
        if id(records) in seen:  # the same list twice is one device
            continue
        seen.add(id(records))
        of_list = pieces.pop(id(records), [])
        if records:
            of_list.append(snapshot.columns.take(records))
            del records[:]
        if of_list:
            snapshot.records.append((place if known else -1, of_list))
    snapshot.records += [(-1, of_list) for of_list in pieces.values() if of_list]


class _Source:
    """The text of the file for an unpickler: with `peek`, so that it reads large blocks."""

    def __init__(self, text: Readable, progress: Callable[[int], None]) -> None:
        self._text = text
        self._progress = progress
        self._buffer = b""
        self._at = 0
        self.bytes_read = 0

    def _fill(self, size: int) -> None:
        """Buffer at least `size` bytes, or the rest of the file."""
        pieces = [self._buffer[self._at :]]
        have = len(pieces[0])
        while have < size:
            block = bytearray(min(max(size - have, _READ_BYTES), 1 << 24))
            count = self._text.readinto(memoryview(block)) or 0
            if not count:
                break
            pieces.append(bytes(block[:count]))
            have += count
            self.bytes_read += count
            self._progress(self.bytes_read)
        self._buffer, self._at = b"".join(pieces), 0

    def peek(self, size: int, /) -> bytes:
        if len(self._buffer) - self._at < size:
            self._fill(size)
        return self._buffer[self._at : self._at + size]

    def read(self, size: int, /) -> bytes:
        if len(self._buffer) - self._at < size:
            self._fill(size)
        taken = self._buffer[self._at : self._at + size]
        self._at += len(taken)
        return taken

    def readline(self) -> bytes:
        """Read a line, at most 64 KiB; no snapshot needs lines."""
        line = bytearray()
        while len(line) < 1 << 16:
            byte = self.read(1)
            line += byte
            if not byte or byte == b"\n":
                break
        return bytes(line)


class _FrameSource:
    """The text without `peek`: the unpickler then reads an opcode, a length, and one whole frame.

    An opcode asked for between frames says that all before it is done: then the records are taken.
    """

    def __init__(self, source: _Source, found: UnpickledSnapshot) -> None:
        self._source = source
        self._found = found
        self._unpickler: PlainUnpickler | None = None
        #: the list that is being filled
        self.records: list[Any] | None = None
        self._frames = 0
        self._next_search = 1
        self._idle = 0
        self._begins = False
        #: by identity of the list
        self.pieces: dict[int, list[Columns]] = {}
        # keeps the lists alive, so that no identity is reused
        self._lists: list[list[Any]] = []

    def begin(self, unpickler: PlainUnpickler) -> None:
        self._unpickler = unpickler

    def readline(self) -> bytes:
        return self._source.readline()

    def read(self, size: int, /) -> bytes:
        begins, self._begins = self._begins, False
        if size == 1 and self._source.peek(1) == _FRAME:
            self._begins = True
            self._frames += 1
            self._between_frames()
        if begins and size == _LENGTH_BYTES:
            return self._length(self._source.read(size))
        return self._source.read(size)

    def _length(self, stored: bytes) -> bytes:
        """Return the length of a frame; for a truncated frame, the length of the rest of the file."""
        length = int.from_bytes(stored, "little")
        left = len(self._source.peek(min(length, _LONGEST_FRAME)))
        if len(stored) == _LENGTH_BYTES and left < length:
            return left.to_bytes(_LENGTH_BYTES, "little")
        return stored

    def _between_frames(self) -> None:
        if self.records:
            self._drain(self.records)
            self._idle = 0
            return
        self._idle += 1
        if self._frames >= self._next_search and (self.records is None or self._idle >= _SEARCH_INTERVAL):
            self._next_search = self._frames + max(1, self._frames // 3)
            self._find_records()

    def _find_records(self) -> None:
        """Find the list of records that is being filled. Takes time in proportion to the bytes read so far."""
        assert self._unpickler is not None
        for value in reversed(list(self._unpickler.memo.copy().values())):
            if _holds_records(value):
                self.records, self._idle = value, 0
                self._lists.append(value)
                self._drain(value)
                return

    def _drain(self, records: list[Any]) -> None:
        batch = records[:]
        del records[:]
        self.pieces.setdefault(id(records), []).append(self._found.columns.take(batch))
        for record in batch:
            if type(record) is dict:
                record.clear()


@contextmanager
def _uncollected() -> Iterator[None]:
    """Disable the cyclic collector: there are millions of objects, none of them garbage."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def concatenated(pieces: list[Columns]) -> Columns:
    """Concatenate columns."""
    return {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]}


def unpickle_bytes(content: bytes) -> UnpickledSnapshot:
    """Unpickle a snapshot in memory."""
    return unpickle_stream(io.BytesIO(content))
