"""What is computed once is kept as long as it is wanted, and no longer."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.analysis.question import BUNDLES
from torch_tb_profiler.insights import diagnosis
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.structure import Memo
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.trace import column_file, read_to_file, read_trace
from torch_tb_profiler.trace.schema import OperatorRanges
from torch_tb_profiler.web.answers.trace import first_of_trace
from torch_tb_profiler.workspace import OpenTrace


def unexpected() -> str:
    raise AssertionError("it is known")


def test_a_memo_knows_what_its_parent_knows_and_adds_nothing_to_it() -> None:
    first = Memo()
    first.get("a", lambda: "of the first")
    second = Memo(parent=first)
    assert second.get("a", unexpected) == "of the first"
    assert second.get("b", lambda: "of the second") == "of the second"
    assert "b" in second
    assert "b" not in first
    second.clear()
    assert "b" not in second
    assert second.get("a", unexpected) == "of the first"


@pytest.fixture
def text(tmp_path: Path) -> bytes:
    return write_trace(tmp_path / "w.json", steps=8).read_bytes()


def test_findings_are_the_same_after_all_else_is_forgotten(text: bytes) -> None:
    model = Model(read_trace(BytesIO(text)))
    found = diagnosis(model)
    model.answers.clear()
    assert diagnosis(model) is found
    assert not len(model.answers)
    assert diagnosis(Model(model.trace)) == found


def test_what_is_computed_alone_leaves_nothing_but_itself(text: bytes) -> None:
    alone = [q for q in QUESTIONS if q.isolated is not None]
    assert alone
    trace = OpenTrace("run", "worker", "1", "key", 1, 1)
    for question in alone:
        model = Model(read_trace(BytesIO(text)))
        assert question.isolated is not None
        first, answer = [each for bundle in BUNDLES for each in first_of_trace((question,), trace, model, bundle)]
        assert first[0] == question.isolated.name
        first[1](model)
        assert not len(model.answers)
        answer[1](model)
        kept = set(model.answers._known)
        other = Model(model.trace)
        question.isolated(other)
        assert set(other.answers._known) - kept


def test_what_pages_ask_when_they_open_is_answered_ahead(text: bytes) -> None:
    """But the critical path, and what is asked with a click: categories and slices."""
    model = Model(read_trace(BytesIO(text)))
    asked_of_traces = [q for q in QUESTIONS if q.report and q.about != "snapshot"]
    later = {question.name for question in asked_of_traces if not question.precomputed(model)}
    assert later == {"category", "critical_path", "trace/slices"}


def test_what_was_kept_is_not_computed_again(text: bytes) -> None:
    first = Model(read_trace(BytesIO(text)))
    content = diagnosis.content(first)
    asked: list[str] = []
    again, damaged = Model(first.trace), Model(first.trace)
    again.kept = lambda name: asked.append(name) or content  # type: ignore[func-returns-value]
    assert diagnosis(again) == diagnosis(first)
    assert diagnosis(again) is diagnosis(again)
    assert asked == [diagnosis.name]
    assert not len(again.answers)
    damaged.kept = lambda _: content[: len(content) // 2]
    assert diagnosis(damaged) == diagnosis(first)
    assert len(damaged.answers)


def test_a_column_is_read_when_it_is_used(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "w.columns"
    read_to_file(BytesIO(text), path)
    operators = column_file.open_trace(path).table(OperatorRanges)
    names = OperatorRanges.column_names()
    assert not set(names) & set(vars(operators))
    assert len(operators.external_id) == len(operators)
    assert set(names) & set(vars(operators)) == {"external_id", names[0]}
    assert operators.external_id is operators.external_id
    with pytest.raises(AttributeError, match="OperatorRanges has no unheard_of"):
        getattr(operators, "unheard_of")  # noqa: B009


def test_a_damaged_column_costs_only_who_uses_it(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "w.columns"
    read_to_file(BytesIO(text), path)
    whole = column_file.open_trace(path)
    expected = whole.events.name.tolist()
    content = bytearray(path.read_bytes())
    block = whole._load.__self__.index.tables["events"]["start"][0]  # type: ignore[attr-defined]
    assert block.length
    content[block.offset] ^= 1
    path.write_bytes(content)
    again = column_file.open_trace(path)
    assert again.events.name.tolist() == expected
    with pytest.raises(column_file.ColumnFileError):
        _ = again.events.start
