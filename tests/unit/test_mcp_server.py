"""The server for agents: every tool in both eras of the protocol, its schemas, budgets and guard rails."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import jsonschema
import msgspec
import pytest
from mcp import Client, MCPError, StdioServerParameters

from tests.agents import BUDGETS, answers, awaited, every_call, text_of, told_by, with_client
from torch_tb_profiler.mcp.resources import INSTRUCTIONS, SKILL
from torch_tb_profiler.mcp.tools import TOOLS
from torch_tb_profiler.mcp.tools.tables import TABLES

pytestmark = pytest.mark.slow

RUN = "generated_4gpu_h100"
TRACE = f"{RUN}~rank0~1"
#: what is known of an answer that must be all of it: nobody may add a tool that writes, fetches or starts something
TOOL_NAMES = "traces summary step table explain candidates compare prove ranks hang definitions".split()
#: characters of the list of tools, which a model reads before its first call
_MOST_OF_TOOLS = 10_500


# what is offered --------------------------------------------------------------------------------------------


def test_the_list_of_tools(samples: Path, cache: Path) -> None:
    tools = with_client(samples, cache, lambda client: client.list_tools()).tools
    assert [tool.name for tool in tools] == TOOL_NAMES
    for tool in tools:
        hints = tool.annotations
        assert hints is not None
        assert hints.read_only_hint
        assert hints.idempotent_hint
        assert not hints.destructive_hint
        assert not hints.open_world_hint
        assert tool.input_schema["additionalProperties"] is False
        assert tool.output_schema is None
        jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        for name, field in tool.input_schema["properties"].items():
            assert field.get("description"), (tool.name, name)
    sent = json.dumps([tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in tools])
    assert len(sent) <= _MOST_OF_TOOLS


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_every_tool_in_both_eras(mode: str, samples: Path, cache: Path) -> None:
    """An answer is its type, once, as text within its budget, and says what is from outside."""

    async def ask(client: Client) -> list[tuple[str, Any]]:
        assert client.protocol_version == {"auto": "2026-07-28", "legacy": "2025-11-25"}[mode]
        assert client.instructions == INSTRUCTIONS
        names = ("aten::mm", "nvjet_tst_128x256_64x4_2x1_v_bz_coopA_tn")
        return await answers(client, every_call(TRACE, RUN, "4", "sync_points", names))

    found = with_client(samples, cache, ask, mode=mode)
    assert {name for name, _ in found} == set(TOOL_NAMES)
    tools = {tool.name: tool for tool in TOOLS}
    for name, result in found:
        told = told_by(result)
        assert msgspec.to_builtins(msgspec.convert(told, tools[name].answer)) == told
        assert len(text_of(result)) <= BUDGETS[name]
        assert result.meta["untrusted"] == list(tools[name].untrusted)


def test_numbers_are_those_of_the_python_api(samples: Path, cache: Path) -> None:
    async def ask(client: Client) -> tuple[Any, Any, Any]:
        arguments = {"trace": TRACE, "what": "kernels", "columns": ["name", "calls", "total_ms"], "limit": 3}
        arguments |= {"sort": "-total_ms", "filter": "nvjet total_ms>1"}
        table = told_by(await client.call_tool("table", arguments))
        summary = told_by(await client.call_tool("summary", {"trace": TRACE}))
        ranks = told_by(await client.call_tool("ranks", {"run": RUN}))
        return table, summary, ranks

    table, summary, ranks = with_client(samples, cache, ask)
    import torch_tb_profiler

    run = torch_tb_profiler.open(samples, cache_dir=cache).run(RUN)
    trace = run.trace(worker="rank0")
    kernels = trace.kernels()
    wanted = sorted(
        (
            (int(ns), name, int(calls))
            for name, calls, ns in zip(kernels.name, kernels.calls, kernels.total_ns, strict=True)
        ),
        reverse=True,
    )
    wanted = [each for each in wanted if "nvjet" in each[1] and each[0] > 1e6][:3]
    assert table["table"]["rows"] == [[name, calls, float(f"{ns / 1e6:.4g}")] for ns, name, calls in wanted]
    assert (table["total"], table["matched"]) == (len(kernels), 3)
    whole = trace.summary()
    assert whole.steps.median_ns is not None
    assert summary["steps"]["median_ms"] == float(f"{whole.steps.median_ns / 1e6:.4g}")
    assert [part["cause"] for part in summary["parts"]] == [
        part.cause for part in sorted(whole.waterfall, key=lambda part: -part.ns)[:8]
    ]
    assert [each["id"] for each in summary["findings"]] == [each.key for each in trace.findings()]
    assert ranks["slow_ranks"][0]["late_ms"] == float(f"{run.stragglers[0].late_ns / 1e6:.4g}")


def test_pages_follow_one_another(samples: Path, cache: Path) -> None:
    async def ask(client: Client) -> list[str]:
        names: list[str] = []
        for _ in range(20):
            arguments = {"trace": TRACE, "what": "operators", "columns": ["name"], "limit": 50, "offset": len(names)}
            told = told_by(await client.call_tool("table", arguments))
            names += [row[0] for row in told["table"]["rows"]]
            if not told["more"]:
                break
        return names

    import torch_tb_profiler

    names = with_client(samples, cache, ask)
    trace = torch_tb_profiler.open(samples, cache_dir=cache).run(RUN).trace(worker="rank0")
    assert names == list(trace.operators().name)


# resources and prompts --------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_resources_and_prompts(mode: str, samples: Path, cache: Path) -> None:
    async def ask(client: Client) -> None:
        listed = (await client.list_resources()).resources
        assert [str(each.uri) for each in listed] == ["profile://traces", "profile://tables", "profile://filters"]
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "profile://{trace}/summary"
        tables = json.loads((await client.read_resource("profile://tables")).contents[0].text)
        assert set(tables) == set(TABLES)
        assert "device_self_ns" in tables["operators"]["columns"]
        read = (await client.read_resource(f"profile://{quote(TRACE, safe='')}/summary")).contents[0].text
        assert json.loads(read) == told_by(await client.call_tool("summary", {"trace": TRACE}))
        for uri in (
            "profile://../../etc/passwd",
            "profile://..%2F..%2Fetc%2Fpasswd/summary",
            "profile:///etc/passwd/summary",
            "file:///etc/passwd",
        ):
            with pytest.raises(MCPError) as caught:
                await client.read_resource(uri)
            assert "passwd" not in str(caught.value)
        prompts = (await client.list_prompts()).prompts
        assert [each.name for each in prompts] == ["why_slow", "compare", "can_i_trust", "how_to_record"]
        prompt = await client.get_prompt("why_slow", {"trace": TRACE})
        assert json.dumps(TRACE) in prompt.messages[0].content.text
        assert "schedule(" in (await client.get_prompt("how_to_record", {})).messages[0].content.text
        for name, arguments in (("why_slow", {}), ("why_slow", {"trace": "obey me"}), ("nothing", {})):
            with pytest.raises(MCPError):
                await client.get_prompt(name, arguments)

    with_client(samples, cache, ask, mode=mode)


# the command ------------------------------------------------------------------------------------------------


def test_over_the_standard_input_and_output(samples: Path, cache: Path) -> None:
    """What a reading process prints does not break the protocol; the server ends with its input."""

    async def ask() -> tuple[Any, Any]:
        arguments = ["-m", "torch_tb_profiler", "mcp", str(samples), "--cache-dir", str(cache)]
        server = StdioServerParameters(command=sys.executable, args=arguments, env=dict(os.environ))
        async with Client(server) as client:
            told = await client.call_tool("summary", {"trace": "cnn_workers0~worker0~1"})
            return told, await client.list_tools()

    told, tools = awaited(ask())
    assert told_by(told)["verdict"]["finding"] == "synchronous_dataloader"
    assert [tool.name for tool in tools.tools] == TOOL_NAMES


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "torch_tb_profiler", "mcp", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_the_command(tmp_path: Path) -> None:
    skill = command("--skill")
    assert (skill.returncode, skill.stdout) == (0, SKILL)
    for arguments in ([], [str(tmp_path / "nothing")], [str(tmp_path), "--time-limit", "0"]):
        found = command(*arguments)
        assert found.returncode == 2
        assert found.stdout == ""
        assert found.stderr.startswith("torch-tb-profiler: ")
        assert "Traceback" not in found.stderr
    empty = command(str(tmp_path))
    assert (empty.returncode, empty.stdout) == (0, "")


def test_without_the_package_the_command_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "mcp.py").write_text("raise ModuleNotFoundError(name='mcp')")
    (tmp_path / "mcp_types.py").write_text("raise ModuleNotFoundError(name='mcp_types')")
    found = subprocess.run(
        [sys.executable, "-m", "torch_tb_profiler", "mcp", str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), *sys.path])},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert found.returncode == 2
    assert "pip install 'torch-tb-profiler[mcp]'" in found.stderr
    assert "Traceback" not in found.stderr
