"""Many clients at once, for long: what a server's process holds does not grow with requests."""

from __future__ import annotations

import random
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

from tests.attack.answers import PATHS
from tests.attack.servers import start, wait_for_all
from tests.tracegen import Config
from tests.tracegen.writer import write_run

CLIENTS = 200
REQUESTS = 50_000
#: bytes that a server may hold more after all requests than after a tenth of them
GROWTH = 30 << 20


@dataclass
class Crowd:
    statuses: Counter[int] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    held: list[int] = field(default_factory=list)  #: bytes of the server's process, after a tenth and at the end


def resident(pid: int) -> int:
    """Bytes of a process that are in memory; Linux only."""
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * 4096


def crowd(folder: Path, until: float, requests: int = REQUESTS) -> Crowd:
    """Let them ask until all is asked, or `until` (of `time.monotonic`). 503 is an answer: the server is busy."""
    write_run(Config(steps=2, layers=1, ranks=2), folder / "logs" / "run")
    server = start(folder / "logs", folder / "cache", folder / "log")
    found = Crowd()
    lock = threading.Lock()
    left = requests

    def client(seed: int) -> None:
        nonlocal left
        dice = random.Random(seed)
        while time.monotonic() < until:
            with lock:
                left -= 1
                number = requests - left
            if number > requests:
                return
            query = urlencode({"run": "run", "worker": f"rank{dice.randrange(2)}"})
            path = dice.choice(PATHS)
            url = f"{server.url}{path}{'&' if '?' in path else '?'}{query}"
            try:
                with urllib.request.urlopen(url, timeout=120) as reply:
                    reply.read()
                    status = reply.status
            except urllib.error.HTTPError as error:
                with error:
                    status = error.code
            except OSError:
                status = 0  # closed for another that waited: told in docs/security.md
            with lock:
                found.statuses[status] += 1
                if status not in (0, 200, 503):
                    found.complaints.append(f"status {status}: {url}")
                if number == requests // 10:
                    found.held.append(resident(server.process.pid))

    try:
        wait_for_all(server)
        threads = [threading.Thread(target=client, args=(seed,), daemon=True) for seed in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found.held.append(resident(server.process.pid))
    finally:
        server.stop()
    if len(found.held) == 2 and found.held[1] - found.held[0] > GROWTH:
        found.complaints.append(f"memory grew from {found.held[0]} to {found.held[1]} bytes")
    if not found.statuses[200]:
        found.complaints.append("no client had an answer")
    return found
