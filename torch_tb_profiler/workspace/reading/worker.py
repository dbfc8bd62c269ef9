"""A worker process: takes jobs from stdin, reads traces, writes columns, answers and timelines, reports on stdout.

It ends with the server: the end of stdin says that the server is gone, however it went.
"""

from __future__ import annotations

import contextlib
import gc
import importlib
import os
import queue
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO

from torch_tb_profiler import spill
from torch_tb_profiler.analysis.capture import capture
from torch_tb_profiler.analysis.health.notes import health, troubles
from torch_tb_profiler.analysis.shared.likeness import program_sketch
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks import identity_of, is_distributed
from torch_tb_profiler.ranks import summary as rank_summary
from torch_tb_profiler.snapshot.schema import Records
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.storage import StorageError, storage_for
from torch_tb_profiler.timeline import timeline_file
from torch_tb_profiler.timeline.links import inputs_of
from torch_tb_profiler.timeline.timeline_file import build, release
from torch_tb_profiler.trace import Limits, ReadProgress, TraceError, column_file, read_to_file
from torch_tb_profiler.words.sentences import because
from torch_tb_profiler.workspace.cache.answer_store import AnswerFolder, Body, StoredAnswer, stored
from torch_tb_profiler.workspace.cache.checksummed import is_broken, write_checksummed
from torch_tb_profiler.workspace.process import trim_memory
from torch_tb_profiler.workspace.reading.child_processes import HelperProcesses, read_snapshot
from torch_tb_profiler.workspace.reading.protocol import (
    TIMELINE,
    Answered,
    Done,
    Failed,
    Job,
    Message,
    Prepared,
    Preparing,
    Reading,
    decode_order,
    encode,
)
from torch_tb_profiler.workspace.status import OpenTrace, TraceSummary


def summary_of(model: Model) -> TraceSummary:
    if is_snapshot(model.trace):
        found = troubles(model)
        return TraceSummary(len(model.trace.table(Records)), len(found), found, ("snapshot",), None, None, "")
    views = ["overview", "operators"]
    if model.has_kernels:
        views.append("kernels")
    if len(model.frames) or len(model.tree):
        views.append("stacks")
    if is_distributed(model):
        views.append("distributed")
    if len(model.memory):
        views.append("memory")
    sources = module_sources(model)
    if sources:
        views.append("modules")
    if "lightning" in sources:
        views.append("lightning")
    identity = identity_of(model.trace.header)
    return TraceSummary(
        len(model.trace.events),
        len(health(model)),
        troubles(model),
        tuple(views),
        identity.rank,
        identity.world_size,
        identity.host_name,
        tuple(sorted({device.name for device in capture(model).devices if device.name})),
        program_sketch(model),
    )


def write_rank(model: Model, path: Path) -> None:
    """Write the data of this rank for questions about all ranks; the reader adds the name of the worker.

    Raises OSError, and leaves nothing then.
    """
    write_checksummed(path, rank_summary.encode_summary(rank_summary.summarize(model, "")))


PROGRESS_SECONDS = 0.2

#: size of a file that leaves little memory behind, and seconds within which the next job must come to reuse it
SMALL_BYTES, AT_ONCE_SECONDS = 8 * 1024**2, 0.1

_NO_MEMORY = "there is not enough memory to answer this ahead; it is computed when it is asked for"

#: answers that pages will request: name and function of each, grouped by shared work
Questions = Callable[[OpenTrace, Model], Sequence[Sequence[tuple[str, Callable[[Model], Body | StoredAnswer]]]]]


def main() -> None:
    jobs: queue.SimpleQueue[Job] = queue.SimpleQueue()
    replies = _take_stdout()
    without_helpers: set[int] = set()
    current: list[Job] = []
    threading.Thread(target=_listen, args=(sys.stdin.buffer, jobs, without_helpers, current), daemon=True).start()

    def send(message: Message) -> None:
        try:
            replies.write(encode(message) + b"\n")
        except OSError:
            os._exit(0)

    job = jobs.get()
    while True:
        current[:] = [job]
        spill.use(Path(job.target).parent)
        send(perform(job, send, partial(_may_help, job.id, without_helpers)))
        without_helpers.discard(job.id)
        job = _after(job, jobs)


def _may_help(number: int, without_helpers: set[int]) -> bool:
    """Return whether processes may still help with a job."""
    return number not in without_helpers


def _after(job: Job, jobs: queue.SimpleQueue[Job]) -> Job:
    """Return the next job. Memory goes back to the system, unless this job has left little and the next comes soon:
    the next job reuses the pages, and new ones cost up to a tenth of the time of reading.
    """
    if job.answering is None and not job.is_read and job.entry.size <= SMALL_BYTES:
        with contextlib.suppress(queue.Empty):
            return jobs.get(timeout=AT_ONCE_SECONDS)
    trim_memory()
    return jobs.get()


def perform(job: Job, send: Callable[[Message], None], may_help: Callable[[], bool] = lambda: True) -> Message:
    """Do one job and return the outcome; `send` gets its progress.

    may_help: whether processes may still help with it
    """
    with _uncollected(), spill.watched():
        return _perform(job, send, may_help)


@contextlib.contextmanager
def _uncollected() -> Iterator[None]:
    """Turn off the cyclic collector: a job makes millions of objects, none of them part of a cycle."""
    if not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _perform(job: Job, send: Callable[[Message], None], may_help: Callable[[], bool]) -> Message:
    if job.is_read:
        return _prepare(job, lambda: Model(column_file.open_trace(Path(job.target))), send)
    outcome = _read(job, send, may_help)
    if isinstance(outcome, Failed):
        return outcome
    done, model = outcome
    if job.answering is None:
        return done
    send(done)
    return _prepare(job, lambda: model, send)


