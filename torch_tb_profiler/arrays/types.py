"""Types of arrays by the type of their elements, and JSON of values that contain NumPy numbers."""

from __future__ import annotations

from typing import Any, get_args

import msgspec
import numpy as np
import numpy.typing as npt

Int8 = npt.NDArray[np.int8]
UInt8 = npt.NDArray[np.uint8]
UInt64 = npt.NDArray[np.uint64]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float32 = npt.NDArray[np.float32]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
#: of integers of any width
Ints = npt.NDArray[np.integer[Any]]


def element_of(hint: Any) -> type[np.generic] | None:
    """Return int64 for NDArray[np.int64], which is ndarray[shape, dtype[int64]] or, in NumPy 2.5, its own alias."""
    given = get_args(hint)
    inner = get_args(given[-1]) if given else ()
    element = inner[0] if inner else given[-1] if given else None
    return element if isinstance(element, type) and issubclass(element, np.generic) else None


#: of each type of this module, by its name
ELEMENTS = {name: element for name, hint in tuple(globals().items()) if (element := element_of(hint)) is not None}


def enc_hook(value: Any) -> Any:
    """Convert a `value` that is a NumPy number into one of Python, for msgspec. Raises NotImplementedError for others.

    >>> enc_hook(np.float64(0.5)), enc_hook(np.int64(3))
    (0.5, 3)
    """
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(type(value).__name__)


def dumps(value: Any) -> bytes:
    """Return a value as JSON; numbers that JSON does not have (NaN, infinities) are null.

    >>> dumps({"share": np.float64("nan")})
    b'{"share":null}'
    """
    return msgspec.json.encode(value, enc_hook=enc_hook)


def dumps_indented(value: Any) -> str:
    """Return a value as JSON with line breaks, for people.

    >>> dumps_indented(np.int64(1))
    '1'
    """
    return msgspec.json.format(dumps(value)).decode()
