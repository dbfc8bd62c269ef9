"""Counts the house, from its sources: python _build/house.py [CHECKOUT]. What `make house` prints.

Figures to look at, beside those of another commit; `tests/unit/test_house.py` fails where a
column is declared twice and where a sentence is written in code.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from pathlib import Path

#: what makes a definition of a column, beside what all tables are made with
_DEFINES = ("analysis/answer.py", "analysis/result.py", "analysis/tabular.py")
#: a text that begins as a sentence does
_SENTENCE = re.compile(r"[A-Z`][\w`./ ]*(?: [\w`'%.,:()/-]+){4}")
#: names that stand for anything; a comprehension, or a few lines, may use them
VAGUE = frozenset({"found", "told", "asked", "said", "each", "those", "these", "here", "of", "at"})
SHORT_LIFE = 8
LONG_FUNCTION, MANY_PARAMETERS, LEAST_FIELDS, SHARED = 80, 5, 5, 0.6


def main(checkout: str = ".") -> int:
    root = Path(checkout).resolve()
    files = files_of(root)
    package = {name: (root / name).read_text("utf-8") for name in files if re.match(r"torch_tb_profiler/.*\.py$", name)}
    trees = {name: ast.parse(text) for name, text in package.items()}
    functions = [each for tree in trees.values() for each in ast.walk(tree) if isinstance(each, ast.FunctionDef)]
    figures = {
        "lines of the package": sum(text.count("\n") for text in package.values()),
        "files of the package": len(package),
        "lines of imports": sum(
            (each.end_lineno or each.lineno) - each.lineno + 1
            for tree in trees.values()
            for each in ast.walk(tree)
            if isinstance(each, ast.Import | ast.ImportFrom)
        ),
        "lines of tests": _lines(root, files, r"tests/.*\.py$"),
        "lines of the UI": _lines(root, files, r"fe/src/(?!i18n/)(?!.*\.(test|gen)\.).*\.(ts|tsx|css)$"),
        "of them of style": _lines(root, files, r"fe/src/.*\.css$"),
        "suppressed rules of the UI": _found(root, files, r"fe/src/.*\.(tsx?|css)$", "biome-ignore"),
        "tables, canvases and selects made by hand in views": _found(
            root, files, r"fe/src/(views|shell)/(?!.*\.test\.).*\.tsx$", r"<(table|canvas|select)\b"
        ),
        "files that define columns outside of results": sum(defines(name, text) for name, text in package.items()),
        f"pairs of structs that share {SHARED:.0%} of their fields": len(list(_twins(list(trees.values())))),
        f"functions above {LONG_FUNCTION} lines": sum(
            (each.end_lineno or each.lineno) - each.lineno >= LONG_FUNCTION for each in functions
        ),
        f"functions of more than {MANY_PARAMETERS} parameters": sum(
            len(each.args.args) + len(each.args.kwonlyargs) > MANY_PARAMETERS for each in functions
        ),
        "names of public classes that are defined more than once": len(shared_names(trees)),
        "suppressed rules of the package": _found(
            root, files, r"torch_tb_profiler/.*\.py$", r"# (?:noqa|type: ignore)"
        ),
        f"locals named like 'found' that live longer than {SHORT_LIFE} lines": sum(
            len(list(vague_locals(tree))) for tree in trees.values()
        ),
        "sentences in the code of insights": sum(len(sentences(tree)) for name, tree in trees.items() if speaks(name)),
    }
    for what, count in figures.items():
        print(f"{count:>9,}  {what}")
    return 0


def files_of(root: Path) -> list[str]:
    """Return the files of a checkout by their names, those that git does not have yet included."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(listing, cwd=root, capture_output=True, check=True, text=True).stdout
    return [name for name in listed.split("\0") if name and (root / name).is_file()]


def shared_names(trees: Mapping[str, ast.Module]) -> set[str]:
    """Return the names of public classes that several modules define."""
    defined = [
        statement.name
        for tree in trees.values()
        for statement in tree.body
        if isinstance(statement, ast.ClassDef) and not statement.name.startswith("_")
    ]
    return {name for name, count in Counter(defined).items() if count > 1}


def vague_locals(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Find locals and parameters whose name says nothing of what they are, with the line where they begin."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        lines: dict[str, list[int]] = defaultdict(list)
        for node in ast.walk(function):
            name = node.id if isinstance(node, ast.Name) else node.arg if isinstance(node, ast.arg) else ""
            if name in VAGUE:
                lines[name].append(node.lineno)  # type: ignore[attr-defined]
        yield from ((min(at), name) for name, at in lines.items() if max(at) - min(at) > SHORT_LIFE)


def speaks(name: str) -> bool:
    """Whether a module is of those whose sentences are in `words`: insights without what describes their questions."""
    return "/insights/" in name and not name.endswith("question.py") and "/summary/" not in name


def sentences(tree: ast.Module) -> list[str]:
    """The English sentences in the code of a module."""
    texts = (each.value for each in _without_docstrings(tree) if isinstance(each, ast.Constant))
    return [text for text in texts if isinstance(text, str) and _SENTENCE.match(text)]


def _lines(root: Path, files: Sequence[str], pattern: str) -> int:
    return sum((root / name).read_text("utf-8").count("\n") for name in files if re.match(pattern, name))


def _found(root: Path, files: Sequence[str], names: str, pattern: str) -> int:
    return sum(len(re.findall(pattern, (root / name).read_text("utf-8"))) for name in files if re.match(names, name))


def defines(name: str, text: str) -> bool:
    """Whether a module of analyses has definitions of columns beside their declarations in results."""
    of_tables = name.startswith(("torch_tb_profiler/analysis/", "torch_tb_profiler/ranks/"))
    return of_tables and not name.endswith(_DEFINES) and re.search(r"\bDefinition\(", text) is not None


def _twins(trees: Sequence[ast.Module]) -> Iterator[tuple[str, str]]:
    classes = [each for tree in trees for each in ast.walk(tree) if isinstance(each, ast.ClassDef)]
    fields = [(each.name, _fields(each)) for each in classes]
    large = [(name, names) for name, names in fields if len(names) >= LEAST_FIELDS]
    for (one, mine), (other, theirs) in combinations(large, 2):
        if len(mine & theirs) >= SHARED * max(len(mine), len(theirs)):
            yield one, other


def _fields(of: ast.ClassDef) -> set[str]:
    return {each.target.id for each in of.body if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)}


def _without_docstrings(tree: ast.Module) -> Iterator[ast.AST]:
    docstrings = {
        id(each.body[0].value)
        for each in ast.walk(tree)
        if isinstance(each, ast.Module | ast.ClassDef | ast.FunctionDef)
        if each.body and isinstance(each.body[0], ast.Expr)
    }
    return (each for each in ast.walk(tree) if id(each) not in docstrings)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
