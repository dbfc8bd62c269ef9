"""What a shared place says of log directories whose ranks are in it, for whoever has not the files themselves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b

import msgspec

from torch_tb_profiler.codec import from_json
from torch_tb_profiler.discovery import Found, Run, Skipped, TraceFile
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.storage import StorableEntry, storable
from torch_tb_profiler.workspace.file_names import is_key
from torch_tb_profiler.workspace.places import Place
from torch_tb_profiler.workspace.protocol import Summary
from torch_tb_profiler.workspace.sealed import sealed, unsealed

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
    summary: Summary


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
        """Of all ranks, those that could not be read, too."""
        return (*(trace.of.file for trace in self.traces), *(failed.of.file for failed in self.failed))


class Catalog(msgspec.Struct, frozen=True):
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
    def found(self) -> Found:
        """What a listing of the log directory would find."""
        runs = [Run(r.name, r.files, tuple(s.skipped for s in r.skipped)) for r in self.runs]
        return Found(tuple(runs), tuple(s.skipped for s in self.skipped))

    def traces(self) -> Iterable[CatalogTrace]:
        return (trace for run in self.runs for trace in run.traces)

    def failed(self) -> Iterable[CatalogFailed]:
        return (failed for run in self.runs for failed in run.failed)


def catalog_name(logdir: str) -> str:
    """Of the file in which the catalog of a log directory is kept."""
    return blake2b(storable(logdir).encode(), digest_size=20).hexdigest() + SUFFIX


def write_catalog(place: Place, catalog: Catalog) -> None:
    """Replace what was known of the log directory. Raises StorageError and OSError."""
    place.put(catalog_name(catalog.logdir), sealed(msgspec.json.encode(catalog)), absent=False)


def read_catalog(place: Place, name: str) -> Catalog | None:
    """None if it is gone, damaged, or of another version. Raises StorageError and OSError."""
    try:
        found = from_json(unsealed(place.read(name)) or b"", Catalog)
    except (FileNotFoundError, msgspec.DecodeError, RecursionError):
        return None
    is_ours = found.version == VERSION and all(is_key(trace.key) for trace in found.traces())
    return found if is_ours else None


def together(catalogs: Sequence[Catalog]) -> Found:
    """All runs of several log directories; of those with one name the later ones are numbered."""
    runs: dict[str, Run] = {}
    skipped: list[Skipped] = []
    for catalog in catalogs:
        found = catalog.found
        skipped += found.skipped
        for run in found.runs:
            name, number = run.name, 2
            while name in runs:
                name, number = f"{run.name} ({number})", number + 1
            runs[name] = Run(name, run.traces, run.skipped)
    return Found(tuple(runs.values()), tuple(skipped))
