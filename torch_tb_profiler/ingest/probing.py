"""Whether a worker can do what it is asked for: the log directory, the cache, the package."""

from __future__ import annotations

import platform
import socket
from collections.abc import Sequence

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.ingest.runner import CannotBegin, Check, WorkerFact
from torch_tb_profiler.ingest.tasks import Target
from torch_tb_profiler.storage import StorageError, storage_for
from torch_tb_profiler.workspace.cache.identity import answers_version
from torch_tb_profiler.workspace.cache.stores import read_when_visible, remove_all

_HEAD = 4096
#: of workers in a message
_MOST = 5


def probe_worker(check: bytes) -> bytes:
    """A `Check` in, a `WorkerFact` out. Sent by its name to workers of a cluster."""
    return msgspec.json.encode(facts_of(from_json(check, Check)))


def facts_of(check: Check) -> WorkerFact:
    """What this process can do. Raises nothing."""
    nonce = f"{check.nonce}-{socket.gethostname()}-{id(check)}"
    return WorkerFact(
        socket.gethostname(),
        platform.python_version(),
        answers_version(),
        _unreadable(check),
        _unwritable(check.target, nonce),
        nonce,
    )


def _unreadable(check: Check) -> str:
    try:
        with storage_for(check.url).open(check.entry, ahead=False) as stream:
            stream.read(_HEAD)
    except (OSError, StorageError) as error:
        return str(error)
    return ""


def _unwritable(target: Target, nonce: str) -> str:
    try:
        target.open().put(nonce, nonce.encode())
    except (OSError, StorageError) as error:
        return (error.strerror if isinstance(error, OSError) else "") or str(error)
    return ""


def judge(facts: Sequence[WorkerFact], check: Check) -> None:
    """Raises CannotBegin: a worker cannot do it. What the workers have written is removed."""
    place = check.target.open()
    _refuse([(f, "has answered with something else") for f in facts if not f.nonce.startswith(check.nonce)])
    try:
        _refuse([(f, f"cannot read {check.url}: {f.unreadable}") for f in facts if f.unreadable])
        _refuse([(f, f"cannot write to {check.target.place_shown}: {f.unwritable}") for f in facts if f.unwritable])
        _refuse([(f, "has another build of torch-tb-profiler") for f in facts if f.code != check.target.code])
        for fact in facts:
            try:
                read_when_visible(place, fact.nonce)
            except (OSError, StorageError):
                _refuse([(fact, f"has its own {check.target.place_shown}: what it writes cannot be seen here")])
    finally:
        remove_all(place, (fact.nonce for fact in facts))


def _refuse(wrong: Sequence[tuple[WorkerFact, str]]) -> None:
    if wrong:
        told = [f"worker {fact.address or 'of this machine'} ({fact.host}) {why}" for fact, why in wrong[:_MOST]]
        if len(wrong) > _MOST:
            told.append(f"and {len(wrong) - _MOST} more workers")
        raise CannotBegin("; ".join(told))
