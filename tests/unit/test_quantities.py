"""Quantities of devices and communication, nanosecond by nanosecond."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torch_tb_profiler.analysis.shared import device_roles
from torch_tb_profiler.analysis.shared.device_roles import (
    BUSY,
    COMMUNICATING,
    COMPUTING,
    COMPUTING_ALONE,
    EXPOSED_COMMUNICATION,
    EXPOSED_COPY,
    GPU_BUSY,
    NO_ROLE,
    UNCOVERED_COMMUNICATION,
    Quantity,
    Role,
    roles_of,
    share,
    spans_by_role,
)
from torch_tb_profiler.trace import Category

ALL = [value for value in vars(device_roles).values() if isinstance(value, Quantity)]
END = 60

#: role, start, length
work = st.lists(st.tuples(st.sampled_from(Role), st.integers(0, 50), st.integers(0, 9)), max_size=12)


def running(given: list[tuple[Role, int, int]]) -> list[int]:
    """At each ns the set of roles at work."""
    found = [0] * END
    for role, start, length in given:
        for ns in range(start, start + length):
            found[ns] |= 1 << role
    return found


@pytest.mark.parametrize("quantity", ALL, ids=str)
@given(work, st.integers(0, END), st.integers(0, END))
def test_each_is_what_its_roles_say(quantity: Quantity, given: list[tuple[Role, int, int]], a: int, b: int) -> None:
    role = np.array([each[0] for each in given], np.uint8)
    start = np.array([each[1] for each in given], np.int64)
    length = np.array([each[2] for each in given], np.int64)
    begin, end = sorted((a, b))
    found = quantity.between(spans_by_role(start, start + length, role), np.array([begin]), np.array([end]))
    sets = running(given)[begin:end]
    expected = [
        any(roles & 1 << of for of in quantity.of) and not any(roles & 1 << no for no in quantity.without)
        for roles in sets
    ]
    assert found.tolist() == [sum(expected)]
    assert [quantity.counts(roles) for roles in sets] == expected


def test_copies_do_not_hide_communication_but_cover_it() -> None:
    """Communication over 0…10, a compute kernel over 0…4, a copy over 3…6."""
    role = np.array([Role.COMMUNICATION, Role.COMPUTE, Role.COPY], np.uint8)
    spans = spans_by_role(np.array([0, 0, 3]), np.array([10, 4, 6]), role)
    window = np.array([0]), np.array([20])
    expected = {
        COMMUNICATING: 10,
        EXPOSED_COMMUNICATION: 6,
        UNCOVERED_COMMUNICATION: 4,
        COMPUTING: 4,
        COMPUTING_ALONE: 0,
        GPU_BUSY: 10,
        BUSY: 10,
        EXPOSED_COPY: 0,
    }
    assert expected.keys() == set(ALL)
    assert {quantity: int(quantity.between(spans, *window)[0]) for quantity in ALL} == expected


def test_roles() -> None:
    category = np.array(
        [Category.KERNEL, Category.KERNEL, Category.MEMCPY, Category.MEMSET, Category.SYNC], dtype=np.uint8
    )
    found = roles_of(category, np.array([False, True, False, False, False]))
    assert found.tolist() == [Role.COMPUTE, Role.COMMUNICATION, Role.COPY, Role.COPY, NO_ROLE]


def test_share() -> None:
    assert share(3, 4) == 0.75
    assert share(0, 0) is None
