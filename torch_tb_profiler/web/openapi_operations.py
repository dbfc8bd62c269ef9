"""Operations of the OpenAPI document: what each route takes and answers, most of it from declared questions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from torch_tb_profiler.analysis.json_schema import TEXT, WHOLE, Json, described, one_of, ref, schema_of
from torch_tb_profiler.analysis.question import About, Question
from torch_tb_profiler.analysis.result import meta_of
from torch_tb_profiler.model.steps import RULES
from torch_tb_profiler.tables.sql.connection import LONGEST_STATEMENT
from torch_tb_profiler.web.answers.timeline import BINARY as BINARY_TYPE
from torch_tb_profiler.web.hang import RunHangAnswer
from torch_tb_profiler.web.http import JSON, query_parameters
from torch_tb_profiler.web.logdir import StatusAnswer
from torch_tb_profiler.web.old_plugin import openapi_shapes
from torch_tb_profiler.web.queries import PATH, TABLES_PATH, QueryResult, QueryTables

#: what can go wrong: without a trace in the request, with one, and where the timeline's version is named
MISTAKE = ("Mistake", "Busy")
LISTING = ("BadRequest", "NotFound", *MISTAKE)
OF_TRACE = ("BadRequest", "NotFound", "Loading", "Unreadable", *MISTAKE)

STATUS = {
    "BadRequest": "400",
    "NotFound": "404",
    "Loading": "409",
    "Unreadable": "422",
    "Mistake": "500",
    "Busy": "503",
}

BINARY: Json = {"type": "string", "format": "binary"}


class Operation(msgspec.Struct, frozen=True):
    """GET of a path.

    summary    one line
    schema     of the answer's body
    takes      parameters of the query
    more       further description
    content_type, headers, packs  of the answer; packs: whether it can be gzip
    fails      keys of `STATUS`
    """

    tag: str
    summary: str
    schema: Json
    takes: Sequence[Json] = ()
    more: str = ""
    fails: Sequence[str] = OF_TRACE
    content_type: str = JSON
    headers: Sequence[str] = ()
    packs: bool = True

    def as_json(self, path: str) -> Json:
        """Return the path item."""
        headers = ["ETag", "CacheControl", *(["Vary"] if self.packs else []), *self.headers]
        spelled = {"CacheControl": "Cache-Control"}
        question_operation: Json = {
            "operationId": operation_id(path),
            "tags": [self.tag],
            "summary": self.summary,
            **({"description": self.more} if self.more else {}),
            "parameters": list(self.takes),
            "responses": {
                "200": {
                    "description": self.summary,
                    "headers": {spelled.get(name, name): ref(name, "headers") for name in headers},
                    "content": {self.content_type: {"schema": self.schema}},
                },
                "304": ref("NotModified", "responses"),
                **{STATUS[name]: ref(name, "responses") for name in self.fails},
            },
        }
        always = [ref("IfNoneMatch", "parameters"), *([ref("AcceptEncoding", "parameters")] if self.packs else [])]
        return {"parameters": always, "get": question_operation}


def operation_id(path: str) -> str:
    """Turn `/api/memory/curve` into `api_memory_curve`."""
    return path.strip("/").replace("/", "_").replace(".", "_") or "page"


def query(name: str, description: str, schema: Json, required: bool = False) -> Json:
    found: Json = {"name": name, "in": "query", "description": description, "schema": schema}
    return {**found, "required": True} if required else found


def needed(name: str, description: str, schema: Json = TEXT) -> Json:
    return query(name, description, schema, required=True)


def choice(name: str, description: str, choices: Iterable[str]) -> Json:
    """Describe a parameter with choices; the first is the default."""
    schema = one_of(*choices)
    return query(name, description, {**schema, "default": schema["enum"][0]})


def whole(name: str, description: str, **schema: Any) -> Json:
    return query(name, description, {**WHOLE, **schema})


_RUN = needed("run", "A run, as /api/status names it.")
_SPAN = query("span", "May be left out where there is one.", TEXT)

#: parameters that the document defines once
SHARED: dict[str, Json] = {
    "run": _RUN,
    "worker": needed("worker", "A worker of the run."),
    "worker_or_all": query(
        "worker", "A worker of the run; without it the answer is about all ranks of the span.", TEXT
    ),
    "span": _SPAN,
    "steps": query("steps", "The rule by which steps are found; without it the first that finds any.", one_of(*RULES)),
    "step_pattern": query("step_pattern", "A regular expression: annotations that match it are the steps.", TEXT),
    "from_step": query("from_step", "With to_step: only what belongs to these steps and those between.", TEXT),
    "to_step": query("to_step", "See from_step.", TEXT),
    "exp_run": needed("exp_run", "The run of the second trace."),
    "exp_worker": needed("exp_worker", "The worker of the second trace."),
    "exp_span": query("exp_span", "The span of the second trace.", TEXT),
    "exp_from_step": query("exp_from_step", "from_step of the second trace.", TEXT),
    "exp_to_step": query("exp_to_step", "to_step of the second trace.", TEXT),
    "v": query("v", "The version of /api/timeline; with it the answer may be kept for ever.", TEXT),
    "sort": query(
        "sort", "Columns, the most important first, `-` before those with the largest first (docs/tables.md).", TEXT
    ),
    "filter": query("filter", "Conditions that rows must meet (docs/tables.md).", {**TEXT, "maxLength": 10_000}),
    "search": query("search", "The column in which plain words of the filter are looked for.", TEXT),
    "offset": whole("offset", "Rows before the first of the answer.", minimum=0, default=0),
    "rows": query(
        "limit",
        "Rows of the answer. Without it, all rows up to 20,000, otherwise the first 1,000.",
        {"anyOf": [{"type": "integer", "minimum": 1}, {"const": "all"}]},
    ),
    "if_none_match": {
        "name": "If-None-Match",
        "in": "header",
        "description": "ETags that the client has; an answer of one of them is 304.",
        "schema": TEXT,
    },
    "accept_encoding": {
        "name": "Accept-Encoding",
        "in": "header",
        "description": "With gzip, larger answers have Content-Encoding: gzip.",
        "schema": TEXT,
    },
}


def component(key: str) -> str:
    """Return the name of a shared parameter in the document."""
    return "".join(part.capitalize() for part in key.split("_"))


def shared(*keys: str) -> list[Json]:
    return [ref(component(key), "parameters") for key in keys]


RUN_AND_SPAN = shared("run", "span")
TRACE = shared("run", "worker", "span")
TRACE_OR_RANKS = shared("run", "worker_or_all", "span")
STEPS = shared("steps", "step_pattern", "from_step", "to_step")
#: how steps are found, without a range of them
STEP_RULES = shared("steps", "step_pattern")
PAGE = shared("sort", "filter", "search", "offset", "rows")
TWO_TRACES = [
    *TRACE,
    *shared("exp_run", "exp_worker", "exp_span", "steps", "step_pattern"),
    *shared("from_step", "to_step", "exp_from_step", "exp_to_step"),
]
VERSION = shared("v")
WINDOW_NS = [whole("start_ns", "ns since the start of the trace."), whole("end_ns", "ns; included.")]
DEVICE = query("device", "A device, as in meta.devices.", TEXT)


_ANY_OBJECT: Json = {"type": "object"}
_HTML, _SCRIPT = "text/html; charset=utf-8", "text/javascript; charset=utf-8"
_NO_WORKER = query("worker", "Without it the first eight traces of the run.", TEXT)

_PAGE = Operation("page", "The page", TEXT, fails=MISTAKE, content_type=_HTML, headers=("Content-Security-Policy",))

#: types of answers that are not of questions
FILE_ANSWERS = (StatusAnswer, RunHangAnswer)

FILE_OPERATIONS: dict[str, Operation] = {
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
    "/api/hang": Operation(
        "several traces",
        "Which ranks stopped a job that hangs, from its flight-recorder dumps",
        schema_of(RunHangAnswer),
        shared("run"),
        "The run may be one of dumps alone.",
        fails=LISTING,
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


_ONLY = "Only on a stand-alone server that was started with `serve --sql`; otherwise, and in TensorBoard, 404."
_OF = choice("of", "That trace, or all traces of its span.", ("trace", "span"))

#: types of answers
SQL_ANSWERS = (QueryResult, QueryTables)

SQL_OPERATIONS: dict[str, Operation] = {
    PATH: Operation(
        "queries",
        "The first rows of a query in SQL",
        schema_of(QueryResult),
        [
            *TRACE,
            *STEP_RULES,
            needed("query", "One SELECT (docs/sql.md).", {**TEXT, "maxLength": LONGEST_STATEMENT}),
            _OF,
        ],
        f"{_ONLY} It runs in a process of its own, with limits on time and memory. A query that fails gives 400.",
    ),
    TABLES_PATH: Operation(
        "queries",
        "What queries can name",
        schema_of(QueryTables),
        [*TRACE, *STEP_RULES, _OF],
        _ONLY,
    ),
}


#: names of shared parameters by reference
_NAMES = {shared(key)[0]["$ref"]: parameter["name"] for key, parameter in SHARED.items()}


_COMMON: dict[About, list[Json]] = {
    "trace": [*TRACE, *STEPS],
    "pair": TWO_TRACES,
    "run": RUN_AND_SPAN,
    "timelines": RUN_AND_SPAN,
    "traces": STEP_RULES,
}


def question_operations(questions: Iterable[Question]) -> dict[str, Operation]:
    """Return the operations of questions by path."""
    return {path: question_operation(question) for question in questions for path in (question.path, *question.aliases)}


def question_operation(question: Question) -> Operation:
    own = query_parameters(question.parameters)
    named = {each["name"] for each in own}
    pages = PAGE if meta_of(question.answer) else []
    common = [each for each in _common(question) if _NAMES[each["$ref"]] not in named]
    is_binary = question.answer is bytes
    return Operation(
        question.tag,
        question.summary,
        _layout(question.path) if is_binary else schema_of(question.answer),
        [*common, *own, *pages],
        question.more,
        LISTING if question.scope == "traces" else OF_TRACE,
        content_type=BINARY_TYPE if is_binary else JSON,
    )


def _layout(path: str) -> Json:
    return described(BINARY, f"Little-endian columns: docs/maintainers/timeline-protocol.md, GET {path}.")


def _common(question: Question) -> list[Json]:
    """Return the parameters that come with what a question is about."""
    if question.scope == "timeline":
        return [*TRACE, *VERSION, *(STEPS if question.depends_on_steps else [])]
    if question.of_worker:
        return TRACE
    if question.ranks is not None:
        return [*TRACE_OR_RANKS, *STEPS]
    return _COMMON[question.scope]
