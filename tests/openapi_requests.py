"""For each path what it is asked in tests/unit/test_openapi.py, over the samples."""

from __future__ import annotations

from collections.abc import Mapping

from werkzeug.test import Client

from tests.served import get

Query = dict[str, str]

H100: Query = {"run": "generated_4gpu_h100", "worker": "rank0"}
CNN: Query = {"run": "cnn_workers0", "worker": "worker0"}
SNAPSHOT: Query = {"run": "out_of_memory", "worker": "snapshot"}
_TWO = SNAPSHOT | {"exp_run": SNAPSHOT["run"], "exp_worker": SNAPSHOT["worker"]}
#: small ones that the tests write
TINY: Query = {"run": "tiny", "worker": "w", "span": "default"}
CPU: Query = {"run": "cpu", "worker": "w", "span": "default"}
BROKEN: Query = {"run": "broken", "worker": "w", "span": "default"}

_PAIR = H100 | {"exp_run": H100["run"], "exp_worker": "rank1"}
_OLD_PAIR = _PAIR | {"span": "{span}", "exp_span": "{span}"}
_RANKS = [{"run": H100["run"]}, {"run": "ddp_gloo_2ranks"}]
_WINDOW = {"from": "0", "to": "100000000"}
_TILE = H100 | {"level": "3", "tile": "0"}
_ROW = H100 | {"row": "{row}"}
_MM = H100 | {"name": "aten::mm"}
_ONE_RUN = {"of": "run", "run": "cnn_workers0"}

#: of the others: the two largest samples
_OTHERS = [H100, CNN]

_COLUMNS: Query = {"device": "0", "start": "-5000", "width": "9000", "columns": "700"}

