"""A clock that jumps, and files from the future: nothing is waited for without end, and nothing that is used goes."""

from __future__ import annotations

import os
import random
import time
from pathlib import Path

import pytest

from tests.attack.answers import answers
from tests.attack.test_cache import getter
from tests.tiny import wait_until
from tests.tracegen import Config
from tests.tracegen.writer import write_run
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.workspace import open_workspace

TRACES = [{"run": "run", "worker": "worker0"}]
PATHS = ("api/overview", "api/kernels", "api/timeline")
#: seconds that the clock jumps by
JUMPS = (-(10**9), -86_400, -3600, 3600, 86_400, 10**8, 3 * 10**8)


def wrong_of(folder: Path, seed: int) -> list[str]:
    """What is wrong with a server whose clock jumps between requests, and whose files have any time."""
    dice = random.Random(seed)
    logs, cache = folder / "logs", folder / "cache"
    write_run(Config(steps=2, layers=1), logs / "run")
    now, shift = time.time, 0.0
    expected = None
    wrong = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(time, "time", lambda: now() + shift)
        workspace = open_workspace(parse_logdir(str(logs)), cache, 1, reload_interval=0.1)
        try:
            for turn in range(6):
                wait_until(lambda: not workspace.status().loading, "everything is read")
                said = answers(getter(workspace), TRACES, PATHS)
                expected = expected or said
                if said != expected:
                    wrong.append(f"other answers after turn {turn}")
                shift += dice.choice(JUMPS)
                for path in (*cache.rglob("*"), *logs.rglob("*.json")):
                    if dice.random() < 0.5:
                        when = max(now() + dice.choice(JUMPS), 1)
                        os.utime(path, (when, when))
                kept = sorted(path.name for path in cache.iterdir())
                workspace._cache.sweep()
                if sorted(path.name for path in cache.iterdir()) != kept:
                    wrong.append(f"files of the cache are gone after turn {turn}")
        finally:
            workspace.close()
    return wrong
