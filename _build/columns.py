"""Writes the tables of columns of docs/views from the declarations: python _build/columns.py. What `make columns` does.

A comment above a table says whose columns it has, and which of them where it has not all:

    <!-- columns: kernels -->
    <!-- columns: memory name calls, overview busy -->

The words of the table's head say what stands in each of its columns.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch_tb_profiler  # noqa: E402
import torch_tb_profiler.questions  # noqa: E402 - all results are loaded
from torch_tb_profiler.analysis.definition import Definition  # noqa: E402
from torch_tb_profiler.analysis.result import ROWS, Result, definitions_of  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable

PACKAGE = Path(torch_tb_profiler.__file__).parent

_TABLE = re.compile(
    r"(?P<mark><!-- columns: (?P<of>[^>]*) -->\n\n?)(?P<head>\|.*\|)\n(?P<rule>\|[-| ]*\|)\n(?:\|.*\n)*", re.MULTILINE
)
#: what stands below a word of a head; the first column is always the key
_CELLS: dict[str, Callable[[Definition], str]] = {
    "key": lambda d: f"`{d.key}`",
    "shown as": lambda d: d.label,
    "unit": lambda d: d.unit or "–",
    "what it is": lambda d: d.help,
}


def all_definitions() -> dict[str, dict[str, Definition]]:
    """By the group of a result or of rows, such as `kernels`."""
    found: dict[str, dict[str, Definition]] = {}
    for result in results():
        defined = {**result.definitions, **result.defined}
        sent = {key: each for key, each in defined.items() if not result.declared.get(key, {}).get("api_only")}
        if sent and result.id_prefix:
            found.setdefault(result.id_prefix, {}).update(sent)
    return found | {group: definitions_of(row, group) for group, row in ROWS.items()}


def results(kind: type[Result] = Result) -> list[type[Result]]:
    """Of all analyses."""
    return [each for below in kind.__subclasses__() for each in (below, *results(below))]


def rewritten(page: str, defined: dict[str, dict[str, Definition]]) -> str:
    """The text of a page with the rows of its tables of columns made of the definitions."""
    return _TABLE.sub(lambda match: _table(match, defined), page)


def _table(match: re.Match[str], defined: dict[str, dict[str, Definition]]) -> str:
    words = [word.strip() for word in match["head"].strip("|").split("|")]
    cells = [_CELLS[word] for word in words]
    rows = ["| " + " | ".join(cell(each) for cell in cells) + " |\n" for each in _chosen(match["of"], defined)]
    return "".join([match["mark"], match["head"], "\n", match["rule"], "\n", *rows])


def _chosen(of: str, defined: dict[str, dict[str, Definition]]) -> Iterator[Definition]:
    for part in of.split(","):
        group, *keys = part.split()
        for key in keys or defined[group]:
            yield defined[group][key]


def pages() -> list[Path]:
    return sorted((ROOT / "docs" / "views").glob("*.md"))


def main() -> int:
    defined = all_definitions()
    for page in pages():
        text = page.read_text("utf-8")
        made = rewritten(text, defined)
        if made != text:
            page.write_text(made, "utf-8")
            print(page.relative_to(ROOT))
    return 0


if __name__ == "__main__":
    sys.exit(main())
