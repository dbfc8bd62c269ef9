"""Attributes of many objects → columns, with as little Python per object as possible.

Nothing here depends on traces. Values are gathered as bytes, one piece per call of `add`, and become arrays when they
are taken: a step of numpy costs the same for a hundred values as for a few thousand.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable, Iterable, Sequence
from functools import cache
from itertools import islice
from typing import Any, TypeVar, cast

import msgspec
import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.trace.events import TrackArgs, attribute
from torch_tb_profiler.trace.schema import JSON_TEXT, TraceColumn, TraceTable

_encode = msgspec.msgpack.Encoder().encode
_FLOAT = np.dtype([("tag", "u1"), ("value", ">f8")])
_FLOAT_TAG = b"\xcb"

# neither of these bytes occurs in JSON text
_END_OF_TEXT = b"\0"
_END_OF_OBJECT = b"\1"

#: how many bytes the keys of a `KeyCodes` may take together
_KEPT_BYTES = 16 << 20

Key = TypeVar("Key", bound=Hashable)


def pack_floats(values: Sequence[float | str | None], texts: bool = False) -> bytes:
    """Numbers as bytes for `unpack_floats`; None and text that is no number become NaN.

    texts: whether there may be text among them

    A MessagePack list of floats is laid out like an array: a tag and eight big-endian bytes per number. Encoding one is
    faster than letting numpy convert the objects. The length shows whether all are floats: None is shorter; text can
    have the same length, so the tags are checked if there may be some.
    """
    count = len(values)
    packed = _encode(values)
    head = 1 if count < 16 else 3 if count < 65536 else 5
    if len(packed) != head + _FLOAT.itemsize * count or (
        texts and packed[head :: _FLOAT.itemsize] != _FLOAT_TAG * count
    ):
        packed = _encode([_float(value) for value in values])
    return packed[head:]


def unpack_floats(pieces: Iterable[bytes]) -> npt.NDArray[np.float64]:
    return np.frombuffer(b"".join(pieces), dtype=_FLOAT)["value"].astype(np.float64)


def _float(value: float | str | None) -> float:
    try:
        return math.nan if value is None else float(value)
    except ValueError:
        return math.nan


def integers(values: npt.NDArray[np.float64], missing: int = -1) -> npt.NDArray[np.int64]:
    """Floats that hold integers, as int64; NaN, infinities and what does not fit become `missing`."""
    # comparing with NaN is false
    return np.rint(np.where(np.abs(values) < 2.0**63, values, missing)).astype(np.int64)


@cache
def getter(name: str) -> Callable[[Iterable[Any]], list[Any]]:
    """Return a function that lists an attribute of each object.

    A comprehension that names the attribute takes a third of the time of `operator.attrgetter`. The attributes are few,
    and to compile all comprehensions takes longer than to read a small trace.
    """
    listing = eval(f"lambda objects: [o.{name} for o in objects]")  # noqa: S307 - names of attributes of this package
    return cast(Callable[[Iterable[Any]], list[Any]], listing)


class NumberField(msgspec.Struct, frozen=True):
    """A number attribute. real: a float; missing: what stands for no value in integers; texts: it may be text."""

    name: str
    real: bool = False
    missing: int = -1
    texts: bool = False


class NumberBuffer:
    """Number attributes of objects, a column each: int64, or float64 for those that are `real`."""

    def __init__(self, *numbers: NumberField | str) -> None:
        wanted = [NumberField(number) if isinstance(number, str) else number for number in numbers]
        self._columns: list[tuple[NumberField, Callable[[Iterable[Any]], list[Any]], list[bytes]]] = [
            (number, getter(number.name), []) for number in wanted
        ]

    def add(self, objects: Sequence[Any]) -> None:
        for number, get, pieces in self._columns:
            pieces.append(pack_floats(get(objects), number.texts))

    def take(self) -> dict[str, npt.NDArray[Any]]:
        """All that was added since this was last called."""
        taken: dict[str, npt.NDArray[Any]] = {}
        for number, _, pieces in self._columns:
            values = unpack_floats(pieces)
            taken[number.name] = values if number.real else integers(values, number.missing)
            pieces.clear()
        return taken

    def packed(self) -> list[bytes]:
        """All that was added since, for `put`."""
        return [_emptied(pieces) for _, _, pieces in self._columns]

    def put(self, packed: Sequence[bytes], _: Int32) -> None:
        """Add what other buffers of this kind had packed."""
        for (_number, _get, pieces), piece in zip(self._columns, packed, strict=True):
            pieces.append(piece)


class KeyCodes(dict[Key, bytes]):
    """A cache of the bytes made for each key; emptied when its keys take more than `_KEPT_BYTES`."""

    def __init__(self, make: Callable[[Key], bytes], size: Callable[[Key], int]) -> None:
        """`size`: about how many bytes a key takes."""
        super().__init__()
        self._make = make
        self._size = size
        self._bytes = 0

    def __missing__(self, key: Key) -> bytes:
        made = self._make(key)
        self._bytes += self._size(key)
        if self._bytes > _KEPT_BYTES:
            self.clear()
            self._bytes = self._size(key)
        self[key] = made
        return made


class TextCodes:
    """Texts numbered in the order in which they are first seen; 0 is the empty text, and None.

    texts: by their numbers
    """

    def __init__(self) -> None:
        self.texts = [""]
        self._codes: dict[str | None, int] = {"": 0, None: 0}
        self._packed = 1

    def packed(self) -> list[str]:
        """Return the texts that are new since this was last called, by their numbers, which follow."""
        new = self.texts[self._packed :]
        self._packed = len(self.texts)
        return new

    def code(self, text: str | None) -> int:
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = len(self.texts)
            self.texts.append(cast(str, text))
        return code


class _CodeBuffer:
    """Columns of codes, gathered as records of one int32 for each."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._pieces: list[bytes] = []

    def take(self) -> dict[str, npt.NDArray[np.int32]]:
        """All that was added since this was last called."""
        table = np.frombuffer(_emptied(self._pieces), dtype="<i4").reshape(-1, len(self._names))
        return {name: table[:, i].astype(np.int32) for i, name in enumerate(self._names)}

    def packed(self) -> list[bytes]:
        """All that was added since, for `put`."""
        return [_emptied(self._pieces)]

    def put(self, packed: Sequence[bytes], codes: Int32) -> None:
        """Add what other buffers of this kind had packed; `codes`: what their codes are here."""
        self._pieces += [codes[np.frombuffer(piece, dtype="<i4")].tobytes() for piece in packed]


