"""The built UI stays small."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

KB = 1000


@pytest.fixture(scope="module")
def built(repository: Path) -> dict[str, bytes]:
    static = repository / "torch_tb_profiler" / "static"
    return {path.relative_to(static).as_posix(): path.read_bytes() for path in static.rglob("*") if path.is_file()}


def test_the_module_that_is_never_cached_is_tiny(built: dict[str, bytes]) -> None:
    assert len(built["index.js"]) < 1 * KB


def test_no_chunk_is_large(built: dict[str, bytes]) -> None:
    large = {name: len(gzip.compress(data)) for name, data in built.items() if len(gzip.compress(data)) > 260 * KB}
    assert large == {}


def test_all_together(built: dict[str, bytes]) -> None:
    assert sum(map(len, built.values())) < 1600 * KB
