"""Google Cloud Storage."""

from __future__ import annotations

import functools
import io
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Event
from typing import Any, BinaryIO

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage.base import shown
from torch_tb_profiler.storage.errors import StorageError, StoreFailure, kind_of_status, usual_advice
from torch_tb_profiler.storage.remote import Object, ObjectAddress, load, nanoseconds

TIMEOUTS = (3, 20)

_ADDRESS = lazy_pattern(r"gs://(?P<bucket>[^/]+)/*(?P<key>.*)", re.DOTALL | re.IGNORECASE)
#: set when this process reads without credentials
_found_nobody = Event()
_FIELDS = "items(name,size,updated,generation),nextPageToken"


class Google:
    """Objects of Google Cloud Storage; their etag is the generation."""

    package, extra = "google.cloud.storage", "gs"
    name = "gs"

    writing = "The role Storage Object User on the bucket is needed"

    def environment(self) -> dict[str, str]:
        # Looking for credentials takes seconds on a machine without any.
        return {"NO_GCE_CHECK": "true"} if _found_nobody.is_set() else {}

    def place(self, url: str) -> ObjectAddress:
        match = _ADDRESS.fullmatch(url)
        if match is None or "@" in match["bucket"]:
            raise StorageError(
                f"{shown(url)}: an address of Google Cloud Storage looks like gs://bucket/folder", "missing"
            )
        return ObjectAddress(f"gs://{match['bucket']}", match["key"])

    def url(self, place: ObjectAddress) -> str:
        return f"{place.bucket}/{place.key}" if place.key else place.bucket

    def pages(self, place: ObjectAddress) -> Iterator[list[Object]]:
        with _client() as client:
            listing = client.list_blobs(
                _name(place), prefix=place.key or None, fields=_FIELDS, timeout=TIMEOUTS, retry=None
            )
            for page in listing.pages:
                yield [_object(found) for found in page]

    def stat(self, place: ObjectAddress) -> Object:
        with _client() as client:
            blob = client.bucket(_name(place)).blob(place.key)
            blob.reload(timeout=TIMEOUTS, retry=None)
            return _object(blob)

    def get(self, place: ObjectAddress, start: int, stop: int, etag: str) -> Iterable[bytes]:
        received, trouble = io.BytesIO(), None
        try:
            with _client() as client:
                client.bucket(_name(place)).blob(place.key).download_to_file(
                    received,
                    start=start,
                    end=stop - 1,
                    raw_download=True,
                    if_generation_match=int(etag) if etag else None,
                    checksum=None,
                    timeout=TIMEOUTS,
                    retry=None,
                )
        except StoreFailure as error:
            trouble = error
        yield received.getvalue()  # also after an error: the rest is fetched from there
        if trouble:
            raise trouble

    def put(self, place: ObjectAddress, source: BinaryIO, absent: bool) -> None:
        with _client() as client:
            client.bucket(_name(place)).blob(place.key).upload_from_file(
                source, rewind=True, if_generation_match=0 if absent else None, timeout=TIMEOUTS, retry=None
            )

    def delete(self, place: ObjectAddress) -> None:
        with _client() as client:
            client.bucket(_name(place)).blob(place.key).delete(timeout=TIMEOUTS, retry=None)


def _name(place: ObjectAddress) -> str:
    return place.bucket.removeprefix("gs://")


def _object(found: Any) -> Object:
    return Object(found.name, found.size, nanoseconds(found.updated), str(found.generation or ""))


@contextmanager
def _client() -> Iterator[Any]:
    """Yield a client. Its errors become Trouble: their messages may contain tokens and addresses."""
    try:
        yield _client_for(os.environ.get("STORAGE_EMULATOR_HOST", ""), os.environ.get("GOOGLE_APPLICATION_CREDENTIALS"))
    except (StoreFailure, GeneratorExit):
        raise
    except Exception as error:  # noqa: BLE001 - nothing of it may get out as it is
        raise _trouble(error) from None


@functools.lru_cache(maxsize=4)
def _client_for(emulator: str, key_file: str | None) -> Any:
    """Return a client; it can be used by several threads."""
    load(Google.package, Google.extra)
    import google.auth
    from google.auth.credentials import AnonymousCredentials
    from google.auth.exceptions import DefaultCredentialsError
    from google.cloud import storage

    credentials: Any = AnonymousCredentials()  # type: ignore[no-untyped-call,unused-ignore]
    project: str | None = None
    if not emulator:
        try:
            credentials, project = google.auth.default(scopes=["https://www.googleapis.com/auth/devstorage.read_write"])
        except DefaultCredentialsError:
            if key_file:
                raise
            _found_nobody.set()
    return storage.Client(project=project or "none", credentials=credentials)


def _trouble(error: Exception) -> StoreFailure:
    names = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(error, "code", None)
    if "GoogleAPICallError" in names and isinstance(status, int):
        headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
        kind = kind_of_status(int(status))
        wait = headers.get("Retry-After", "")
        advice = ""
        if kind in ("credentials", "permission") and _found_nobody.is_set():
            advice = f"No credentials were found. {usual_advice(Google.name, 'credentials')['advice']}"
        return StoreFailure(kind, int(status), float(wait) if wait.isdecimal() else 0.0, advice)
    code = type(error).__name__
    if names & {"TransportError", "RequestException", "HTTPError", "TimeoutError", "OSError", "ProtocolError"}:
        # requests reports impossible addresses with the class of connection errors
        return StoreFailure("endpoint" if isinstance(error, ValueError) else "unreachable", code)
    if "GoogleAuthError" in names:
        return StoreFailure("credentials", code)
    return StoreFailure("endpoint" if isinstance(error, ValueError) else "failed", code)
