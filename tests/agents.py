"""A scripted agent: it goes by the rules that the server tells, and by nothing else."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from mcp import Client

from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.server import CallLimits, ProfileServer
from torch_tb_profiler.mcp.tools import TOOLS
from torch_tb_profiler.mcp.tools.tables import TABLES

T = TypeVar("T")

BUDGETS = {tool.name: tool.budget for tool in TOOLS}

#: more calls than any way to an answer has
_MOST_CALLS = 8


@dataclass
class Calls:
    """What an agent asked, and what it was told.

    asked   names of the tools, with arguments
    told    structured answers
    texts   the same as the agent reads them
    """

    asked: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    told: list[dict[str, Any]] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)

    @property
    def characters(self) -> int:
        return sum(map(len, self.texts))

    @property
    def verdict(self) -> dict[str, Any]:
        """The last one that was told."""
        return next(told["verdict"] for told in reversed(self.told) if "verdict" in told)


def awaited(work: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine, in a thread of its own: the browser of other tests has an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, work).result()


def with_client(root: Path, cache: Path, ask: Callable[[Client], Awaitable[T]], **options: Any) -> T:
    """What `ask` gives, with a client of a server in this process; `mode` and `limits` as there."""

    async def run() -> T:
        limits = options.pop("limits", CallLimits())
        server = ProfileServer(TraceCatalog(str(root), cache), limits).server()
        async with Client(server, **options) as client:
            return await ask(client)

    return awaited(run())


async def look_for_the_cause(client: Client, begin: tuple[str, dict[str, Any]] = ("traces", {})) -> Calls:
    """Call `begin`, then what each answer says is next, until there is nothing more; no call is made again."""
    calls = Calls()
    following: tuple[str, dict[str, Any]] | None = begin
    while following is not None and len(calls.asked) < _MOST_CALLS:
        assert following not in calls.asked, calls.asked
        tool, arguments = following
        result = await client.call_tool(tool, arguments)
        assert not result.is_error, result.content
        told = told_by(result)
        calls.asked.append(following)
        calls.told.append(told)
        calls.texts.append(result.content[0].text)  # type: ignore[union-attr] # it is text
        step = told.get("next") or told.get("verdict", {}).get("next")
        following = (step["tool"], dict(step["arguments"])) if step else None
    return calls


async def change_and_prove(client: Client, trace: str, after: str) -> Calls:
    """From the summary to the proof of a change, by what the answers say; ends where there is no cause to change."""
    calls = await look_for_the_cause(client, ("summary", {"trace": trace}))
    change = calls.told[-1].get("to_change")
    if change is None:
        return calls
    finding = change["arguments"]["finding"]
    proof = {"before": [trace], "after": [after], "finding": finding}
    for name, arguments in ((change["tool"], change["arguments"]), ("prove", proof)):
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content
        calls.asked.append((name, arguments))
        calls.told.append(told_by(result))
        calls.texts.append(result.content[0].text)  # type: ignore[union-attr] # it is text
    return calls


def every_call(trace: str, run: str, step: str = "", finding: str = "", names: tuple[str, str] = ("", "")) -> Any:
    """Each tool with each of its ways."""
    calls: list[tuple[str, dict[str, Any]]] = [
        ("traces", {}),
        ("traces", {"match": "RANK"}),
        ("summary", {"trace": trace}),
        ("candidates", {"trace": trace}),
        ("candidates", {"trace": trace, "kind": "host"}),
        ("hang", {}),
        ("ranks", {"run": run}),
        ("ranks", {"run": trace, "limit": 20}),
        ("compare", {"base": [trace], "new": [trace]}),
        ("definitions", {"names": ["device_self_ms", "idle.sync", "kernels.total_ns", "no such thing"]}),
        ("explain", {"trace": trace, "what": "cause", "name": "idle.host.operator"}),
        *(("table", {"trace": trace, "what": what, "limit": 50}) for what in TABLES),
        *(
            ("table", {"trace": trace, "what": what, "group_by": group, "limit": 50})
            for what, each in TABLES.items()
            for group in each.groups
        ),
    ]
    if step:
        calls += [("step", {"trace": trace, "step": step}), ("step", {"trace": trace, "step": step, "limit": 20})]
        calls.append(("table", {"trace": trace, "what": "kernels", "from_step": step, "to_step": step}))
    if finding:
        calls.append(("explain", {"trace": trace, "what": "finding", "name": finding}))
        calls.append(("candidates", {"trace": trace, "finding": finding}))
        calls.append(("prove", {"before": [trace], "after": [trace], "finding": finding}))
    for what, name in zip(("operator", "kernel"), names, strict=True):
        if name:
            calls.append(("explain", {"trace": trace, "what": what, "name": name}))
    return calls


async def answers(client: Client, calls: Any) -> list[tuple[str, Any]]:
    """Name of the tool, and the result, which is no error."""
    found = []
    for name, arguments in calls:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, (name, arguments, result.content)
        found.append((name, result))
    return found


def text_of(result: Any) -> str:
    (content,) = result.content
    return str(content.text)


def told_by(result: Any) -> dict[str, Any]:
    """The answer, which is sent once, as text."""
    assert result.structured_content is None
    told = json.loads(text_of(result))
    assert isinstance(told, dict)
    return told


async def refused(client: Client, name: str, /, **arguments: Any) -> str:
    result = await client.call_tool(name, arguments)
    assert result.is_error
    assert result.structured_content is None
    return text_of(result)
