"""Finds words that the project does not use, and sentences that are too long: python _build/words.py, in `make lint`.

The list of words is words.toml. It applies to documents (without code), to the English texts of the UI, to strings,
docstrings and comments of the package and to its sentences (`torch_tb_profiler/words/en`). A page that must name such a
word puts it between backquotes. The length applies to pages for users: not to docs/maintainers, contributing.md and
architecture.md.
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

_DOCUMENTS: frozenset[Kind] = frozenset({"document"})
_WHERE: dict[str, frozenset[Kind]] = {
    "documents": _DOCUMENTS,
    "docs": _DOCUMENTS | {"ui"},
    "all": _DOCUMENTS | {"ui", "package"},
}

#: words of a sentence of a page for users
LONGEST = 35
#: what ends a sentence; in a cell of a table also a semicolon
_END_OF_SENTENCE, _END_IN_CELL = r"(?<=[.!?:])[)*\"”]*\s+", r"(?<=[.!?:;])[)*\"”]*\s+"
#: what begins a paragraph of its own: a heading, an item of a list, a quotation
_ITEM = re.compile(r"#|[-*>] |\d+\. ")


@dataclass(frozen=True)
class Word:
    pattern: re.Pattern[str]
    say: str
    kinds: frozenset[Kind]


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
            _WHERE[each.get("where", "all")],
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


def pages_for_users(root: Path = ROOT) -> list[Path]:
    others = {"architecture.md", "contributing.md"}
    documents = [page for page in (root / "docs").glob("**/*.md") if "maintainers" not in page.parts]
    beside = (root / name for name in ("README.md", "CHANGELOG.md", "samples/README.md", "examples/README.md"))
    return [*beside, *sorted(page for page in documents if page.name not in others)]


def long_sentences(page: str) -> Iterator[tuple[int, int]]:
    """Yield the line and the number of words of each sentence that is too long; names in a row count as one word."""
    text = re.sub(r"^( *)```.*?^\1```$|^    .*$|<!--.*?-->", _blank_lines, page, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"`[^`]*`(?:,\s+`[^`]*`)*", "code", re.sub(r"\]\([^)]*\)", "]", text))
    begin, paragraph = 1, ""
    for number, line in enumerate([*text.split("\n"), ""], 1):
        is_row = line.startswith("|")
        if not line.strip() or is_row or _ITEM.match(line.strip()):
            yield from _too_long(begin, [paragraph], _END_OF_SENTENCE)
            begin, paragraph = number, ""
        if is_row:
            yield from _too_long(number, line.split("|"), _END_IN_CELL)
        else:
            paragraph += f" {line}"


def _blank_lines(match: re.Match[str]) -> str:
    return "\n" * match[0].count("\n")


def _too_long(line: int, texts: list[str], end: str) -> Iterator[tuple[int, int]]:
    for text in texts:
        for sentence in re.split(end, text):
            length = sum(any(map(str.isalnum, word)) for word in sentence.split())
            if length > LONGEST:
                yield line, length


#: whole lines; one in a line of code is after two spaces
_COMMENT = re.compile(r"(?:^[ ]*#.*\n)+|(?<=  )# .*$", re.MULTILINE)
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


def comments_of(path: Path) -> Iterator[Text]:
    """Yield the comments of a module, the lines of one together."""
    source = path.read_text("utf-8")
    for match in _COMMENT.finditer(source):
        text = re.sub(r"^\s*#:?", "", match[0], flags=re.MULTILINE)
        yield Text(path, "package", source.count("\n", 0, match.start()) + 1, text)


def all_texts(root: Path = ROOT) -> Iterator[Text]:
    """Whatever users and contributors read."""
    for pattern in ("*.md", "docs/**/*.md", "samples/*.md", "examples/*.md", "fe/src/**/*.md"):
        for path in sorted(root.glob(pattern)):
            yield from of_document(path)
    for path in sorted((root / "fe" / "src" / "i18n" / "en").rglob("*.ts")):
        yield from of_ui(path)
    for path in sorted((root / "torch_tb_profiler").rglob("*.py")):
        yield from of_module(path)
        yield from comments_of(path)
    for path in sorted((root / "torch_tb_profiler" / "words" / "en").rglob("*.toml")):
        yield Text(path, "package", 1, path.read_text("utf-8"))


def found_in(text: Text, listed: list[Word]) -> Iterator[str]:
    """A line for each word that stands there and should not."""
    for word in listed:
        if text.kind not in word.kinds:
            continue
        for match in word.pattern.finditer(text.text):
            line = text.line + text.text.count("\n", 0, match.start())
            yield f"{text.path}:{line}: “{' '.join(match[0].split())}”: say {word.say}"


def main() -> int:
    listed = words()
    texts = list(all_texts())
    pages = {path: path.read_text("utf-8") for path in pages_for_users()}
    found = [line for text in texts for line in found_in(text, listed)]
    found += [
        f"{path}:{line}: a sentence of {length} words, more than {LONGEST}"
        for path, page in pages.items()
        for line, length in long_sentences(page)
    ]
    print("\n".join(found) or f"{len(texts)} texts, {len(listed)} words: none of them stands there")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
