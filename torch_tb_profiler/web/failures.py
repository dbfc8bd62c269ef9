"""What is answered when something goes wrong: JSON with a reason, whatever it is."""

from __future__ import annotations

import logging
import uuid
from typing import TYPE_CHECKING

from torch_tb_profiler.trace.files import is_scarce
from torch_tb_profiler.web.http import HttpError, why
from torch_tb_profiler.web.wsgi_response import respond_error
from torch_tb_profiler.workspace import Loading, Unanswered, Unavailable, Unreadable

if TYPE_CHECKING:
    from werkzeug import Request, Response

log = logging.getLogger(__name__)


def respond_failure(request: Request, error: Exception) -> Response:
    """The answer to a request that met an error; one that nobody foresaw is logged."""
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
    """What the system lacks now it may have later."""
    what = "memory" if isinstance(error, MemoryError) else str(error)
    return HttpError(503, f"the server cannot answer now because its system lacks resources: {what}; ask again later")


def _why_not(error: Unavailable) -> HttpError:
    if isinstance(error, Loading):
        trace = error.trace
        progress = {"bytes_done": trace.bytes_done, "bytes_total": trace.size, "events": trace.events}
        return HttpError(409, str(error), {"state": trace.state, "progress": progress})
    return HttpError(422 if isinstance(error, Unreadable) else 404, str(error), why(error.reason))
