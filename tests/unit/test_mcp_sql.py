"""Queries of agents: the numbers of the API, within limits, and nothing but the tables of the trace."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

import torch_tb_profiler
from tests.agents import awaited, refused, text_of, told_by
from tests.planted import hostile_events, long_names, write_events
from tests.unit.sql.test_sql_safety import CHANGES, FILES, LARGE, LONG, SECRET
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.server import ProfileServer
from torch_tb_profiler.mcp.tools import TOOLS
from torch_tb_profiler.mcp.tools.tables import SqlTool
from torch_tb_profiler.tables.sql import QueryLimits

pytestmark = pytest.mark.slow

pytest.importorskip("duckdb")

TRACE = "generated_4gpu_h100~rank0~1"


def with_queries(root: Path, cache: Path, ask: Any, limits: QueryLimits | None = None) -> Any:
    queries = SqlTool() if limits is None else SqlTool(limits)

    async def run() -> Any:
        server = ProfileServer(TraceCatalog(str(root), cache), tools=(*TOOLS, queries.tool())).server()
        async with Client(server) as client:
            return await ask(client)

    try:
        return awaited(run())
    finally:
        queries.close()


def test_numbers_are_those_of_the_python_api(samples: Path, cache: Path) -> None:
    async def ask(client: Client) -> Any:
        query = (
            "select name, count(*) calls, sum(duration_ns) total_ns from kernels group by name order by total_ns desc"
        )
        result = await client.call_tool("sql", {"trace": TRACE, "query": query})
        assert len(text_of(result)) <= 4_000
        assert result.meta["untrusted"] == ["table.columns", "table.rows[]"]
        return told_by(result)

    told = with_queries(samples, cache, ask)
    trace = torch_tb_profiler.open(samples, cache_dir=cache).run("generated_4gpu_h100").trace(worker="rank0")
    kernels = trace.kernels()
    wanted = dict(zip(kernels.name, zip(kernels.calls.tolist(), kernels.total_ns.tolist(), strict=True), strict=True))
    assert told["table"]["columns"] == ["name", "calls", "total_ns"]
    assert len(told["table"]["rows"]) == 20
    for name, calls, total in told["table"]["rows"]:
        if not name.endswith("…"):
            assert (calls, int(total)) == wanted[name]


def test_nothing_else_can_be_read_or_changed(samples: Path, cache: Path) -> None:
    async def ask(client: Client) -> list[str]:
        found = [
            await refused(client, "sql", trace=TRACE, query=query)
            for query in (
                "select * from read_csv('/etc/passwd')",
                "select * from '/etc/passwd'",
                "copy kernels to '/tmp/x.csv'",
                "drop table kernels",
                "select 1; select 2",
                "set threads=8",
                "select * from nothing",
                "this is no query",
            )
        ]
        # the process is still there, and the trace as it was
        result = await client.call_tool("sql", {"trace": TRACE, "query": "select count(*) from kernels"})
        assert not result.is_error
        return found

    for text in with_queries(samples, cache, ask):
        assert text
        assert len(text) <= 400
        assert "\n" not in text


def test_no_attack_on_the_database_is_answered(samples: Path, cache: Path, tmp_path: Path) -> None:
    """All of `test_sql_safety`; what takes too long or too much is ended, and the next query is answered."""
    secret = tmp_path / "secret.csv"
    secret.write_text(f"a\n{SECRET}\n")
    statements = [*(f"select * {each}" for each in FILES), *CHANGES, *LONG, *LARGE]

    async def ask(client: Client) -> list[str]:
        found = []
        for each in statements:
            query = each.replace("{file}", str(secret)).replace("{folder}", str(tmp_path))
            found.append(await refused(client, "sql", trace=TRACE, query=query))
            result = await client.call_tool("sql", {"trace": TRACE, "query": "select count(*) from kernels"})
            assert not result.is_error, each
        return found

    for text in with_queries(samples, cache, ask, QueryLimits(rows=200, seconds=2)):
        assert text
        assert len(text) <= 400
        assert SECRET not in text
        assert "an error occurred" not in text
    assert [*tmp_path.iterdir()] == [secret]


def test_what_is_found_keeps_to_the_budget(tmp_path: Path, cache: Path) -> None:
    write_events(tmp_path / "logs" / "names", long_names())
    write_events(tmp_path / "logs" / "hostile", hostile_events())

    async def ask(client: Client) -> None:
        for trace in ("names~worker0~1", "hostile~worker0~1"):
            result = await client.call_tool("sql", {"trace": trace, "query": "select name, row from events"})
            assert not result.is_error, result.content
            assert len(text_of(result)) <= 4_000
            assert told_by(result)["more"]["table.rows"] > 0
            for row in told_by(result)["table"]["rows"]:
                assert row[0].isprintable()
                assert len(row[0]) <= 120

    with_queries(tmp_path / "logs", cache, ask)


def test_only_a_server_that_was_started_for_it_has_the_tool(samples: Path, cache: Path) -> None:
    async def ask(*options: str) -> list[str]:
        arguments = ["-m", "torch_tb_profiler", "mcp", str(samples), "--cache-dir", str(cache), *options]
        async with Client(
            StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        ) as client:
            names = [tool.name for tool in (await client.list_tools()).tools]
            if options:
                result = await client.call_tool("sql", {"trace": TRACE, "query": "select count(*) n from steps"})
                assert told_by(result)["table"]["rows"] == [[5]]
            return names

    assert "sql" not in awaited(ask())
    assert awaited(ask("--sql"))[-1] == "sql"
