"""Lines that hostile programs send to `torch-tb-profiler mcp`, about traces in which everything has a hostile name."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.agents import BUDGETS, every_call
from tests.attack.mcp_client import Agent
from tests.attack.names import NAMES, write_names
from tests.planted import HOSTILE
from tests.unit.test_mcp_guards import strings, under
from torch_tb_profiler.mcp.server import LONGEST_LINE
from torch_tb_profiler.mcp.tool import LONGEST_NAME
from torch_tb_profiler.mcp.tools import TOOLS

SECRET = "secret of somebody else"
PATHS = (
    "/etc/passwd", "../secret/secret", "..", "secret", "/dev/zero", "zero", "file:///etc/passwd", "http://127.0.0.1:9/",
    "\0", "run\0~rank0~1", "x" * 1_000_000, "~", "%2e%2e%2fsecret", "/proc/self/environ", "a\x1b[2Jb", HOSTILE,
)  # fmt: skip
VALUES: tuple[Any, ...] = (*PATHS, None, True, -1, 2**70, 1e308, [], {}, [[]], ["a"] * 1000, {"a": {"b": 1}})
#: lines, and the error that each is answered with: id and code; None where there is nothing to answer
BROKEN: Mapping[bytes, tuple[str | None, int] | None] = {
    b"": None,
    b"nonsense": (None, -32700),
    b"{": (None, -32700),
    b"[]": (None, -32600),
    b"null": (None, -32600),
    b"1": (None, -32600),
    b"\xff\xfe": (None, -32700),
    b"\0": (None, -32700),
    b"[" * 100_000: (None, -32700),
    b'"' + b"x" * 1_000_000: (None, -32700),
    b'"' + b"x" * LONGEST_LINE + b'"': (None, -32600),
    b'{"jsonrpc":"2.0"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":"x"}': ("x", -32600),
    b'{"jsonrpc":"1.0","id":"x","method":"ping"}': ("x", -32600),
    b'[{"jsonrpc":"2.0","id":"x","method":"ping"}]': (None, -32600),
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":1.5,"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":true,"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":{"a":[]},"method":"ping"}': (None, -32600),
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"ping"}': (None, -32700),
    b'{"jsonrpc":"2.0","id":"x","method":"ping","params":{"_meta":"\\ud800"}}': ("x", -32700),
    b'{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":' + b"[" * 500 + b"]" * 500 + b"}}": ("x", -32700),
    b'{"jsonrpc":"2.0","id":"x","method":"ping","params":1}': ("x", -32602),
    b'{"jsonrpc":"2.0","id":"x","method":"ping","params":[]}': ("x", -32602),
    b'{"jsonrpc":"2.0","id":"x","method":["ping"]}': ("x", -32600),
    b'{"jsonrpc":"2.0","id":"x","method":"ping","result":{},"params":1}': ("x", -32602),
    b'{"jsonrpc":"2.0","id":"x","result":{}}': None,
    b'{"jsonrpc":"2.0","id":"x","result":1}': None,
    b'{"jsonrpc":"2.0","method":"notifications/nothing"}': None,
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"x"}}': None,
}
METHODS = (
    "ping",
    "tools/list",
    "resources/list",
    "prompts/list",
    "logging/setLevel",
    "nothing",
    "",
    "tools/call",
    "\0",
)


def write_logs(folder: Path) -> Path:
    """Traces of hostile names, and links to what is elsewhere."""
    logs = folder / "logs"
    write_names(logs)
    (folder / "secret").mkdir()
    (folder / "secret" / "secret.pt.trace.json").write_text(json.dumps({"traceEvents": [], "host_name": SECRET}))
    for name, target in (
        ("secret", folder / "secret"),
        ("zero.pt.trace.json", Path("/dev/zero")),
        ("passwd.pt.trace.json", Path("/etc/passwd")),
    ):
        (logs / name).symlink_to(target)
    return logs


def wrong_of(folder: Path, seed: int, times: int) -> list[str]:
    """What is wrong with the answers to so many requests, in both generations of the protocol."""
    dice, logs = random.Random(seed), folder / "logs"
    if not logs.exists():
        write_logs(folder)
    wrong = []
    for is_modern in (True, False):
        agent = Agent(logs, folder / "cache", is_modern, folder / "errors")
        try:
            for _ in range(times // 2):
                method, params = _request(agent, dice)
                if dice.random() < 0.2:
                    broken = dice.choice([*BROKEN])
                    wrong += agent.refused(broken, BROKEN[broken])
                elif dice.random() < 0.2:
                    wrong += agent.answered_once(_damaged(agent.request(method, params), dice))
                message, line = agent.answer(method, params)
                shown = f"{method} {params}"[:300]
                wrong += [f"{text}: {shown!r}" for text in _judged(method, params, message, line)]
                if message is None:
                    break
            wrong += list(agent.end())
        finally:
            agent.process.kill()
    return [f"{text} (seed {seed})" for text in wrong]


TRACES = ("names~rank0~1", "other~rank0~1", "names~rank1~1")


def _damaged(line: bytes, dice: random.Random) -> bytes:
    """A request that may be none any more."""
    at, after = sorted(dice.randrange(len(line) + 1) for _ in range(2))
    put = dice.choice(
        [b"", b"\0", b'"', b"\\ud800", b"\xff", b"}", b"[", b"null", b"1e999", b"-", b",", b'"params":1,']
    )
    changed = dice.choice([line[:at], line[:at] + put + line[at:], line[:at] + put + line[after:]])
    return b"[" + line + b"]" if dice.random() < 0.1 else changed


def _request(agent: Agent, dice: random.Random) -> tuple[Any, Any]:
    kind = dice.randrange(7)
    if kind == 6:
        return dice.choice(METHODS), dice.choice(VALUES)
    if kind == 0:
        return dice.choice(METHODS), {dice.choice(["a", "cursor", "level"]): dice.choice(VALUES)}
    if kind == 1:
        place = dice.choice([*PATHS, *TRACES])
        uri = dice.choice([f"profile://{quote(place, safe='', errors='replace')}/summary", place, f"profile://{place}"])
        return "resources/read", {"uri": uri}
    if kind == 2:
        name = dice.choice(["why_slow", "compare", "can_i_trust", "nothing"])
        return "prompts/get", {"name": name, "arguments": {"trace": dice.choice(VALUES)}}
    names = (dice.choice(NAMES), dice.choice(NAMES))
    name, arguments = dice.choice(every_call(dice.choice(TRACES), "names", dice.choice("12"), names[0], names))
    arguments = dict(arguments)
    if kind == 3:
        arguments[dice.choice([*arguments, "trace", "path", "limit", "what", "filter"])] = dice.choice(VALUES)
    if kind == 4 and dice.random() < 0.3:
        name = dice.choice(VALUES)
    return "tools/call", {"name": name, "arguments": arguments}


def _judged(method: Any, params: Any, message: dict[str, Any] | None, line: bytes) -> Iterator[str]:
    if message is None:
        yield "no answer" if not line else f"another answer: {line[:200]!r}"
        return
    if SECRET.encode() in line or b"root:x:" in line:
        yield f"what is outside of the directory: {line[:500]!r}"
    if any(byte < 32 for byte in line.rstrip(b"\n")):
        yield f"raw control characters: {line[:300]!r}"
    for path, text in strings(message.get("result")):  # errors of the SDK repeat the method that was asked
        if not text.replace("\n", "").isprintable() and path != "contents[].uri":
            yield f"raw characters in {path}: {text[:300]!r}"
            break
    result = message.get("result")
    if ("error" in message and len(line) > 2000) or b"an error occurred" in line:
        yield f"an error of {len(line)} bytes: {line[:300]!r}"
    if method != "tools/call" or result is None:
        return
    (text,) = [content["text"] for content in result["content"]]
    if result.get("isError"):
        if len(text) > 400 or "\n" in text:
            yield f"a refusal of {len(text)} characters: {text[:300]!r}"
        return
    tool = next(tool for tool in TOOLS if tool.name == params["name"])
    if len(text) > BUDGETS[tool.name]:
        yield f"{len(text)} characters, more than promised"
    if result["_meta"]["untrusted"] != list(tool.untrusted):
        yield "does not say what is from outside"
    for path, value in strings(json.loads(text)):
        is_hostile = any(each in value for each in ("onerror", "</script", "alert(", "long_xxx", "/calc"))
        if is_hostile and (not under(path, tuple(tool.untrusted)) or len(value) > LONGEST_NAME):
            yield f"a name in {path}: {value[:300]!r}"
