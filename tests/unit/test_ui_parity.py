"""docs/maintainers/ui-parity.md is complete, and the tests that it names exist."""

from __future__ import annotations

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from columns import all_definitions

#: as the specification numbers them
ITEMS = [*(f"D{number}" for number in range(1, 23)), *(f"M{number}" for number in range(1, 18))]
MISSPELLED = re.compile(r"comparsion|occurence|basic tabs example", re.IGNORECASE)


@pytest.fixture(scope="module")
def rows(repository: Path) -> dict[str, list[str]]:
    """item → the other cells of its row"""
    text = (repository / "docs" / "maintainers" / "ui-parity.md").read_text("utf-8")
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in text.splitlines() if line[:1] == "|"]
    found = [(item.strip(), others) for item, *others in cells if re.fullmatch(r"[DM]\d+", item.strip())]
    assert len(found) == len(dict(found)), "an item stands there twice"
    return dict(found)


@cache
def names_in(path: Path) -> set[str]:
    """Names of its test functions, or the titles of tests of the UI."""
    text = path.read_text("utf-8")
    if path.suffix == ".py":
        return {each.name for each in ast.parse(text).body if isinstance(each, ast.FunctionDef)}
    return set(re.findall(r'\b(?:it|test)\(\s*"([^"]+)"', text))


def named(shown_by: str) -> list[tuple[str, str]]:
    return [(file, test) for file, test in re.findall(r"`([^`:]+)::([^`]+)`", shown_by)]


def test_every_item_is_there(rows: dict[str, list[str]]) -> None:
    assert list(rows) == ITEMS
    assert [item for item, cells in rows.items() if len(cells) != 3 or not all(cells)] == []


@pytest.mark.parametrize("item", ITEMS)
def test_the_tests_it_names_exist(item: str, rows: dict[str, list[str]], repository: Path) -> None:
    tests = named(rows[item][2])
    assert tests, "no test shows it"
    for file, test in tests:
        path = repository / (file if file.startswith("fe/") else f"tests/{file}")
        assert path.is_file(), file
        assert test in names_in(path), f"{file} has no {test}"


def test_words_that_were_misspelled(repository: Path) -> None:
    texts = [path.read_text("utf-8") for path in (repository / "fe/src/i18n/en").glob("*.ts")]
    texts += [text for defined in all_definitions().values() for d in defined.values() for text in (d.label, d.help)]
    assert len(texts) > 100
    assert [text for text in texts if MISSPELLED.search(text)] == []
