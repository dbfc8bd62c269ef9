"""Reading one rank into a place: the same on this machine and on a worker of a cluster."""

from __future__ import annotations

import atexit
import functools
import traceback
from collections.abc import Callable
from pathlib import Path

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.ingest.children import Children
from torch_tb_profiler.ingest.tasks import Kept, Lost, Outcome, Task, decode_task, encode
from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.storage import StorageError, storage_for
from torch_tb_profiler.words.reasons import because
from torch_tb_profiler.workspace.cache.checksummed import checksummed, verified
from torch_tb_profiler.workspace.cache.identity import FileNames, Shared, answers_version, content_key
from torch_tb_profiler.workspace.cache.stores import CacheStore
from torch_tb_profiler.workspace.reading.protocol import Failed, Job, Reading
from torch_tb_profiler.workspace.status import TraceSummary

#: more than any worker of a cluster has threads
_MANY = 1 << 16


def ingest_rank(task: bytes) -> bytes:
    """A `Task` in, an `Outcome` out. Sent by its name to workers of a cluster, each of which keeps a child for it."""
    return encode(read_rank(decode_task(task), _children()))


@functools.cache
def _children() -> Children:
    """Of a worker of a cluster, one for each thread that asks; they end with it, and when nothing comes for a while."""
    children = Children(_MANY)
    atexit.register(children.close)
    return children


def read_rank(task: Task, children: Children, told: Callable[[Reading], None] = lambda _: None) -> Outcome:
    """Read a file unless it is in the place already. Raises nothing."""
    try:
        if task.target.code != answers_version():
            return Lost.of(task.number, Reason(OTHER, "was given to a worker that has another build of this package"))
        key = content_key(storage_for(task.url), task.entry)
        names = FileNames(task.target.expansion).shared(key)
        place = task.target.open()
        known = _known(place, names)
        if known is not None:
            return Kept(task.number, key, known, was_there=True)
        return _read(task, key, names, place, children, told)
    except StorageError as error:
        return Lost.of(task.number, error.reason)
    except OSError as error:
        text = f"could not be kept in {task.target.place_shown}: {error.strerror or error}"
        return Lost.of(task.number, Reason(OTHER, text))
    except Exception as error:  # noqa: BLE001 - whatever is wrong with one file must stay with that file
        what = f"{type(error).__name__}: {error}"
        reason = because("unforeseen", {"error": what})
        return Lost.of(task.number, reason, traceback.format_exc())


def _known(place: CacheStore, names: Shared) -> TraceSummary | None:
    """The summary of a rank that is whole in the place."""
    try:
        if not (place.has(names.summary) and place.has(names.rank) and place.has(names.columns)):
            return None
        return from_json(verified(place.read(names.summary)) or b"", TraceSummary)
    except (FileNotFoundError, msgspec.DecodeError):
        return None


def _read(
    task: Task, key: str, names: Shared, place: CacheStore, children: Children, told: Callable[[Reading], None]
) -> Outcome:
    with children.folder() as folder:
        columns, rank = folder / "columns", folder / "rank"
        copied = _copied(place, names.columns, columns)
        job = Job(
            task.number,
            task.entry,
            str(columns),
            expansion=task.target.expansion,
            has_columns=copied is not None,
            rank=str(rank),
        )
        outcome = children.read(job, told)
        if isinstance(outcome, Failed):
            return Lost.of(task.number, outcome.reason, outcome.details)
        was_damaged = copied not in (None, columns.stat().st_ino)
        if was_damaged or copied is None:
            place.put(names.columns, columns, absent=not was_damaged)
        place.put(names.rank, rank, absent=copied is None)
        # last: who finds it finds the others; what was damaged before is replaced
        place.put(names.summary, checksummed(msgspec.json.encode(outcome.summary)), absent=False)
        return Kept(task.number, key, outcome.summary, was_there=False)


def _copied(place: CacheStore, name: str, target: Path) -> int | None:
    """Which file (inode) the columns are here, if the place has them: then only what is made of them is missing."""
    try:
        place.fetch(name, target)
    except FileNotFoundError:
        return None
    return target.stat().st_ino
