"""Arguments of events → the columns of one table, as the schema declares them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.trace.column_buffers import JsonTexts, Number, Numbers, Texts
from torch_tb_profiler.trace.events import TrackArgs, attribute
from torch_tb_profiler.trace.schema import JSON_TEXT, Column, Table

Columns = dict[str, npt.NDArray[Any]]


class Arguments:
    """Gathers the arguments of the events of one table.

    string_code: the code of a text; missing texts are empty or None
    """

    def __init__(self, table: type[Table], string_code: Callable[[str | None], int]) -> None:
        self._columns = [column for column in table.schema() if column.source]
        #: how many values were left out because no device can have them
        self.impossible = 0
        keys = [(column, attribute(key)) for column in self._columns for key in column.source]
        numbers = [
            Number(name, real=column.dtype.kind == "f", missing=column.missing, texts=column.may_be_text)
            for column, name in keys
            if not column.is_string
        ]
        texts = [name for column, name in keys if column.is_string and column.unit != JSON_TEXT]
        json_texts = [name for column, name in keys if column.unit == JSON_TEXT]
        self._buffers: list[Numbers | Texts | JsonTexts] = [
            *([Numbers(*numbers)] if numbers else []),
            *([JsonTexts(lambda raw: string_code(raw.decode(errors="replace")), *json_texts)] if json_texts else []),
            *([Texts(string_code, *texts)] if texts else []),
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

    def _possible(self, column: Column, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
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


def _first_given(column: Column, spellings: list[npt.NDArray[Any]]) -> npt.NDArray[Any]:
    """Of each event the value under the first spelling that it has."""
    values, *others = spellings
    for other in others:
        missing = np.isnan(values) if column.dtype.kind == "f" else values == column.fill
        values = np.where(missing, other, values)
    if column.also_missing is not None:
        values[values == column.also_missing] = column.missing
    return values
