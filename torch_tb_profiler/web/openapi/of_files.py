"""Pages, lists of what there is, and files."""

from __future__ import annotations

from torch_tb_profiler.analysis.answer_schemas import schema_of
from torch_tb_profiler.analysis.json_schema import TEXT, Json
from torch_tb_profiler.web.logdir import StatusAnswer
from torch_tb_profiler.web.old_plugin import openapi_shapes
from torch_tb_profiler.web.openapi.operation import BINARY, LISTING, MISTAKE, Operation
from torch_tb_profiler.web.openapi.parameters import TRACE, WINDOW_NS, needed, query, shared

_ANY_OBJECT: Json = {"type": "object"}
_HTML, _SCRIPT = "text/html; charset=utf-8", "text/javascript; charset=utf-8"
_NO_WORKER = query("worker", "Without it the first eight traces of the run.", TEXT)

_PAGE = Operation("page", "The page", TEXT, fails=MISTAKE, content_type=_HTML, headers=("Content-Security-Policy",))

#: types of answers beside those of questions
ANSWERS = (StatusAnswer,)

OPERATIONS: dict[str, Operation] = {
    "/": _PAGE,
    "/index.html": _PAGE,
    "/index.js": Operation("page", "The module that TensorBoard loads", TEXT, fails=MISTAKE, content_type=_SCRIPT),
    "/api/openapi.json": Operation("page", "This document", _ANY_OBJECT, fails=MISTAKE),
    "/api/status": Operation(
        "log directory",
        "The contents of the log directory, and the progress of reading it",
        schema_of(StatusAnswer),
        fails=MISTAKE,
    ),
    "/runs": Operation("old plugin", "Names of the runs that can be looked at", openapi_shapes.RUNS, fails=MISTAKE),
    "/views": Operation(
        "old plugin", "Names of the views of a run", openapi_shapes.NAMES, shared("run"), fails=LISTING
    ),
    "/workers": Operation(
        "old plugin",
        "Workers that have a view",
        openapi_shapes.NAMES,
        [*shared("run"), needed("view", "A name as /views gives it.")],
        fails=LISTING,
    ),
    "/spans": Operation(
        "old plugin", "Spans of a worker", openapi_shapes.NAMES, shared("run", "worker"), fails=LISTING
    ),
    "/api/report": Operation(
        "files",
        "The page and its answers about a trace in one file",
        TEXT,
        [*shared("run"), _NO_WORKER, *shared("span")],
        "It says when it was made, so it is another one each second: docs/report.md.",
        content_type=_HTML,
        headers=("Content-Disposition", "Content-Security-Policy"),
    ),
    "/trace": Operation(
        "old plugin",
        "The trace file for viewers, with counters of each device",
        _ANY_OBJECT,
        TRACE,
        "The stored text with counter events inserted; made while it is sent, so there is no Content-Length. "
        "X-Trace-Repaired is there if the stored text is not valid JSON.",
        headers=("X-Trace-Repaired",),
    ),
    "/api/trace/window": Operation(
        "files",
        "A trace document of the events between two times",
        _ANY_OBJECT,
        [*TRACE, *WINDOW_NS],
        "Every event that overlaps this time, as it is in the file, and all metadata.",
    ),
    "/api/trace/download": Operation(
        "files",
        "The trace file as it is stored",
        BINARY,
        TRACE,
        content_type="application/octet-stream",
        headers=("Content-Disposition", "Content-Length"),
        packs=False,
    ),
}
