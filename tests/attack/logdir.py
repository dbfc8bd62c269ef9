"""The log directory under attack: good runs under the names that requests use, and files that nobody would write."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from werkzeug.test import Client

from tests.attack.contents import hostile
from tests.openapi_requests import places_in
from tests.tiny import write_trace
from tests.tracegen import Config
from tests.tracegen.writer import write_run

GOOD, ALONE, HOSTILE = "generated_4gpu_h100", "cnn_workers0", 'hostile <b>"&'


def write_logs(logs: Path, seeds: Iterable[int]) -> list[dict[str, str]]:
    """Write it; `run` and `worker` of each trace that can be read. A hostile file is a rank of its run."""
    write_run(Config(steps=2, layers=1, ranks=2), logs / GOOD)
    write_run(Config(steps=3, layers=1), logs / ALONE)
    write_trace(logs / "tiny" / "w.pt.trace.json")
    write_trace(logs / "cpu" / "w.pt.trace.json", gpu=False)
    (logs / "broken").mkdir()
    (logs / "broken" / "w.pt.trace.json").write_text("{}")
    (logs / HOSTILE).mkdir()
    found = [{"run": GOOD, "worker": "rank0"}, {"run": GOOD, "worker": "rank1"}, {"run": ALONE, "worker": "worker0"}]
    for seed in seeds:
        (logs / HOSTILE / f"s{seed}.1.pt.trace.json").write_bytes(hostile(seed).text)
        found.append({"run": HOSTILE, "worker": f"s{seed}", "span": "1"})
    return found


def places_to_ask(client: Client) -> dict[str, str]:
    """What stands for {row} and the like in `tests.openapi_requests`."""
    return places_in(client, GOOD, "rank0", shape="[[2, 2], [2, 2]]")
