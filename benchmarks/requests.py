"""Which requests are made: every route, with parameters that the generated traces have answers for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

Request = tuple[str, dict[str, str]]

#: pages and the listing; what they answer does not depend on a trace
NOT_VIEWS = {
    "/",
    "/index.html",
    "/index.js",
    "/api/openapi.json",
    "/api/status",
    "/runs",
    "/views",
    "/workers",
    "/spans",
}

#: about all ranks of a run together; the others are asked for each rank
OF_A_RUN = ("/distributed/", "/api/distributed", "/api/collectives", "/api/stragglers", "/api/ranks", "/api/run")

#: asked once for each value besides the default
VARIANTS: dict[str, list[dict[str, str]]] = {
    "/operation": [{"group_by": "OperationAndInputShape"}],
    "/operation/table": [{"group_by": "OperationAndInputShape"}],
    "/kernel/table": [{"group_by": "Kernel"}],
    "/api/operators": [{"group_by": "name_shape"}, {"group_by": "name_stack"}],
    "/api/kernels": [{"group_by": "name_op_launch"}],
}

OPERATOR = "aten::add"

#: what routes of the timeline ask for: somewhere in the middle of the generated traces
_WINDOW = {"from": "0", "to": "1000000000", "lanes": "0-9"}
_TILE = {"level": "8", "tile": "0", "lanes": "0-9"}
_SLICE = {"row": "1000"}
NEEDED: dict[str, dict[str, str]] = {
    "/api/timeline/tiles": _TILE,
    "/api/timeline/counters": _TILE,
    "/api/timeline/slices": _WINDOW,
    "/api/timeline/range": _WINDOW,
    "/api/timeline/flows": _WINDOW,
    "/api/timeline/names": {"from": "0", "count": "2000"},
    "/api/timeline/search": {"q": OPERATOR},
    "/api/timeline/slice": _SLICE,
    "/api/timeline/next": _SLICE | {"direction": "next"},
    "/api/timeline/collective": _SLICE,
    # as the page asks, which is answered ahead
    "/api/memory/alive": {"device": "GPU0", "limit": "10000"},
    "/api/memory/operators": {"device": "GPU0"},
}

#: the parameters of all routes together: none minds one it does not know
ALWAYS = {
    **dict.fromkeys(("op_name", "name", "operator"), OPERATOR),
    "view": "Overview",
    "path": "0",
    "row": "100",
    "q": "a",
    "count": "1000",
    "level": "1",
    "tile": "0",
    "lanes": "0-2",
    "from": "0",
    "to": "1000000000",
}

OLD_ROUTES = (
    "/overview",
    "/operation",
    "/operation/table",
    "/operation/stack",
    "/kernel",
    "/kernel/table",
    "/kernel/tc_pie",
    "/trace",
    "/memory",
    "/memory_curve",
    "/memory_events",
    "/module",
    "/tree",
    "/distributed/gpuinfo",
    "/distributed/overlap",
    "/distributed/waittime",
    "/distributed/commops",
    "/diff",
    "/diffnode",
)
#: what the page asks first; the old plugin has the second
FIRST_VIEWS = ("/api/overview", "/overview")

#: compare traces, or give the whole file back, or all answers in one: no view of a trace that is loaded; measured apart
EXTRA = ("/diff", "/api/diff", "/api/compare", "/trace", "/api/trace", "/api/report")
#: has bars of its own
TIMELINE = "/api/timeline"
#: of the replay, asked when its view is looked at; `SIZES=engine` has bars of its own for it
REPLAY = ("/api/critical_path", "/api/what_if")


def requests_for(routes: Iterable[str], run: str, workers: Sequence[str], span: str = "1") -> list[Request]:
    """All requests about a run, those of the page a user sees first at the beginning."""
    made: list[Request] = []
    several = len(workers) > 1
    for route in sorted(set(routes) - NOT_VIEWS, key=lambda route: (route not in FIRST_VIEWS, route)):
        whole = route.startswith(OF_A_RUN)
        if whole and not several:
            continue
        for worker in ["All"] if whole else workers:
            named = {"run": run, "worker": worker, "span": span}
            if route.startswith(EXTRA):
                named |= {f"exp_{key}": value for key, value in named.items()}
            named |= NEEDED.get(route, {})
            made += [(route, {**ALWAYS, **named, **variant}) for variant in [{}, *VARIANTS.get(route, [])]]
    return made


def split(requests: Sequence[Request]) -> dict[str, list[Request]]:
    """As the probes take them."""
    apart = (*EXTRA, TIMELINE, *REPLAY)
    return {
        "requests": [request for request in requests if not request[0].startswith(apart)],
        "extra": [request for request in requests if request[0].startswith(apart)],
    }


def without_extra(requests: Sequence[Request]) -> list[Request]:
    """Only those that make a first load."""
    return split(requests)["requests"]


def visited(requests: Sequence[Request]) -> list[Request]:
    """What somebody asks who looks at every view, the timeline among them."""
    return [request for request in requests if not request[0].startswith(EXTRA)]
