"""Stores for tests: the servers are started once, every test gets a bucket of its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.integration.conftest import start as start  # noqa: PLC0414 - a fixture
from tests.storage.stores import NOTHING, SERVER_OF, STORE_OF, Store


@pytest.fixture(scope="session")
def server_of(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], str]]:
    """Starts the server of a scheme when it is first needed; its address."""
    urls: dict[str, str] = {}
    with ExitStack() as servers:

        def of(scheme: str) -> str:
            if scheme not in urls:
                urls[scheme] = servers.enter_context(SERVER_OF[scheme](tmp_path_factory.mktemp(scheme)))
            return urls[scheme]

        yield of


@pytest.fixture(params=sorted(SERVER_OF))
def store(
    request: pytest.FixtureRequest, server_of: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """An empty bucket of each kind, and this process set to read it."""
    with STORE_OF[request.param](server_of(request.param)) as store:
        for name, value in store.environment.items():
            monkeypatch.setenv(name, value)
        yield store


@pytest.fixture
def no_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in NOTHING.items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"
