"""Names of the cache's files: from the content they were made of, and from the code that made them."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable, Iterator, Sequence
from hashlib import blake2b, sha256
from pathlib import Path
from typing import NamedTuple

from torch_tb_profiler.analysis.shared.peaks import peaks_digest
from torch_tb_profiler.analysis.shared.thresholds import thresholds_digest
from torch_tb_profiler.defaults import EXPANSION
from torch_tb_profiler.discovery import Root
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage import Entry, Storage

EDGE_BYTES = 64 * 1024
#: samples between the two ends of a file, evenly spread: how many, and bytes of each
SAMPLES, SAMPLE_BYTES = 64, 4 * 1024
#: a file up to this size is read whole: a packed rank of some 100,000 events, in a few ms
WHOLE_BYTES = 4 * 1024**2

_PACKAGE = Path(__file__).parents[2]

#: files of the package that determine columns, and with further ones how the first bytes of a file are judged
COLUMNS_CODE = (
    "arrays",
    "spill.py",
    "defaults.py",
    "lazy_pattern.py",
    "other_formats.py",
    "reason.py",
    "regular_file.py",
    "toml_text.py",
    "trace",
    "codec.py",
    "words",
)
CONTENTS_CODE = (*COLUMNS_CODE, "discovery", "workspace/listing/sniff.py")
#: parts of the package that do not determine answers: the doors, and where bytes come from
NOT_ANSWERS = frozenset({"__main__.py", "api", "cli", "ingest", "plugin.py", "plugin_loader.py", "static", "storage"})
#: parts that determine the summary of a rank
RANKS_CODE = (*COLUMNS_CODE, "analysis", "model", "ranks")


def content_key(storage: Storage, entry: Entry) -> str:
    """Return a name for the columns of this content, read by this code; the same on every machine. Raises StorageError.

    The name of a file on disk depends on its own name and its content, not on its directory; if it is only sampled,
    also on its times, which are the same wherever the disk is mounted. The name of an object depends on its address.
    """
    digest = blake2b(fingerprint(COLUMNS_CODE), digest_size=20)
    name = entry.url if storage.is_remote else entry.path.rpartition("/")[2]
    version = entry.version if storage.is_remote or entry.size > WHOLE_BYTES else entry.size
    digest.update(f"{name}\0{version}".encode("utf-8", "surrogateescape"))
    if not storage.is_remote:
        # Times of files are coarse, and some copy tools keep them. In an object store, sampling would be a download.
        with storage.open(entry, ahead=False) as stream:
            for begin, count in _sampled(entry.size):
                stream.seek(begin)
                digest.update(stream.read(count))
    return digest.hexdigest()


def _sampled(size: int) -> Iterator[tuple[int, int]]:
    """Yield offset and length of the parts of a file to read: all of a small one, else both ends and samples."""
    if size <= WHOLE_BYTES:
        yield 0, size
        return
    yield 0, EDGE_BYTES
    between = size - 2 * EDGE_BYTES - SAMPLE_BYTES
    for number in range(SAMPLES):
        yield EDGE_BYTES + between * number // (SAMPLES - 1), SAMPLE_BYTES
    yield size - EDGE_BYTES, EDGE_BYTES


def contents_name(roots: Iterable[Root]) -> str:
    """Return a key for the known contents of the files in these log directories."""
    return blake2b(
        repr((fingerprint(CONTENTS_CODE), [root.url for root in roots])).encode(), digest_size=20
    ).hexdigest()


@functools.cache
def answers_version() -> str:
    """Return a digest of the code that makes answers; summaries, answers and timelines of other code are not used."""
    return fingerprint(tuple({entry.name for entry in os.scandir(_PACKAGE)} - NOT_ANSWERS)).hex()


@functools.cache
def fingerprint(names: tuple[str, ...]) -> bytes:
    """Return a digest of the Python and TOML files of these names in the package, and of nothing else."""
    return _joined(map(_of_package, sorted(names)))


@functools.cache
def _of_package(name: str) -> bytes:
    """Return the digest of a part of the package, made once for all fingerprints."""
    return _content(f"{_PACKAGE}{os.sep}", name)


def fingerprint_of(package: Path, names: Iterable[str]) -> bytes:
    """Return the digest of files or folders of these names in another folder, as `fingerprint` does."""
    return _joined(_content(f"{package}{os.sep}", name) for name in sorted(names))


def _joined(digests: Iterable[bytes]) -> bytes:
    return blake2b(b"".join(digests), digest_size=8).digest()


def _content(root: str, name: str) -> bytes:
    """Return a digest of the names and contents of the sources in a file or folder below `root`; empty without any."""
    # all of the package is some milliseconds this way: no pathlib, and a digest that processors know
    sources = sorted(_sources(root + name))
    if not sources:
        return b""  # folders of bytecode and of builds come and go
    digest = sha256()
    for source in sources:
        descriptor = os.open(source, os.O_RDONLY | getattr(os, "O_BINARY", 0))
        try:
            content = os.read(descriptor, os.fstat(descriptor).st_size)
        finally:
            os.close(descriptor)
        digest.update(f"{source[len(root) :]}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.digest()


def _sources(path: str) -> Iterator[str]:
    if path.endswith(".py"):
        yield path
    elif os.path.isdir(path):  # noqa: PTH112
        for entry in os.scandir(path):
            if entry.name.endswith((".py", ".toml")):
                yield entry.path
            elif entry.name != "__pycache__" and entry.is_dir():
                yield from _sources(entry.path)


COLUMNS, SUMMARY, ANSWERS, TIMELINE, RANK = ".columns", ".json", ".answers", ".timeline", ".rank"
#: results of all ranks of a run
RESULT = ".run"
#: formats of remote files, from their first bytes
CONTENTS = ".contents"

#: a key has the digits of 20 bytes; files that `ingest` has begun have a prefix, and others an ending
_OWN = lazy_pattern(
    r"(?:ingest-[0-9a-f]+-)?[0-9a-f]{40}(?:-x\d+)?"
    r"(?:\.columns|\.run|\.contents|\.\w+\.(?:json|answers|timeline|rank))(?:[\w.-]*\.part)?"
)


#: the key of the content of a trace
_KEY = lazy_pattern(r"[0-9a-f]{40}")


def is_key(text: str) -> bool:
    """Return whether a text can be the key of a trace."""
    return _KEY.fullmatch(text) is not None


def is_own_name(name: str) -> bool:
    """Return whether a name can be that of a cache file: no other file is ever removed, wherever the cache is."""
    return _OWN.fullmatch(name) is not None


class Shared(NamedTuple):
    """The files of a trace that a shared cache has; who finds the summary finds all."""

    columns: str
    rank: str
    summary: str


class FileNames:
    """Names of the files that this code makes.

    expansion: what was read with another than the usual is not found: it may be cut off
    version: of the code that makes answers and of the limits of rules; None for those in use
    """

    def __init__(self, expansion: int, version: str | None = None) -> None:
        self._read_with = "" if expansion == EXPANSION else f"-x{expansion}"
        self.version = answers_version() + thresholds_digest() + peaks_digest() if version is None else version

    def of(self, key: str, suffix: str) -> str:
        """Return the name of a file of the trace with this content key."""
        version = "" if suffix == COLUMNS else fingerprint(RANKS_CODE).hex() if suffix == RANK else self.version
        return f"{key}{self._read_with}{f'.{version}' if version else ''}{suffix}"

    def shared(self, key: str) -> Shared:
        return Shared(self.of(key, COLUMNS), self.of(key, RANK), self.of(key, SUMMARY))


def result_name(ranks: Sequence[tuple[str, str]], failed: Sequence[str], answer: Sequence[str] = ()) -> str:
    """Return the name of the file of a result of all ranks of a run.

    ranks: worker and content key of each
    failed: files that could not be read
    answer: for an answer about the run, its other inputs: version, run, span and question
    """
    inputs = repr((answer or fingerprint(RANKS_CODE), sorted(ranks), sorted(failed)))
    return blake2b(inputs.encode("utf-8", "surrogateescape"), digest_size=20).hexdigest() + RESULT
