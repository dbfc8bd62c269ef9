"""The digests of `make answers` tell a changed value from a changed text, and name the place."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from tests.answer_digests import compare, digests


def answer(**changes: Any) -> bytes:
    column = {"key": "calls", "label": "Calls", "help": "How many."}
    return json.dumps(
        {"columns": [column], "rows": {"name": ["aten::mm"], "calls": [3]}, "version": "a"} | changes
    ).encode()


def test_a_value_and_a_text_change_one_digest_each() -> None:
    values, texts = digests(answer())
    assert digests(answer(rows={"name": ["aten::mm"], "calls": [4]})) != (values, texts)
    assert digests(answer(rows={"name": ["aten::mm"], "calls": [4]}))[1] == texts
    assert digests(answer(rows={"name": ["aten::bmm"], "calls": [3]}))[1] == texts
    changed = digests(answer(columns=[{"key": "calls", "label": "Calls", "help": "How often."}]))
    assert changed[0] == values
    assert changed[1] != texts


def test_the_version_of_a_timeline_is_no_change() -> None:
    assert digests(answer(version="b")) == digests(answer())


def test_a_comparison_names_the_answer_and_the_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, calls in (("before", 3), ("after", 4)):
        body = answer(rows={"name": ["aten::mm"], "calls": [calls]})
        (tmp_path / name).mkdir()
        (tmp_path / name / "digests.json").write_text(json.dumps({"/api/operators": digests(body)}))
        with zipfile.ZipFile(tmp_path / name / "answers.zip", "w") as archive:
            archive.writestr("\\api\\operators", body)
    assert compare(tmp_path / "before", tmp_path / "before") == 0
    assert compare(tmp_path / "before", tmp_path / "after") == 1
    said = capsys.readouterr().out
    assert "/api/operators: values\n    .rows.calls[0]: 3 -> 4" in said
