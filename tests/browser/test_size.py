"""The built UI stays small; what a visit fetches is measured by `_build/weight.py`."""

from __future__ import annotations

from pathlib import Path

import pytest

KB = 1000


@pytest.fixture(scope="module")
def built(repository: Path) -> dict[str, bytes]:
    static = repository / "torch_tb_profiler" / "static"
    return {path.relative_to(static).as_posix(): path.read_bytes() for path in static.rglob("*") if path.is_file()}


def test_the_module_that_is_never_cached_is_tiny(built: dict[str, bytes]) -> None:
    assert len(built["index.js"]) < 1 * KB


def test_all_together(built: dict[str, bytes]) -> None:
    assert sum(map(len, built.values())) < 1600 * KB
