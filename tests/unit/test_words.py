"""The linter of words (`_build/words.py`), and that nothing it knows stands in a text of the project."""

from __future__ import annotations

from pathlib import Path

import pytest

import words
from words import Text, found_in


def found(kind: words.Kind, text: str) -> list[str]:
    return list(found_in(Text(Path("page.md"), kind, 1, text), words.words()))


@pytest.mark.slow
def test_no_text_has_a_word_that_is_not_used() -> None:
    listed, texts = words.words(), list(words.all_texts())
    kinds = {text.kind for text in texts}
    assert (kinds, len(texts) > 5000, len(listed) > 20) == ({"document", "ui", "package"}, True, True)
    assert [line for text in texts for line in found_in(text, listed)] == []


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("No kernel is called so.", 1),
        ("No kernel is\ncalled so.", 1),
        ("Nothing That Is Checked stands out", 1),
        ("Rank 37: the rank that comes last", 1),
        ("A list that comes last", 0),
        ("the median rank", 0),
        ("seen in the\nthe trace", 1),
        ("in-the-the", 0),
    ],
)
def test_a_word(text: str, times: int) -> None:
    assert len(found("ui", text)) == times


def test_where_a_word_counts() -> None:
    assert len(found("document", "it is simply shown")) == 1
    assert found("package", "it is simply shown") == []


def test_a_place_is_named() -> None:
    assert found("document", "one\ntwo\nis called so")[0].startswith("page.md:3: “is called so”: say ")


def test_code_of_a_document_is_left_out(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("`is called so` and `x` and\n\n```python\nis called so\n```\n\nis called so\n", "utf-8")
    (text,) = words.of_document(page)
    assert [line.split(":")[1] for line in found_in(text, words.words())] == ["7"]


def test_strings_of_a_module(tmp_path: Path) -> None:
    module = tmp_path / "module.py"
    module.write_text(
        '"""Is called so."""\nx = f"{x} is called so"\n# it is called so\ny = ("is " "called so")\n', "utf-8"
    )
    listed = words.words()
    assert [text.line for text in words.of_module(module) if list(found_in(text, listed))] == [1, 2, 4]


def test_strings_of_the_page(tmp_path: Path) -> None:
    module = tmp_path / "texts.ts"
    module.write_text(
        'export const x = {\n  // is called so\n  y: "is called so",\n  z: `${n} is called so`,\n};\n', "utf-8"
    )
    listed = words.words()
    assert [text.line for text in words.of_ui(module) if list(found_in(text, listed))] == [3, 4]
