"""Tables of columns for the site of the documentation, made of the declarations.

A comment in a page of docs/views names the columns whose definitions stand there in the site: all of a group, or some
of them:

    <!-- columns: kernels -->
    <!-- columns: memory name calls, overview busy -->
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

import torch_tb_profiler  # noqa: E402
import torch_tb_profiler.questions  # noqa: E402 - all results are loaded
from torch_tb_profiler.analysis.definition import Definition  # noqa: E402
from torch_tb_profiler.analysis.result import ROWS, Result, definitions_of  # noqa: E402

PACKAGE = Path(torch_tb_profiler.__file__).parent

_MARK = re.compile(r"<!-- columns: (?P<of>[^>]*) -->\n")
_HEAD = "| key | shown as | unit | meaning |\n|---|---|---|---|\n"


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


def with_tables(page: str, defined: dict[str, dict[str, Definition]]) -> str:
    """Return the text of a page with a table of definitions in place of each comment."""
    return _MARK.sub(lambda match: _HEAD + "".join(map(_row, _chosen(match["of"], defined))), page)


def _row(column: Definition) -> str:
    return f"| `{column.key}` | {column.label} | {column.unit or '–'} | {column.help} |\n"


def _chosen(of: str, defined: dict[str, dict[str, Definition]]) -> Iterator[Definition]:
    for part in of.split(","):
        group, *keys = part.split()
        for key in keys or documented(defined[group]):
            yield defined[group][key]


def documented(group: dict[str, Definition]) -> list[str]:
    """Return the keys of a group to define; of a comparison those of the baseline, not again of the experiment."""
    return [key for key, each in group.items() if not each.help.startswith(("Experiment: ", "Experiment − baseline: "))]


def pages() -> list[Path]:
    """Return the pages that may have such comments."""
    return sorted((ROOT / "docs" / "views").glob("*.md"))
