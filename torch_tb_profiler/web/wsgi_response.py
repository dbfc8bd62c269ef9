"""Answers as HTTP has them: validators, compression."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

from werkzeug import Request, Response
from werkzeug.datastructures import Headers
from werkzeug.http import parse_etags

from torch_tb_profiler.arrays.json import dumps
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.trace import TraceError
from torch_tb_profiler.trace.files import is_scarce
from torch_tb_profiler.web.http import JSON, Answer, HttpError, Stream
from torch_tb_profiler.workspace.answer_store import PACKED_FROM, Packed, pack

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

log = logging.getLogger(__name__)

_TEXTUAL = ("text/", JSON, "image/svg")

#: for every answer: it is what its type says, only pages of this server take it in, and shown by itself it does nothing
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    # workers live by the policy of their own file
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
}


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
    headers = _headers(answer)
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


def _headers(answer: Answer | Stream) -> Headers:
    return Headers({**_SAFE, **dict(answer.headers)})


def _respond_with_stream(request: Request, stream: Stream) -> Response:
    headers = _headers(stream)
    headers["Cache-Control"] = stream.cache_control
    packed = stream.packs and wants_gzip(request)
    if stream.packs:
        headers["Vary"] = "Accept-Encoding"
    headers["ETag"] = f'"{stream.etag}-gz"' if packed else f'"{stream.etag}"'
    known = parse_etags(request.headers.get("If-None-Match"))
    if known.contains_weak(stream.etag) or known.contains_weak(f"{stream.etag}-gz"):
        return _NotModified(status=304, headers=headers, content_type=stream.content_type)
    stream.prepare()
    if packed:
        headers["Content-Encoding"] = "gzip"
    # what is opened for a HEAD request would never be read to its end
    body = iter(()) if request.method == "HEAD" else _sent(stream.open(packed), request.path)
    return Response(body, headers=headers, content_type=stream.content_type)


def _sent(pieces: Iterable[bytes], path: str) -> Iterator[bytes]:
    """The pieces of a stream. When its file cannot be read on, or memory lacks, the connection is dropped.

    The status has been sent by then, so that a client can only tell by the missing end.
    """
    try:
        yield from pieces
    except Exception as error:
        if not isinstance(error, StorageError | TraceError) and not is_scarce(error):
            raise
        log.warning("%s was sent in part: %s", path, str(error) or type(error).__name__)
        raise ConnectionAbortedError from error


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
