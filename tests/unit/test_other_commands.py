"""health, doctor, completion, and how far reading is."""

from __future__ import annotations

import ast
import io
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.doctor import RECOMMENDED
from torch_tb_profiler.cli.parsers import command_parser
from torch_tb_profiler.cli.registry import COMMANDS
from torch_tb_profiler.cli.work.doctor_facts import without_home
from torch_tb_profiler.cli.work.progress import ReadingLine, reading_text

DAMAGED = Path(__file__).parent.parent / "damaged"


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A healthy trace, one that is cut off, one that is none, and a file that is skipped."""
    write_trace(tmp_path / "logs" / "good" / "a.pt.trace.json")
    text = (tmp_path / "logs" / "good" / "a.pt.trace.json").read_bytes()
    (tmp_path / "logs" / "cut").mkdir()
    (tmp_path / "logs" / "cut" / "b.pt.trace.json").write_bytes(text[: len(text) * 2 // 3])
    (tmp_path / "logs" / "cut" / "notes.json").write_text('{"notes": []}')
    return tmp_path / "logs"


def said(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> str:
    capsys.readouterr()
    assert main(words) == code
    return capsys.readouterr().out


def test_health_of_a_healthy_trace(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = said(capsys, "health", str(logs / "good"))
    assert text.startswith("good · a · span default: ")
    assert "error" not in text
    answer = json.loads(said(capsys, "health", str(logs / "good"), "--json"))["traces"][0]
    for note in answer["notes"]:
        assert note["text"] in text
        assert note["remedy"] is None or f"→ {note['remedy']}" in text


def test_health_of_a_damaged_trace_ends_with_3(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = json.loads(said(capsys, "health", str(logs / "cut"), "--json", code=3))["traces"][0]
    errors = [note["text"] for note in answer["notes"] if note["severity"] == "error"]
    first = said(capsys, "health", str(logs / "cut"), code=3).splitlines()[1]
    assert first.strip().startswith("error")
    assert errors[0] in first


def test_doctor_of_a_log_directory(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(said(capsys, "doctor", str(logs), "--json", code=3))
    assert found["machine"]["program"]
    assert found["machine"]["packages"]["numpy"].split(".")[0].isdecimal()
    assert found["cache"]["limit_bytes"] == 10 * 1000**3
    assert found["storage"]["file"] == "available"
    path = found["path"]
    assert (path["runs"], len(path["traces"])) == (2, 2)
    assert [(each["run"], each["file"]) for each in path["skipped"]] == [("cut", "notes.json")]
    assert path["skipped"][0]["reason"]
    by_run = {trace["run"]: trace for trace in path["traces"]}
    assert any(note["severity"] == "error" for note in by_run["cut"]["notes"])
    text = said(capsys, "doctor", str(logs), code=3)
    for part in ("torch-tb-profiler", "numpy", "cache ", "skipped cut · notes.json: ", "error  "):
        assert part in text
    assert "error" not in said(capsys, "doctor", str(logs / "good"))


def test_doctor_without_a_path(capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(said(capsys, "doctor", "--json"))["path"] is None


def test_doctor_imports_no_torch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its version is read from its metadata."""
    package = tmp_path / "site" / "torch"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("raise SystemExit('torch was imported')")
    metadata = tmp_path / "site" / "torch-9.8.7.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: torch\nVersion: 9.8.7\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    from torch_tb_profiler.cli.work.doctor_facts import machine

    assert machine().packages["torch"] == "9.8.7"


