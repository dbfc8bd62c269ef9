"""The Chinese page knows what the server says: all of it by keys."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from columns import PACKAGE, all_definitions
from tests.calls import calls_of, constants, modules
from torch_tb_profiler.storage import errors
from torch_tb_profiler.storage.blob import Blobs
from torch_tb_profiler.storage.files import _ADVICE as FILES_ADVICE
from torch_tb_profiler.storage.files import _NAME as FILES
from torch_tb_profiler.storage.gs import Google
from torch_tb_profiler.storage.s3 import S3
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
    assert [d.key for d, of in zip(shown, ids, strict=True) if of[-1] not in known] == []
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


def values_of(name: str) -> dict[str, set[str]]:
    """Of each kind that is made by calls of `name` the values that are sent with it, where they stand there."""
    found: dict[str, set[str]] = {}
    for module in modules():
        for call in module.calls.get(name, ()):
            kind = next((k.value for k in call.keywords if k.arg == "id"), None) or call.args[0]
            given = [k.value for k in call.keywords if k.arg == "values"] or call.args[2:3]
            sent = {
                key.value
                for value in given
                for node in ast.walk(value)
                if isinstance(node, ast.Dict)
                for key in node.keys
                if isinstance(key, ast.Constant) and isinstance(key.value, str)
            }
            # A kind that goes by a name is one of the texts of its module.
            for each in [kind.value] if isinstance(kind, ast.Constant) else module.texts:
                found.setdefault(str(each), set()).update(sent)
    return found


def test_every_reason_can_be_said_in_chinese() -> None:
    kinds = {
        kind for name in ("Reason", "Attempt", "_failed") for call in calls_of(name) for kind in constants(call, 0)
    }
    assert len(kinds) > 25
    assert kinds - keys("serverReasons", "export const reasons") == set()
    assert keys("serverReasons", "const TROUBLES") == set(errors.REASONS)


def test_what_to_do_about_a_storage_is_known_in_chinese() -> None:
    stores = {errors.ANY_STORE: errors.ADVICE, FILES: FILES_ADVICE, **{s.name: s.advice for s in (S3, Blobs, Google)}}
    said = {f"{store}.{kind}" for store, advice in stores.items() for kind in advice}
    assert said == keys("serverReasons", "const ADVICE")
    trouble = errors.Trouble("missing")
    assert trouble.told(errors.Attempt("unreadable"), FILES, FILES_ADVICE).reason.values["advice_of"] in said
    assert "advice_of" not in errors.Trouble("failed").told(errors.Attempt("unreadable"), FILES, {}).reason.values


def test_the_curves_of_the_timeline_are_named_in_chinese() -> None:
    assert set(series.COUNTER_KINDS) == keys("serverMessages", "counters")


def test_chinese_reasons_are_made_of_values_that_are_sent() -> None:
    sent = values_of("Reason") | values_of("_failed")
    sent["unlistable"] = sent["unreadable"] = {"place", "values"}
    unknown = {
        kind: missing
        for kind, used in templates("serverReasons", "export const reasons").items()
        if (missing := used - sent.get(kind, set()))
    }
    assert unknown == {}
