"""Regular expressions take time that grows no faster than the text: names in a trace have any length."""

from __future__ import annotations

import ast
import importlib
import itertools
import pkgutil
import random
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import torch_tb_profiler
from torch_tb_profiler.lazy_pattern import _LazyPattern
from torch_tb_profiler.model.kernel_names.family import FirstMatch

parser: Any = importlib.import_module("re._parser" if sys.version_info >= (3, 11) else "sre_parse")

SIZE = 2_000
#: CPU s of one text of SIZE from which on growth is looked at, and the most for a text four times as long; one whose
#: time grows with the square takes 16 times as long
SCREEN, GROWTH = 0.002, 9.0
TEXTS = 60
METHODS = {"search", "match", "fullmatch", "finditer", "findall", "sub", "subn", "split"}
#: of what is only applied to short text: characters, and growth to four times as many; that of the cube is 64
SHORT_SIZE, SHORT_GROWTH = 750, 24.0
BOUNDED = {
    "model.kernel_names.family._CLASS": "patterns of the package",
    "model.kernel_names.families._FIRST": "beginnings of names",
    "model.communication._KIND_PATTERNS": "beginnings of names",
    "discovery.names._TRACE": "names of files",
    "discovery.names._SNAPSHOT_PAGE": "names of files",
    "workspace.reading.reading_order._HOST": "names of files",
}
#: what is often in names
COMMON = ["a", " ", "1", "<", "(", "_", "::", "a<", "\n", '"', "\\", ".", ",", "aA", "a ", "/", "-", "[ "]


def modules() -> Iterator[ModuleType]:
    for found in pkgutil.walk_packages(torch_tb_profiler.__path__, "torch_tb_profiler."):
        if not found.name.endswith("__main__"):
            try:
                yield importlib.import_module(found.name)
            except ImportError:  # of a library that need not be there
                continue