def test_doctor_keeps_secrets(logs: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    home = logs.parent
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("USERPROFILE", str(home))
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden-1")
    monkeypatch.setenv("TORCH_TB_PROFILER_SOME_TOKEN", "hidden-2")
    monkeypatch.setenv("TORCH_PROFILER_START_URL", "https://name:hidden-3@host/x?sig=hidden-4")
    monkeypatch.setenv("SECRET", "hidden-5")
    for words in (("doctor", str(logs), "--json"), ("doctor", str(logs))):
        text = said(capsys, *words, code=3)
        assert "hidden" not in text
        assert str(home) not in text
        assert "~/logs" in text
        assert "https://host/x" in text


def test_a_home_directory_is_replaced_where_it_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("USERPROFILE", "/home/ann")
    assert without_home("/home/ann/x /home/anna/x '/home/ann'") == "~/x /home/anna/x '~'"


def test_the_recommended_recording_is_that_of_the_page(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert said(capsys, "doctor", "--profiler") == RECOMMENDED
    ast.parse(RECOMMENDED)
    page = (repository / "docs" / "recording.md").read_text("utf-8")
    begin = RECOMMENDED.index("with profile(")
    assert RECOMMENDED[begin : RECOMMENDED.index(") as profiler:")] in page


# completion -------------------------------------------------------------------------------------------------


def all_options() -> list[tuple[str, str]]:
    return [
        (name, option)
        for name, place in COMMANDS.items()
        for action in command_parser(place.load())._actions
        for option in action.option_strings
    ]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_option_of_every_command_is_completed(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    script = said(capsys, "completion", shell)
    for name, option in all_options():
        if shell == "bash":
            (words,) = re.findall(rf'^\s*{name}\) words="([^"]*)" ;;', script, re.MULTILINE)
            assert option in words.split()
        elif shell == "zsh":
            part = script[script.index(f"\n    {name})") :]
            assert f"'{option}[" in part[: part.index(";;")]
        else:
            flag = f"-l {option[2:]} " if option.startswith("--") else f"-s {option[1:]} "
            lines = [line for line in script.splitlines() if f"from {name}'" in line]
            assert any(flag in line for line in lines), (name, option)


def completed(script: str, *words: str) -> list[str]:
    """What bash offers for the last word."""
    line = f"COMP_WORDS=({' '.join(map(repr, words))}); COMP_CWORD={len(words) - 1}; _torch_tb_profiler"
    command = f'{script}\n{line}\nprintf "%s\\n" "${{COMPREPLY[@]}}"'
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True, timeout=60)
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
def test_bash_completes(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "some_log").mkdir()
    script = said(capsys, "completion", "bash")
    assert completed(script, "torch-tb-profiler", "op") == ["operators"]
    assert completed(script, "torch-tb-profiler", "operators", "--gr") == ["--group-by"]
    assert "name_shape" in completed(script, "torch-tb-profiler", "operators", "--group-by", "")
    assert completed(script, "torch-tb-profiler", "operators", "some") == ["some_log"]
    assert completed(script, "torch-tb-profiler", "export", "-o", "some") == ["some_log"]
    assert {"bash", "zsh", "fish"} <= set(completed(script, "torch-tb-profiler", "completion", ""))
    for shell in ("zsh", "fish"):
        if shutil.which(shell):
            other = said(capsys, "completion", shell)
            subprocess.run([shell, "-n", "-c", other], check=True, timeout=60)


# progress ---------------------------------------------------------------------------------------------------


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_reading_is_told_on_a_terminal_and_then_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("torch_tb_profiler.cli.work.progress.time.monotonic", lambda: now[0])
    out, elsewhere = Terminal(), io.StringIO()
    line, silent = ReadingLine(out), ReadingLine(elsewhere)
    for seconds in (0.1, 0.6, 0.7, 0.9):
        now[0] = 100.0 + seconds
        for each in (line, silent):
            each.show("run/w.pt.trace.json", 10_000_000, round(seconds * 1_000_000), 10)
    line.end()
    silent.end()
    assert elsewhere.getvalue() == ""
    shown = out.getvalue().split("\r")
    assert [each.split(",")[0] for each in shown[1:3]] == [
        "reading w.pt.trace.json: 0.6 of 10.0 MB",
        "reading w.pt.trace.json: 0.9 of 10.0 MB",
    ]
    assert shown[-2].strip() == shown[-1] == ""
    assert "6 s left" in reading_text("w", 40_000_000, 10_000_000, 500_000, 2.0)


def test_a_large_file_is_told_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With what reading itself reports."""
    from torch_tb_profiler.cli.work import traces

    monkeypatch.setattr("torch_tb_profiler.cli.work.progress._PATIENCE", 0.0)
    monkeypatch.setattr("torch_tb_profiler.cli.work.progress._PAUSE", 0.0)
    monkeypatch.setattr("torch_tb_profiler.workspace.reading.worker.PROGRESS_SECONDS", 0.0)
    out: Any = Terminal()
    monkeypatch.setattr(traces.sys, "stderr", out)
    write_trace(tmp_path / "run" / "a.pt.trace.json", steps=2000)
    assert main(["steps", str(tmp_path / "run"), "-o", str(tmp_path / "s.csv")]) == 0
    assert "reading a.pt.trace.json: " in out.getvalue()
    assert out.getvalue().endswith("\r")
