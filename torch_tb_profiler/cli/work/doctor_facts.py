"""Facts about the machine and a log directory that a bug report needs, without secrets."""

from __future__ import annotations

import importlib.util
import os
import platform
import re
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import msgspec

from torch_tb_profiler import __version__
from torch_tb_profiler.cli.cache import contents_of
from torch_tb_profiler.storage import S3, Blobs, Google, shown
from torch_tb_profiler.trace import Note
from torch_tb_profiler.workspace.cache.trace_cache import open_cache

PACKAGES = (
    *("numpy", "msgspec", "werkzeug", "zstandard", "regex", "isal", "tensorboard", "torch"),
    *("pandas", "pyarrow", "duckdb", "mcp", "distributed", "fsspec", "boto3", "azure-storage-blob"),
    "google-cloud-storage",
)

#: variables of this program; those of others may hold secrets, and so may what looks like one
_VARIABLES = re.compile(r"TORCH_(TB_)?PROFILER_[A-Z_]+")
_SECRET = re.compile(r"TOKEN|SECRET|KEY|PASSWORD|CREDENTIAL")


class Machine(msgspec.Struct, frozen=True):
    """Where the program runs.

    program     version of this package
    python      version and implementation
    platform    system, release and processor
    processors  that this process may use; null if the system does not say
    packages    version of each that matters; null if it is not installed
    variables   of the environment, those of this program alone
    """

    program: str
    python: str
    platform: str
    processors: int | None
    packages: dict[str, str | None]
    variables: dict[str, str]


class CacheFacts(msgspec.Struct, frozen=True):
    """Where traces that were read are kept.

    directory    the directory
    shared       the shared place that is named, without credentials; null if none is
    bytes        in use there
    limit_bytes  how much may be
    writable     whether anything can be kept there
    """

    directory: str
    shared: str | None
    bytes: int
    limit_bytes: int
    writable: bool


class SkippedFacts(msgspec.Struct, frozen=True):
    """A file that looks like a trace and was not taken, and why.

    run     the run that it lies in; null outside all runs
    file    its path below the run or the log directory
    reason  why
    """

    run: str | None
    file: str
    reason: str


class TraceFacts(msgspec.Struct, frozen=True):
    """A trace.

    run, worker, span  its names
    file               path below what was opened
    bytes              of the file as stored
    kind               trace or snapshot
    looked_at          whether it was read
    failed             why it could not be read; null if it could, or was not tried
    notes              on its health
    """

    run: str
    worker: str
    span: str
    file: str
    bytes: int
    kind: str
    looked_at: bool
    failed: str | None
    notes: Sequence[Note]


class PathFacts(msgspec.Struct, frozen=True):
    """What is below a path."""

    path: str
    runs: int
    traces: Sequence[TraceFacts]
    skipped: Sequence[SkippedFacts]


@dataclass(frozen=True)
class DoctorReport:
    """All that `doctor` says.

    machine  where the program runs
    cache    what is kept
    storage  of each scheme of addresses, whether it can be read; else how to make it so
    path     what is below the path; null if none was given
    """

    machine: Machine
    cache: CacheFacts
    storage: dict[str, str]
    path: PathFacts | None


def machine() -> Machine:
    """Facts about the machine; versions are found without importing packages."""
    return Machine(
        program=__version__,
        python=f"{platform.python_version()} ({platform.python_implementation()})",
        platform=platform.platform(),
        processors=_processors(),
        packages={name: _version(name) for name in PACKAGES},
        variables={
            name: "(not shown)" if _SECRET.search(name) else without_home(shown(value))
            for name, value in sorted(os.environ.items())
            if _VARIABLES.fullmatch(name)
        },
    )


def _processors() -> int | None:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def cache_facts(cache_dir: str | None) -> CacheFacts:
    """Facts about the cache. Raises StorageError: an address cannot be right."""
    cache = open_cache(cache_dir)
    try:
        contents = contents_of(cache)
        return CacheFacts(
            directory=without_home(contents["directory"]),
            shared=contents["shared"],
            bytes=contents["bytes"],
            limit_bytes=cache.limit,
            writable=_is_writable(cache.directory),
        )
    finally:
        cache.close()


def _is_writable(directory: Path) -> bool:
    """Or can be made."""
    nearest = next((each for each in (directory, *directory.parents) if each.exists()), directory)
    return nearest.is_dir() and os.access(nearest, os.W_OK | os.X_OK)


def storage_schemes() -> dict[str, str]:
    """For each storage scheme: available, or what to install."""
    found = {"file": "available"}
    for schemes, store in (("s3", S3), ("https (Azure Blob)", Blobs), ("gs", Google)):
        found[schemes] = _availability(store.package, store.extra)
    found["hdfs"] = _availability("fsspec", "hdfs")
    return found


def _availability(package: str, extra: str) -> str:
    try:
        is_there = importlib.util.find_spec(package) is not None
    except ModuleNotFoundError:  # what it is a part of
        is_there = False
    return "available" if is_there else f"pip install 'torch-tb-profiler[{extra}]'"


def without_home(text: str) -> str:
    """Replace the user's home directory by `~`."""
    home = os.path.expanduser("~")  # noqa: PTH111 - it may not be there
    return re.sub(rf"{re.escape(home)}(?=[/\\]|$|[:;'\"\s])", "~", text) if len(home) > 1 else text
