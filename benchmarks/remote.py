"""Log directories in a store: an S3 server on the loopback address beside the same files on the disk."""

from __future__ import annotations

import gzip
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchmarks import data, servers
from benchmarks.environments import OURS, PROBES, WORK, one_thread, routes_of_ours
from benchmarks.processes import Failed, probe
from benchmarks.requests import requests_for, split
from tests.storage.proxy import Proxy
from tests.storage.stores import AWS_KEY, AWS_SECRET, NOTHING, kind_in_s3, rclone_server
from tests.tracegen import Config, write_run

STORE = WORK / "store"
SIZE = "1M"
REPETITIONS = 3
MANY = 10_000
FILES, EVENTS = 8, 330_000  # about 100 MB of JSON each


def measure() -> dict[str, Any]:
    """First load, reopening, listing and memory; seconds of CPU and bytes."""
    size = data.SIZES[SIZE]
    size.make()
    _link(size.files(), STORE / "bench" / "one" / "run")
    _make_many(STORE / "many")
    texts = _make_large(STORE / "bench" / "large" / "run")
    questions = split(requests_for(routes_of_ours(), "run", size.workers()))["requests"]
    local, remote = [], []
    with store() as (url, environment):
        for _ in range(REPETITIONS):
            local.append(servers.stand_alone(STORE / "bench" / "one", 1, questions, size.seconds))
            remote.append(servers.stand_alone("s3://bench/one", 1, questions, size.seconds, environment))
        with Proxy(url, kind_in_s3) as proxy:
            counted = environment | {"S3_ENDPOINT": proxy.url}
            reopened = servers.stand_alone("s3://bench/one", 1, questions, size.seconds, counted, keep=True)
            requests = {kind: proxy.count(kind) for kind in ("list", "stat", "get")}
        listing = probe([OURS.python, PROBES / "ours.py", "list", "s3://many"], one_thread() | environment)[0]
        large = servers.stand_alone("s3://bench/large", 1, [], 600, environment)
        beside = servers.stand_alone(STORE / "bench" / "large", 1, [], 600)
    answers = [each["answers"] for each in (*local, *remote, reopened)]
    if len(set(answers)) > 1 or not answers[0]:
        raise Failed(f"not the same views were answered: {answers}")
    return {
        "local": min(each["cpu"] for each in local),
        "remote": min(each["cpu"] for each in remote),
        "reopen": {"cpu": reopened["cpu"], "wall": reopened["wall"], **requests},
        "listing": listing,
        "large": {"bytes": texts, "peak": large["peak"], "peak_local": beside["peak"], "wall": large["wall"]},
        "repetitions": REPETITIONS,
    }


@contextmanager
def store() -> Iterator[tuple[str, dict[str, str]]]:
    """The address of the server over `STORE`, and the environment of those who read it."""
    with rclone_server(STORE, WORK / "rclone.log") as url:
        yield url, NOTHING | {"AWS_ACCESS_KEY_ID": AWS_KEY, "AWS_SECRET_ACCESS_KEY": AWS_SECRET, "S3_ENDPOINT": url}


def _link(files: list[Path], directory: Path) -> None:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    for path in files:
        os.link(path, directory / path.name)


def _make_many(directory: Path) -> None:
    for number in range(MANY):
        path = directory / f"run{number % 100}" / f"worker{number}.1.pt.trace.json"
        if number < 100:
            path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def _make_large(directory: Path) -> int:
    """Bytes of one file."""
    first = directory / "rank0.1.pt.trace.json"
    if not first.exists():
        part = WORK / "large.part"
        shutil.rmtree(part, ignore_errors=True)
        write_run(Config(events=EVENTS), part)
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        (trace,) = part.iterdir()
        first.write_bytes(gzip.decompress(trace.read_bytes()))
        for number in range(1, FILES):
            os.link(first, directory / f"rank{number}.1.pt.trace.json")
    return first.stat().st_size