def within(value: object) -> Iterator[tuple[object, re.Pattern[Any]]]:
    """Patterns, each with what it is held as."""
    if isinstance(value, _LazyPattern):
        yield value, re.compile(*value._arguments)
    elif isinstance(value, re.Pattern):
        yield value, value
    elif isinstance(value, FirstMatch):
        yield from ((text, re.compile(text)) for text in value._texts)
    elif isinstance(value, (tuple, list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from within(each)


@cache
def used() -> dict[tuple[str, str], set[str]]:
    """By module and name: what is called of it there, and where it is imported."""
    found: dict[tuple[str, str], set[str]] = {}
    root = Path(torch_tb_profiler.__file__).parent
    for path in root.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        module = ".".join(path.relative_to(root.parent).with_suffix("").parts).removesuffix(".__init__")
        owner = {
            name.asname or name.name: (node.module, name.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and node.module
            for name in node.names
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.attr in METHODS:
                name = node.value.id
                found.setdefault(owner.get(name, (module, name)), set()).add(node.attr)
    return found


@cache
def patterns() -> dict[str, tuple[re.Pattern[Any], set[str]]]:
    """All of the package, by module and name, with the ways in which they are applied."""
    found: dict[int, tuple[str, re.Pattern[Any], set[str]]] = {}
    for module in modules():
        for name, value in vars(module).items():
            for number, (held, pattern) in enumerate(within(value)):
                label = module.__name__.removeprefix("torch_tb_profiler.") + f".{name}" + f"[{number}]" * (number > 0)
                of = found.setdefault(id(held), (label, pattern, set()))
                of[2].update(used().get((module.__name__, name), ()))
    # those of a table, or handed to a function, may be applied in any way
    return {name: (pattern, methods or {"search", "finditer"}) for name, pattern, methods in found.values()}


def samples(pattern: re.Pattern[Any]) -> list[str]:
    """Texts that its parts match, more or less, and their beginnings."""
    found: set[str] = set()

    def sample(items: Any) -> str:
        text = ""
        for operation, argument in items:
            name = str(operation)
            if name == "LITERAL":
                text += chr(argument)
            elif name == "IN":
                text += _member(argument)
            elif "REPEAT" in name:
                once = sample(argument[2])
                found.add(once)
                text += once * max(1, argument[0])
            elif name == "SUBPATTERN":
                text += sample(argument[3])
            elif name == "BRANCH":
                ways = [sample(each) for each in argument[1]]
                found.update(ways)
                text += ways[0]
            elif name in ("ANY", "NOT_LITERAL"):
                text += "a"
            found.add(text)
        return text

    source = pattern.pattern if isinstance(pattern.pattern, str) else pattern.pattern.decode("latin-1")
    sample(parser.parse(source, pattern.flags & ~re.UNICODE if isinstance(pattern.pattern, bytes) else pattern.flags))
    return sorted(found - {""})


def _member(choices: Any) -> str:
    kinds = {"CATEGORY_DIGIT": "1", "CATEGORY_SPACE": " "}
    operation, argument = choices[0]
    if str(operation) == "LITERAL":
        return chr(argument)
    if str(operation) == "RANGE":
        return chr(argument[0])
    return kinds.get(str(argument), "a") if str(operation) == "CATEGORY" else "a"


def seconds(pattern: re.Pattern[Any], methods: set[str], text: str) -> float:
    subject: Any = text.encode("latin-1", "replace") if isinstance(pattern.pattern, bytes) else text
    began = time.process_time()
    for method in methods:
        if method in ("sub", "subn"):
            getattr(pattern, method)(subject[:0], subject)
        elif method == "finditer":
            for _ in pattern.finditer(subject):
                pass
        else:
            getattr(pattern, method)(subject)
    return time.process_time() - began


def text_of(head: str, part: str, size: int) -> str:
    return (head + part * (size // len(part) + 1))[:size] + "\0"


def grows_too_fast(pattern: re.Pattern[Any], methods: set[str], size: int = SIZE, most: float = GROWTH) -> str:
    """A text that it takes too long for; empty for none."""
    parts = samples(pattern)
    texts = list(itertools.product(["", *parts], [*parts, *COMMON]))
    random.Random(1).shuffle(texts)
    for head, part in texts[:TEXTS]:
        if min(seconds(pattern, methods, text_of(head, part, size)) for _ in range(2)) < SCREEN:
            continue

        def takes(length: int, head: str = head, part: str = part) -> float:
            return min(seconds(pattern, methods, text_of(head, part, length)) for _ in range(3))

        # other programs on the machine make one measurement too long: what grows too fast does so each time
        if all(takes(4 * size) > most * takes(size) for _ in range(3)):
            return f"{head!r}, then {part!r} again and again"
    return ""


def test_no_pattern_takes_more_than_its_text_is_long() -> None:
    assert len(patterns()) > 400
    slow = {
        name: text
        for name, (pattern, methods) in patterns().items()
        if name.partition("[")[0] not in BOUNDED and (text := grows_too_fast(pattern, methods))
    }
    assert not slow, "\n".join(f"{name}: {text}" for name, text in slow.items())


@pytest.mark.parametrize("name", BOUNDED)
def test_of_short_text_none_grows_with_the_cube(name: str) -> None:
    assert name in patterns()
    slow = {
        each: text
        for each, (pattern, methods) in patterns().items()
        if each.partition("[")[0] == name and (text := grows_too_fast(pattern, methods, SHORT_SIZE, SHORT_GROWTH))
    }
    assert not slow, "\n".join(f"{each}: {text}" for each, text in slow.items())


@pytest.mark.parametrize(
    "text",
    [
        r"\w+_op<",
        *(pytest.param(text, marks=pytest.mark.long) for text in (r"(a|b)*?ab\d+x", r"_\w+?_B\w+?_([A-Z]\w*?)_")),
    ],
)
def test_slow_patterns_are_found(text: str) -> None:
    assert grows_too_fast(re.compile(text), {"search"})


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(r"(?i:gridwise\w*conv\w*(?:xdl|wmma))", marks=pytest.mark.long),
        r"cutlass\w*_simt_\w*(?:fprop|dgrad|wgrad)",
    ],
)
def test_slow_patterns_of_short_text_are_found(text: str) -> None:
    assert grows_too_fast(re.compile(text), {"search"}, SHORT_SIZE, SHORT_GROWTH)
