"""What each question costs about one trace, in a fresh interpreter: python shape.py LOGDIR CACHE PLAN.

LOGDIR has two runs of two equal traces each. The first trace of `run` is read and prepared as a worker process does,
then everything in PLAN (see `benchmarks/requests.py`) is asked about it. The process for large traces answers, whatever
the size; its CPU is counted. Before, it is asked the same about the run `small`: its start and its imports depend on no
size, and are not told.
"""

from __future__ import annotations

import gc
import json
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from asked import asked
from own import cpu, cpu_with, peak, say

import torch_tb_profiler.insights.rules  # noqa: F401 - so that it counts as import
from torch_tb_profiler.analysis.question import BUNDLES
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.model import Model
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.storage import Entry, Storage, storage_for
from torch_tb_profiler.timeline import timeline_file
from torch_tb_profiler.timeline.links import inputs_of
from torch_tb_profiler.timeline.timeline_file import build, release
from torch_tb_profiler.trace import read_to_file
from torch_tb_profiler.web.answers.trace import first_of_trace
from torch_tb_profiler.web.app import TimeLimit, create_app
from torch_tb_profiler.web.old_plugin.questions import QUESTIONS as OLD
from torch_tb_profiler.workspace import OpenTrace, open_workspace
from torch_tb_profiler.workspace import workspace as workspaces
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder, stored
from torch_tb_profiler.workspace.cache.identity import content_key
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.reading.worker import summary_of

RUN, SMALL = "run", "small"


def timed(part: str, work: Callable[[], Any]) -> Any:
    gc.collect()
    began = cpu()
    found = work()
    say(part=part, cpu=cpu() - began)
    return found


def prepare(logdir: str, cache_dir: str) -> None:
    (root,) = parse_logdir(logdir)
    storage = storage_for(root.url)
    cache = TraceCache(Path(cache_dir))
    entries = sorted(storage.list(storage.resolve(root.url), lambda _: None), key=lambda entry: entry.path)
    small = [entry for entry in entries if entry.path.startswith(f"{SMALL}/")]
    add_small(storage, cache, small)
    entries = [entry for entry in entries if entry not in small]
    first, *others = [content_key(storage, entry) for entry in entries]
    columns = cache.columns(first)

    def read() -> Any:
        with storage.open(entries[0]) as stream:
            return read_to_file(stream, columns)

    model = Model(timed("read", read))
    summary = timed("summary", lambda: summary_of(model))
    cache.add(first, summary)
    for key in others:
        shutil.copy(columns, cache.columns(key))
        cache.add(key, summary)
    trace = OpenTrace(RUN, "worker0", "1", first, entries[0].size, len(entries))
    folder = AnswerFolder(cache.answers(first))
    inputs = None
    for bundle in BUNDLES:
        for question in (*QUESTIONS, *OLD):
            for name, compute in first_of_trace((question,), trace, model, bundle):
                folder.put(name, timed(question.path, lambda compute=compute: stored(compute(model))))
        inputs = inputs or timed("timeline, links", lambda: inputs_of(model))
        model.answers.clear()
    release(model)
    timed("timeline", lambda: timeline_file.write(build(model, inputs), cache.timeline(first)))


def add_small(storage: Storage, cache: TraceCache, entries: Sequence[Entry]) -> None:
    for entry in entries:
        key = content_key(storage, entry)
        with storage.open(entry) as stream:
            cache.add(key, summary_of(Model(read_to_file(stream, cache.columns(key)))))


def ask(logdir: str, cache_dir: str, plan: list[tuple[str, dict[str, str]]]) -> None:
    workspaces.LARGE_EVENTS = 0
    workspace = open_workspace(parse_logdir(logdir), Path(cache_dir), 1, 3600.0)
    while (status := workspace.status()).scanning or status.loading:
        if workspace.process_ids():
            raise SystemExit("the cache was not used")
    app = create_app(workspace, TimeLimit(3600.0))
    for route, parameters in plan:
        asked(app, route, {name: SMALL if value == RUN else value for name, value in parameters.items()})
    for route, parameters in plan:
        began = cpu_with(workspace.process_ids())
        status_code, _ = asked(app, route, parameters)
        say(part=route, cpu=cpu_with(workspace.process_ids()) - began, status=status_code)
    workspace.close()


if __name__ == "__main__":
    prepare(*sys.argv[1:3])
    ask(*sys.argv[1:3], json.loads(Path(sys.argv[3]).read_text()))
    say(peak=peak())
