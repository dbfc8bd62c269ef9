"""Regular expressions of filters: what they mean, and how long they may take."""

from __future__ import annotations

import random
import re
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.query_tables import table
from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.model.patterns import PatternError
from torch_tb_profiler.tables.query import grammar
from torch_tb_profiler.tables.query.answer import Query
from torch_tb_profiler.tables.query.columns import natural_key
from torch_tb_profiler.tables.query.grammar import FilterPattern, QueryProblem


@given(st.lists(st.text("aB1290 _:", max_size=6)))
def test_natural_order(texts: list[str]) -> None:
    """Against comparing piece by piece."""

    def pieces(text: str) -> tuple[Any, ...]:
        found = re.findall(r"[0-9]+|[^0-9]", text.lower())
        return [("0", int(piece)) if piece.isdigit() else (piece, 0) for piece in found], text

    assert sorted(texts, key=natural_key) == sorted(texts, key=pieces)


@pytest.mark.slow
def test_expressions_find_what_those_of_python_find() -> None:
    """Random expressions of what both know alike."""
    chance = random.Random(1)
    atoms = [*"ab.^$1_ :A", "[ab]", "[^a]", r"\d", r"\w", r"\b", "(a|b)", "(?:ab)", "[a-c1]", r"\W", r"\s", r"[\d-]"]
    signs = ["", "", "", "", "*", "+", "?", "{2}", "{1,2}", "{0,}", "*?", "|"]
    compared = 0
    for _ in range(3000):
        source = "".join(chance.choice(atoms) + chance.choice(signs) for _ in range(chance.randint(1, 6)))
        texts = ["".join(chance.choice("aAbB1_ :c\n") for _ in range(chance.randint(1, 9))) for _ in range(20)]
        try:
            theirs = re.compile(source.replace("$", r"\Z"), re.IGNORECASE | re.ASCII)
        except re.error:
            with pytest.raises(PatternError):
                FilterPattern(source)
            continue
        if re.search(r"(\^|\$|\\b)[*+?{]", source):  # Python repeats conditions
            continue
        ours = FilterPattern(source)
        compared += 1
        expected = [theirs.search(text) is not None for text in texts]
        assert ours.search([text.lower() for text in texts]).tolist() == expected, source
    assert compared > 1500


@pytest.mark.parametrize("source", ["(a+)+$", "(a|aa)+$", "(x+x+)+y", "(a|b)*a(a|b){15}c"])
def test_no_expression_takes_ages(source: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each of them would keep the search busy for longer than anybody lives, or waits."""
    monkeypatch.setattr(grammar, "PATTERN_SECONDS", 0.2)
    texts = ["a" * 2000 + "!", "x" * 2000, "ab" * 50_000]
    began = time.monotonic()
    with pytest.raises(PatternError, match="takes too long"):
        FilterPattern(source).search(texts)
    assert time.monotonic() - began < 20


def test_the_time_is_that_of_all_texts_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "PATTERN_SECONDS", 0.2)
    began = time.monotonic()
    with pytest.raises(PatternError, match="takes too long"):
        FilterPattern("(a|aa)+$").search(["a" * 2000 + "!"] * 1000)
    assert time.monotonic() - began < 20


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("a" * 201, "longer than"),
        ("((a{99}){99}){99}", "written out"),
        ("(a{999}|b){2}", "written out"),
        ("(?=a)", "not supported"),
        (r"(a)\1", "not supported"),
        ("a*+", "nothing to repeat"),
        ("a{2}{3}", "nothing to repeat"),
        ("(a", "unterminated"),
        ("[a", "unterminated"),
    ],
)
def test_expressions_that_are_refused(source: str, why: str) -> None:
    with pytest.raises(PatternError, match=re.escape(why)):
        FilterPattern(source)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("a{,2}", ["a{,2}"]),
        ("(?:a){e}", ["a{e}"]),
        ("[]", []),
        ("[^]", ["a{,2}", "a{e}", "\n", "[a", "ss", "\ufeff", "٣"]),
        ("[[a]", ["a{,2}", "a{e}", "[a"]),
        ("^.$", ["\ufeff", "٣"]),
        ("^\\s$", ["\n", "\ufeff"]),
        ("^[\\W]$", ["\n", "\ufeff", "٣"]),
        ("\\d", ["a{,2}"]),
        ("ß", []),
        ("a&&b|a||^$|a--b", ["a{,2}", "a{e}", "\n", "[a", "ss", "\ufeff", "٣"]),
    ],
)
def test_means_what_it_means_in_a_browser(source: str, found: list[str]) -> None:
    """Signs that another engine takes for more."""
    texts = ["a{,2}", "a{e}", "\n", "[a", "ss", "\ufeff", "٣"]
    kept = FilterPattern(source).search(texts)
    assert [text for text, there in zip(texts, kept, strict=True) if there] == found


def test_a_slow_filter_is_the_filters_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(grammar, "PATTERN_SECONDS", 0.1)
    slow = table([Definition("name", "Name", "string", None, "")], {"name": ["a" * 300 + "!"]})
    with pytest.raises(QueryProblem, match="takes too long") as problem:
        slow.page(Query(filter="name~(a|aa)+$"))
    assert problem.value.kind == "bad_regex"
    assert problem.value.token == "name~(a|aa)+$"
