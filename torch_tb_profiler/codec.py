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
#: types, and the equal one that has its description: `Page[Row]` may be another object each time
_described: dict[object, Any] = {}


@overload
def convert(value: object, kind: type[T], *, strict: bool = True) -> T: ...
@overload
def convert(value: object, kind: Any, *, strict: bool = True) -> Any: ...
def convert(value: object, kind: Any, *, strict: bool = True) -> Any:
    """As `msgspec.convert`."""
    return msgspec.convert(value, _with_description(kind), strict=strict)


@overload
def from_json(text: bytes | str, kind: type[T], *, strict: bool = True) -> T: ...
@overload
def from_json(text: bytes | str, kind: Any, *, strict: bool = True) -> Any: ...
def from_json(text: bytes | str, kind: Any, *, strict: bool = True) -> Any:
    """As `msgspec.json.decode`."""
    return msgspec.json.decode(text, type=_with_description(kind), strict=strict)


@overload
def from_msgpack(content: bytes, kind: type[T]) -> T: ...
@overload
def from_msgpack(content: bytes, kind: Any) -> Any: ...
def from_msgpack(content: bytes, kind: Any) -> Any:
    """As `msgspec.msgpack.decode`."""
    return msgspec.msgpack.decode(content, type=_with_description(kind))


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


def _with_description(kind: Any) -> Any:
    """Return the type, once msgspec has its description and those of the types inside."""
    found = _described.get(kind)
    if found is None:
        with _making:
            json_decoder(kind)
            found = _described.setdefault(kind, kind)
    return found
