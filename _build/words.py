"""Finds words that the project does not use: python _build/words.py. The list is words.toml; `make lint` runs this.

Looks at documents (without code), at the English texts of the UI, at the strings and docstrings of the package and its
sentences (`torch_tb_profiler/words/en`).
A page that must name such a word puts it between backquotes.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parent.parent
LIST = Path(__file__).with_suffix(".toml")
#: Whole words; they are separated by any white space, as texts are broken into lines.
_BEGIN, _SPACE, _END = r"(?<![\w-])(?:", r"\s+", r")(?![\w-])"
Kind = Literal["document", "ui", "package"]


@dataclass(frozen=True)
class Word:
    pattern: re.Pattern[str]
    say: str
    in_package: bool


@dataclass(frozen=True)
class Text:
    """kind: of the file; line: of the file where it begins, from 1."""

    path: Path
    kind: Kind
    line: int
    text: str


def words() -> list[Word]:
    """The list."""
    listed = tomllib.loads(LIST.read_text("utf-8"))["word"]
    return [
        Word(
            re.compile(_BEGIN + each["find"].replace(" ", _SPACE) + _END, re.IGNORECASE),
            each["say"],
            each.get("where", "all") == "all",
        )
        for each in listed
    ]


def _blank(match: re.Match[str]) -> str:
    # no white space: what stands on both sides does not meet
    return re.sub(r"[^\n]", "_", match[0])


def of_document(path: Path) -> Iterator[Text]:
    """Its prose: without code, addresses and generated tables of answers."""
    text = path.read_text("utf-8")
    for code in (r"^( *)```.*?^\1```$", r"<!--.*?-->", r"`[^`]*`", r"\]\([^)]*\)"):
        text = re.sub(code, _blank, text, flags=re.MULTILINE | re.DOTALL)
    yield Text(path, "document", 1, text)


_LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`')


def of_ui(path: Path) -> Iterator[Text]:
    """The strings of a file of texts."""
    source = path.read_text("utf-8")
    for match in _LITERAL.finditer(source):
        yield Text(path, "ui", source.count("\n", 0, match.start()) + 1, match[0])


def of_module(path: Path) -> Iterator[Text]:
    """Strings and docstrings; the parts of one formatted string together."""
    tree = ast.parse(path.read_text("utf-8"))
    inside: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            inside.update(id(part) for part in node.values)
            yield Text(path, "package", node.lineno, "".join(map(str, parts)))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in inside:
            yield Text(path, "package", node.lineno, node.value)


def all_texts(root: Path = ROOT) -> Iterator[Text]:
    """Whatever users and contributors read."""
    for pattern in ("*.md", "docs/**/*.md", "samples/*.md", "examples/*.md", "fe/src/**/*.md"):
        for path in sorted(root.glob(pattern)):
            yield from of_document(path)
    for path in sorted((root / "fe" / "src" / "i18n" / "en").rglob("*.ts")):
        yield from of_ui(path)
    for path in sorted((root / "torch_tb_profiler").rglob("*.py")):
        yield from of_module(path)
    for path in sorted((root / "torch_tb_profiler" / "words" / "en").rglob("*.toml")):
        yield Text(path, "package", 1, path.read_text("utf-8"))


def found_in(text: Text, listed: list[Word]) -> Iterator[str]:
    """A line for each word that stands there and should not."""
    for word in listed:
        if text.kind == "package" and not word.in_package:
            continue
        for match in word.pattern.finditer(text.text):
            line = text.line + text.text.count("\n", 0, match.start())
            yield f"{text.path}:{line}: “{' '.join(match[0].split())}”: say {word.say}"


def main() -> int:
    listed = words()
    texts = list(all_texts())
    found = [line for text in texts for line in found_in(text, listed)]
    print("\n".join(found) or f"{len(texts)} texts, {len(listed)} words: none of them stands there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
