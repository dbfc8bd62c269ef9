"""This package in a fresh interpreter, without a server: what its processes do, one after the other.

    python ours.py first LOGDIR CACHE PLAN   read each trace as a worker process does, then answer every request twice
    python ours.py reopen LOGDIR CACHE PLAN  the same from a full cache; the time of the first answer is told apart
    python ours.py ingest FILE               a trace into tables in memory
    python ours.py stream FILE COLUMNS       a trace into a column file
    python ours.py list URL                  the files of a log directory

PLAN: see `benchmarks/requests.py`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

from asked import asked
from own import cpu, cpu_with, peak, resident, say


def first(logdir: str, cache_dir: str, plan: dict[str, Any]) -> None:
    import torch_tb_profiler.web.app  # for `_views`
    import torch_tb_profiler.web.prefetch  # noqa: F401 - so that it counts as import
    from torch_tb_profiler import spill
    from torch_tb_profiler.discovery import parse_logdir
    from torch_tb_profiler.storage import storage_for
    from torch_tb_profiler.web import PREFETCHED
    from torch_tb_profiler.workspace import OpenTrace
    from torch_tb_profiler.workspace.cache.identity import content_key
    from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
    from torch_tb_profiler.workspace.reading.protocol import TIMELINE, Answered, Answering, Done, Job, Prepared
    from torch_tb_profiler.workspace.reading.worker import perform

    say(imported=cpu(), imported_memory=resident())
    began = cpu()
    (root,) = parse_logdir(logdir)
    storage = storage_for(root.url)
    cache = TraceCache(Path(cache_dir))
    spill.use(cache.directory)
    reading = timeline = 0.0
    entries = list(storage.list(storage.resolve(root.url), lambda _: None))
    for number, entry in enumerate(entries):
        key = content_key(storage, entry)
        worker = entry.path.rpartition("/")[2].partition(".")[0]
        trace = OpenTrace(Path(logdir).name, worker, "1", key, entry.size, len(entries))
        answering = Answering(PREFETCHED, trace, str(cache.answers(key)), str(cache.timeline(key)))
        job = Job(number, entry, str(cache.columns(key)), answering)
        messages: list[tuple[object, float]] = []

        def heard(message: object, messages: list[tuple[object, float]] = messages) -> None:
            messages.append((message, cpu()))

        start = cpu()
        outcome = perform(job, heard)
        if not isinstance(outcome, Prepared):
            raise SystemExit(f"{entry.path} {outcome}")
        ((done, read),) = [(message, at) for message, at in messages if isinstance(message, Done)]
        cache.add(key, done.summary)
        reading += read - start
        # the answers before it have all been given, and it is the last
        (_, before), (last, after) = messages[-2:]
        if last != Answered(TIMELINE):
            raise SystemExit(f"the timeline was not the last thing made, but {last}")
        timeline += after - before
    say(read=reading, timeline=timeline, prepared=cpu() - began - timeline, read_peak=peak())
    _views(logdir, cache_dir, plan, began + timeline)


def reopen(logdir: str, cache_dir: str, plan: dict[str, Any]) -> None:
    import torch_tb_profiler.web.app
    import torch_tb_profiler.workspace.reading.worker  # noqa: F401 - so that it counts as import, as in `first`

    say(imported=cpu(), imported_memory=resident())
    _views(logdir, cache_dir, plan, cpu())


def _views(logdir: str, cache_dir: str, plan: dict[str, Any], began: float) -> None:
    """Open the workspace, everything in its cache, and ask."""
    from torch_tb_profiler.discovery import parse_logdir
    from torch_tb_profiler.web.app import create_app
    from torch_tb_profiler.workspace import open_workspace

    workspace = open_workspace(parse_logdir(logdir), Path(cache_dir), 1, 3600.0)
    deadline = time.monotonic() + 60
    while (status := workspace.status()).scanning or status.loading:
        if time.monotonic() > deadline or workspace.process_ids():
            raise SystemExit("the cache was not used")
        time.sleep(0.005)
    app = create_app(workspace)

    def spent() -> float:
        """The process that answers about large traces included."""
        return cpu_with(workspace.process_ids())

    say(opened=spent() - began)

    def ask(nth: int, route: str, parameters: dict[str, str]) -> None:
        before = spent()
        status, body = asked(app, route, parameters)
        said = {"round": nth, "route": route, "parameters": parameters}
        say(**said, status=status, bytes=len(body), cpu=spent() - before)

    for nth in range(plan["rounds"]):
        for number, (route, parameters) in enumerate(plan["requests"]):
            ask(nth, route, parameters)
            if nth == number == 0:
                say(first_view=spent() - began)
        if nth == 0:
            say(all_views=spent() - began, peak=peak(), resident=resident())
    for nth in range(plan["rounds"]):
        for route, parameters in plan["extra"]:
            ask(nth, route, parameters)
    workspace.close()


def ingest(path: str) -> None:
    from torch_tb_profiler.trace import read_trace

    before, began = resident(), cpu()
    with Path(path).open("rb") as stream:
        trace = read_trace(stream)
    say(
        cpu=cpu() - began,
        events=len(trace.events),
        text=trace.text_bytes,
        notes={note.kind: note.count for note in trace.notes},
        before=before,
        peak=peak(),
    )


def stream(path: str, columns: str) -> None:
    from torch_tb_profiler.trace import read_to_file

    before, began = resident(), cpu()
    with Path(path).open("rb") as source:
        trace = read_to_file(source, Path(columns))
    say(
        cpu=cpu() - began,
        before=before,
        peak=peak(),
        text=trace.text_bytes,
        columns=Path(columns).stat().st_size,
        events=len(trace.events),
    )


def list_(url: str) -> None:
    from torch_tb_profiler.storage import storage_for

    storage = storage_for(url)
    entries = list(storage.list(storage.resolve(url), lambda _: None))
    say(cpu=cpu(), files=len(entries), peak=peak())


if __name__ == "__main__":
    mode, *rest = sys.argv[1:]
    if mode in ("first", "reopen"):
        {"first": first, "reopen": reopen}[mode](rest[0], rest[1], json.loads(Path(rest[2]).read_text()))
    else:
        {"ingest": ingest, "stream": stream, "list": list_}[mode](*rest)
