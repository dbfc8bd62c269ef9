"""`typed`: descriptions of types are made by one thread at a time."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

PACKAGE = Path(__file__).parents[2] / "torch_tb_profiler"
#: of msgspec, what makes the description of a type where it is missing
_MAKES = {
    "msgspec.convert",
    "msgspec.json.Decoder",
    "msgspec.msgpack.decode",
    "msgspec.msgpack.Decoder",
    "msgspec.yaml.decode",
    "msgspec.toml.decode",
}
_HIDE = {"convert", "json", "msgpack", "toml", "yaml"}

#: threads that decode, all at once, a type that nothing has decoded before
_TOGETHER = dedent(
    """
    import sys, threading, typing
    from typing import Annotated, Generic, Optional, TypeVar
    import msgspec
    from torch_tb_profiler.codec import convert, from_json, from_msgpack

    sys.setswitchinterval(1e-6)
    number = Optional[Annotated[int, msgspec.Meta(ge=0)]]
    failed = []
    T = TypeVar("T")

    class Page(msgspec.Struct, Generic[T]):
        rows: list[T]

    for _ in range(40):
        inner = msgspec.defstruct("Inner", [(f"f{i}", number) for i in range(30)])
        outer = msgspec.defstruct("Outer", [(f"g{i}", list[inner]) for i in range(5)])
        plain = {f"g{i}": [{f"f{j}": 100 for j in range(30)}] for i in range(5)}
        text, packed = msgspec.json.encode(plain), msgspec.msgpack.encode(plain)
        page = msgspec.json.encode({"rows": [{f"f{j}": 100 for j in range(30)}]})
        begin = threading.Barrier(6)

        def run(at):
            begin.wait()
            try:
                for found in (
                    convert(plain, outer) if at % 3 == 0 else None,
                    from_json(text, outer) if at % 3 == 1 else None,
                    from_msgpack(packed, outer) if at % 3 == 2 else None,
                    from_json(b"[]", list[inner]),
                ):
                    assert not found or found.g4[0].f29 == 100
                for _ in range(3):
                    assert from_json(page, Page[inner]).rows[0].f29 == 100
                    # as when there are many others: the next Page[inner] is another object
                    for forget in typing._cleanups:
                        forget()
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=run, args=(at,)) for at in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    print(failed or "equal")
    """
)


def test_threads_decode_a_new_type_at_once() -> None:
    """With msgspec alone, this process ends with a segmentation fault."""
    said = subprocess.run([sys.executable, "-c", _TOGETHER], capture_output=True, text=True, timeout=120, check=False)
    assert (said.returncode, said.stdout.strip(), said.stderr) == (0, "equal", "")


def test_nothing_else_makes_descriptions() -> None:
    modules = set(PACKAGE.rglob("*.py")) - {PACKAGE / "codec.py"}
    sources = {str(path.relative_to(PACKAGE)): path.read_text(encoding="utf-8") for path in modules}
    may_make = re.compile("[Cc]onvert|[Dd]ecode|from msgspec")
    found = {name: makers(source) for name, source in sources.items() if may_make.search(source)}
    assert found
    assert {name: calls for name, calls in found.items() if calls} == {}


def makers(source: str) -> list[str]:
    """Calls of msgspec that may make the description of a type, and imports that hide them."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "msgspec":
            found += [alias.name for alias in node.names if alias.name in _HIDE]
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            typed = called == "msgspec.json.decode" and (len(node.args) > 1 or bool(node.keywords))
            if called in _MAKES or typed:
                found.append(called)
    return found


def test_makers_are_seen() -> None:
    source = (
        "from msgspec import json\nmsgspec.convert(1, A)\nmsgspec.json.decode(b'', type=A)\nmsgspec.json.decode(b'')"
    )
    assert makers(source) == ["json", "msgspec.convert", "msgspec.json.decode"]
