"""Column files of a shared place that somebody has made up: never an error of the server, and no more memory."""

from __future__ import annotations

import resource
import shutil
import sys
import time
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlencode

import pytest

from tests.attack.hostile_columns import CHANGES, spoil_place
from tests.attack.requests import Asked
from tests.openapi_requests import CNN, H100, SNAPSHOT, fill, places_in, requests_to
from tests.served import client_of, everything_read, get
from tests.snapshots import dumped, random_run
from tests.tiny import wait_until
from tests.tracegen import Config
from tests.tracegen.writer import write_run
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.ingest.ingest import Readers, ingest
from torch_tb_profiler.web.openapi import document
from torch_tb_profiler.workspace import open_workspace

pytestmark = pytest.mark.long

RUN, WORKER = "generated_4gpu_h100", "rank0"
#: what is changed, and in which files
SUFFIXES = {"traces": (".columns", ".rank", ".run"), "snapshots": (".columns",), "timelines": (".timeline",)}
#: bytes that the process may take more than before, and seconds for all requests
MORE, LONG = 300 << 20, 240
#: how often something is asked while its trace is read again
PATIENCE = 5


class Prepared(NamedTuple):
    """Logs of two ranks and a snapshot, a shared place and a cache that have them, and a request to each route."""

    logs: Path
    place: Path
    cache: Path
    urls: list[str]


def prepared(folder: Path) -> Prepared:
    logs, place = folder / "logs", folder / "place"
    write_run(Config(steps=2, layers=1, ranks=2), logs / RUN)
    snapshot = logs / SNAPSHOT["run"] / f"{SNAPSHOT['worker']}.pickle"
    snapshot.parent.mkdir()
    snapshot.write_bytes(dumped(random_run(1).snapshot()))
    ingest(str(logs), str(place), Readers(processes=1))
    with everything_read(logs, folder / "cache", 1) as workspace:
        client = client_of(workspace)
        places = places_in(client, RUN, WORKER, shape="[[2, 2], [2, 2]]")
        get(client, f"/api/timeline?{urlencode(H100)}")  # which writes it
    queries = [
        (path, fill(query, places) | (H100 if query.get("run") == CNN["run"] else {}))
        for path in document()["paths"]
        for query in requests_to(path)[: None if path.startswith("/api/snapshot") else 1]
    ]
    return Prepared(logs, place, folder / "cache", [f"{path}?{urlencode(query)}" for path, query in queries])


def peak() -> int:
    """Of the memory of this process, bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def wrong_of(given: Prepared, folder: Path, what: str, kind: str, seed: int, most: int) -> list[str]:
    """What is wrong with the answers of a server beside a place that was changed.

    what  columns of traces, or of snapshots and timelines, which only a cache has
    most  how many routes are asked
    """
    place = folder / "place"
    shutil.copytree(given.place if what == "traces" else given.cache, place)
    for answers in place.glob("*.answers"):
        shutil.rmtree(answers)
    assert spoil_place(place, kind, seed, SUFFIXES[what])
    before, began = peak(), time.monotonic()
    urls = [url for url in given.urls if what == "traces" or url.startswith(f"/api/{what[:-1]}")]
    said, first = Asked(), seed * most % len(urls)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(folder / "own"))
        workspace = open_workspace(parse_logdir(str(given.logs)), place, 1, reload_interval=0)
        try:
            wait_until(lambda: not workspace.status().loading, "everything is listed")
            client = client_of(workspace)
            for url in (urls * 2)[first : first + most]:
                for _ in range(PATIENCE):
                    said.ask(client, url)
                    if not workspace.status().loading:
                        break
                    wait_until(lambda: not workspace.status().loading, url)
        finally:
            workspace.close()
    wrong = [f"{each} ({what}, {kind}, seed {seed})" for each in said.complaints]
    if peak() - before > MORE:
        wrong.append(f"{(peak() - before) >> 20} MiB more memory ({what}, {kind}, seed {seed})")
    if time.monotonic() - began > LONG:
        wrong.append(f"{time.monotonic() - began:.0f} s ({what}, {kind}, seed {seed})")
    return wrong


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return prepared(tmp_path_factory.mktemp("hostile"))


@pytest.mark.parametrize("kind", CHANGES)
@pytest.mark.parametrize("what", SUFFIXES)
def test_made_up_columns_cost_nothing_else(what: str, kind: str, given: Prepared, tmp_path: Path) -> None:
    assert wrong_of(given, tmp_path, what, kind, 1, 40) == []
