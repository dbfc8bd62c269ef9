"""Files that are dropped onto the page, for a stand-alone server that this machine alone reaches (docs/security.md).

They are kept in a temporary folder of the server, for as long as it runs.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import msgspec
from werkzeug import Request

from torch_tb_profiler.analysis.answer import Bytes
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.discovery import Content, RunFiles
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.reason import Reason, reason_of
from torch_tb_profiler.storage import Entry, storage_for
from torch_tb_profiler.web.http import HttpAnswer, HttpError, why
from torch_tb_profiler.web.responses import respond, respond_failure
from torch_tb_profiler.web.server import READ_BODY
from torch_tb_profiler.workspace import Workspace
from torch_tb_profiler.workspace.listing.sniff import sniff
from torch_tb_profiler.workspace.local_workspace import run_of_files
from torch_tb_profiler.workspace.process import TemporaryDirectory

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

PATH = "/drop"
#: prefix of the names of their runs
FOLDER = "dropped"
#: a form of another site cannot send this type without a preflight request
CONTENT_TYPE = "application/octet-stream"

_PIECE = 256 * 1024
#: bytes of a name in UTF-8
_LONGEST_NAME = 150
_UNWANTED = lazy_pattern(r"[^\w.\-+=@() ]")


class UploadLimits(msgspec.Struct, frozen=True):
    """How much is taken.

    file   bytes of one file
    all    bytes of all files
    files  how many
    free   bytes of the disk that stay free
    """

    file: int = 4 * 1024**3
    all: int = 8 * 1024**3
    files: int = 1000
    free: int = 1024**3


class UploadOffer(msgspec.Struct, frozen=True):
    """The answer of a server that takes files.

    most_bytes  of one file
    """

    most_bytes: Bytes


class UploadedTo(msgspec.Struct, frozen=True):
    """The answer to an upload.

    run  that the file belongs to
    """

    run: str


class _Run:
    """Files that were dropped together. Thread-safe.

    files  those that have been kept
    """

    def __init__(self, name: str, folder: Path) -> None:
        self.name, self.folder = name, folder
        self.files: dict[Entry, Content] = {}
        self._lock = threading.Lock()

    def add(self, entry: Entry, content: Content) -> None:
        """Add a file that has been kept."""
        with self._lock:
            self.files[entry] = content

    def made(self) -> RunFiles:
        """Return the run of the files that have been kept by now."""
        with self._lock:
            return run_of_files(self.name, dict(self.files))


class Uploads:
    """The uploaded files of a server. Thread-safe; `close` it."""

    def __init__(self, workspace: Workspace, limits: UploadLimits | None = None) -> None:
        self._workspace = workspace
        self._limits = limits or UploadLimits()
        self._folder: TemporaryDirectory | None = None
        self._runs: dict[str, _Run] = {}
        self._bytes = self._files = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """Remove all files."""
        with self._lock:
            if self._folder is not None:
                self._folder.close()

    def around(self, app: WSGIApplication) -> WSGIApplication:
        """Add the route that takes files to an application."""
        return _with_route(app, self._answer)

    def _answer(self, request: Request) -> HttpAnswer:
        if request.method in ("GET", "HEAD"):
            return HttpAnswer(dumps(UploadOffer(most_bytes=self._limits.file)))
        _require_own_page(request)
        size = request.content_length
        if size is None:
            raise HttpError(411, "the request must contain the length of the file")
        name = safe_name(request.args.get("name", ""))
        try:
            with self._reserved(size), self._place(name, request.args.get("to")) as run:
                self._keep(request, run, name, size)
        except OSError as error:
            raise HttpError(507, f"{name} cannot be kept: {reason_of(error)}") from None
        return HttpAnswer(dumps(UploadedTo(run=run.name)))

    @contextmanager
    def _reserved(self, size: int) -> Iterator[None]:
        """Reserve room for a file, and free it if the file is not kept. Raises HttpError and OSError."""
        self._reserve(size)
        try:
            yield
        except BaseException:
            with self._lock:
                self._bytes, self._files = self._bytes - size, self._files - 1
            raise

    def _reserve(self, size: int) -> None:
        """Count a file that is about to be written. Raises HttpError and OSError."""
        limits = self._limits
        if size > limits.file:
            raise HttpError(
                413,
                f"the file has {size:,} bytes, at most {limits.file:,} are taken; "
                "`torch-tb-profiler serve FILE` reads it where it is",
            )
        with self._lock:
            if (
                self._folder is None or not self._folder.path.is_dir()
            ):  # a cleaner of temporary files may have removed it
                self._folder = TemporaryDirectory()
            if self._files >= limits.files or self._bytes + size > limits.all:
                raise HttpError(
                    413,
                    f"{self._files:,} files with {self._bytes:,} bytes have been dropped, no more are taken: at most "
                    f"{limits.files:,} files with {limits.all:,} bytes; start the server again, or name the file there",
                )
            if shutil.disk_usage(self._folder.path).free - size < limits.free:
                raise HttpError(507, f"there is no room for the file in {self._folder.path.parent}")
            self._bytes, self._files = self._bytes + size, self._files + 1

    def _keep(self, request: Request, run: _Run, name: str, size: int) -> None:
        """Write the file, and open it. Raises HttpError if it cannot be opened; then it is removed."""
        path = run.folder / name
        try:
            file = path.open("xb")
        except FileExistsError:
            raise HttpError(400, f"{name} has been dropped already") from None
        try:
            with file:
                _write(request, file.write, size)
            entry, content = _sniffed(path)
            run.add(entry, content)
            self._workspace.add(run.name, run.made)
        except BaseException:
            path.unlink(missing_ok=True)
            raise

    @contextmanager
    def _place(self, name: str, to: str | None) -> Iterator[_Run]:
        """Yield the run of a file: a new one, or the run of the files dropped with it.

        A new run is removed, and its name free, if its file is not kept. Raises HttpError and OSError.
        """
        if to is not None:
            with self._lock:
                run = self._runs.get(to)
            if run is None or not run.files:
                raise HttpError(400, f"nothing was dropped as {to!r}")
            yield run
            return
        with self._lock:
            assert self._folder is not None
            base = name.partition(".")[0] or name
            run_name, number = f"{FOLDER}/{base}", 2
            while run_name in self._runs or self._workspace.has_run(run_name):
                run_name, number = f"{FOLDER}/{base} ({number})", number + 1
            run = self._runs[run_name] = _Run(run_name, Path(tempfile.mkdtemp(dir=self._folder.path)))
        try:
            yield run
        except BaseException:
            with self._lock:
                del self._runs[run_name]
            shutil.rmtree(run.folder, ignore_errors=True)
            raise


def refuse_uploads(app: WSGIApplication) -> WSGIApplication:
    """Add a route that says why files are refused, for a server that other machines can reach."""

    def answer(_: Request) -> HttpAnswer:
        raise HttpError(
            403, "only a server that no other machine can reach accepts files; pass the path when you start the server"
        )

    return _with_route(app, answer)


def _with_route(app: WSGIApplication, route: Callable[[Request], HttpAnswer]) -> WSGIApplication:
    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        request = Request(environ)
        if request.path != PATH or request.method not in ("GET", "HEAD", "POST"):
            return app(environ, start_response)
        try:
            response = respond(request, route(request))
        except Exception as error:  # noqa: BLE001 - every request has an answer
            response = respond_failure(request, error)
        return response(environ, start_response)

    return answer


def _require_own_page(request: Request) -> None:
    """Refuse files from any page but one of this server; programs may send them. Raises HttpError.

    A browser names the origin of the page in at least one of two headers. It sends bodies of this type from other
    origins only if the server allows it, which this one never does.
    """
    origin = request.headers.get("Origin")
    own = origin is None or _is_of(origin, request.headers.get("Host", ""))
    if not own or request.headers.get("Sec-Fetch-Site", "same-origin") != "same-origin":
        raise HttpError(403, "only pages of this server may send files")
    if request.mimetype != CONTENT_TYPE:
        raise HttpError(415, f"the body must be {CONTENT_TYPE}")


def _is_of(origin: str, host: str) -> bool:
    try:
        return urlsplit(origin).netloc.lower() == host.lower()
    except ValueError:  # no address
        return False


def safe_name(name: str) -> str:
    """Return a file name without folders, control characters and characters that are special to a system.

    Raises HttpError if nothing is left.

    >>> safe_name("../../etc/.rank0?.json")
    'rank0_.json'
    """
    last = _UNWANTED.sub("_", re.split(r"[\\/]", name)[-1])
    last = last.encode()[-_LONGEST_NAME:].decode(errors="ignore").strip(". ")
    if not last.strip("_"):
        raise HttpError(400, "the file has no name")
    return last


def _write(request: Request, write: Callable[[bytes], object], size: int) -> None:
    """Write the body of the request. Raises HttpError when it ends early."""
    read: Callable[[int], bytes] = request.environ.get(READ_BODY) or request.environ["wsgi.input"].read
    left = size
    while left:
        try:
            piece = read(min(left, _PIECE))
        except TimeoutError:
            raise HttpError(408, "the file did not arrive in time") from None
        if not piece:
            raise HttpError(400, "the file ended early")
        write(piece)
        left -= len(piece)


def _sniffed(path: Path) -> tuple[Entry, Content]:
    """Return a file and its content type. Raises HttpError if it is neither a trace nor a memory snapshot."""
    entry = storage_for(str(path)).stat(os.fspath(path))
    content = sniff(entry)
    reason = content if isinstance(content, Reason) else content.reason
    if isinstance(content, Reason) or reason is not None:
        assert reason is not None
        raise HttpError(422, f"{path.name} {reason}", why(reason))
    return entry, content
