"""Readers of pages share what they have read."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import Reader, torch_python


@pytest.fixture(scope="session")
def cache_of_readers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cache")


@pytest.fixture(scope="session")
def with_torch() -> str | None:
    return torch_python()


@pytest.fixture
def reader(tmp_path: Path, cache_of_readers: Path, with_torch: str | None, monkeypatch: pytest.MonkeyPatch) -> Reader:
    monkeypatch.setenv("XDG_CACHE_HOME", str(cache_of_readers))
    return Reader(tmp_path, cache_of_readers, with_torch)
