"""The recorded answers of the old plugin, beside the repository in ../shared, and ours to the same questions."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.web import legacy

SHARED = Path(__file__).resolve().parents[3] / "shared"
GOLDENS = SHARED / "data" / "goldens" / "peer"
TRACES = SHARED / "data" / "traces"

#: recording → the log directory it was made of
LOGDIRS = {"samples": "kineto", "units": "units", "torch213": "torch213"}

ROUTES = (
    "/overview",
    "/operation",
    "/operation/table",
    "/operation/stack",
    "/kernel",
    "/kernel/table",
    "/kernel/tc_pie",
)

TRACE_FILE = re.compile(r"(?P<worker>.+?)(?:\.(?P<stamp>\d+))?\.pt\.trace\.json(?:\.gz)?")


@dataclass(frozen=True)
class Golden:
    """One recorded answer."""

    recording: str
    route: str
    params: dict[str, str]
    status: int
    body: Any

    def __str__(self) -> str:
        rest = {k: v for k, v in self.params.items() if k not in ("run", "worker", "span")}
        place = "/".join(self.params[k] for k in ("run", "worker", "span"))
        return f"{self.recording} {self.route} {place} {rest or ''}".strip()


def goldens(recording: str) -> Iterator[Golden]:
    """Every answer of the routes above that was asked for a trace that exists."""
    folder = GOLDENS / recording
    for entry in json.loads((folder / "index.json").read_text())["entries"]:
        params = entry["params"]
        if entry["route"] not in ROUTES or trace_file(recording, params) is None:
            continue
        body = json.loads((folder / entry["file"]).read_text())["body"] if entry["status"] == 200 else None
        yield Golden(recording, entry["route"], params, entry["status"], body)


def trace_file(recording: str, params: dict[str, str]) -> Path | None:
    """The file of a run, worker and span, as the old plugin counted spans; None for one that does not exist."""
    if not {"run", "worker", "span"} <= params.keys():
        return None
    found: dict[str, Path] = {}
    stamped: list[Path] = []
    for path in sorted((TRACES / LOGDIRS[recording] / params["run"]).glob("*")):
        name = TRACE_FILE.fullmatch(path.name)
        if name is None or name["worker"] != params["worker"]:
            continue
        if name["stamp"] is None:
            found["default"] = path
        else:
            stamped.append(path)
    found.update({str(i): path for i, path in enumerate(stamped, start=1)})
    return found.get(params["span"])


@lru_cache(maxsize=1)
def model_of(path: Path) -> Model:
    with path.open("rb") as stream:
        return Model(read_trace(stream))


def workers_of(recording: str, run: str) -> int:
    names = [TRACE_FILE.fullmatch(path.name) for path in (TRACES / LOGDIRS[recording] / run).glob("*")]
    return len({name["worker"] for name in names if name})


def answer(golden: Golden) -> tuple[int, Any]:
    """Our status and body for what was asked."""
    params = golden.params
    path = trace_file(golden.recording, params)
    assert path is not None
    model = model_of(path)
    group_by = params.get("group_by")
    if golden.route == "/overview":
        return 200, legacy.overview(model, workers_of(golden.recording, params["run"]))
    if golden.route == "/operation":
        return 200, legacy.operation(model, group_by)
    if golden.route == "/operation/table":
        return 200, legacy.operation_table(model, group_by)
    if golden.route == "/operation/stack":
        if "op_name" not in params:
            return 400, None
        found = legacy.operation_stack(model, params["op_name"], group_by, params.get("input_shape"))
        return (404, None) if found is None else (200, found)
    if golden.route == "/kernel":
        return 200, legacy.kernel(model)
    if golden.route == "/kernel/table":
        return 200, legacy.kernel_table(model, group_by)
    return 200, legacy.kernel_tc_pie(model)


class Difference(NamedTuple):
    """As in the comparison tool: where, theirs, ours."""

    path: str
    left: Any
    right: Any

    def __str__(self) -> str:
        return f"{self.path or '.'}: {_short(self.left)} != {_short(self.right)}"


def differences(golden: Golden) -> list[Difference]:
    """What is different; texts that are ours to word are left out."""
    status, body = answer(golden)
    if golden.status >= 400 and status >= 400:
        return []
    if golden.status != status:
        return [Difference("status", golden.status, status)]
    compare = _compare()
    # a mean of exactly half a digit may fall to either side
    rules = compare.Rules(rel=1e-6, abs=0.0101)
    ours = _without_prose(json.loads(json.dumps(body)))
    return [Difference(*found) for found in compare.differences(_without_prose(golden.body), ours, rules)]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _without_prose(body: Any) -> Any:
    """Tooltips left out; of the recommendations only how many there are."""
    if isinstance(body, list):
        return [_without_prose(item) for item in body]
    if not isinstance(body, dict):
        return body
    kept = {key: _without_prose(value) for key, value in body.items() if key not in ("tooltip", "tooltips")}
    if isinstance(kept.get("recommendations"), str):
        text = kept["recommendations"]
        kept["recommendations"] = 0 if "<li>N/A</li>" in text else text.count("<li>")
    return kept


@lru_cache(maxsize=1)
def _compare() -> ModuleType:
    """The comparison tool beside the repository."""
    spec = importlib.util.spec_from_file_location("peer_compare", SHARED / "tools" / "compare.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module
