"""Ranks read by the workers of a Dask cluster (extra `dask`)."""

from __future__ import annotations

import logging
import socket
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.ingest.reading import ingest_rank, probe_worker
from torch_tb_profiler.ingest.runner import (
    IngestRefused,
    OnBytesRead,
    Outcome,
    RankLost,
    Task,
    WorkerFact,
    WorkerProbe,
    WorkLost,
    decode_outcome,
    encode,
)
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import OTHER, Reason
from torch_tb_profiler.words.sentences import because

if TYPE_CHECKING:
    from distributed import Client, Future

log = logging.getLogger(__name__)

CONNECT_SECONDS = 5
_ADDRESS = lazy_pattern(r"(?:[a-z]+://)?(?P<host>\[[^]]+\]|[^:/]+):(?P<port>\d+)/?")
WORKERS_SECONDS = 30

#: tasks at the scheduler for each thread of the cluster: enough that none waits, few enough that all can be given again
_AHEAD = 3
#: how often a rank is given again whose worker died; its own child dying is no death of a worker
MOST_DEATHS = 10

#: bytes of a worker's answer, which is a kilobyte and the notes about a file
_MOST_ANSWERED = 1 << 20
#: characters of what is shown of something else
_SHOWN = 300


class ClusterRunner:
    """The workers of a scheduler. Functions are sent by their names and data as bytes: no code travels.

    say: takes a sentence that a person should read
    """

    def __init__(self, scheduler: str, say: Callable[[str], None]) -> None:
        """Connect. Raises IngestRefused."""
        self._scheduler, self._say = scheduler, say
        self._client: Client = _connect(scheduler)

    def probe(self, check: WorkerProbe) -> list[WorkerFact]:
        """Wait some time for the first worker."""
        try:
            self._client.wait_for_workers(1, timeout=WORKERS_SECONDS)
        except TimeoutError:
            text = f"the scheduler {self._scheduler} has had no worker for {WORKERS_SECONDS} s"
            raise IngestRefused(text) from None
        self._compare_versions()
        found: dict[str, Any] = self._client.run(probe_worker, msgspec.json.encode(check), on_error="return")
        facts = []
        for address, said in found.items():
            try:
                fact = from_json(_small(said), WorkerFact)
            except ValueError:  # it could not even load the function
                raise IngestRefused(
                    f"worker {address} cannot read ranks: {str(said)[:_SHOWN]}; the same version of torch-tb-profiler "
                    "must be there"
                ) from None
            facts.append(msgspec.structs.replace(fact, address=address))
        return facts

    def run(self, tasks: Iterable[Task], on_bytes: OnBytesRead) -> Iterator[Outcome]:
        from distributed import as_completed
        from distributed.client import FutureCancelledError

        waiting = iter(tasks)
        given: dict[str, Task] = {}
        deaths: dict[int, int] = {}
        coming: Any = as_completed(loop=self._client.loop)
        ahead = _AHEAD * max(1, sum(self._client.nthreads().values()))

        def give(task: Task) -> None:
            future = self._client.submit(ingest_rank, encode(task), pure=False, retries=0)
            given[future.key] = task
            coming.add(future)

        def fill() -> None:
            while len(given) < ahead and (task := next(waiting, None)) is not None:
                give(task)

        try:
            fill()
            for future in coming:
                task = given[future.key]
                outcome = self._outcome(future, task)
                del given[future.key]
                if outcome is None:
                    deaths[task.number] = deaths.get(task.number, 0) + 1
                    if deaths[task.number] <= MOST_DEATHS:
                        give(task)
                        continue
                    text = f"could not be read: {MOST_DEATHS + 1} times the worker that read it was killed"
                    outcome = RankLost.of(task.number, Reason(OTHER, text))
                future.release()
                on_bytes(task.number, task.size)
                yield outcome
                fill()
        except (FutureCancelledError, OSError) as error:
            left = [*given.values(), *waiting]
            raise WorkLost(f"the scheduler {self._scheduler} was lost ({type(error).__name__})", left) from None

    def _outcome(self, future: Future, task: Task) -> Outcome | None:
        """Return what a worker sent; None if it died. Raises what says that the scheduler is gone."""
        from distributed.scheduler import KilledWorker

        if future.status == "finished":
            try:
                return decode_outcome(_small(future.result()), task.number)
            except ValueError as error:
                return RankLost.of(task.number, Reason(OTHER, f"was answered with something else: {error}"))
        if future.status in ("cancelled", "lost"):
            raise ConnectionError(future.status)
        raised = future.exception()
        if isinstance(raised, KilledWorker):
            return None
        told = f"{type(raised).__name__}: {raised}"
        return RankLost.of(task.number, because("unforeseen", {"error": told}))

    def _compare_versions(self) -> None:
        """Say which packages differ between here, the scheduler and the workers."""
        versions = self._client.get_versions()
        here = versions["client"]["packages"]
        for who, of in [("scheduler", versions["scheduler"]), *versions["workers"].items()]:
            packages = (of or {}).get("packages") or {}
            other = [
                f"{name} {packages.get(name)} (here {here.get(name)})"
                for name in ("python", "dask", "distributed", "msgpack")
                if packages.get(name) != here.get(name)
            ]
            if other:
                self._say(f"{who} has other versions: {', '.join(other)}")

    def close(self) -> None:
        """Leave the cluster; what it still reads it reads to the end."""
        self._client.close(timeout=CONNECT_SECONDS)


def _small(said: object) -> bytes:
    """Decode a worker's answer. Raises ValueError: it is none of ours."""
    if not isinstance(said, bytes):
        raise ValueError(f"it is of type {type(said).__name__}")
    if len(said) > _MOST_ANSWERED:
        raise ValueError(f"it has {len(said):,} bytes")
    return said


def _connect(scheduler: str) -> Client:
    try:
        import distributed
    except ImportError:
        raise IngestRefused(
            "a scheduler needs dask.distributed. Install it with: pip install 'torch-tb-profiler[dask]'"
        ) from None
    _require_answer(scheduler)
    # it logs every lost connection; one sentence is enough
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        return distributed.Client(scheduler, timeout=CONNECT_SECONDS, set_as_default=False)
    except OSError as error:
        text = f"the scheduler {scheduler} does not answer ({error})"
        raise IngestRefused(f"{text}; is a Dask scheduler listening there?") from None
    except Exception as error:  # noqa: BLE001 - what another version of it answers is not foreseen
        text = f"the scheduler {scheduler} cannot be used ({type(error).__name__}: {error})"
        raise IngestRefused(f"{text}; it may run another version of distributed, here it is {_version()}") from None


def _require_answer(scheduler: str) -> None:
    """Check that something listens at the address: a client would try for long. Raises IngestRefused."""
    match = _ADDRESS.fullmatch(scheduler)
    if match is None:
        raise IngestRefused(f"{scheduler} is not the address of a scheduler, such as tcp://127.0.0.1:8786")
    try:
        socket.create_connection((match["host"].strip("[]"), int(match["port"])), CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise IngestRefused(f"the scheduler {scheduler} cannot be reached: {why} (tried {CONNECT_SECONDS} s)") from None


def _version() -> str:
    from importlib.metadata import version  # noqa: PLC0415

    return version("distributed")
