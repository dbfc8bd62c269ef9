"""Tables whose rows are selected, and the texts of a column."""

from __future__ import annotations

import numpy as np
import pytest

from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.trace.schema import Flows
from torch_tb_profiler.trace.store import StringTable


def flows(read: list[str]) -> Flows:
    """A table that notes which of its columns are read."""
    columns = {"row": np.arange(4, dtype=np.int32), "id": np.array([7, 5, 3, 1])}

    def column(name: str) -> np.ndarray:
        read.append(name)
        return columns[name]

    return Flows.of_fields_read_by(frozenset(Flows.declared), column)


@pytest.mark.parametrize("index", [np.array([2, 0]), np.array([True, False, True, False])])
def test_selected_rows_are_read_column_by_column(index: np.ndarray) -> None:
    read: list[str] = []
    taken = flows(read).take(index)
    assert read == []
    assert taken.id.tolist() == np.array([7, 5, 3, 1])[index].tolist()
    assert read == ["id"]
    assert len(taken) == 2
    assert taken.id is taken.id  # it is selected once
    assert taken.take(np.array([1])).row.tolist() == [np.arange(4)[index][1]]
    with pytest.raises(AttributeError, match="Flows has no name"):
        taken.name  # type: ignore[attr-defined]  # noqa: B018


def test_only_texts_of_a_column_are_tested() -> None:
    tested: list[str] = []

    def starts_with_a(text: str) -> bool:
        tested.append(text)
        return text.startswith("a")

    strings, column = StringTable(["", "ab", "b", "ac"]), np.array([3, 2, 3], np.int32)
    for _ in range(2):
        assert strings.where(starts_with_a, column).tolist() == [False, False, False, True]
    assert tested == ["b", "ac", "b", "ac"]


def test_what_is_known_of_a_column_goes_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another array may be made in its place in memory."""
    strings = StringTable(["", "a", "b"])
    counted: list[int] = []
    bincount = np.bincount

    def noted(codes: Int32) -> Int64:
        counted.append(len(codes))
        return bincount(codes)

    monkeypatch.setattr(np, "bincount", noted)
    for size in range(1, 60):
        column = np.full(size, 1 + size % 2, np.int32)
        for _ in range(2):
            assert strings.where(lambda _: True, column).tolist() == [False, size % 2 == 0, size % 2 == 1]
        del column
    assert counted == list(range(1, 60))
    assert strings._used == {}
