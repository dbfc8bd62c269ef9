"""What is declared of a route."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from torch_tb_profiler.analysis.json_schema import Json, ref
from torch_tb_profiler.web.http import JSON

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

    summary    a line
    schema     of the answer's body
    takes      parameters of the query
    more       what else is to be described
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
        """The path item."""
        headers = ["ETag", "CacheControl", *(["Vary"] if self.packs else []), *self.headers]
        spelled = {"CacheControl": "Cache-Control"}
        operation: Json = {
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
        return {"parameters": always, "get": operation}


def operation_id(path: str) -> str:
    """`/api/memory/curve` is `api_memory_curve`."""
    return path.strip("/").replace("/", "_").replace(".", "_") or "page"
