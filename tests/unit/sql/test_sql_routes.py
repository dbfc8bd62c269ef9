"""Queries over HTTP: only of a server that is begun with them, and only for its own pages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from jsonschema import Draft202012Validator
from werkzeug.test import Client

from tests.served import client_of, everything_read
from tests.tiny import wait_until, write_trace
from torch_tb_profiler import cli
from torch_tb_profiler.tables.sql import QueryLimits
from torch_tb_profiler.web.app import create_app
from torch_tb_profiler.web.openapi import document
from torch_tb_profiler.web.queries import PATH, TABLES_PATH, SqlRoutes
from torch_tb_profiler.web.server import is_loopback, only_from_here
from torch_tb_profiler.workspace import Workspace

pytestmark = pytest.mark.slow

TRACE = {"run": "ranks", "worker": "a", "span": "default"}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Workspace]:
    folder = tmp_path_factory.mktemp("queries")
    write_trace(folder / "logs" / "ranks" / "a.pt.trace.json")
    write_trace(folder / "logs" / "ranks" / "b.pt.trace.json", steps=3)
    with everything_read(folder / "logs", folder / "cache") as found:
        yield found


@pytest.fixture(scope="module")
def queries() -> Iterator[SqlRoutes]:
    found = SqlRoutes(QueryLimits(rows=3))
    yield found
    found.sessions.close()


@pytest.fixture(scope="module")
def client(workspace: Workspace, queries: SqlRoutes) -> Client:
    return Client(only_from_here(create_app(workspace, more=queries.routes()), PATH))


def ask(client: Client, statement: str | None, path: str = PATH, status: int = 200, **more: str) -> Any:
    query = {**TRACE, **({} if statement is None else {"query": statement}), **more}
    response = client.get(f"{path}?{urlencode(query)}")
    assert response.status_code == status, response.text
    found = json.loads(response.data)
    schema = document()["paths"][path]["get"]["responses"][str(status)]
    if "$ref" not in schema:
        content = schema["content"]["application/json"]["schema"]
        Draft202012Validator({**content, "components": document()["components"]}).validate(found)
    return found


def test_a_query_is_a_table(client: Client) -> None:
    found = ask(client, "select name, duration_ns, is_communication from kernels order by row")
    assert found["rows"] == {
        "name": ["volta_sgemm_128x64_nn"] * 2,
        "duration_ns": [300_000] * 2,
        "is_communication": [False] * 2,
    }
    assert [(c["type"], c["unit"]) for c in found["columns"]] == [("string", None), ("number", "ns"), ("bool", None)]
    assert found["meta"]["more"] == ""
    assert ask(client, "select * from range(9)")["meta"]["more"] == "rows"


def test_all_traces_of_the_span(client: Client) -> None:
    found = ask(client, "select worker, count(*) n from all_steps group by 1 order by 1", of="span")
    assert found["rows"] == {"worker": ["a", "b"], "n": [2, 3]}
    tables = ask(client, None, TABLES_PATH, of="span")
    assert tables["schemas"] == ["a", "b"]
    assert ask(client, f"select count(*) n from {tables['schemas'][1]}.steps", of="span")["rows"] == {"n": [3]}


def test_steps_are_found_as_the_request_says(client: Client) -> None:
    assert ask(client, "select count(*) n from steps", steps="whole_trace")["rows"] == {"n": [1]}


def test_tables_are_described(client: Client) -> None:
    found = ask(client, None, TABLES_PATH)
    assert found["schemas"] == ["main"]
    assert (found["rows"], found["seconds"]) == (3, 10.0)
    assert {table["name"] for table in found["tables"]} >= {"kernels", "operators", "ranks"}


@pytest.mark.parametrize(
    ("statement", "told"),
    [
        ("select nothing from kernels", 'column "nothing" not found'),
        ("drop view kernels", "only SELECT"),
        ("select * from read_text('/etc/passwd')", "no access to files"),
        (None, "Must specify query"),
    ],
)
def test_what_is_wrong_is_said(client: Client, statement: str | None, told: str) -> None:
    assert told in ask(client, statement, status=400)["error"]


def test_no_such_trace(client: Client) -> None:
    ask(client, "select 1", status=404, run="none")


def test_only_pages_of_the_server_may_ask(client: Client) -> None:
    query = urlencode({**TRACE, "query": "select 1"})
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        for path in (PATH, f"{PATH}/"):
            assert client.get(f"{path}?{query}", headers={"Sec-Fetch-Site": site}).status_code == status
        assert client.get("/api/status", headers={"Sec-Fetch-Site": site}).status_code == 200
    assert client.post(f"{PATH}?{query}").status_code == 405


def test_a_server_without_them_has_no_such_route(workspace: Workspace, client: Client) -> None:
    """As TensorBoard's: the plugin makes its application without further routes."""
    plain = client_of(workspace)
    for path in (PATH, TABLES_PATH):
        assert plain.get(f"{path}?{urlencode({**TRACE, 'query': 'select 1'})}").status_code == 404
    views = [t["views"] for t in plain.get("/api/status").get_json()["runs"][0]["traces"]]
    assert not any("query" in each for each in views)
    offered = [t["views"] for t in client.get("/api/status").get_json()["runs"][0]["traces"]]
    assert [each[-1] for each in offered] == ["query", "query"]


def test_the_plugin_has_no_such_route(workspace: Workspace) -> None:
    plugin = pytest.importorskip("torch_tb_profiler.plugin")
    app = plugin.TorchProfilerPlugin(workspace).get_plugin_apps()["/*"]
    mount = "/data/plugin/pytorch_profiler"
    client = Client(app)
    assert client.get(f"{mount}/api/status").status_code == 200
    for path in (PATH, TABLES_PATH):
        assert client.get(f"{mount}{path}?{urlencode({**TRACE, 'query': 'select 1'})}").status_code == 404


def test_processes_that_nobody_asks_are_ended(workspace: Workspace) -> None:
    found = SqlRoutes(idle_seconds=0.2)
    client = Client(create_app(workspace, more=found.routes()))
    ask(client, "select 1")
    wait_until(lambda: not found.sessions.process_ids(), "the process is ended")
    ask(client, "select 1")
    found.sessions.close()
    assert found.sessions.process_ids() == []


@pytest.mark.parametrize(
    "words", [["--host", "0.0.0.0"], ["--host", "::"], ["--host", "10.0.0.7"], ["--allow-host", "proxy"]]
)
def test_only_where_this_machine_alone_reaches_the_server(
    words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["serve", str(tmp_path), "--sql", *words]) == 2
    assert "only this machine reaches" in capsys.readouterr().err


def test_addresses_of_this_machine() -> None:
    assert [is_loopback(host) for host in ("127.0.0.1", "::1", "localhost", "127.9.9.9")] == [True] * 4
    assert [is_loopback(host) for host in ("", "0.0.0.0", "::", "10.0.0.1", "example.org")] == [False] * 5
