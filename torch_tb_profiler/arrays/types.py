"""Types of arrays, as annotations name them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int8 = npt.NDArray[np.int8]
UInt8 = npt.NDArray[np.uint8]
Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
