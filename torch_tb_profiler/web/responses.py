"""Answers and errors as HTTP responses: JSON with a reason, validators, compression."""

from __future__ import annotations

import logging
import uuid
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from typing import TYPE_CHECKING

from werkzeug import Request, Response
from werkzeug.datastructures import Headers
from werkzeug.http import parse_etags

from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.trace import TraceError
from torch_tb_profiler.trace.files import is_scarce
from torch_tb_profiler.web.http import JSON, HttpAnswer, HttpError, Stream, why
from torch_tb_profiler.workspace import Loading, Unanswered, Unavailable, Unreadable
from torch_tb_profiler.workspace.cache.answer_store import PACKED_FROM, Packed, pack

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIEnvironment

log = logging.getLogger(__name__)

_TEXTUAL = ("text/", JSON, "image/svg")

#: on every answer: its type is not guessed, only pages of this server embed it, and opened by itself it runs nothing
_SAFE = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    # workers live by the policy of their own file
    "Content-Security-Policy": "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'",
}


class _NotModified(Response):
    """304 with a Content-Type: werkzeug leaves it out, TensorBoard warns when it is missing."""

    def get_wsgi_headers(self, environ: WSGIEnvironment) -> Headers:
        headers = super().get_wsgi_headers(environ)
        headers["Content-Type"] = self.headers["Content-Type"]
        return headers


def respond(request: Request, answer: HttpAnswer | Stream, status: int = 200) -> Response:
    """Return the answer in an encoding that the client accepts."""
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


def _headers(answer: HttpAnswer | Stream) -> Headers:
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
    # a stream opened for a HEAD request would never be read to its end
    body = iter(()) if request.method == "HEAD" else _sent(stream.open(packed), request.path)
    return Response(body, headers=headers, content_type=stream.content_type)


def _sent(pieces: Iterable[bytes], path: str) -> Iterator[bytes]:
    """Yield the chunks of a stream; drop the connection if its file cannot be read further, or memory runs out.

    The status has been sent by then, so the missing end is the only sign for the client.
    """
    try:
        yield from pieces
    except Exception as error:
        if not isinstance(error, StorageError | TraceError) and not is_scarce(error):
            raise
        log.warning("%s was sent in part: %s", path, str(error) or type(error).__name__)
        raise ConnectionAbortedError from error


def respond_error(request: Request, error: HttpError) -> Response:
    answer = HttpAnswer(dumps({"error": str(error), **error.more}))
    response = respond(request, answer, error.status)
    if error.status == 405:
        response.headers["Allow"] = "GET, HEAD"
    return response


def wants_gzip(request: Request) -> bool:
    """Return whether the client takes gzip and does not prefer plain bytes."""
    accepted = request.accept_encodings
    packed = accepted.quality("gzip")
    plain = max((quality for name, quality in accepted if name.lower() == "identity"), default=0.0)
    return packed > 0 and packed >= plain


if TYPE_CHECKING:
    from werkzeug import Request, Response


def respond_failure(request: Request, error: Exception) -> Response:
    """Return the response for an error; unexpected errors are logged."""
    if isinstance(error, HttpError):
        return respond_error(request, error)
    if isinstance(error, Unavailable):
        return respond_error(request, _why_not(error))
    if isinstance(error, Unanswered):
        return respond_error(request, HttpError(503, str(error)))
    if is_scarce(error):
        log.warning("%s cannot be answered now: %s", request.path, str(error) or type(error).__name__)
        return respond_error(request, _scarce(error))
    mark = uuid.uuid4().hex[:8]
    log.error("error %s at %s", mark, request.path, exc_info=error)
    text = f"an error occurred in the server; its log has details under {mark}"
    return respond_error(request, HttpError(500, text))


def _scarce(error: Exception) -> HttpError:
    """Return an error that asks to try again: the system may have the resource later."""
    what = "memory" if isinstance(error, MemoryError) else str(error)
    return HttpError(503, f"the server cannot answer now because its system lacks resources: {what}; ask again later")


def _why_not(error: Unavailable) -> HttpError:
    if isinstance(error, Loading):
        trace = error.trace
        progress = {"bytes_done": trace.bytes_done, "bytes_total": trace.size, "events": trace.events}
        return HttpError(409, str(error), {"state": trace.state, "progress": progress})
    return HttpError(422 if isinstance(error, Unreadable) else 404, str(error), why(error.reason))
