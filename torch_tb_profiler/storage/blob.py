"""Azure Blob Storage."""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from threading import Lock
from typing import Any, BinaryIO
from urllib.parse import quote, unquote

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage.base import shown
from torch_tb_profiler.storage.errors import ErrorKind, StorageError, StoreFailure, kind_of_status
from torch_tb_profiler.storage.remote import RANGE_BYTES, Object, ObjectAddress, load, nanoseconds

#: for worker processes: signatures of containers, JSON of address → signature; empty without any
ACCESS_VARIABLE = "TORCH_TB_PROFILER_BLOB_ACCESS"

MOST_SKEW_SECONDS = 15 * 60

_ADDRESS = lazy_pattern(r"(?P<host>https?://[^/?#]+)/+(?P<path>[^?#]*)(?:\?(?P<query>.*))?", re.DOTALL | re.IGNORECASE)
_ACCOUNT = lazy_pattern(r"https?://(?P<account>[a-z0-9-]+)\.blob\.", re.IGNORECASE)
#: an emulator, or a proxy: the account is the first part of the path
_BY_NUMBER = lazy_pattern(r"https?://(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])(?::\d+)?", re.IGNORECASE)

_CODES: Mapping[str, ErrorKind] = {
    "AuthenticationFailed": "credentials",
    "InvalidAuthenticationInfo": "credentials",
    "NoAuthenticationInformation": "credentials",
    "KeyBasedAuthenticationNotPermitted": "permission",
    "PublicAccessNotPermitted": "permission",
    "ResourceNotFound": "missing",
    "ServerBusy": "throttled",
    "OperationTimedOut": "unreachable",
    "InternalError": "unreachable",
    "ConditionNotMet": "changed",
    "BlobAlreadyExists": "changed",
    "BlobNotFound": "missing",
    "InvalidRange": "changed",
}


class _Container(msgspec.Struct, frozen=True):
    """An address taken apart. account: its name"""

    account: str
    address: str
    key: str
    query: str

    @property
    def name(self) -> str:
        return unquote(self.address.rpartition("/")[2])


def _parse(url: str) -> _Container:
    match = _ADDRESS.fullmatch(url)
    host = match["host"] if match else ""
    account = _ACCOUNT.match(host)
    parts = match["path"].split("/") if match else []
    if account:
        name = account["account"]
    elif _BY_NUMBER.fullmatch(host) and len(parts) > 1:
        name, parts = parts[0], parts[1:]
        host = f"{host}/{name}"
    else:
        raise StorageError(
            f"{shown(url)}: over https only Azure Blob Storage can be read, at"
            " https://<account>.blob.core.windows.net/<container>/<folder>",
            "missing",
        )
    if not parts or not parts[0]:
        raise StorageError(f"{shown(url)}: the name of a container is missing after the account", "missing")
    assert match is not None
    return _Container(name, f"{host}/{parts[0]}", unquote("/".join(parts[1:])), match["query"] or "")


class Blobs:
    """Blobs of Azure. Signatures in addresses are kept apart from them."""

    package, extra = "azure.storage.blob", "blob"
    name = "blob"

    writing = "The role Storage Blob Data Contributor, or a SAS with create, write and delete (sp=rlcwd), is needed"

    def __init__(self) -> None:
        self._lock = Lock()
        self._signatures: dict[str, str] = json.loads(os.environ.get(ACCESS_VARIABLE, "{}"))

    def environment(self) -> dict[str, str]:
        with self._lock:
            return {ACCESS_VARIABLE: json.dumps(self._signatures)} if self._signatures else {}

    def place(self, url: str) -> ObjectAddress:
        found = _parse(url)
        if found.query:
            with self._lock:
                self._signatures[found.address] = found.query
        return ObjectAddress(found.address, found.key)

    def url(self, place: ObjectAddress) -> str:
        return f"{place.bucket}/{quote(place.key)}" if place.key else place.bucket

    def pages(self, place: ObjectAddress) -> Iterator[list[Object]]:
        with self._client(place) as client:
            listing = client.list_blobs(name_starts_with=place.key or None, results_per_page=5000)
            for page in listing.by_page():
                yield [_object(found) for found in page]

    def stat(self, place: ObjectAddress) -> Object:
        with self._client(place) as client:
            return _object(client.get_blob_client(place.key).get_blob_properties())

    def get(self, place: ObjectAddress, start: int, stop: int, etag: str) -> Iterable[bytes]:
        with self._client(place) as client:
            from azure.core import MatchConditions

            blob = client.get_blob_client(place.key)
            yield from blob.download_blob(
                offset=start,
                length=stop - start,
                etag=f'"{etag}"',
                match_condition=MatchConditions.IfNotModified,
                decompress=False,
            ).chunks()

    def put(self, place: ObjectAddress, source: BinaryIO, absent: bool) -> None:
        with self._client(place) as client:
            client.upload_blob(place.key, source, overwrite=not absent)

    def delete(self, place: ObjectAddress) -> None:
        with self._client(place) as client:
            client.delete_blob(place.key)

    @contextmanager
    def _client(self, place: ObjectAddress) -> Iterator[Any]:
        """Yield a client. Its errors become Trouble: their messages may contain keys and addresses."""
        with self._lock:
            signature = self._signatures.get(place.bucket, "")
        connection = os.environ.get("AZURE_STORAGE_CONNECTION_STRING", "")
        try:
            yield _client_for(place.bucket, signature, connection)
        except (StoreFailure, GeneratorExit):
            raise
        except Exception as error:  # noqa: BLE001 - nothing of it may get out as it is
            trouble = _trouble(error)
            account, other = _parse(place.bucket).account, _account_of(connection)
            if trouble.kind in ("credentials", "permission", "missing") and connection and other != account:
                trouble.advice = "AZURE_STORAGE_CONNECTION_STRING is for another account and was not used"
            raise trouble from None


