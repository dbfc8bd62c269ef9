"""Files of the cache that are damaged, in every way and of every kind: the answers are those of before."""

from __future__ import annotations

import os
import random
import shutil
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.attack.answers import Get, answers
from tests.attack.damage import DAMAGES, damaged
from tests.served import client_of, everything_read
from tests.tracegen import Config
from tests.tracegen.writer import write_run
from torch_tb_profiler.workspace import Workspace

TRACES = [{"run": "run", "worker": "worker0"}]


def getter(workspace: Workspace) -> Get:
    client = client_of(workspace)

    def get(url: str) -> tuple[int, bytes]:
        response = client.get(f"/{url}")
        return response.status_code, response.data

    return get


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cache") / "logs"
    write_run(Config(steps=2, layers=1), folder / "run")
    return folder


@pytest.fixture(scope="module")
def good(logs: Path) -> Iterator[dict[str, tuple[int, str]]]:
    with everything_read(logs, logs.parent / "cache", 1) as workspace:
        yield answers(getter(workspace), TRACES)


def files_of(cache: Path) -> list[Path]:
    """Each file once, whatever its names."""
    return sorted({path.stat().st_ino: path for path in cache.rglob("*") if path.is_file()}.values())


def spoil(cache: Path, kind: str, dice: random.Random) -> Counter[str]:
    """Damage every file; how many of each kind."""
    found: Counter[str] = Counter()
    for path in files_of(cache):
        path.write_bytes(damaged(kind, dice, path.read_bytes()))
        found[path.suffix or path.parent.suffix] += 1
    return found


@pytest.mark.parametrize("kind", DAMAGES)
def test_answers_are_those_of_before(kind: str, logs: Path, good: dict[str, tuple[int, str]]) -> None:
    cache = logs.parent / "cache"
    spoiled = spoil(cache, kind, random.Random(kind))
    assert {".columns", ".json", ".answers", ".timeline"} <= set(spoiled)
    with everything_read(logs, cache, 1) as workspace:
        assert answers(getter(workspace), TRACES) == good


@pytest.mark.parametrize("kind", ["flip", "cut", "hole"])
def test_files_that_are_damaged_while_they_are_used(kind: str, logs: Path, good: dict[str, tuple[int, str]]) -> None:
    cache = logs.parent / "cache"
    with everything_read(logs, cache, 1) as workspace:
        get = getter(workspace)
        answers(get, TRACES)
        spoil(cache, kind, random.Random(kind))
        assert answers(get, TRACES) == good
        assert answers(get, TRACES) == good


def replaced(cache: Path, put: Callable[[Path], object]) -> None:
    """In place of every file of a cache."""
    for path in [path for path in cache.rglob("*") if path.is_file() or path.is_symlink()]:
        path.unlink()
        put(path)


@pytest.mark.skipif(sys.platform != "linux", reason="pipes and devices are files on Linux alone")
@pytest.mark.parametrize(
    "put",
    [
        os.mkfifo,
        lambda path: path.symlink_to("/dev/zero"),
        lambda path: path.symlink_to("/etc/passwd"),
        lambda path: path.symlink_to(path),
    ],
    ids=["pipe", "device", "link", "loop"],
)
def test_what_is_no_file_of_the_cache_is_not_read(
    put: Callable[[Path], object], logs: Path, good: dict[str, tuple[int, str]]
) -> None:
    cache = logs.parent / "cache"
    replaced(cache, put)
    with everything_read(logs, cache, 1) as workspace:
        get = getter(workspace)
        assert answers(get, TRACES) == good
        replaced(cache, put)
        assert answers(get, TRACES) == good


def test_a_cache_that_is_removed_while_it_is_used(logs: Path, good: dict[str, tuple[int, str]]) -> None:
    cache = logs.parent / "cache"
    with everything_read(logs, cache, 1) as workspace:
        shutil.rmtree(cache)
        assert answers(getter(workspace), TRACES) == good
        assert cache.stat().st_mode & 0o077 == 0
