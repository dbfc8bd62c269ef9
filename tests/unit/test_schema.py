"""The type of a column's elements is found whatever numpy makes of `NDArray[…]`."""

from __future__ import annotations

import types
from typing import ClassVar

import numpy as np
import pytest

from torch_tb_profiler.arrays.types import element_of


@pytest.mark.parametrize(
    ("hint", "element"),
    [
        (np.ndarray[tuple[int, ...], np.dtype[np.int32]], np.int32),
        # as newer versions of numpy have NDArray[np.int32]: an alias that is not resolved
        (types.GenericAlias(object, (np.int32,)), np.int32),
        (ClassVar[str], None),
        (int, None),
    ],
)
def test_elements_of_columns(hint: object, element: object) -> None:
    assert element_of(hint) is element
