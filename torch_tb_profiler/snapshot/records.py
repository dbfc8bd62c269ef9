"""Dicts of records and stacks → columns. Values are checked: damaged records are dropped and counted."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import chain
from operator import itemgetter
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.snapshot.schema import (
    NO_DEVICE_FREE,
    NO_TIME,
    Action,
    Frames,
    StackFrames,
    StackRanges,
)

Columns = dict[str, npt.NDArray[Any]]

ACTIONS = {action.name.lower(): int(action) for action in Action if action is not Action.OTHER}

_LEAST, _MOST = -(2**62), 2**62
_NOTHING = ("", "", -1, -1)
#: limit of metadata that is shown
_MOST_PARTS = 1000
_INTEGER = {int}
_LIST = {list}
_TEXT = {str}


def readable(text: str) -> str:
    """Return a text that UTF-8 can hold: pickles may hold halves of surrogate pairs."""
    return text.encode("utf-8", "replace").decode()


class StringInterner:
    """Gives texts codes; the empty one is 0. A text longer than any name is cut."""

    longest = 4096

    def __init__(self) -> None:
        self.texts = [""]
        self._codes = {"": 0}

    def code(self, text: object) -> int:
        if type(text) is not str:
            return 0
        known = self._codes.get(text)
        if known is None:
            kept = readable(text[: self.longest])
            known = self._codes.get(kept)
            if known is None:
                known = self._codes[kept] = len(self.texts)
                self.texts.append(kept)
        return known


class _Mark:
    """Stands in a list of frames for its stack, once that is known."""


class StackInterner:
    """Numbers distinct stacks.

    A list of frames is looked up by the identities of its frames: records of one stack have lists of their own, with
    the same frames in them. What was seen is held, so that an identity never stands for two frames. A list is emptied
    then but for a mark that stands for its stack, since records and blocks share lists. Files whose frames are all
    different objects have more than are remembered so; then their texts are compared.
    """

    most_identities = 200_000

    def __init__(self, strings: StringInterner) -> None:
        self._strings = strings
        self._of_identities: dict[bytes, int] = {}
        self._held: list[object] = []
        self._marks: list[list[object]] = []
        self._of_content: dict[tuple[int, ...], int] = {}
        self._of_frame: dict[int, tuple[int, object]] = {}
        self._of_text: dict[tuple[int, int, int], int] = {}
        self._frames: list[tuple[int, int, int]] = []

    def numbers(self, stacks: Sequence[object]) -> list[int]:
        """Return the number of each stack, -1 where there is none."""
        if set(map(type, stacks)) <= _LIST:
            lists: Sequence[Any] = stacks
        else:
            lists = [each if isinstance(each, list | tuple) else () for each in stacks]
        depths = list(map(len, lists))
        pointers = np.fromiter(chain.from_iterable(lists), object, sum(depths))
        identities, size = pointers.tobytes(), pointers.itemsize
        known, marks = self._of_identities, self._marks
        numbers, begin = [], 0
        for frames, depth in zip(lists, depths, strict=True):
            end = begin + size * depth
            number = known.get(identities[begin:end]) if depth else -1
            if number is None:
                number = self._new(identities[begin:end], tuple(pointers[begin // size : end // size]))
            if depth > 1 and type(frames) is list:
                frames[:] = marks[number]
            begin = end
            numbers.append(number)
        return numbers

    def _new(self, identities: bytes, frames: tuple[object, ...]) -> int:
        """Return the number of a stack from its frames, and remember it by their identities."""
        content = tuple([self._frame(each) for each in frames])
        number = self._of_content.setdefault(content, len(self._of_content))
        if number == len(self._marks):
            mark: list[object] = [_Mark()]
            self._marks.append(mark)
            self._of_identities[np.array(mark, object).tobytes()] = number
        if len(self._held) < self.most_identities:
            self._of_identities[identities] = number
            self._held.append(frames)
        return number

    def _frame(self, frame: object) -> int:
        known = self._of_frame.get(id(frame))
        if known is not None:
            return known[0]
        fields = frame if isinstance(frame, dict) else {}
        line = fields.get("line")
        line = line if type(line) is int and 0 <= line < 2**31 else 0
        text = (self._strings.code(fields.get("name")), self._strings.code(fields.get("filename")), line)
        number = self._of_text.get(text)
        if number is None:
            number = self._of_text[text] = len(self._frames)
            self._frames.append(text)
        if len(self._of_frame) < self.most_identities:
            self._of_frame[id(frame)] = number, frame
        return number

    def tables(self) -> dict[type[StackRanges] | type[StackFrames] | type[Frames], Columns]:
        depth = np.fromiter(map(len, self._of_content), np.int32, len(self._of_content))
        all_frames = [frame for content in self._of_content for frame in content]
        frames = np.array(self._frames, np.int64).reshape(-1, 3)
        return {
            StackRanges: {"start": np.cumsum(depth, dtype=np.int64) - depth, "depth": depth},
            StackFrames: {"frame": np.array(all_frames, np.int32)},
            Frames: {"name": frames[:, 0], "file": frames[:, 1], "line": frames[:, 2]},
        }


class RecordColumns:
    """Converts dicts of records to columns, in batches.

    dropped  how many records could not be read
    unknown  actions that are unknown, with their counts
    """

    def __init__(self, strings: StringInterner, stacks: StackInterner) -> None:
        self._strings = strings
        self._stacks = stacks
        self._contexts: dict[tuple[str, str, int, int], int] = {}
        self.dropped = 0
        self.unknown: Counter[str] = Counter()

    def take(self, batch: Sequence[Any]) -> Columns:
        """Return the columns of a batch, without the device; times in µs since the epoch."""
        try:
            return self._columns(batch)
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError):
            clean = [record for record in map(_clean, batch) if record is not None]
            self.dropped += len(batch) - len(clean)
            return self._columns(clean)

    def _columns(self, batch: Sequence[dict[str, Any]]) -> Columns:
        action = _field(batch, "action")
        names = set(action)
        actions = list(map(ACTIONS.get, action))
        if not names <= ACTIONS.keys():
            if set(map(type, names)) != _TEXT:
                raise TypeError
            self.unknown.update(readable(name[:80]) for name in action if name not in ACTIONS)
            actions = [code or 0 for code in actions]
        if "oom" in names:
            address = _integers([_place(record) for record in batch])
        else:
            address = _integers(_field(batch, "addr"))
        return {
            "action": np.array(actions, np.uint8),
            "address": address,
            "bytes": _sizes(_field(batch, "size")),
            "stream": _integers(_field(batch, "stream")),
            "time": _times(_field_if_there(batch, "time_us", None)),
            "stack": np.array(self._stacks.numbers(_field_if_there(batch, "frames", None)), np.int32),
            "context": self._context(batch),
        }

    def _context(self, batch: Sequence[dict[str, Any]]) -> npt.NDArray[np.int32]:
        pool = _field_if_there(batch, "pool_id", None)
        if set(map(type, pool)) == _LIST:
            pool = list(map(tuple, pool))
        parts = (_field_if_there(batch, "compile_context", ""), _field_if_there(batch, "user_metadata", ""), pool)
        if all(part.count(part[0]) == len(part) for part in parts if part):
            alike = [part[0] for part in parts if part]
            return np.full(len(batch), self._context_code(*alike) if alike else 0, np.int32)
        codes = {each: self._context_code(*each) for each in set(zip(*parts, strict=True))}
        return np.array([codes[each] for each in zip(*parts, strict=True)], np.int32)

    def _context_code(self, compiled: object, metadata: object, pool: object) -> int:
        a, b = pool_of(pool)
        text = "" if compiled == "N/A" else as_text(compiled)
        return self._contexts.setdefault((text, as_text(metadata), a, b), len(self._contexts))

    def contexts(self) -> Columns:
        rows = list(self._contexts) or []
        code = self._strings.code
        return {
            "compiled": np.array([code(row[0]) for row in rows], np.int32),
            "metadata": np.array([code(row[1]) for row in rows], np.int32),
            "pool_a": np.array([row[2] for row in rows], np.int64),
            "pool_b": np.array([row[3] for row in rows], np.int64),
        }


def _place(record: dict[str, Any]) -> Any:
    """Return the address; for an oom, the free bytes of the device. Raises KeyError if it is missing."""
    if record["action"] != "oom":
        return record["addr"]
    free = record.get("device_free")
    return free if isinstance(free, int) and is_integer(free) and free >= 0 else NO_DEVICE_FREE


def _field(batch: Sequence[dict[str, Any]], key: str) -> list[Any]:
    """Return one field of all records. Raises KeyError if a record lacks it."""
    return list(map(itemgetter(key), batch))


def _field_if_there(batch: Sequence[dict[str, Any]], key: str, missing: object) -> list[Any]:
    try:
        return _field(batch, key)
    except KeyError:
        return [record.get(key, missing) for record in batch]


def pool_of(value: object) -> tuple[int, int]:
    """Return the two numbers of a pool; -1 if they are missing."""
    if isinstance(value, list | tuple) and len(value) == 2 and all(map(is_integer, value)):
        return value[0], value[1]
    return -1, -1


def as_text(value: object) -> str:
    """Return a text unchanged, a dict or list as JSON, everything else as ""."""
    if isinstance(value, str):
        return value
    if isinstance(value, dict | list | tuple) and value and _is_small(value):
        try:
            return msgspec.json.encode(value).decode()[: StringInterner.longest]
        except (TypeError, ValueError, RecursionError, msgspec.MsgspecError):
            return ""
    return ""


def _is_small(value: object) -> bool:
    """Return whether a value has at most a few thousand parts; a shared part counts each time it would be written."""
    parts, seen = [value], 0
    while parts and seen <= _MOST_PARTS:
        seen += 1
        each = parts.pop()
        if isinstance(each, dict):
            parts += each.values()
        elif isinstance(each, list | tuple):
            parts += each[:_MOST_PARTS]
    return not parts


def is_integer(value: object) -> bool:
    """Return whether a value is a whole number that a column can hold."""
    return type(value) is int and _LEAST <= value <= _MOST


def _integers(values: list[Any]) -> npt.NDArray[np.int64]:
    """Return an array. Raises TypeError or OverflowError unless all are integers of 62 bits."""
    if values and set(map(type, values)) != _INTEGER:
        raise TypeError
    found = np.array(values, np.int64)
    if len(found) and (int(found.max()) > _MOST or int(found.min()) < _LEAST):
        raise OverflowError
    return found


def _sizes(values: list[Any]) -> npt.NDArray[np.int64]:
    """Return an array. Raises the errors of `_integers`, and ValueError for negative sizes."""
    found = _integers(values)
    if len(found) and int(found.min()) < 0:
        raise ValueError
    return found


def _times(values: list[Any]) -> npt.NDArray[np.int64]:
    """Return µs; NO_TIME for missing times. Raises OverflowError for an impossible time."""
    if set(map(type, values)) != _INTEGER:
        return np.array([value if is_time(value) else NO_TIME for value in values], np.int64)
    found = np.array(values, np.int64)
    if not (is_time(int(found.max())) and is_time(int(found.min()))):
        raise OverflowError
    return found


def is_time(value: object) -> bool:
    """Return whether a value is µs since the epoch that fits a column as ns."""
    return type(value) is int and 0 <= value < 2**52


def _clean(record: Any) -> dict[str, Any] | None:
    """Return a record with only the values that a column can hold; None if a required one is missing."""
    if not isinstance(record, dict) or not isinstance(record.get("action"), str):
        return None
    is_oom = record["action"] == "oom"
    place = "device_free" if is_oom else "addr"
    numbers = {place: _place(record) if is_oom else record.get("addr", 0)}
    numbers |= {key: record.get(key, 0) for key in ("size", "stream")}
    if not all(map(is_integer, numbers.values())) or "size" not in record or numbers["size"] < 0:
        return None
    return {
        **numbers,
        "action": record["action"],
        "time_us": record.get("time_us") if is_time(record.get("time_us")) else None,
        "frames": record.get("frames"),
        "compile_context": as_text(record.get("compile_context")),
        "user_metadata": as_text(record.get("user_metadata")),
        "pool_id": pool_of(record.get("pool_id")),
    }
