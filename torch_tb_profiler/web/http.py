"""Requests and answers: parameters, errors, validators, compression."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from werkzeug import Request, Response
from werkzeug.datastructures import Headers
from werkzeug.http import parse_etags

from torch_tb_profiler.workspace.packed import PACKED_FROM, Packed, pack

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

JSON = "application/json"
NO_CACHE = "no-cache"

C = TypeVar("C", bound=str)
N = TypeVar("N", int, None)

_WHOLE_NUMBER = re.compile(r"-?[0-9]{1,19}")

_TEXTUAL = ("text/", JSON, "image/svg")


class HttpError(Exception):
    """An answer other than 200; the message is for a person, `more` stands beside it in the JSON."""

    def __init__(self, status: int, message: str, more: dict[str, Any] | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.more = more or {}


@dataclass(frozen=True)
class Parameters:
    """The query of a request; the first of equal names counts, an empty value is a value."""

    values: dict[str, str] = field(default_factory=dict)

    def need(self, name: str) -> str:
        if name not in self.values:
            raise HttpError(400, f"Must specify {name} in request url")
        return self.values[name]

    def need_all(self, *names: str) -> tuple[str, ...]:
        """The first that is missing is named."""
        return tuple(self.need(name) for name in names)

    def get(self, name: str) -> str | None:
        return self.values.get(name)

    def choice(self, name: str, choices: tuple[C, ...]) -> C:
        """One of `choices`; the first when the request does not say."""
        value = self.values.get(name, choices[0])
        for choice in choices:
            if choice == value:
                return choice
        raise HttpError(400, f"{name} must be one of {', '.join(choices)}")

    def whole_number(self, name: str, default: N, least: int = -(2**62), most: int = 2**62) -> int | N:
        """A whole number within bounds; `default` when the request does not say."""
        text = self.values.get(name)
        if text is None:
            return default
        number = int(text) if _WHOLE_NUMBER.fullmatch(text) else None
        if number is None or not least <= number <= most:
            raise HttpError(400, f"{name} must be a whole number from {least} to {most}")
        return number


@dataclass(frozen=True)
class Answer:
    """A body and what describes it. One that is packed is sent as it is to clients that take gzip."""

    body: bytes | Packed
    content_type: str = JSON
    cache_control: str = NO_CACHE
    headers: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Stream:
    """A body that is made while it is sent, and what describes it.

    etag   changes with the content
    open   begins a body; it is told whether the body is to be gzip
    packs  whether the client may have it as gzip
    """

    etag: str
    open: Callable[[bool], Iterable[bytes]]
    content_type: str = JSON
    headers: tuple[tuple[str, str], ...] = ()
    packs: bool = True
    cache_control: str = NO_CACHE


def dumps(value: Any) -> bytes:
    """JSON; numbers that JSON does not have (NaN, infinities) are null."""
    return msgspec.json.encode(value)


class _NotModified(Response):
    """304 with a Content-Type: werkzeug leaves it away, TensorBoard warns when it is missing."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = self.headers["Content-Type"]
        return headers


def respond(request: Request, answer: Answer | Stream, status: int = 200) -> Response:
    """The answer as this client can take it."""
    if isinstance(answer, Stream):
        return _respond_with_stream(request, answer)
    headers = Headers(answer.headers)
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Cache-Control"] = answer.cache_control
    body = answer.body
    if isinstance(body, bytes) and len(body) >= PACKED_FROM and answer.content_type.startswith(_TEXTUAL):
        body = pack(body)
    if isinstance(body, bytes):
        etag, packed, content = blake2b(body, digest_size=16).hexdigest(), False, body
    else:
        etag, packed = body.etag, body.is_gzip and wants_gzip(request)
        content = body.body if packed else b""
        if body.is_gzip:
            headers["Vary"] = "Accept-Encoding"
    if status == 200:
        headers["ETag"] = f'"{etag}-gz"' if packed else f'"{etag}"'
        known = parse_etags(request.headers.get("If-None-Match"))
        if known.contains_weak(etag) or known.contains_weak(f"{etag}-gz"):
            return _NotModified(status=304, headers=headers, content_type=answer.content_type)
    if packed:
        headers["Content-Encoding"] = "gzip"
    elif isinstance(body, Packed):
        content = body.plain()
    return Response(content, status=status, headers=headers, content_type=answer.content_type)


def _respond_with_stream(request: Request, stream: Stream) -> Response:
    headers = Headers(stream.headers)
    headers["X-Content-Type-Options"] = "nosniff"
    headers["Cache-Control"] = stream.cache_control
    packed = stream.packs and wants_gzip(request)
    if stream.packs:
        headers["Vary"] = "Accept-Encoding"
    headers["ETag"] = f'"{stream.etag}-gz"' if packed else f'"{stream.etag}"'
    known = parse_etags(request.headers.get("If-None-Match"))
    if known.contains_weak(stream.etag) or known.contains_weak(f"{stream.etag}-gz"):
        return _NotModified(status=304, headers=headers, content_type=stream.content_type)
    if packed:
        headers["Content-Encoding"] = "gzip"
    # what is opened for a HEAD request would never be read to its end
    body = iter(()) if request.method == "HEAD" else stream.open(packed)
    return Response(body, headers=headers, content_type=stream.content_type)


def respond_error(request: Request, error: HttpError) -> Response:
    answer = Answer(dumps({"error": str(error), **error.more}))
    response = respond(request, answer, error.status)
    if error.status == 405:
        response.headers["Allow"] = "GET, HEAD"
    return response


def wants_gzip(request: Request) -> bool:
    """Whether the client takes gzip and does not like plain bytes better."""
    accepted = request.accept_encodings
    packed = accepted.quality("gzip")
    plain = max((quality for name, quality in accepted if name.lower() == "identity"), default=0.0)
    return packed > 0 and packed >= plain