def _read(job: Job, send: Callable[[Message], None], may_help: Callable[[], bool]) -> tuple[Done, Model] | Failed:
    began = time.monotonic()
    try:
        storage = storage_for(job.entry.url)
        target = Path(job.target)
        target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)  # a cache may be removed while it is used
        if job.has_columns:
            try:
                model = Model(column_file.open_trace(target))
                return _summarized(job, model, began), model
            except Exception as error:
                if not is_broken(error):
                    raise
        with storage.open(job.entry) as stream:
            limits, progress = Limits(expansion=job.expansion), _throttled(send)
            if job.kind == "snapshot":
                trace = read_snapshot(stream, job.entry.size, target, progress, limits)
            else:
                with contextlib.closing(HelperProcesses(job.helpers, may_help)) as helpers:
                    trace = read_to_file(stream, target, progress, limits, helpers if job.helpers else None)
        before, now = job.entry, storage.stat(job.entry.url)
        if (now.size, now.modified_ns) != (before.size, before.modified_ns) or (
            before.etag and now.etag != before.etag
        ):
            target.unlink()
            return Failed(because("still_written"))
        model = Model(trace)
        return _summarized(job, model, began), model
    except StorageError as error:
        return Failed(error.reason, passes=True)
    except TraceError as error:
        return Failed(error.reason)
    except MemoryError:
        return Failed(because("no_memory"))
    except OSError as error:
        return Failed(because("not_written", {"error": str(error)}), passes=True)
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one file must stay with that file
        message = f"{type(error).__name__}: {error}"
        return Failed(because("unforeseen", {"error": message}), traceback.format_exc())


def _summarized(job: Job, model: Model, began: float) -> Done:
    if job.rank:
        write_rank(model, Path(job.rank))
    return Done(summary_of(model), time.monotonic() - began)


def _prepare(job: Job, open_model: Callable[[], Model], send: Callable[[Message], None]) -> Message:
    """Prepare the answers that the pages will request. The server meets the errors again when they are requested."""
    began = time.monotonic()
    answering = job.answering
    assert answering is not None
    try:
        module, _, function = answering.questions.partition(":")
        questions: Questions = getattr(importlib.import_module(module), function)
        model = open_model()
        bundles = questions(answering.trace, model)
        send(Preparing((*(name for asked in bundles for name, _ in asked), TIMELINE)))
        folder = AnswerFolder(Path(answering.folder))
        # a memory snapshot has no timeline
        is_drawn = timeline_file.is_there(Path(answering.timeline)) or is_snapshot(model.trace)
        inputs = None
        for asked in bundles:
            for name, compute in asked:
                send(Answered(name, _put(folder, name, partial(compute, model))))
            if not is_drawn and inputs is None:
                inputs = inputs_of(model)  # the first answers have left most of it
            model.answers.clear()
        if not is_drawn:
            release(model)
            trim_memory()
            timeline_file.write(build(model, inputs), Path(answering.timeline))
        send(Answered(TIMELINE))
    except MemoryError:
        return Prepared(time.monotonic() - began, _NO_MEMORY)
    except OSError as error:
        return Prepared(time.monotonic() - began, f"what was prepared cannot be kept: {error}")
    except column_file.ColumnFileError as error:
        return Prepared(time.monotonic() - began, _unusable(error))
    except Exception:  # noqa: BLE001 - the trace has been read, and that is what counts
        return Prepared(time.monotonic() - began, traceback.format_exc())
    return Prepared(time.monotonic() - began)


def _put(folder: AnswerFolder, name: str, make: Callable[[], Body | StoredAnswer]) -> str:
    """Store an answer. Return the error if it cannot be made, so that the others are still made."""
    try:
        folder.put(name, stored(make()))
    except MemoryError:
        return _NO_MEMORY
    except column_file.ColumnFileError as error:
        return _unusable(error)
    except Exception:  # noqa: BLE001 - it is logged by the server
        return traceback.format_exc()
    return ""


def _unusable(error: column_file.ColumnFileError) -> str:
    """Return a message without a traceback: a damaged file of the cache is no fault of the program."""
    return f"the columns cannot be used: {error}"


def _throttled(send: Callable[[Message], None]) -> Callable[[ReadProgress], None]:
    sent = 0.0

    def report(progress: ReadProgress) -> None:
        nonlocal sent
        now = time.monotonic()
        if now - sent >= PROGRESS_SECONDS:
            sent = now
            send(Reading(progress.bytes_done, progress.events))

    return report


def _take_stdout() -> BinaryIO:
    """Keep stdout for the replies; anything that a library prints goes to stderr."""
    replies = os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(2, 1)
    return replies


def _listen(stream: BinaryIO, jobs: queue.SimpleQueue[Job], without_helpers: set[int], current: list[Job]) -> None:
    """Take orders until the server is gone, then end.

    without_helpers    gets the numbers of jobs that are to go on without helpers
    current  the job under way, whose unfinished files go with this process
    """
    for line in stream:
        order = decode_order(line)
        if isinstance(order, Job):
            jobs.put(order)
        else:
            without_helpers.add(order.id)
    for job in current:
        job.remove_parts(os.getpid())
    os._exit(0)
