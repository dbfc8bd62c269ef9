"""Parameters of the query."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from torch_tb_profiler.analysis.json_schema import TEXT, WHOLE, Json, one_of, ref
from torch_tb_profiler.model.steps import RULES


def query(name: str, description: str, schema: Json, required: bool = False) -> Json:
    found: Json = {"name": name, "in": "query", "description": description, "schema": schema}
    return {**found, "required": True} if required else found


def needed(name: str, description: str, schema: Json = TEXT) -> Json:
    return query(name, description, schema, required=True)


def choice(name: str, description: str, choices: Iterable[str]) -> Json:
    """The first is the default."""
    schema = one_of(*choices)
    return query(name, description, {**schema, "default": schema["enum"][0]})


def whole(name: str, description: str, **schema: Any) -> Json:
    return query(name, description, {**WHOLE, **schema})


_RUN = needed("run", "A run, as /api/status names it.")
_SPAN = query("span", "May be left out where there is one.", TEXT)

#: kept once in the document
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
    """The name of a shared parameter in the document."""
    return "".join(part.capitalize() for part in key.split("_"))


def shared(*keys: str) -> list[Json]:
    return [ref(component(key), "parameters") for key in keys]


RUN_AND_SPAN = shared("run", "span")
TRACE = shared("run", "worker", "span")
TRACE_OR_RANKS = shared("run", "worker_or_all", "span")
STEPS = shared("steps", "step_pattern", "from_step", "to_step")
#: without a choice of some of them
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