class TextBuffer(_CodeBuffer):
    """Attributes that are texts or None, as columns of their codes."""

    def __init__(self, code: Callable[[str | None], int], *names: str) -> None:
        super().__init__(names)
        self._getters = [getter(name) for name in names]
        self._code = code

    def add(self, objects: Sequence[Any]) -> None:
        columns = [get(objects) for get in self._getters]
        if any(map(any, columns)):
            codes = [self._code(text) for row in zip(*columns, strict=True) for text in row]
            self._pieces.append(struct.pack(f"<{len(codes)}i", *codes))
        else:
            self._pieces.append(bytes(4 * len(self._names) * len(objects)))


class JsonTextBuffer(_CodeBuffer):
    """Attributes that are JSON text, as columns of their codes; all of an object are looked up in one step."""

    def __init__(self, code: Callable[[bytes], int], *names: str) -> None:
        super().__init__(names)
        self._getters = [getter(name) for name in names]
        self._code = code
        self._record = struct.Struct(f"<{len(names)}i")
        self._codes = KeyCodes(self._make, lambda joined: 128 + len(joined))

    def _make(self, joined: bytes) -> bytes:
        # each object's texts are followed by a separator; all but the first object have one before them, too
        texts = joined.split(_END_OF_TEXT)[-len(self._names) - 1 : -1]
        return self._record.pack(*map(self._code, texts))

    def add(self, objects: Sequence[Any]) -> None:
        width = len(self._names) + 1
        parts: list[Any] = [_END_OF_OBJECT] * (width * len(objects))
        for place, get in enumerate(self._getters):
            parts[place::width] = get(objects)
        # joining many `Raw` objects takes a third of the time of bytes(raw) for each
        joined = _END_OF_TEXT.join(parts).split(_END_OF_OBJECT)
        codes = self._codes
        self._pieces.append(b"".join([codes[key] for key in islice(joined, len(objects))]))


def _emptied(pieces: list[bytes]) -> bytes:
    """Return the pieces as one; the list is emptied."""
    joined = b"".join(pieces)
    pieces.clear()
    return joined


Columns = dict[str, npt.NDArray[Any]]


class ArgumentBuffers:
    """Gathers the arguments of the events of one table.

    string_code: the code of a text; missing texts are empty or None
    """

    def __init__(self, table: type[TraceTable], string_code: Callable[[str | None], int]) -> None:
        self._columns = [column for column in table.schema() if column.source]
        #: how many values were left out because no device can have them
        self.impossible = 0
        keys = [(column, attribute(key)) for column in self._columns for key in column.source]
        numbers = [
            NumberField(name, real=column.dtype.kind == "f", missing=column.missing, texts=column.may_be_text)
            for column, name in keys
            if not column.is_string
        ]
        texts = [name for column, name in keys if column.is_string and column.unit != JSON_TEXT]
        json_texts = [name for column, name in keys if column.unit == JSON_TEXT]
        self._buffers: list[NumberBuffer | TextBuffer | JsonTextBuffer] = [
            *([NumberBuffer(*numbers)] if numbers else []),
            *(
                [JsonTextBuffer(lambda raw: string_code(raw.decode(errors="replace")), *json_texts)]
                if json_texts
                else []
            ),
            *([TextBuffer(string_code, *texts)] if texts else []),
        ]

    def add(self, args: Sequence[TrackArgs]) -> None:
        for buffer in self._buffers:
            buffer.add(args)

    def packed(self) -> list[list[bytes]]:
        """All that was added since, for `put`."""
        return [buffer.packed() for buffer in self._buffers]

    def put(self, packed: Sequence[Sequence[bytes]], codes: Int32) -> None:
        """Add what those of another collector had packed; `codes`: what its codes of texts are here."""
        for buffer, pieces in zip(self._buffers, packed, strict=True):
            buffer.put(pieces, codes)

    def take(self) -> Columns:
        """All that was added since this was last called."""
        read: Columns = {}
        for buffer in self._buffers:
            read |= buffer.take()
        return {
            c.name: self._possible(c, _first_given(c, [read[attribute(key)] for key in c.source]))
            for c in self._columns
        }

    def _possible(self, column: TraceColumn, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Without those that lie beyond the bounds of the column."""
        if column.bounds is None:
            return values
        least, most = column.bounds
        given = ~np.isnan(values) if values.dtype.kind == "f" else values != column.fill
        beyond = given & ((values < least) | (values > most))
        count = int(np.count_nonzero(beyond))
        if not count:
            return values
        self.impossible += count
        return np.where(beyond, column.fill, values).astype(values.dtype, copy=False)


def _first_given(column: TraceColumn, spellings: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Of each event the value under the first spelling that it has."""
    values, *others = spellings
    for other in others:
        missing = np.isnan(values) if column.dtype.kind == "f" else values == column.fill
        values = np.where(missing, other, values)
    if column.also_missing is not None:
        values[values == column.also_missing] = column.missing
    return values
