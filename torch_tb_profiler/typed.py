"""Values of a given type from JSON, MessagePack and plain objects: all of msgspec that needs the description of a type.

msgspec (0.22) makes the description of a `Struct` when it is first needed, and other threads can see it before it is
complete. A thread that decodes this type, or one that contains it, at that moment ends the process with a segmentation
fault. So descriptions are made here, by one thread at a time; a test keeps the rest of the package from making any.
"""

from __future__ import annotations

import threading
from typing import Any, TypeVar, overload

import msgspec

T = TypeVar("T")

_making = threading.RLock()
_described: set[object] = set()


@overload
def convert(value: object, kind: type[T], *, strict: bool = True) -> T: ...
@overload
def convert(value: object, kind: Any, *, strict: bool = True) -> Any: ...
def convert(value: object, kind: Any, *, strict: bool = True) -> Any:
    """As `msgspec.convert`."""
    _describe(kind)
    return msgspec.convert(value, kind, strict=strict)


@overload
def from_json(text: bytes | str, kind: type[T], *, strict: bool = True) -> T: ...
@overload
def from_json(text: bytes | str, kind: Any, *, strict: bool = True) -> Any: ...
def from_json(text: bytes | str, kind: Any, *, strict: bool = True) -> Any:
    """As `msgspec.json.decode`."""
    _describe(kind)
    return msgspec.json.decode(text, type=kind, strict=strict)


@overload
def from_msgpack(content: bytes, kind: type[T]) -> T: ...
@overload
def from_msgpack(content: bytes, kind: Any) -> Any: ...
def from_msgpack(content: bytes, kind: Any) -> Any:
    """As `msgspec.msgpack.decode`."""
    _describe(kind)
    return msgspec.msgpack.decode(content, type=kind)


@overload
def json_decoder(kind: type[T], *, strict: bool = True) -> msgspec.json.Decoder[T]: ...
@overload
def json_decoder(kind: Any, *, strict: bool = True) -> msgspec.json.Decoder[Any]: ...
def json_decoder(kind: Any, *, strict: bool = True) -> msgspec.json.Decoder[Any]:
    """As `msgspec.json.Decoder`: for what is decoded often."""
    with _making:
        return msgspec.json.Decoder(kind, strict=strict)


@overload
def msgpack_decoder(kind: type[T]) -> msgspec.msgpack.Decoder[T]: ...
@overload
def msgpack_decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]: ...
def msgpack_decoder(kind: Any) -> msgspec.msgpack.Decoder[Any]:
    """As `msgspec.msgpack.Decoder`."""
    with _making:
        return msgspec.msgpack.Decoder(kind)


def _describe(kind: object) -> None:
    """Until msgspec knows all about a type and those inside of it."""
    if kind not in _described:
        json_decoder(kind)
        _described.add(kind)
