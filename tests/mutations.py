"""How many faults planted in the analyses do the tests find: python -m tests.mutations [COUNT [SEED]].

Draws lines of `insights`, `ranks` and `analysis`, changes an operator of each in a copy of the package, and runs tests
that name a rule of the module, that import it, and those that import what uses it. Prints what nobody notices.
"""

from __future__ import annotations

import ast
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.recipes.guide import copy_into
from tests.recorded import ROOT

PACKAGE = "torch_tb_profiler"
ROOMS = ("insights", "ranks", "analysis")
#: files of tests that are run of a mutant, the most specific first, and seconds for them
MOST_FILES, SECONDS = 8, 300
#: what is noticed at least: 14 of the first 15 lines of seed 1 were
LEAST = 0.7
_OTHER: dict[type[ast.AST], tuple[str, str]] = {
    ast.Lt: ("<", "<="), ast.LtE: ("<=", "<"), ast.Gt: (">", ">="), ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="), ast.NotEq: ("!=", "=="), ast.Add: ("+", "-"), ast.Sub: ("-", "+"),
    ast.Mult: ("*", "+"), ast.Div: ("/", "*"), ast.And: ("and", "or"), ast.Or: ("or", "and"),
}  # fmt: skip


class Mutant(NamedTuple):
    """A place in a file: its line, from 1, and the line that it becomes."""

    path: Path
    line: int
    text: str


def mutants(path: Path) -> Iterator[Mutant]:
    """All that can be changed in a file: operators between two parts of one line."""
    lines = path.read_text("utf-8").splitlines()
    for node in ast.walk(ast.parse("\n".join(lines))):
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            left, right, kind = node.left, node.comparators[0], type(node.ops[0])
        elif isinstance(node, ast.BinOp):
            left, right, kind = node.left, node.right, type(node.op)
        elif isinstance(node, ast.BoolOp):
            left, right, kind = node.values[0], node.values[1], type(node.op)
        else:
            continue
        if kind not in _OTHER or left.end_lineno != right.lineno:
            continue
        line, (old, new) = lines[right.lineno - 1], _OTHER[kind]
        # offsets of the tree are of bytes
        head, between, tail = (
            part.decode() for part in _cut(line.encode(), left.end_col_offset or 0, right.col_offset)
        )
        if old in between and "|" not in line:
            yield Mutant(path, right.lineno, head + between.replace(old, new, 1) + tail)


def _cut(text: bytes, start: int, end: int) -> tuple[bytes, bytes, bytes]:
    return text[:start], text[start:end], text[end:]


def imports_of(path: Path) -> set[str]:
    """The modules of the package that a file imports, also by a name in one."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith(PACKAGE):
            found |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    return found


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


class Tests:
    """Which files of tests try a module."""

    def __init__(self) -> None:
        self._texts: dict[Path, str] = {}
        self._users: dict[str, set[Path]] = defaultdict(set)
        self._imported_by: dict[str, set[str]] = defaultdict(set)
        for folder in ("unit", "invariants", "real"):
            for path in (ROOT / "tests" / folder).rglob("test_*.py"):
                self._texts[path] = path.read_text("utf-8")
                for module in imports_of(path):
                    self._users[module].add(path)
        for path in (ROOT / PACKAGE).rglob("*.py"):
            for module in imports_of(path):
                self._imported_by[module].add(module_of(path))

    def of(self, path: Path) -> list[Path]:
        """Return those of a module's rules, then those of the module and of what imports it, the smallest first."""
        module = module_of(path)
        rules = [f'"{name}"' for name in re.findall(r"^def ([a-z]\w+)\(", path.read_text("utf-8"), re.MULTILINE)]
        is_of_rules = ".rules." in module
        naming = [test for test, text in self._texts.items() if is_of_rules and any(rule in text for rule in rules)]
        chosen = dict.fromkeys(sorted(naming, key=lambda test: test.parent.name != "rules"))
        near, seen = {module}, {module}
        while near and len(chosen) < MOST_FILES:
            files = {path for each in near for path in self._users[each]}
            stem = module.rpartition(".")[2]
            chosen |= dict.fromkeys(sorted(files, key=lambda path: (stem not in path.name, path.stat().st_size)))
            near = {user for each in near for user in self._imported_by[each]} - seen
            seen |= near
        return list(chosen)[:MOST_FILES]


def is_noticed(mutant: Mutant, copy: Path, tests: list[Path]) -> bool:
    target = copy / mutant.path.relative_to(ROOT)
    before = target.read_text("utf-8")
    lines = before.splitlines(keepends=True)
    lines[mutant.line - 1] = mutant.text + "\n"
    target.write_text("".join(lines), "utf-8")
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "0", "-p", "no:cacheprovider", "-m", "not long"]
    command += ["-o", f"pythonpath={copy} . _build", *map(str, tests)]
    try:
        environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, timeout=SECONDS, check=False)
        return done.returncode != 0
    except subprocess.TimeoutExpired:
        return True
    finally:
        target.write_text(before, "utf-8")


def main(count: int = 100, seed: int = 1) -> int:
    dice, tests = random.Random(seed), Tests()
    files = sorted(path for room in ROOMS for path in (ROOT / PACKAGE / room).rglob("*.py"))
    drawn = dice.sample([mutant for path in files for mutant in mutants(path)], count)
    noticed = 0
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_into(Path(folder)).root
        for mutant in drawn:
            chosen = tests.of(mutant.path)
            if chosen and is_noticed(mutant, copy, chosen):
                noticed += 1
                continue
            before = mutant.path.read_text("utf-8").splitlines()[mutant.line - 1].strip()
            place = f"{mutant.path.relative_to(ROOT)}:{mutant.line}"
            print(f"nobody notices {place}: {before}  ->  {mutant.text.strip()}", flush=True)
    print(f"{noticed} of {count} planted faults are noticed (seed {seed})")
    return int(noticed < LEAST * count)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