#: together the requests to a path make its route read every parameter it knows; {…}: see `fill`
_REQUESTS: dict[str, list[Query]] = {
    "/": [{}],
    "/index.html": [{}],
    "/index.js": [{}],
    "/api/openapi.json": [{}],
    "/api/status": [{}],
    "/api/hang": [{"run": "hung"}],
    "/runs": [{}],
    "/views": [{"run": "cnn_workers0"}],
    "/workers": [{"run": "cnn_workers0", "view": "Overview"}],
    "/spans": [CNN],
    "/api/report": [{"run": "tiny"}, TINY],
    "/api/summary": [H100, {"run": H100["run"]}],
    "/api/operators": [H100, CNN | {"group_by": "name_stack", "sort": "-calls", "limit": "all"}],
    "/api/operators/stacks": [_MM],
    "/api/operators/kernels": [_MM],
    "/api/memory/events": [H100, H100 | {"sort": "-bytes", "filter": "aten bytes>1", "limit": "2"}],
    "/api/snapshot": [SNAPSHOT],
    "/api/snapshot/timeline": [SNAPSHOT, SNAPSHOT | {"axis": "record", "start": "10", "end": "90", "by": "size"}],
    "/api/snapshot/alive": [SNAPSHOT, SNAPSHOT | {"at": "oom", "since": "peak", "by": "stack", "filter": "bytes>1"}],
    "/api/snapshot/segments": [SNAPSHOT, SNAPSHOT | {"at": "20", "device": "0"}],
    "/api/snapshot/stacks": [SNAPSHOT, SNAPSHOT | {"at": "end", "direction": "bottom_up", "frames": "all"}],
    "/api/snapshot/lifetimes": [SNAPSHOT, SNAPSHOT | {"sort": "-churn", "limit": "3"}],
    "/api/snapshot/against": [_TWO, _TWO | {"by": "module", "exp_at": "end"}],
    "/api/snapshot/figures": [SNAPSHOT],
    "/api/snapshot/ranks": [{}, {"of": "all"}, {"of": "run", "run": SNAPSHOT["run"], "sort": "-peak_requested"}],
    "/api/snapshot/alive_in_trace": [CNN | {"exp_run": SNAPSHOT["run"], "exp_worker": SNAPSHOT["worker"]}],
    "/api/snapshot/link": [CNN | {"exp_run": SNAPSHOT["run"], "exp_worker": SNAPSHOT["worker"]}],
    "/api/snapshot/tracks": [SNAPSHOT, SNAPSHOT | {"device": "0"}],
    "/api/snapshot/tracks/tile": [SNAPSHOT | {"start": "0", "width": "2000"}, SNAPSHOT | _COLUMNS],
    "/api/snapshot/record": [SNAPSHOT, SNAPSHOT | {"at": "oom", "device": "0"}, SNAPSHOT | {"time": "0"}],
    "/api/memory/error_text": [CNN | {"text": "CUDA out of memory. Tried to allocate 2.00 GiB. GPU 0 has"}],
    "/api/stacks": [H100, CNN | {"direction": "bottom_up"}],
    "/api/critical_path": [H100, CNN | {"most": "2", "from_step": "3", "to_step": "4"}],
    "/api/critical_path/pieces": [H100 | {"step": "3", "sort": "-duration_ns", "limit": "5"}, CNN],
    "/api/what_if": [H100, CNN | {"changes": "data:0,kernels:0.5,operator.aten::mm:0,sync"}],
    "/api/compare/roofline": [_PAIR],
    "/api/compare/change": [_PAIR, _PAIR | {"limit": "3"}],
    "/api/compare/trends": [
        {},
        _ONE_RUN,
        {"of": "all", "base_run": H100["run"], "base_worker": "rank1", "base_span": "1"},
    ],
    "/api/compare": [_PAIR, _PAIR | {"path": "0-0"}],
    "/api/distributed": _RANKS,
    "/api/traces": [{}, _ONE_RUN, {"of": "all"}],
    "/api/traces/names": [{}, _ONE_RUN, {"what": "kernels", "per": "all"}],
    "/api/timeline/tiles": [_TILE | {"lanes": "0-2"}],
    "/api/timeline/counters": [_TILE],
    "/api/timeline/slack": [_TILE | {"lanes": "0-2"}, _TILE | {"lanes": "0-2", "operators": "1"}],
    "/api/timeline/derived": [H100 | {"of": "path"}, H100 | {"of": "idle"}, H100 | {"of": "phases"}],
    "/api/timeline/derived/tiles": [_TILE | {"of": "path"}, _TILE | {"of": "idle"}, _TILE | {"of": "phases"}],
    "/api/timeline/path/next": [H100 | {"time": "0"}, H100 | {"time": "0", "row": "{kernel}", "direction": "previous"}],
    "/api/timeline/slices": [H100 | _WINDOW | {"lanes": "0"}],
    "/api/timeline/names": [H100 | {"from": "0", "count": "10"}, H100 | {"ids": "0-3"}],
    "/api/timeline/slice": [_ROW, H100 | {"row": "{kernel}"}],
    "/api/timeline/args": [_ROW],
    "/api/timeline/next": [_ROW],
    "/api/timeline/search": [H100 | {"q": "aten"}, H100 | {"q": "mm", "after": "{row}", "from": "0"}],
    "/api/timeline/range": [H100 | _WINDOW, H100 | _WINDOW | {"lanes": "0-1"}],
    "/api/timeline/flows": [H100 | _WINDOW, _ROW],
    "/api/timeline/overview": _RANKS,
    "/api/timeline/collective": [H100 | {"row": "{collective}"}],
    "/operation/stack": [
        CNN | {"op_name": "aten::conv2d"},
        CNN | {"op_name": "aten::conv2d", "group_by": "OperationAndInputShape", "input_shape": "{shape}"},
    ],
    "/distributed/gpuinfo": _RANKS,
    "/distributed/overlap": _RANKS,
    "/distributed/waittime": _RANKS,
    "/distributed/commops": _RANKS,
    "/memory": [H100],
    "/memory_curve": [H100],
    "/memory_events": [H100],
    "/diff": [TINY | {f"exp_{name}": value for name, value in TINY.items()}],
    "/diffnode": [_OLD_PAIR, _OLD_PAIR | {"path": "0-0"}],
}


def requests_to(path: str) -> list[Query]:
    return _REQUESTS.get(path, _OTHERS)


def fill(request: Query, places: Mapping[str, str]) -> Query:
    """With `places` in place of `{row}` and the like."""
    return {name: places[value[1:-1]] if value.startswith("{") else value for name, value in request.items()}


def places_in(client: Client, run: str, worker: str, **others: str) -> dict[str, str]:
    """What stands for {row} and the like in the requests: where in a trace there is something to ask about."""
    of = f"run={run}&worker={worker}"
    rows = {
        name: str(get(client, f"/api/trace/slices?{of}&{query}")["rows"]["row"][0])
        for name, query in (
            ("row", "name=aten::mm&category=operator"),
            ("kernel", "category=kernel"),
            ("collective", "name=nccl&category=kernel"),
        )
    }
    (span,) = get(client, f"/spans?{of}")
    return {**rows, "span": span, **others}
