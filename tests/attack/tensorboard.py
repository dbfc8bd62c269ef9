"""TensorBoard with the plugin beside a stand-alone server of the same log directory: equal requests, equal answers."""

from __future__ import annotations

import gzip
import random
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import cast
from urllib.parse import urlencode

from werkzeug.test import Client

from tests.attack.logdir import ALONE, places_to_ask, write_logs
from tests.attack.requests import Query, hostile_requests, wrong_with
from tests.attack.servers import start
from tests.integration.conftest import PLUGIN, Reply, Server, wait_for_all
from torch_tb_profiler.web.openapi import document

#: what TensorBoard and its other plugins answer themselves
OTHERS = ("", "data/environment", "data/plugins_listing", "data/runs", "data/plugin/scalars/tags")
#: headers of an answer that the plugin gives wherever it runs
HEADERS = ("Content-Type", "ETag", "Cache-Control", "X-Content-Type-Options", "Content-Security-Policy", "Vary")


def start_tensorboard(cache: Path, log: Path, *arguments: str) -> Server:
    """On a free port."""
    command = [sys.executable, "-m", "tensorboard.main", "--port", "0", "--torch_profiler_cache_dir", str(cache)]
    return Server([*command, *arguments], log, r"TensorBoard [\d.a-z]+ at (http://\S+)", {})


class _Client:
    """A server as `tests.served.get` asks it."""

    def __init__(self, server: Server) -> None:
        self._server = server

    def get(self, url: str) -> SimpleNamespace:
        reply = self._server.get(url.removeprefix("/"))
        kind = reply.headers.get("Content-Type")
        return SimpleNamespace(
            status_code=reply.status, text=reply.body.decode(errors="replace"), content_type=kind, data=reply.body
        )


class Pair:
    """Both hosts, and what differed between their answers. asked: how many requests that were."""

    def __init__(self, board: Server, alone: Server) -> None:
        self.board, self.alone = board, alone
        self.asked = 0
        self.complaints: list[str] = []

    def ask(self, path: str, method: str = "GET", headers: dict[str, str] | None = None) -> Reply:
        """The answer of TensorBoard."""
        self.asked += 1
        path = path.removeprefix("/")
        inside = self.board.get(PLUGIN + path, method, headers)
        outside = self.alone.get(path, method, headers)
        where = f"{method} {path[:500]}"
        if inside.status == outside.status == 414:  # TensorBoard's server says it itself
            return inside
        inside.body, outside.body = unpacked(inside), unpacked(outside)
        wrong = wrong_with(inside.status, inside.headers.get("Content-Type", ""), inside.body)
        if wrong and method == "GET":
            self.complaints.append(f"TensorBoard: {wrong}: {where}")
        if path.startswith("api/report") and inside.status == outside.status:
            return inside  # it says when it was made
        if (inside.status, inside.body) != (outside.status, outside.body):
            told = [f"{reply.status} {reply.body[:200]!r}" for reply in (inside, outside)]
            self.complaints.append(f"TensorBoard says {told[0]}, the stand-alone server {told[1]}: {where}")
        for name in HEADERS:
            there, here = inside.headers.get(name), outside.headers.get(name)
            if there != here:
                self.complaints.append(f"{name} is {there} in TensorBoard, otherwise {here}: {where}")
        return inside

    def check_board(self) -> None:
        self.complaints += wrong_with_board(self.board)


def wrong_with_board(board: Server) -> list[str]:
    """TensorBoard itself and its other plugins go on, and nothing is in the log that people would ask about."""
    statuses = {path: board.get(path).status for path in OTHERS}
    printed = board.printed()
    found = [f"TensorBoard answers {status} at /{path}" for path, status in statuses.items() if status != 200]
    for word in ("Traceback", "security_validator"):
        before, at, after = printed.partition(word)
        if at:
            found.append(f"in the log of TensorBoard: {before[-300:]}{at}{after[:6000]}")
    return found


def unpacked(reply: Reply) -> bytes:
    is_packed = reply.headers.get("Content-Encoding") == "gzip" and reply.body
    return gzip.decompress(reply.body) if is_packed else reply.body


@contextmanager
def both(logs: Path, folder: Path, *arguments: str) -> Iterator[Pair]:
    """Two servers that have read everything; each has a cache of its own."""
    with ExitStack() as stack:
        board = start_tensorboard(folder / "cache0", folder / "log0", "--logdir", str(logs), *arguments)
        stack.callback(board.stop)
        alone = start(logs, folder / "cache1", folder / "log1")
        stack.callback(alone.stop)
        wait_for_all(board, PLUGIN)
        wait_for_all(alone)
        yield Pair(board, alone)


def attack(folder: Path, seed: int, count: int, until: float = float("inf")) -> Pair:
    """Hostile requests to both, so many or until a time (of `time.monotonic`)."""
    traces: Sequence[Query] = write_logs(folder / "logs", range(seed * 10, seed * 10 + 4))
    dice = random.Random(seed)
    with both(folder / "logs", folder) as pair:
        for query in traces:
            pair.ask(f"api/overview?{urlencode(query)}")
        places = places_to_ask(cast(Client, _Client(pair.alone)))
        every = hostile_requests(document(), places, traces, count, seed)
        for url in every:
            if url.startswith("/?"):  # TensorBoard has no route for an empty path of a plugin
                continue
            method = dice.choice(("GET", "GET", "GET", "GET", "HEAD", "POST", "PUT", "DELETE"))
            coding = dice.choice(("identity", "gzip", "gzip;q=nan", "*;q=0", "br"))
            pair.ask(url, method, {"Accept-Encoding": coding, "X": "a" * dice.choice((1, 9000))})
            if time.monotonic() > until:
                break
        pair.ask(f"api/overview?{urlencode({'run': ALONE, 'worker': 'worker0'})}")
        pair.check_board()
    return pair
