"""Results as data frames, for those who have pandas, Polars or Arrow, and as tables of a notebook."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.analysis.shown import Grid, Shown, columns_of

if TYPE_CHECKING:
    import pandas as pd


class Tabular(Shown, msgspec.Struct, frozen=True):
    """A frozen struct of parallel columns.

    missing_below_zero    integer columns in which a negative number says that the trace does not tell
    defined               definitions of its columns by key; the docstring tells of the others
    """

    missing_below_zero: ClassVar[tuple[str, ...]] = ()
    defined: ClassVar[Mapping[str, Definition]] = {}

    def __len__(self) -> int:
        raise NotImplementedError

    def to_columns(self) -> Mapping[str, Any]:
        """The columns that the result has, by name: arrays, and tuples of plain values as long as it."""
        found: dict[str, Any] = {}
        for name in self.__struct_fields__:
            value = getattr(self, name)
            if isinstance(value, np.ndarray) or _is_plain(value, len(self)):
                found[name] = value
        return found

    def as_grid(self) -> Grid:
        """Its rows and columns, with their definitions; what the trace does not tell is masked."""
        values = dict(self.to_columns())
        for key in self.missing_below_zero:
            if key in values and (values[key] < 0).any():
                values[key] = np.ma.masked_less(values[key], 0)
        title = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", type(self).__name__).lower()
        return Grid(title, columns_of(type(self), values, self.defined), values, len(self))

    def to_pandas(self) -> pd.DataFrame:
        """One row per entry. Missing numbers are NaN or NA. Raises ModuleNotFoundError without pandas."""
        import pandas as pd  # noqa: PLC0415 - not a dependency

        frame = pd.DataFrame({name: list(v) if isinstance(v, tuple) else v for name, v in self.to_columns().items()})
        for name in self.missing_below_zero:
            if name in frame:
                frame[name] = frame[name].astype("Int64").mask(frame[name] < 0)
        return frame


def _is_plain(value: object, length: int) -> bool:
    return (
        isinstance(value, tuple)
        and len(value) == length
        and all(item is None or isinstance(item, str | bool | int | float) for item in value)
    )
