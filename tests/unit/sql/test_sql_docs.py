"""What docs/sql.md says is so: its commands print what it shows, its code runs, its list of tables is whole."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from torch_tb_profiler import cli
from torch_tb_profiler.tables.sql.tables import RUN_TABLES, TABLES


@pytest.fixture
def page(repository: Path, sql_cache: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(repository)
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(sql_cache))
    return (repository / "docs" / "sql.md").read_text("utf-8")


def test_commands_print_what_the_page_shows(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```console\n\$ (.*?)\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 3
    for command, shown in blocks:
        program, *words = shlex.split(command)
        assert program == "torch-tb-profiler"
        assert cli.main(words) == 0
        assert capsys.readouterr().out == shown


def test_the_code_runs(page: str) -> None:
    pytest.importorskip("pandas")
    names: dict[str, object] = {}
    for block in re.findall(r"^```python\n(.*?)^```", page, re.MULTILINE | re.DOTALL):
        exec(compile(block, "sql.md", "exec"), names)
    assert names["slowest"] == (("rank2",),)
    assert len(names["frame"]) == 5  # type: ignore[arg-type]


def test_every_table_is_listed(page: str) -> None:
    listed = re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE)
    assert listed == [*(table.name for table in TABLES), *(table.name for table in RUN_TABLES), "columns", "traces"]
