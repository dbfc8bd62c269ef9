"""The Chinese page knows what the server says: all of it by keys."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from columns import PACKAGE, all_definitions
from torch_tb_profiler.timeline import series
from torch_tb_profiler.toml_text import toml_of

CHINESE = Path(__file__).parents[2] / "fe/src/i18n/zh-CN"


def source(name: str) -> str:
    return (CHINESE / f"{name}.ts").read_text("utf-8")


def known_columns() -> set[str]:
    """The ids that have Chinese words."""
    tables = toml_of((PACKAGE / "words/zh-CN/columns.toml").read_text("utf-8"))
    return {f"{table}.{name}" for table, columns in tables.items() for name in columns}


DEFINED = all_definitions()


SIDES = ("baseline", "experiment", "delta")


@pytest.mark.parametrize("group", sorted(DEFINED))
def test_every_column_has_chinese_words(group: str) -> None:
    known = known_columns()
    shown = [d for d in DEFINED[group].values() if d.id]  # the page has words of its own for facts
    ids = [d.id.split(" ") for d in shown]
    missing = [of[-1] for of in ids if of[-1] not in known]
    assert not missing, f"words/zh-CN/columns.toml has no words of {missing}"
    assert {side for side, *more in ids if more} <= keys("serverMessages", "const sides") == set(SIDES)


def test_no_chinese_words_are_of_columns_that_are_gone() -> None:
    known = known_columns()
    assert len(known) > 100
    assert known - {d.id.split(" ")[-1] for defined in DEFINED.values() for d in defined.values()} == set()


def test_one_id_has_the_same_words_wherever_it_is() -> None:
    """Baseline, experiment and change are put together of them, so these are not compared."""
    words: dict[str, set[tuple[str, str]]] = {}
    for defined in DEFINED.values():
        for d in filter(lambda each: each.id, defined.values()):
            words.setdefault(d.id, set()).add((d.label, d.help))
    assert [name for name, said in words.items() if len(said) > 1] == []


def block(file: str, start: str) -> str:
    """The entries of one list, each of which begins on a line of its own."""
    indent, _, rest = re.split(rf"^( *)({re.escape(start)})\b", source(file), maxsplit=1, flags=re.MULTILINE)[1:]
    return rest.partition("{\n")[2].partition(f"\n{indent}}}")[0]


def templates(file: str, start: str) -> dict[str, set[str]]:
    """Of each key the values that its text is made of."""
    entries = re.findall(r'^ +"?([\w.]+)"?:(?:$| )(?:\(\{ ?([^)]*?) ?\}\))?', block(file, start), re.MULTILINE)
    return {key: set(re.findall(r"\w+", re.sub(r"\.\.\.\w+", "", given))) for key, given in entries}


def keys(file: str, start: str) -> set[str]:
    return set(templates(file, start))


def test_the_curves_of_the_timeline_are_named_in_chinese() -> None:
    assert set(series.COUNTER_KINDS) == keys("serverMessages", "counters")
