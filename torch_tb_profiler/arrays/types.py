"""Types of arrays by the type of their elements."""

from __future__ import annotations

from typing import Any, get_args

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
