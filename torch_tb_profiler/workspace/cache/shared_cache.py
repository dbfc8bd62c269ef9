"""A shared cache as a server reads it, and the catalogs in it, which list log directories without their files."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from threading import Lock

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.discovery import Root, RunFiles, RunListing, Skipped, TraceFile
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import Entry, StorableEntry, StorageError, storable, without_slash
from torch_tb_profiler.workspace.cache.checksummed import checksummed, verified
from torch_tb_profiler.workspace.cache.identity import is_key
from torch_tb_profiler.workspace.cache.stores import CacheStore
from torch_tb_profiler.workspace.status import TraceSummary

SUFFIX = ".catalog"
#: increased when the meaning of a field changes
VERSION = 2


class CatalogFile(StorableEntry, frozen=True, kw_only=True):
    """A file of a rank, as `TraceFile` has it."""

    worker: str
    span: str
    rank: int | None

    @classmethod
    def of(cls, file: TraceFile) -> CatalogFile:
        return cls(**cls.fields_of(file.entry), worker=file.worker, span=file.span, rank=file.rank)

    @property
    def file(self) -> TraceFile:
        return TraceFile(self.worker, self.span, self.entry, self.rank)


class CatalogTrace(msgspec.Struct, frozen=True):
    """A trace, and the key of its columns.

    summary: of the code of the catalog's `made_by`
    """

    of: CatalogFile
    key: str
    summary: TraceSummary


class CatalogSkipped(msgspec.Struct, frozen=True):
    """A file, and why it is no trace or could not be read."""

    file: str
    kind: str
    text: str
    values: Mapping[str, str | int | float | bool]

    @classmethod
    def of(cls, file: str, reason: Reason) -> CatalogSkipped:
        return cls(file, reason.kind, reason.text, dict(reason.values))

    @property
    def reason(self) -> Reason:
        return Reason(self.kind, self.text, self.values)

    @property
    def skipped(self) -> Skipped:
        return Skipped(self.file, self.reason)


class CatalogFailed(msgspec.Struct, frozen=True):
    """A trace that could not be read, and why."""

    of: CatalogFile
    why: CatalogSkipped


class CatalogRun(msgspec.Struct, frozen=True):
    """A run, its traces that were read, those that could not be, and its other files."""

    name: str
    traces: tuple[CatalogTrace, ...]
    failed: tuple[CatalogFailed, ...]
    skipped: tuple[CatalogSkipped, ...]

    @property
    def files(self) -> tuple[TraceFile, ...]:
        """The files of all ranks, also of those that could not be read."""
        return (*(trace.of.file for trace in self.traces), *(failed.of.file for failed in self.failed))


class LogdirCatalog(msgspec.Struct, frozen=True):
    """A log directory.

    version: `VERSION`
    logdir: its address, without secrets, as `storable` makes it
    made_by: `answers_version` of the code that made the summaries
    skipped: what lies outside all runs
    """

    version: int
    logdir: str
    made_by: str
    runs: tuple[CatalogRun, ...]
    skipped: tuple[CatalogSkipped, ...]

    @property
    def found(self) -> RunListing:
        """The runs that a listing of the log directory would find."""
        runs = [RunFiles(r.name, r.files, tuple(s.skipped for s in r.skipped)) for r in self.runs]
        return RunListing(tuple(runs), tuple(s.skipped for s in self.skipped))

    def traces(self) -> Iterable[CatalogTrace]:
        return (trace for run in self.runs for trace in run.traces)

    def failed(self) -> Iterable[CatalogFailed]:
        return (failed for run in self.runs for failed in run.failed)


def catalog_name(logdir: str) -> str:
    """Return the name of the file that holds the catalog of a log directory."""
    return blake2b(storable(logdir).encode(), digest_size=20).hexdigest() + SUFFIX


def write_catalog(store: CacheStore, catalog: LogdirCatalog) -> None:
    """Replace the stored listing of the log directory. Raises StorageError and OSError."""
    store.put(catalog_name(catalog.logdir), checksummed(msgspec.json.encode(catalog)), absent=False)


def read_catalog(store: CacheStore, name: str) -> LogdirCatalog | None:
    """Return a catalog; None if it is gone, damaged, or of another version. Raises StorageError and OSError."""
    try:
        found = from_json(verified(store.read(name)) or b"", LogdirCatalog)
    except (FileNotFoundError, msgspec.DecodeError, RecursionError):
        return None
    is_ours = found.version == VERSION and all(is_key(trace.key) for trace in found.traces())
    return found if is_ours else None


def together(catalogs: Sequence[LogdirCatalog]) -> RunListing:
    """Return all runs of several log directories; of those with one name the later ones are numbered."""
    runs: dict[str, RunFiles] = {}
    skipped: list[Skipped] = []
    for catalog in catalogs:
        found = catalog.found
        skipped += found.skipped
        for run in found.runs:
            name, number = run.name, 2
            while name in runs:
                name, number = f"{run.name} ({number})", number + 1
            runs[name] = RunFiles(name, run.traces, run.skipped)
    return RunListing(tuple(runs.values()), tuple(skipped))


log = logging.getLogger(__name__)


class SharedCache:
    """A shared cache, read only. What it lacks is made again, so trouble is only logged. Thread-safe.

    made_by: `answers_version` of this code: catalogs of other code have summaries that may lack something
    """

    def __init__(self, store: CacheStore, made_by: str) -> None:
        self.store = store
        self._made_by = made_by
        self._lock = Lock()
        self._names: frozenset[str] = frozenset()
        self._unusable: set[str] = set()
        self._catalogs: dict[str, LogdirCatalog] = {}
        self._versions: dict[str, tuple[int, int, str]] = {}
        self._summaries: dict[str, TraceSummary] = {}
        self._keys: dict[tuple[str, tuple[int, int, str]], str] = {}
        self._failures: dict[tuple[str, tuple[int, int, str]], Reason] = {}

    def refresh(self) -> None:
        """List the store, and read the catalogs again."""
        try:
            names = self.store.names()
            versions = {name: self.store.version(name) for name in sorted(names) if name.endswith(SUFFIX)}
            changed = [name for name, version in versions.items() if self._versions.get(name) != version]
            read = {name: catalog for name in changed if (catalog := read_catalog(self.store, name))}
        except (OSError, StorageError) as error:
            log.warning("the shared cache %s cannot be read: %s", self.store.url, error)
            return
        with self._lock:
            self._names, self._versions = names, versions
            self._catalogs = {name: of for name, of in (self._catalogs | read).items() if name in versions}
            for catalog in read.values():
                for trace in catalog.traces():
                    self._keys[trace.of.url, trace.of.file.entry.version] = trace.key
                    if catalog.made_by == self._made_by:
                        self._summaries[trace.key] = trace.summary
                for failed in catalog.failed():
                    self._failures[failed.of.url, failed.of.file.entry.version] = failed.why.reason

    def has(self, name: str) -> bool:
        """Return whether a file exists and is not known to be unusable."""
        with self._lock:
            return name in self._names and name not in self._unusable

    def forget(self, name: str) -> None:
        """Treat a file as missing from now on: it is unusable."""
        with self._lock:
            self._unusable.add(name)

    def key_of(self, entry: Entry) -> str | None:
        """Return the key of a trace in this state, if a catalog has it; the file need not be there."""
        with self._lock:
            return self._keys.get((entry.url, entry.version))

    def failure_of(self, entry: Entry) -> Reason | None:
        """Return why a trace in this state could not be read, if a catalog says so."""
        with self._lock:
            return self._failures.get((entry.url, entry.version))

    def summary(self, key: str, name: str) -> TraceSummary | None:
        """Return the summary of a trace from a catalog, else from the file `name`."""
        with self._lock:
            known = self._summaries.get(key)
        if known is not None or not self.has(name):
            return known
        try:
            return from_json(verified(self.store.read(name)) or b"", TraceSummary)
        except (OSError, StorageError, msgspec.DecodeError) as error:
            log.debug("%s of the shared cache cannot be used: %s", name, error)
            return None

    def fetch(self, name: str, target: Path) -> bool:
        """Copy a file to this machine; whether that could be done."""
        if not self.has(name):
            return False
        try:
            self.store.fetch(name, target)
        except (OSError, StorageError) as error:
            log.warning("%s cannot be had from the shared cache %s: %s", name, self.store.url, error)
            return False
        return True

    def is_itself(self, root: Root) -> bool:
        """Return whether a log directory is the shared cache, which stands for all log directories in it."""
        return without_slash(root.url) == self.store.url

    def found(self, roots: Sequence[Root]) -> RunListing:
        """Return what is known of log directories that cannot be listed here."""
        with self._lock:
            wanted = {catalog_name(root.url) for root in roots}
            everything = any(self.is_itself(root) for root in roots)
            return together([of for name, of in sorted(self._catalogs.items()) if everything or name in wanted])