def _object(found: Any) -> Object:
    return Object(found.name, found.size, nanoseconds(found.last_modified), found.etag.strip('"'))


@functools.lru_cache(maxsize=16)
def _client_for(address: str, signature: str, connection: str) -> Any:
    """Return a client of a container; it can be used by several threads."""
    load(Blobs.package, Blobs.extra)
    from azure.storage.blob import ContainerClient

    container = _parse(address)
    options: dict[str, Any] = {
        "connection_timeout": 3,
        "read_timeout": 20,
        # One place retries failed requests of all stores, from the byte where they broke off.
        "retry_total": 0,
        "max_single_get_size": RANGE_BYTES,
        "max_chunk_get_size": RANGE_BYTES,
    }
    if signature:
        return ContainerClient.from_container_url(address, credential=signature, **options)
    if connection and _account_of(connection) == container.account:
        return ContainerClient.from_connection_string(connection, container.name, **options)
    return ContainerClient.from_container_url(address, credential=_identity(address), **options)


def _account_of(connection: str) -> str:
    """Return the account of a connection string; empty without one."""
    parts = dict(part.partition("=")[::2] for part in connection.split(";") if part)
    named = {name.strip().lower(): value.strip() for name, value in parts.items()}
    if named.get("accountname"):
        return named["accountname"]
    match = _ACCOUNT.match(named.get("blobendpoint", ""))
    return match["account"] if match else ""


def _identity(address: str) -> Any:
    """Return the credentials that azure-identity finds; None without the package or without credentials."""
    if not address.startswith("https://"):
        return None
    try:
        from azure.core.exceptions import ClientAuthenticationError
        from azure.identity import DefaultAzureCredential
    except ImportError:
        return None
    credential = DefaultAzureCredential()
    try:
        credential.get_token("https://storage.azure.com/.default")
    except ClientAuthenticationError:
        return None
    return credential


def _trouble(error: Exception) -> StoreFailure:
    names = {kind.__name__ for kind in type(error).__mro__}
    status = getattr(error, "status_code", None)
    if status is None:
        lost = names & {"ServiceRequestError", "ServiceResponseError", "HttpResponseError"}
        kind: ErrorKind = "unreachable" if lost else "endpoint" if isinstance(error, ValueError) else "failed"
        return StoreFailure(kind, type(error).__name__)
    code = str(getattr(getattr(error, "error_code", ""), "value", getattr(error, "error_code", "")) or "")
    headers: Mapping[str, str] = getattr(getattr(error, "response", None), "headers", None) or {}
    kind = _CODES.get(code) or kind_of_status(status)
    if kind == "credentials" and _skew(headers.get("Date", "")) > MOST_SKEW_SECONDS:
        kind = "clock"
    wait = headers.get("Retry-After", "")
    return StoreFailure(kind, code or status, float(wait) if wait.isdecimal() else 0.0)


def _skew(date: str) -> float:
    """Return seconds between our clock and the one that wrote a date; 0 without one."""
    import email.utils  # takes a megabyte, and is hardly ever needed

    try:
        return abs(email.utils.parsedate_to_datetime(date).timestamp() - time.time())
    except ValueError:
        return 0.0
