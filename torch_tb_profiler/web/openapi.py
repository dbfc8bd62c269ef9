"""The HTTP interface as an OpenAPI document: what each route takes and answers.

`openapi_operations` and `old_plugin.openapi_shapes` say it of each route; tests/unit/test_openapi.py holds them to what
the routes do. `make openapi` writes docs/openapi.json: `python -m torch_tb_profiler.web.openapi` prints it.
"""

from __future__ import annotations

import json
import sys
from functools import cache

from torch_tb_profiler import __version__
from torch_tb_profiler.analysis.json_schema import (
    COUNT,
    TEXT,
    Json,
    closed,
    components,
    described,
    nullable,
    one_of,
    types_of,
)
from torch_tb_profiler.questions import QUESTIONS, TIMELINE_QUESTIONS
from torch_tb_profiler.web.http import JSON
from torch_tb_profiler.web.old_plugin import openapi_shapes
from torch_tb_profiler.web.old_plugin.questions import QUESTIONS as OLD_QUESTIONS
from torch_tb_profiler.web.openapi_operations import (
    FILE_ANSWERS,
    FILE_OPERATIONS,
    SHARED,
    SQL_ANSWERS,
    SQL_OPERATIONS,
    component,
    question_operations,
)

_ABOUT = """\
The routes of torch-tb-profiler. docs/api.md and docs/maintainers/timeline-protocol.md say more about each.

Every path answers GET and HEAD; other methods are 405. Below `assets/` are the files of the page. Parameters that a
route does not know are not looked at; of equal names the first counts. A trailing slash does not matter.

Times are whole nanoseconds since the start of the trace, except in the answers of the old plugin's routes, which are
in microseconds. Units are at the ends of names: `_ns`, `_bytes`; shares are fractions. Numbers that cannot be computed
are null.
"""

_TAGS = {
    "page": "The page itself, and this document.",
    "log directory": "What there is.",
    "trace": "Questions about one trace.",
    "memory": "Questions about the memory of one trace.",
    "timeline": "The Trace view: docs/maintainers/timeline-protocol.md.",
    "several traces": "Ranks, runs, comparisons.",
    "files": "Files to keep.",
    "queries": "SQL over traces: docs/sql.md.",
    "old plugin": "The routes of the old torch-tb-profiler, with its answer formats, which no longer change.",
}

_ERROR = {"error": described(TEXT, "what is wrong, as text")}
_WHY = described(
    closed(
        {
            "kind": described(TEXT, "what it says"),
            "values": described({"type": "object"}, "of this one, by name"),
        }
    ),
    "what the message says, for saying it in another language",
)
_PROBLEM = described(
    closed(
        {
            "kind": described(TEXT, "what is wrong with the filter"),
            "token": described(TEXT, "the part of it that is wrong"),
            "name": described(nullable(TEXT), "the column that this part is about"),
        }
    ),
    "of a filter that cannot be understood, for saying it in another language",
)
_LOADING = described(one_of("queued", "loading"), "whether it was begun")
_PROGRESS = described(
    closed(
        {
            "bytes_done": described(COUNT, "bytes of the file that were read"),
            "bytes_total": described(COUNT, "bytes of the file"),
            "events": described(COUNT, "how many events were read"),
        }
    ),
    "how far it is",
)

_RESPONSES: dict[str, tuple[str, Json]] = {
    "BadRequest": ("A parameter is missing or has a bad value.", closed(_ERROR, {"problem": _PROBLEM, "why": _WHY})),
    "NotFound": (
        "The run, worker, span, step or row does not exist, or nothing of this kind was recorded.",
        closed(_ERROR, {"version": described(TEXT, "of the timeline, when the request names another"), "why": _WHY}),
    ),
    "Loading": (
        "The trace is still being read.",
        closed({**_ERROR, "state": _LOADING, "progress": _PROGRESS}),
    ),
    "Unreadable": ("The trace file could not be read; error is the reason.", closed(_ERROR, {"why": _WHY})),
    "Mistake": ("An error in the server; `error` has a mark under which the log has details.", closed(_ERROR)),
    "Busy": (
        "The system is out of handles, memory or disk space, or computing it takes too long, or too much is being "
        "computed; error says which.",
        closed(_ERROR),
    ),
}

_HEADERS = {
    "ETag": "Changes with the answer.",
    "CacheControl": "no-cache: ask again with If-None-Match; immutable where the request names a version.",
    "Vary": "Accept-Encoding, on answers that can be sent as gzip.",
    "Content-Security-Policy": "What the page may do.",
    "Content-Disposition": "The name of the file.",
    "Content-Length": "Bytes of the file.",
    "X-Trace-Repaired": "Why the answer is not the stored text.",
}


@cache
def document() -> Json:
    """Return the document, OpenAPI 3.1."""
    by_path = {
        **FILE_OPERATIONS,
        **SQL_OPERATIONS,
        **question_operations((*QUESTIONS, *OLD_QUESTIONS, *TIMELINE_QUESTIONS)),
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "torch-tb-profiler",
            "version": __version__,
            "description": _ABOUT,
            "license": {"name": "BSD 3-Clause", "identifier": "BSD-3-Clause"},
        },
        "servers": [
            {"url": "..", "description": "The server that this document was fetched from."},
            {"url": "/data/plugin/pytorch_profiler", "description": "Inside of TensorBoard."},
        ],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": {path: operation.as_json(path) for path, operation in sorted(by_path.items())},
        "components": {
            "parameters": {component(key): value for key, value in SHARED.items()},
            "headers": {name: {"description": text, "schema": TEXT} for name, text in _HEADERS.items()},
            "responses": {
                "NotModified": {"description": "The client has it: one of If-None-Match is its ETag."},
                **{
                    name: {"description": text, "content": {JSON: {"schema": schema}}}
                    for name, (text, schema) in _RESPONSES.items()
                },
            },
            "schemas": {
                **components(
                    [
                        *types_of((*QUESTIONS, *TIMELINE_QUESTIONS)),
                        *FILE_ANSWERS,
                        *SQL_ANSWERS,
                    ]
                ),
                **openapi_shapes.SHARED,
            },
        },
    }


def as_text() -> str:
    """Return the content of docs/openapi.json."""
    return _laid_out(document(), "") + "\n"


def _laid_out(value: object, indent: str) -> str:
    """Return JSON; a value that fits in a line is written in one."""
    line = json.dumps(value, ensure_ascii=False)
    if len(indent) + len(line) <= 110 or not isinstance(value, dict | list):
        return line
    inner = indent + "  "
    if isinstance(value, dict):
        parts = [f"{json.dumps(key)}: {_laid_out(each, inner)}" for key, each in value.items()]
    else:
        parts = [_laid_out(each, inner) for each in value]
    begin, end = "{}" if isinstance(value, dict) else "[]"
    return f"{begin}\n{inner}" + f",\n{inner}".join(parts) + f"\n{indent}{end}"


if __name__ == "__main__":
    sys.stdout.write(as_text())
