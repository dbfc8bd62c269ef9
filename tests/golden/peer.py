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

from benchmarks.requests import OLD_ROUTES
from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.question import Question, Refused, RunSubject, Subject, answer_here
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.trace.vocabulary import is_annotation_name
from torch_tb_profiler.web.http import HttpError, Parameters, read_parameters
from torch_tb_profiler.web.old_plugin.questions import QUESTIONS as OLD_QUESTIONS

SHARED = Path(__file__).resolve().parents[3] / "shared"
GOLDENS = SHARED / "data" / "goldens" / "peer"
TRACES = SHARED / "data" / "traces"

#: recording → the log directory it was made of
LOGDIRS = {"samples": "kineto", "units": "units", "torch213": "torch213"}

#: the answer of /trace is not JSON of a fixed shape: see test_trace_file
ROUTES = frozenset(OLD_ROUTES) - {"/trace"}
ALL_TRACES = "/distributed/"

QUESTIONS = {question.path: question for question in OLD_QUESTIONS}

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
        if entry["route"] not in ROUTES or not trace_files(recording, entry["route"], params):
            continue
        body = json.loads((folder / entry["file"]).read_text())["body"] if entry["status"] == 200 else None
        yield Golden(recording, entry["route"], params, entry["status"], body)


def trace_files(recording: str, route: str, params: dict[str, str]) -> dict[str, Path]:
    """The files that an answer is about, by worker."""
    workers = {params.get("worker", "")}
    if route.startswith(ALL_TRACES):
        workers = set(workers_of(recording, params["run"]))
    found = {worker: trace_file(recording, {**params, "worker": worker}) for worker in sorted(workers)}
    return {worker: path for worker, path in found.items() if path is not None}


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


@lru_cache(maxsize=2)
def model_of(path: Path) -> Model:
    with path.open("rb") as stream:
        return Model(read_trace(stream))


def workers_of(recording: str, run: str) -> set[str]:
    names = [TRACE_FILE.fullmatch(path.name) for path in (TRACES / LOGDIRS[recording] / run).glob("*")]
    return {name["worker"] for name in names if name}


def answer(golden: Golden) -> tuple[int, Any]:
    """Our status and body for what was asked."""
    try:
        found = _computed(QUESTIONS[golden.route], golden)
    except HttpError as error:
        return error.status, None
    except Refused:
        return 404, None
    return 200, json.loads(b"".join(found) if isinstance(found, Iterator) else dumps(found))


def _computed(question: Question, golden: Golden) -> Any:
    recording, params = golden.recording, golden.params
    own = read_parameters(question.parameters, Parameters(params))
    if question.scope == "run":
        files = trace_files(recording, golden.route, params)
        parts = [question.node.make(_subject(recording, params | {"worker": worker})) for worker in files]
        return question.compute(RunSubject(params["run"], params["span"], parts, loading=(), failed=()), own)
    subject = _subject(recording, params)
    if question.scope == "pair":
        other = {key: params[f"exp_{key}"] for key in ("run", "worker", "span")}
        return question.compute(subject, _subject(recording, other), own)
    return answer_here(question, subject, own)


def _subject(recording: str, params: dict[str, str]) -> Subject:
    path = trace_file(recording, params)
    assert path is not None
    names = params["run"], params["worker"], params["span"]
    return Subject(model_of(path), *names, path.stat().st_size, len(workers_of(recording, params["run"])), troubles)


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
    ours = _without_prose(body)
    return [Difference(*found) for found in compare.differences(_without_prose(golden.body), ours, rules)]


def _short(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 120 else text[:117] + "..."


def _without_prose(body: Any) -> Any:
    """What is ours to word or to write: tooltips left out, of the recommendations only how many there are.

    Thread ids are numbers, and annotations that torch wrote as operators until 1.12 are annotations.
    """
    if isinstance(body, list):
        return [_without_prose(item) for item in body]
    if not isinstance(body, dict):
        return body
    kept = {key: _without_prose(value) for key, value in body.items() if key not in ("tooltip", "tooltips")}
    if isinstance(kept.get("recommendations"), str):
        text = kept["recommendations"]
        kept["recommendations"] = 0 if "<li>N/A</li>" in text else text.count("<li>")
    if isinstance(kept.get("tid"), str):
        kept["tid"] = int(kept["tid"])
    if kept.get("type") == "Operator" and is_annotation_name(kept["name"]):
        kept["type"] = "user_annotation"
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
