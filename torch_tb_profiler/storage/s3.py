"""S3 and compatible stores: AWS, MinIO, Ceph and others."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

import msgspec

from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.storage.base import shown
from torch_tb_profiler.storage.errors import ErrorKind, StorageError, StoreFailure, kind_of_status, usual_advice
from torch_tb_profiler.storage.remote import MOST_AHEAD, Object, ObjectAddress, load, nanoseconds

PIECE_BYTES = 256 * 1024

_ADDRESS = lazy_pattern(r"s3a?://(?P<bucket>[^/]+)/*(?P<key>.*)", re.DOTALL | re.IGNORECASE)
_NO = ("0", "false", "no", "off")

_CODES: Mapping[str, ErrorKind] = {
    "InvalidAccessKeyId": "credentials",
    "SignatureDoesNotMatch": "credentials",
    "InvalidToken": "credentials",
    "ExpiredToken": "credentials",
    "InvalidSecurity": "credentials",
    "AccessDenied": "permission",
    "AllAccessDisabled": "permission",
    "AccountProblem": "permission",
    "Forbidden": "permission",
    "403": "permission",
    "NoSuchBucket": "missing",
    "NoSuchKey": "missing",
    "NotFound": "missing",
    "404": "missing",
    "SlowDown": "throttled",
    "Throttling": "throttled",
    "RequestLimitExceeded": "throttled",
    "TooManyRequests": "throttled",
    "PermanentRedirect": "endpoint",
    "TemporaryRedirect": "endpoint",
    "AuthorizationHeaderMalformed": "endpoint",
    "IllegalLocationConstraintException": "endpoint",
    "301": "endpoint",
    "307": "endpoint",
    "RequestTimeTooSkewed": "clock",
    "PreconditionFailed": "changed",
    # two clients write the same object at once
    "ConditionalRequestConflict": "changed",
    "412": "changed",
    "InvalidRange": "changed",
    "416": "changed",
    "InternalError": "unreachable",
    "ServiceUnavailable": "throttled",
    "RequestTimeout": "unreachable",
}


class S3Settings(msgspec.Struct, frozen=True):
    """What the environment says beside boto3's own variables and profiles.

    region: None for the one that boto3 finds
    endpoint: URL of another server than AWS; None for the one that boto3 finds
    verify: whether to verify certificates, or the file of those to trust; None for the default
    """

    region: str | None
    endpoint: str | None
    verify: bool | str | None

    @staticmethod
    def of(environment: Mapping[str, str]) -> S3Settings:
        region = environment.get("AWS_REGION") or None
        endpoint = environment.get("S3_ENDPOINT") or None
        if endpoint and "://" not in endpoint:
            secure = environment.get("S3_USE_HTTPS", "1").strip().lower() not in _NO
            endpoint = f"{'https' if secure else 'http'}://{endpoint}"
        verify: bool | str | None = None
        said = environment.get("S3_VERIFY_SSL", "").strip()
        if said.lower() in _NO:
            verify = False
        elif os.sep in said or "/" in said:
            verify = said
        return S3Settings(region, endpoint, verify)


class S3:
    """Objects of S3."""

    package, extra = "boto3", "s3"
    name = "s3"

    writing = "s3:PutObject and s3:DeleteObject must be allowed"

    def environment(self) -> dict[str, str]:
        return {}

    def place(self, url: str) -> ObjectAddress:
        match = _ADDRESS.fullmatch(url)
        if match is None or "@" in match["bucket"]:
            raise StorageError(f"{shown(url)}: an S3 address looks like s3://bucket/folder", "missing")
        return ObjectAddress(f"s3://{match['bucket']}", match["key"])

    def url(self, place: ObjectAddress) -> str:
        return f"{place.bucket}/{place.key}" if place.key else place.bucket

    def pages(self, place: ObjectAddress) -> Iterator[list[Object]]:
        with _client() as client:
            pages = client.get_paginator("list_objects_v2").paginate(Bucket=_name(place), Prefix=place.key)
            for page in pages:
                yield [_object(found["Key"], found, found["Size"]) for found in page.get("Contents", ())]

    def stat(self, place: ObjectAddress) -> Object:
        with _client() as client:
            found = client.head_object(Bucket=_name(place), Key=place.key)
            return _object(place.key, found, found["ContentLength"])

    def get(self, place: ObjectAddress, start: int, stop: int, etag: str) -> Iterable[bytes]:
        only = {"IfMatch": f'"{etag}"'} if etag else {}
        with _client() as client:
            found = client.get_object(Bucket=_name(place), Key=place.key, Range=f"bytes={start}-{stop - 1}", **only)
            with found["Body"] as body:
                # Some servers answer a range with status 200, and still send only the range.
                if found["ContentLength"] != stop - start:
                    raise StoreFailure("failed", "NoRanges", advice="This server cannot send parts of objects")
                yield from iter(lambda: body.read(PIECE_BYTES), b"")

    def put(self, place: ObjectAddress, source: BinaryIO, absent: bool) -> None:
        only = {"IfNoneMatch": "*"} if absent else {}
        with _client() as client:
            client.put_object(Bucket=_name(place), Key=place.key, Body=source, **only)

    def delete(self, place: ObjectAddress) -> None:
        with _client() as client:
            client.delete_object(Bucket=_name(place), Key=place.key)


def _name(place: ObjectAddress) -> str:
    return place.bucket.removeprefix("s3://")


def _object(key: str, found: Mapping[str, Any], size: int) -> Object:
    # For a single object a server gives whole seconds; in a listing, some are more precise.
    seconds = nanoseconds(found.get("LastModified")) // 10**9
    return Object(key, size, seconds * 10**9, found.get("ETag", "").strip('"'))


@contextmanager
def _client() -> Iterator[Any]:
    """Yield a client. Its errors become Trouble: their messages may contain keys and addresses."""
    client = None
    try:
        client = _client_for(S3Settings.of(os.environ), _credentials(os.environ))
        yield client
    except (StoreFailure, GeneratorExit):
        raise
    except Exception as error:  # noqa: BLE001 - nothing of it may get out as it is
        trouble = _trouble(error)
        if trouble.kind == "permission" and client is not None and _is_nobody(client):
            trouble.advice = f"No credentials were found. {usual_advice(S3.name, 'credentials')['advice']}"
        if trouble.kind == "credentials":
            _client_for.cache_clear()  # others may be there the next time
        raise trouble from None


def _is_nobody(client: Any) -> bool:
    # boto3 marks unsigned requests with an object, not with the name of a signature
    return not isinstance(client.meta.config.signature_version, str)


def _credentials(environment: Mapping[str, str]) -> int:
    """Return a digest that changes with the credentials, which are not kept."""
    names = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_PROFILE")
    return hash(tuple(environment.get(name) for name in names))


@functools.lru_cache(maxsize=4)
def _client_for(settings: S3Settings, _: int) -> Any:
    """Return a client for all threads, as making one is slow."""
    load(S3.package, S3.extra)
    import boto3
    from botocore import UNSIGNED
    from botocore.config import Config

    session = boto3.session.Session()
    signed = session.get_credentials() is not None
    config = Config(
        connect_timeout=3,
        read_timeout=20,
        # One place retries failed requests of all stores, from the byte where they broke off.
        retries={"total_max_attempts": 1, "mode": "standard"},
        max_pool_connections=4 * MOST_AHEAD,
        # of a whole object, which is never fetched in one piece
        response_checksum_validation="when_required",
        request_checksum_calculation="when_required",
        signature_version=None if signed else UNSIGNED,
        s3={"addressing_style": "path"} if settings.endpoint else None,
    )
    return session.client(
        "s3",
        region_name=settings.region or session.region_name or "us-east-1",
        endpoint_url=settings.endpoint,
        verify=settings.verify,
        config=config,
    )


def _trouble(error: Exception) -> StoreFailure:
    names = {kind.__name__ for kind in type(error).__mro__}
    if "ClientError" in names:
        return _refused(getattr(error, "response", {}))
    code = type(error).__name__
    if names & {
        "NoCredentialsError",
        "PartialCredentialsError",
        "CredentialRetrievalError",
        "ProfileNotFound",
        "TokenRetrievalError",
        "UnauthorizedSSOTokenError",
        "SSOTokenLoadError",
    }:
        return StoreFailure("credentials", code)
    if "SSLError" in names:
        return StoreFailure(
            "endpoint",
            code,
            advice="Its certificate is not trusted: set S3_VERIFY_SSL to the file of one that is, or to 0",
        )
    if names & {"HTTPClientError", "ConnectionError", "TimeoutError", "HTTPError", "IncompleteReadError", "OSError"}:
        return StoreFailure("unreachable", code)
    if names & {"ParamValidationError", "InvalidEndpointError"} or isinstance(error, ValueError):
        return StoreFailure("endpoint", code)
    return StoreFailure("failed", code)


def _refused(response: Mapping[str, Any]) -> StoreFailure:
    code = str(response.get("Error", {}).get("Code", ""))
    answer = response.get("ResponseMetadata", {})
    status = int(answer.get("HTTPStatusCode", 0))
    kind = _CODES.get(code) or kind_of_status(status)
    wait = str(answer.get("HTTPHeaders", {}).get("retry-after", ""))
    return StoreFailure(kind, code or status, float(wait) if wait.isdecimal() else 0.0)
