"""Times as text are exact, whatever their size."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.web.old_plugin.modules import laid_out, many_microseconds, microseconds

times = st.one_of(st.integers(0, 2**62), st.integers(-(2**40), 2**40), st.integers(10**18, 10**18 + 10**6))


def texts(values: list[int]) -> list[bytes]:
    return [row.tobytes().rstrip(b"\0") for row in laid_out(np.array(values, dtype=np.int64))]


@given(st.lists(times))
def test_texts_are_exact(values: list[int]) -> None:
    found = texts(values)
    assert [Decimal(text.decode()) * 1000 for text in found] == values


@pytest.mark.parametrize("first", [0, 5_000, 10_000_000, 1_759_300_578_000_000_000])
def test_equally_long_ones_are_json_numbers(first: int) -> None:
    values = [first, first + 1, first + 999, first + 1_000, first + 4_020]
    found = texts(values)
    assert json.loads(b"[" + b",".join(found) + b"]") == [value / 1000 for value in values]
    assert found[0] == str(first // 1000).encode()


@given(st.lists(times))
def test_many_are_what_each_is(values: list[int]) -> None:
    found = many_microseconds(np.array(values, dtype=np.int64))
    assert [(type(number), number) for number in found] == [(type(n), n) for n in map(microseconds, values)]
