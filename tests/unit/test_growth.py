"""The ratios that other tests look at tell what is linear from what is not."""

from __future__ import annotations

import pytest

from tests.growth import MOST, Work, beside, growth


def count(turns: int) -> int:
    return sum(each & 1 for each in range(turns))


def test_what_is_linear() -> None:
    def prepared(size: int) -> Work:
        return lambda: count(size)

    assert growth(prepared, 200_000) < MOST


@pytest.mark.slow
def test_what_grows_with_the_square() -> None:
    def prepared(size: int) -> Work:
        return lambda: count(size * size)

    assert growth(prepared, 700) > MOST


def test_what_is_too_short_to_be_told_is_no_growth() -> None:
    def prepared(size: int) -> Work:
        return lambda: count(size * size)

    assert growth(prepared, 5) < 1


def test_beside_another() -> None:
    assert 3 < beside(lambda: count(1_000_000), lambda: count(200_000)) < 8
