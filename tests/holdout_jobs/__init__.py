"""Jobs unlike those of `tracegen`: programs in stages of queues, jitter of each kernel, other layouts and backends.

They are for trying rules that were made with the others at hand. A job is its layout (sizes of the dimensions of a
device mesh, the first one innermost) and what is wrong with it:

    ranks = summaries(Other((("shard", 8), ("replicate", 2)), wrong=(Slower((3,), "gpu", 1.2, since=3),)))
"""

from __future__ import annotations

from collections import deque
from typing import Any

from tests.events import model_of
from tests.holdout_jobs.job import Left, Other, Slower, SlowWire
from tests.holdout_jobs.process import Meet
from tests.holdout_jobs.program import Program
from torch_tb_profiler.ranks.summary import RankSummary, summarize

__all__ = ["Left", "Other", "SlowWire", "Slower", "summaries", "traces"]


def traces(job: Other) -> list[dict[str, Any]]:
    meets: dict[object, Meet] = {}
    ranks = [Program(job, rank, meets) for rank in range(job.ranks)]
    running = deque((rank, rank.run()) for rank in ranks)
    idle = 0
    stopped: dict[int, Meet] = {}
    while running:
        rank, todo = running.popleft()
        on = stopped.get(rank.rank)
        if on is not None and not on.done:
            running.append((rank, todo))
            idle += 1
            if idle > len(running):
                raise AssertionError("ranks wait for each other")
            continue
        idle = 0
        if (waits := next(todo, None)) is not None:
            stopped[rank.rank] = waits
            running.append((rank, todo))
    return [rank.finish() for rank in ranks]


def summaries(job: Other) -> list[RankSummary]:
    found = []
    for rank, trace in enumerate(traces(job)):
        events = trace.pop("traceEvents")
        found.append(summarize(model_of(events, **trace), f"rank{rank:04d}"))
    return found
