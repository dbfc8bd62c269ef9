"""HDFS, and every other file system with an fsspec driver."""

from __future__ import annotations

import errno
import functools
import io
import os
import re
import shutil
import subprocess
import uuid
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage.base import Entry, ListingProblem, is_signed, printable, scheme_of, shown, without_slash
from torch_tb_profiler.storage.errors import Attempt, ErrorKind, StorageError, StoreFailure, install, unused_signature
from torch_tb_profiler.storage.remote import RangeStream, nanoseconds
from torch_tb_profiler.words.sentences import because

HADOOP_ADVICE = "Set HADOOP_HOME and JAVA_HOME to where Hadoop and Java are, or: pip install hdfs-native"


def prepare_hadoop(driver: type) -> None:
    """Set CLASSPATH and LIBHDFS_OPTS, unless the driver does without Java."""
    if not driver.__module__.startswith("fsspec."):
        return  # hdfs-native, which replaces Arrow's driver if it is installed
    options = os.environ.get("LIBHDFS_OPTS", "")
    if "-Xrs" not in options.split():
        # Otherwise the JVM handles SIGTERM, and the clean-up code of Python does not run.
        os.environ["LIBHDFS_OPTS"] = f"{options} -Xrs".strip()
    home = os.environ.get("HADOOP_HOME", "")
    program = Path(home) / "bin" / "hadoop"
    if "CLASSPATH" not in os.environ and home and program.is_file():
        # Arrow finds libhdfs.so by HADOOP_HOME, but not the classes.
        found = subprocess.run(
            [program, "classpath", "--glob"], capture_output=True, text=True, check=False, timeout=60
        )
        if found.returncode == 0 and found.stdout.strip():
            os.environ["CLASSPATH"] = found.stdout.strip()


PIECE_BYTES = 256 * 1024

#: schemes whose addresses have a host and a path; for other schemes the driver decides
_BY_HOST = ("hdfs", "viewfs", "webhdfs", "swebhdfs")
_ADDRESS = lazy_pattern(r"(?P<host>[^:]+://[^/]*)(?P<path>.*)", re.DOTALL)

_NAME = "files"
_WRITING = "The user of this process must be allowed to write there"
_BY_ERROR: Mapping[int, ErrorKind] = {
    errno.EACCES: "permission",
    errno.EPERM: "permission",
    errno.ENOENT: "missing",
    errno.ENOTDIR: "missing",
    errno.ECONNREFUSED: "unreachable",
    errno.ETIMEDOUT: "unreachable",
    errno.EHOSTUNREACH: "unreachable",
}
#: the name of a Java exception
_EXCEPTION = lazy_pattern(r"\b[A-Z][A-Za-z]{1,40}Exception\b")
_TIMES = ("mtime", "modification_time", "modificationTime", "last_modified", "LastModified", "updated", "created")


class FileSystems:
    """File systems by the drivers of fsspec, which try again by themselves. A listing costs a request per directory."""

    is_remote = True

    def resolve(self, url: str) -> str:
        if re.match(r"[^:]+://[^/]*:[^/]*@", url):
            raise StorageError(f"{shown(url)}: passwords do not belong in an address", "credentials")
        if is_signed(url):
            raise unused_signature(shown(url))
        return without_slash(url)

    def require(self, root: str) -> None:
        try:
            with _known(root):
                import fsspec

                fsspec.get_filesystem_class(scheme_of(root))
        except StoreFailure as trouble:
            raise trouble.as_error(Attempt("unlistable", shown(root)), _NAME) from None

    def list(self, root: str, report: Callable[[ListingProblem], None]) -> Iterator[Entry]:
        pending = deque([""])
        while pending:
            folder = pending.popleft()
            try:
                children = _children(root, folder)
            except StoreFailure as trouble:
                if not folder:
                    raise trouble.as_error(Attempt("unlistable", shown(root)), _NAME) from None
                report(ListingProblem(printable(folder), trouble.as_error(Attempt("unlistable"), _NAME).reason))
                continue
            for name, found in children:
                path = f"{folder}/{name}" if folder else name
                if found["type"] == "directory":
                    pending.append(path)
                else:
                    yield _entry(path, f"{root}/{path}", found)

    def stat(self, url: str) -> Entry:
        try:
            with _driver(url) as (driver, path):
                found = _info(driver, path)
        except StoreFailure as trouble:
            raise trouble.as_error(Attempt("unreadable"), _NAME) from None
        if found["type"] == "directory":
            raise StorageError(because("no_file"), "missing")
        return _entry(url.rpartition("/")[2], url, found)

    def open(self, entry: Entry, ahead: bool = True) -> BinaryIO:
        def fetch(start: int, stop: int) -> Iterator[bytes]:
            with _driver(entry.url) as (driver, path):
                with _open(driver, path) as stream:
                    stream.seek(start)
                    while start < stop and (piece := bytes(stream.read(min(PIECE_BYTES, stop - start)))):
                        start += len(piece)
                        yield piece
                # No driver can read bytes of one version of a file only.
                if _entry(entry.path, entry.url, _info(driver, path)).version != entry.version:
                    raise StoreFailure("changed")

        def as_error(trouble: StoreFailure) -> StorageError:
            return trouble.as_error(Attempt("unreadable"), _NAME)

        return cast(BinaryIO, RangeStream(fetch, entry.size, ahead, as_error, tries=2))

    def put(self, url: str, source: Path | bytes, absent: bool = True) -> bool:
        """Write a file. No driver can write only absent files: of two concurrent writes the last one stays."""
        try:
            with _driver(url) as (driver, path):
                if absent and driver.exists(path):
                    return False
                part = f"{path}.{uuid.uuid4().hex}.part"
                driver.makedirs(path.rpartition("/")[0], exist_ok=True)
                try:
                    with (
                        io.BytesIO(source) if isinstance(source, bytes) else source.open("rb") as stream,
                        driver.open(part, "wb") as out,
                    ):
                        shutil.copyfileobj(stream, out, PIECE_BYTES)
                    if not absent and driver.exists(path):
                        driver.rm_file(path)
                    driver.mv(part, path)
                finally:
                    if driver.exists(part):
                        driver.rm_file(part)
        except StoreFailure as trouble:
            raise trouble.unwritable(shown(url.rpartition("/")[0]), _WRITING) from None
        return True

    def remove(self, url: str) -> None:
        try:
            with _driver(url) as (driver, path):
                if driver.exists(path):
                    driver.rm_file(path)
        except StoreFailure as trouble:
            raise trouble.unwritable(shown(url.rpartition("/")[0]), _WRITING) from None


