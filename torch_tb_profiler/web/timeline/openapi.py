"""/api/timeline and below (docs/timeline-protocol.md)."""

from __future__ import annotations

from torch_tb_profiler.timeline.flows import KINDS
from torch_tb_profiler.web.json_schema import TEXT, WHOLE, Json
from torch_tb_profiler.web.openapi.operation import Operation
from torch_tb_profiler.web.openapi.parameters import (
    NUMBERS,
    RUN_AND_SPAN,
    STEPS,
    TRACE,
    VERSION,
    choice,
    needed,
    query,
    whole,
)
from torch_tb_profiler.web.timeline import openapi_shapes as shapes
from torch_tb_profiler.web.timeline import queries, routes
from torch_tb_profiler.web.timeline.wire import CONTENT_TYPE

_OF_VERSION = [*TRACE, *VERSION]
_LANES = needed("lanes", "Numbers and ranges, at most 4,096.", NUMBERS)
_ROW = needed("row", "Number of an event.", {**WHOLE, "minimum": 0})
_TILE = [
    needed("level", "How coarse, as in levels.", {**WHOLE, "minimum": 0}),
    needed("tile", "Which stretch of the level.", {**WHOLE, "minimum": 1 - 2**31, "maximum": 2**31 - 1}),
]
_FROM, _TO = "Begin of the window, ns.", "End of the window, ns; not in it."
_WINDOW = [needed("from", _FROM, WHOLE), needed("to", _TO, WHOLE)]


def _asked(summary: str, schema: Json, takes: list[Json], content_type: str = "application/json") -> Operation:
    return Operation("timeline", summary, schema, [*_OF_VERSION, *takes], content_type=content_type)


OPERATIONS: dict[str, Operation] = {
    "/api/timeline": _asked("The track tree, steps and counters", shapes.TIMELINE, STEPS),
    "/api/timeline/steps": Operation("timeline", "Steps alone", shapes.STEPS, [*TRACE, *STEPS]),
    "/api/timeline/tiles": _asked(
        "A stretch of some lanes at one level",
        shapes.TILE,
        [*_TILE, _LANES, choice("operators", "1 for a column of operators.", ("0", "1"))],
        CONTENT_TYPE,
    ),
    "/api/timeline/slices": _asked(
        "Exact slices of a window",
        shapes.EXACT_SLICES,
        [
            _LANES,
            *_WINDOW,
            whole("min_ns", "Only slices of this duration or longer, ns.", minimum=0, default=0),
            whole(
                "limit",
                "Slices of the answer, the longest.",
                minimum=1,
                maximum=routes.LARGEST_LIMIT,
                default=routes.LIMIT,
            ),
        ],
        CONTENT_TYPE,
    ),
    "/api/timeline/counters": _asked(
        "Counters over a stretch",
        shapes.COUNTERS,
        [*_TILE, query("ids", "Ids of counters, joined by commas; without it all.", TEXT)],
        CONTENT_TYPE,
    ),
    "/api/timeline/names": _asked(
        "Texts of names",
        shapes.NAMES,
        [
            query("ids", "Numbers of names and ranges; without it from and count are required.", NUMBERS),
            whole("from", "The first name.", minimum=0),
            whole("count", "How many names.", minimum=1, maximum=routes.MOST_NAMES),
        ],
    ),
    "/api/timeline/slice": _asked("One slice", {"$ref": "#/components/schemas/Slice"}, [_ROW, *STEPS]),
    "/api/timeline/args": _asked("Arguments of an event as they stand in the file", shapes.ARGS, [_ROW]),
    "/api/timeline/next": _asked(
        "The next slice of the same name",
        shapes.NEXT,
        [_ROW, choice("direction", "Which neighbour.", ("next", "previous"))],
    ),
    "/api/timeline/search": _asked(
        "Names that match, and where",
        shapes.SEARCH,
        [
            needed("q", "What to look for.", {**TEXT, "minLength": 1, "maxLength": queries.LONGEST_QUERY}),
            choice("mode", "A text, or a regular expression.", ("text", "regex")),
            choice("case", "Whether capitals matter.", ("ignore", "match")),
            whole("bins", "Bins of density.", minimum=1, maximum=4000, default=800),
            whole("hits", "Hits of the answer.", minimum=1, maximum=10_000, default=200),
            whole("after", "Only hits behind this row.", minimum=0),
            whole("from", "Only hits that begin here or later, ns."),
        ],
    ),
    "/api/timeline/range": _asked(
        "Sums over a window",
        shapes.RANGE,
        [query("lanes", "Numbers and ranges; without it all.", NUMBERS), *_WINDOW],
    ),
    "/api/timeline/flows": _asked(
        "Arrows of a slice, or of a window",
        shapes.FLOWS,
        [
            query("kinds", f"Of {', '.join(KINDS)}, joined by commas.", {**TEXT, "default": ",".join(KINDS)}),
            whole("row", "Number of a slice; without it from and to are required.", minimum=0),
            whole("from", _FROM),
            whole("to", _TO),
            whole(
                "limit",
                "Arrows of a window.",
                minimum=1,
                maximum=queries.MOST_FLOWS,
                default=queries.FLOWS,
            ),
        ],
    ),
    "/api/timeline/overview": Operation(
        "timeline",
        "All ranks of a run",
        shapes.RANKS,
        [*RUN_AND_SPAN, whole("bins", "Bins of density.", minimum=16, maximum=1024, default=400)],
    ),
    "/api/timeline/collective": Operation(
        "timeline", "The same communication on other ranks", shapes.COLLECTIVE, [*TRACE, _ROW]
    ),
}
