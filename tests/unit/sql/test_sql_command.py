"""`torch-tb-profiler sql`."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest

from tests.tiny import write_trace
from tests.unit.sql.test_sql_safety import CHANGES, FILES, SECRET
from torch_tb_profiler import cli
from torch_tb_profiler.cli import sql as command

pytestmark = pytest.mark.slow

STATEMENT = "select step, count(*) as kernels, sum(duration_ns) as total_ns from kernels group by 1 order by 1"


@pytest.fixture
def trace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))
    return str(write_trace(tmp_path / "logs" / "w.pt.trace.json"))


def output(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    assert cli.main(["sql", *words]) == code
    found = capsys.readouterr()
    if code:
        assert found.err.startswith("torch-tb-profiler: ")
        assert "Traceback" not in found.err
    return found.err if code else found.out


def test_text(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    heads, *rows = output(capsys, trace, STATEMENT).splitlines()
    assert heads.split() == ["step", "kernels", "total_ns", "µs"] or "total_ns" in heads
    assert len(rows) == 2


def test_formats(trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(output(capsys, trace, STATEMENT, "--json"))
    assert found["rows"] == {"step": ["0", "1"], "kernels": [1, 1], "total_ns": [300_000, 300_000]}
    assert [column["unit"] for column in found["columns"]] == [None, None, "ns"]
    assert json.loads(output(capsys, trace, "--jsonl", STATEMENT).splitlines()[0]) == {
        "step": "0",
        "kernels": 1,
        "total_ns": 300_000,
    }
    assert [*csv.reader(io.StringIO(output(capsys, "--csv", trace, STATEMENT)))] == [
        *(["step", "kernels", "total_ns"], ["0", "1", "300000"], ["1", "1", "300000"])
    ]
    target = tmp_path / "rows.parquet"
    output(capsys, trace, "select * from kernels", "-o", str(target))
    duckdb = pytest.importorskip("duckdb")
    assert duckdb.sql(f"select count(*), sum(duration_ns) from '{target}'").fetchall() == [(2, 600_000)]


def test_no_attack_on_the_database_is_answered(trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """What `test_sql_safety` knows of files, the network, settings and changes."""
    secret = tmp_path / "secret.csv"
    secret.write_text(f"a\n{SECRET}\n")
    before = sorted(tmp_path.iterdir())
    for each in (*(f"select * {source}" for source in FILES), *CHANGES):
        query = each.replace("{file}", str(secret)).replace("{folder}", str(tmp_path))
        assert SECRET not in output(capsys, trace, query, code=2), each
    assert sorted(tmp_path.iterdir()) == sorted({*before, tmp_path / "cache"})


def test_large_integers_and_lists(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(
        output(capsys, trace, "select 10::hugeint ** 0, 9007199254740993 a, 2::hugeint << 70 b, [1] c", "--json")
    )
    assert found["rows"]["a"] == [9007199254740993]
    assert found["rows"]["c"] == ["[1]"]


def test_from_a_file_and_from_stdin(
    trace: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "query.sql"
    file.write_text(f"-- of a file\n{STATEMENT};\n")
    expected = output(capsys, trace, STATEMENT, "--csv")
    assert output(capsys, trace, "-f", str(file), "--csv") == expected
    for words in (["-"], ["-f", "-"], []):
        monkeypatch.setattr(sys, "stdin", io.StringIO(STATEMENT))
        assert output(capsys, trace, *words, "--csv") == expected


def test_several_traces(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    folder = Path(trace).parent
    write_trace(folder / "v.pt.trace.json", steps=3)
    asked = "select worker, count(*) n from all_steps group by 1 order by 1"
    assert output(capsys, str(folder), asked, "--csv") == "worker,n\nv,3\nw,2\n"
    assert output(capsys, str(folder), "--worker", "v", "select count(*) n from steps", "--csv") == "n\n3\n"
    assert "there are 2 traces" in output(capsys, str(folder), "select count(*) from steps", code=2)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["select nothing from steps"], 'column "nothing" not found'),
        (["drop table x"], "only SELECT"),
        (["select 1; select 2"], "one statement"),
        (["select 1", "-f", "x"], "exclude each other"),
        (["-f", "/no/such/file"], "cannot read /no/such/file"),
        (["select 1", "--step-pattern", "("], "--step-pattern"),
    ],
)
def test_what_is_wrong_is_a_sentence(
    trace: str, words: list[str], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told in output(capsys, trace, *words, code=2)


def test_an_error_points_at_its_place_in_the_query(trace: str, capsys: pytest.CaptureFixture[str]) -> None:
    told = output(capsys, trace, "select\nfoo from steps", code=2)
    assert "\ufffd" not in told
    sentence, *_, line, mark = told.splitlines()
    assert "foo" in sentence
    assert line.endswith("LINE 2: foo from steps")
    assert line.index("foo") == mark.index("^")


def test_a_path_that_holds_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "no trace" in output(capsys, str(tmp_path), "select 1", code=2)
    assert "stdin is the trace" in output(capsys, "-", "-", code=2)


def test_without_duckdb(trace: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "pip install 'torch-tb-profiler[sql]'" in output(capsys, trace, "select 1", code=2)


def test_one_query_after_another(
    trace: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = iter(["select 7 as", "  seven;", "select nothing", "", "", "select 8 as eight", ""])
    prompts = []

    def read(prompt: str) -> str:
        prompts.append(prompt)
        try:
            return next(lines)
        except StopIteration:
            raise EOFError from None

    monkeypatch.setattr("builtins.input", read)
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    assert cli.main(["sql", trace]) == 0
    found = capsys.readouterr()
    assert "seven" in found.out
    assert "eight" in found.out
    assert 'column "nothing" was not found' in found.err
    assert prompts[:3] == [command._PROMPT, command._MORE, command._PROMPT]