def _children(root: str, folder: str) -> list[tuple[str, dict[str, Any]]]:
    """Return the names in a directory, with the entries of the driver. Raises Trouble."""
    with _driver(f"{root}/{folder}" if folder else root) as (driver, path):
        driver.invalidate_cache()
        return [(found["name"].rstrip("/").rpartition("/")[2], found) for found in driver.ls(path, detail=True)]


def _info(driver: Any, path: str) -> Mapping[str, Any]:
    """Return the current entry of the driver for a file."""
    driver.invalidate_cache()
    found: Mapping[str, Any] = driver.info(path)
    return found


def _entry(path: str, url: str, found: Mapping[str, Any]) -> Entry:
    etag = next((str(found[name]).strip('"') for name in ("etag", "ETag", "e_tag") if found.get(name)), "")
    return Entry(printable(path), url, int(found.get("size") or 0), _time(found), etag)


def _time(found: Mapping[str, Any]) -> int:
    """Return ns since the epoch, from any key and unit of a driver; 0 if it has none."""
    value = next((found[name] for name in _TIMES if found.get(name)), 0)
    if isinstance(value, datetime):
        return nanoseconds(value)
    if isinstance(value, int):
        return value * 10**6  # Hadoop's milliseconds
    return round(value * 10**6) * 1000 if isinstance(value, float) else 0


@contextmanager
def _driver(url: str) -> Iterator[tuple[Any, str]]:
    """Yield the driver for an address, and its path for the driver. Errors of the driver become Trouble."""
    with _known(url):
        match = _ADDRESS.fullmatch(url)
        assert match is not None
        if scheme_of(url) in _BY_HOST:
            driver, path = _driver_for(match["host"]), match["path"] or "/"
        else:
            driver = _driver_for(url)
            path = driver._strip_protocol(url)  # noqa: SLF001 - what fsspec's own url_to_fs does
        yield driver, path


@contextmanager
def _known(url: str) -> Iterator[None]:
    """Turn every error of a driver into Trouble."""
    try:
        yield
    except (StoreFailure, GeneratorExit):
        raise
    except Exception as error:  # noqa: BLE001 - nothing of it may get out as it is
        raise _trouble(error, scheme_of(url)) from None


@functools.lru_cache(maxsize=16)
def _driver_for(url: str) -> Any:
    import fsspec

    if scheme_of(url) in ("hdfs", "viewfs"):
        prepare_hadoop(fsspec.get_filesystem_class(scheme_of(url)))
    return fsspec.core.url_to_fs(url)[0]


def _open(driver: Any, path: str) -> Any:
    # Arrow's streams are seekable only on request; other drivers do not know the option.
    is_arrow = any(kind.__name__ == "ArrowFSWrapper" for kind in type(driver).__mro__)
    return driver.open(path, "rb", **({"seekable": True} if is_arrow else {}))


def _trouble(error: Exception, scheme: str) -> StoreFailure:
    code = type(error).__name__
    names = {kind.__name__ for kind in type(error).__mro__}
    text = str(error)
    if isinstance(error, ImportError) or (isinstance(error, ValueError) and "Protocol not known" in text):
        if scheme in ("hdfs", "viewfs", "webhdfs", "swebhdfs"):
            return StoreFailure("package", code, advice=install("hdfs"))
        return StoreFailure("package", code, advice=f"Install fsspec and its driver for {scheme}://")
    if isinstance(error, OSError) and ("libhdfs" in text or "libjvm" in text):
        return StoreFailure("package", "libhdfs", advice=HADOOP_ADVICE)
    if isinstance(error, FileNotFoundError):
        return StoreFailure("missing", code)
    if isinstance(error, PermissionError) or "AccessControlException" in text:
        return StoreFailure("permission", code)
    if "SaslException" in text or "GSS" in text:
        return StoreFailure("credentials", code)
    kind = _BY_ERROR.get(getattr(error, "errno", None) or 0)
    if kind:
        return StoreFailure(kind, code)
    if isinstance(error, RuntimeError) and scheme in ("hdfs", "viewfs"):  # hdfs-native, for every error of a server
        said = _EXCEPTION.search(text)
        return StoreFailure("unreachable", said[0] if said else code)
    if isinstance(error, OSError) or names & {"HdfsError", "RequestException", "ClientError"}:
        return StoreFailure("unreachable", code)
    return StoreFailure("endpoint" if isinstance(error, ValueError) else "failed", code)
