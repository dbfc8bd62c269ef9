"""The OpenAPI document says what the routes do: paths, parameters with their bounds and defaults, answers, errors."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from werkzeug.test import Client, TestResponse

from tests.openapi_requests import BROKEN, CPU, H100, TINY, fill, places_in, requests_to
from tests.served import client_of, everything_read, get
from tests.tiny import write_trace
from torch_tb_profiler.web.app import ROUTES
from torch_tb_profiler.web.http import Parameters, Stream
from torch_tb_profiler.web.openapi import as_text, document
from torch_tb_profiler.web.openapi_operations import SQL_OPERATIONS as OF_QUERIES
from torch_tb_profiler.workspace import Workspace

DOCUMENT = document()
PATHS = sorted(ROUTES)
#: only of `serve --sql`: tests/unit/sql/test_routes.py
OF_SQL = sorted(OF_QUERIES)


def resolved(part: Any) -> Any:
    """What `$ref` leads to."""
    while "$ref" in part:
        _, kind, name = part["$ref"].removeprefix("#/").split("/")
        part = DOCUMENT["components"][kind][name]
    return part


def operation(path: str) -> Any:
    return DOCUMENT["paths"][path]["get"]


def parameters_of(path: str) -> dict[str, Any]:
    return {each["name"]: each for each in map(resolved, operation(path)["parameters"])}


def is_required(parameter: Any) -> bool:
    return bool(parameter.get("required", False))


def paths_failing_with(status: str) -> list[str]:
    return [path for path in PATHS if status in operation(path)["responses"]]


class Recorder(Parameters, frozen=True):
    """Parameters that note which of them a route asks for."""

    asked: set[str] = msgspec.field(default_factory=set)

    def need(self, name: str) -> str:
        self.asked.add(name)
        return super().need(name)

    def get(self, name: str) -> str | None:
        self.asked.add(name)
        return super().get(name)

    def choice(self, name: str, choices: Any) -> Any:
        self.asked.add(name)
        return super().choice(name, choices)

    def whole_number(self, name: str, *more: Any, **bounds: Any) -> Any:
        self.asked.add(name)
        return super().whole_number(name, *more, **bounds)


@pytest.fixture(scope="module")
def workspace(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    logs = tmp_path_factory.mktemp("openapi") / "logs"
    shutil.copytree(samples, logs)
    write_trace(logs / "tiny" / "w.pt.trace.json")
    write_trace(logs / "cpu" / "w.pt.trace.json", gpu=False)
    (logs / "broken").mkdir()
    (logs / "broken" / "w.pt.trace.json").write_text("{}")
    with everything_read(logs, logs.parent / "cache") as workspace:
        yield workspace


@pytest.fixture(scope="module")
def client(workspace: Workspace) -> Client:
    return client_of(workspace)


@pytest.fixture(scope="module")
def places(client: Client) -> dict[str, str]:
    """Where in the samples there is something to ask about."""
    table = get(client, "/operation/table?run=cnn_workers0&worker=worker0&group_by=OperationAndInputShape")["data"]
    shape = next(row["input_shape"] for row in table if row["name"] == "aten::conv2d")
    return places_in(client, H100["run"], H100["worker"], shape=shape)


def ask(client: Client, path: str, query: dict[str, str], **headers: str) -> TestResponse:
    return client.get(f"{path}?{urlencode(query)}", headers=headers)


def check(path: str, response: TestResponse) -> None:
    """The document knows this answer."""
    told = operation(path)["responses"]
    assert str(response.status_code) in told, (response.status_code, response.text[:500])
    (content_type, content), *others = resolved(told[str(response.status_code)])["content"].items()
    assert not others
    assert response.content_type == content_type
    if content_type == "application/json":
        schema = {**content["schema"], "components": DOCUMENT["components"]}
        found = [
            f"{error.json_path}: {error.message[:300]}"
            for error in Draft202012Validator(schema).iter_errors(json.loads(response.data))
        ]
        assert not found, found[:5]


def wrong_values(schema: Any) -> Iterator[str]:
    """What the document says is no value of the parameter."""
    schema = schema["anyOf"][0] if "anyOf" in schema else schema
    if "enum" in schema or "pattern" in schema or schema["type"] in ("integer", "number"):
        yield "-no-"
    if "minimum" in schema:
        yield str(schema["minimum"] - 1)
    if "maximum" in schema:
        yield str(schema["maximum"] + 1)
    if "minLength" in schema:
        yield "a" * (schema["minLength"] - 1)
    if "maxLength" in schema:
        yield "a" * (schema["maxLength"] + 1)


def limits(schema: Any) -> Iterator[str]:
    """The values at the edge of what is allowed."""
    for part in schema.get("anyOf", [schema]):
        yield from part.get("enum", [])
        yield from (str(part[key]) for key in ("minimum", "maximum", "const", "default") if key in part)


# the document itself -----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_is_valid() -> None:
    assert [error.message for error in OpenAPIV31SpecValidator(DOCUMENT).iter_errors()] == []


def test_the_file_is_the_document(repository: Path) -> None:
    text = (repository / "docs" / "openapi.json").read_text(encoding="utf-8")
    assert text == as_text(), "`make openapi` writes it anew"


def test_has_all_paths_and_no_others() -> None:
    assert sorted(DOCUMENT["paths"]) == sorted([*PATHS, *OF_SQL])


def test_says_nothing_that_no_path_uses() -> None:
    text = json.dumps(DOCUMENT)
    for kind in ("parameters", "headers", "responses", "schemas"):
        for name in DOCUMENT["components"][kind]:
            assert f'"#/components/{kind}/{name}"' in text


def test_is_served(client: Client) -> None:
    assert get(client, "/api/openapi.json") == json.loads(json.dumps(DOCUMENT))


def fields_of(part: Any, where: str = "") -> Iterator[tuple[str, str, Any]]:
    """Every field of every object: where it is, its name, its schema."""
    if isinstance(part, list):
        for place, each in enumerate(part):
            yield from fields_of(each, f"{where}/{place}")
    elif isinstance(part, dict):
        for name, schema in part.get("properties", {}).items():
            yield f"{where}.{name}", name, schema
            yield from fields_of(schema, f"{where}.{name}")
        for key, each in part.items():
            if key != "properties":
                yield from fields_of(each, f"{where}/{key}")


ANSWERS = {
    **{name: DOCUMENT["components"][name] for name in ("schemas", "responses")},
    **{path: operation(path)["responses"] for path in PATHS},
}
FIELDS = list(fields_of(ANSWERS))

#: descriptions that say the unit, not what is measured
UNITS = {"nanoseconds", "microseconds", "bytes", "0…1", "%"}

#: what a number may be of, at the end of its name or in its description
SAID_BY_NAME = re.compile(r"_(ns|bytes)$")
SAID_BY_TEXT = re.compile(
    r"\bns\b|nanoseconds|milliseconds\b|microseconds?\b|\bbytes?\b|0…1|0…255|%|in `unit`|\bFLOP\b"  # a unit
    r"|how many|how often|\bsize of\b"  # a count
    r"|\bnumber of (an?|the|each|its) |\bnumber among\b|\bid\b|\bposition\b|\brows? of\b"  # says which
)


def texts_of(schema: Any) -> Iterator[str]:
    """What is said of a value and of those in it, objects with fields of their own aside."""
    if "properties" in schema:
        return
    yield schema.get("description", "")
    for each in (*schema.get("anyOf", ()), schema.get("items"), schema.get("additionalProperties")):
        if isinstance(each, dict):
            yield from texts_of(each)


def is_number(schema: Any) -> bool:
    """Whether its values, or those of a list or map, are numbers and nothing else but null."""
    if "anyOf" in schema:
        inner = [each for each in schema["anyOf"] if each != {"type": "null"}]
        return bool(inner) and all(map(is_number, inner))
    for key in ("items", "additionalProperties"):
        if isinstance(schema.get(key), dict):
            return is_number(schema[key])
    kind = schema.get("type", "")
    return {*([kind] if isinstance(kind, str) else kind)} - {"null"} in ({"integer"}, {"number"})


def test_every_field_is_described() -> None:
    assert len(FIELDS) > 700
    bare = [
        where
        for where, name, schema in FIELDS
        if schema.get("description", "").strip() in {"", name, name.replace("_", " "), *UNITS}
    ]
    assert bare == []


def test_every_number_has_a_unit() -> None:
    numbers = [(where, name, schema) for where, name, schema in FIELDS if is_number(schema)]
    assert len(numbers) > 300
    unsaid = [
        where
        for where, name, schema in numbers
        if not SAID_BY_NAME.search(name) and not SAID_BY_TEXT.search(" ".join(texts_of(schema)))
    ]
    assert unsaid == []


# what routes take --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_parameters_are_those_that_the_route_reads(path: str, workspace: Workspace, places: dict[str, str]) -> None:
    asked: set[str] = set()
    for request in requests_to(path):
        answer = ROUTES[path](workspace, Recorder(fill(request, places), asked))
        if isinstance(answer, Stream):
            answer.prepare()
    assert asked == parameters_of(path).keys()


@pytest.mark.parametrize("path", PATHS)
def test_what_is_required(path: str, client: Client, places: dict[str, str]) -> None:
    """Without what is required there is no answer, and there is one without each of the others."""
    requests = [fill(request, places) for request in requests_to(path)]
    for name, parameter in parameters_of(path).items():
        if not is_required(parameter):
            assert any(name not in request for request in requests), f"{name} is always given"
            continue
        for request in requests:
            response = ask(client, path, {key: value for key, value in request.items() if key != name})
            assert response.status_code == 400, name
            check(path, response)
            assert response.get_json()["error"] == f"Must specify {name} in request url"


@pytest.mark.slow
@pytest.mark.parametrize("path", PATHS)
def test_values_that_are_allowed(path: str, client: Client, places: dict[str, str]) -> None:
    """Beyond the bounds a value is refused, at them it is taken, where one of the requests makes the route read it."""
    requests = [fill(request, places) for request in requests_to(path)]
    for name, parameter in parameters_of(path).items():
        for value in wrong_values(parameter["schema"]):
            responses = [ask(client, path, request | {name: value}) for request in requests]
            refused = [response for response in responses if response.status_code == 400]
            assert refused, (name, value[:20])
            check(path, refused[0])
        for value in limits(parameter["schema"]):
            found = {ask(client, path, request | {name: value}).status_code for request in requests}
            assert found & {200, 404}, (name, value)


@pytest.mark.parametrize("path", [p for p in PATHS if any("default" in q["schema"] for q in parameters_of(p).values())])
def test_defaults(path: str, client: Client, places: dict[str, str]) -> None:
    for name, parameter in parameters_of(path).items():
        if "default" not in parameter["schema"]:
            continue
        request = next(r for r in (fill(each, places) for each in requests_to(path)) if name not in r)
        given = ask(client, path, request | {name: str(parameter["schema"]["default"])})
        assert given.status_code == 200
        assert given.data == ask(client, path, request).data, name


# what routes answer ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PATHS)
def test_answers(path: str, client: Client, places: dict[str, str]) -> None:
    for request in requests_to(path):
        query = fill(request, places)
        response = ask(client, path, query)
        assert response.status_code == 200, response.text[:500]
        check(path, response)
        headers = operation(path)["responses"]["200"]["headers"]
        sometimes = {"Vary", "X-Trace-Repaired"}
        assert headers.keys() - response.headers.keys() <= sometimes
        assert ("Vary" in headers) or "Vary" not in response.headers
        again = ask(client, path, query, **{"If-None-Match": response.headers["ETag"]})
        if path == "/api/report" and again.status_code == 200:  # it says in which second it was made
            assert again.headers["ETag"] != response.headers["ETag"]
        else:
            assert (again.status_code, again.data) == (304, b"")


@pytest.mark.slow
@pytest.mark.parametrize("path", [path for path in PATHS if "worker" in parameters_of(path)])
def test_answers_about_traces_without_much(path: str, client: Client, places: dict[str, str]) -> None:
    """Nothing recorded of what is asked: null and 404 are in the document, too."""
    request = fill(requests_to(path)[0], places)
    others = [{"run": "ddp_gloo_2ranks", "worker": "rank1"}, {"run": "cnn_workers2", "worker": "worker0"}, TINY, CPU]
    for other in others:
        second = {f"exp_{name}": value for name, value in other.items() if f"exp_{name}" in request}
        query = {key: value for key, value in request.items() if not key.endswith("span")} | other | second
        if is_required(parameters_of(path).get("span", {})):
            spans = get(client, f"/spans?{urlencode(other)}")
            query |= {"span": spans[0], "exp_span": spans[0]}
        response = ask(client, path, query)
        assert response.status_code in (200, 404)
        check(path, response)


@pytest.mark.parametrize("path", paths_failing_with("404"))
def test_unknown_runs(path: str, client: Client, places: dict[str, str]) -> None:
    query = next((r for r in requests_to(path) if "run" in r), None)
    assert query is not None
    response = ask(client, path, fill(query, places) | {"run": "nowhere"})
    assert response.status_code == 404
    check(path, response)


@pytest.mark.parametrize("path", paths_failing_with("422"))
def test_unreadable_traces(path: str, client: Client, places: dict[str, str]) -> None:
    response = ask(client, path, fill(requests_to(path)[0], places) | BROKEN)
    assert response.status_code == 422
    check(path, response)


@pytest.mark.parametrize("path", paths_failing_with("409"))
def test_loading_traces(
    path: str, client: Client, places: dict[str, str], workspace: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = next(held for held in workspace._runs._traces.values() if held.file.entry.path.startswith("tiny/"))
    monkeypatch.setattr(held, "state", "loading")
    monkeypatch.setattr(held, "summary", None)
    response = ask(client, path, fill(requests_to(path)[0], places) | TINY)
    assert response.status_code == 409
    check(path, response)


def test_a_version_that_is_gone(client: Client) -> None:
    response = ask(client, "/api/timeline", TINY | {"v": "old"})
    assert response.status_code == 404
    assert response.get_json()["version"]
    check("/api/timeline", response)


def test_a_filter_that_cannot_be_understood(client: Client) -> None:
    response = ask(client, "/api/operators", TINY | {"filter": "nothing>1"})
    assert response.get_json()["problem"]["kind"] == "unknown_column"
    check("/api/operators", response)


@pytest.mark.parametrize("path", PATHS)
def test_mistakes(path: str, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(ROUTES, path, lambda *_: 1 // 0)
    response = ask(client, path, {})
    assert response.status_code == 500
    check(path, response)
