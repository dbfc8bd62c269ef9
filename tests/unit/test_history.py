"""`check --history`: records are appended whole or not at all, and a damaged line costs only itself."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.gate_pairs import config, recorded, write
from torch_tb_profiler.analysis.change.figures import RecordingFigures
from torch_tb_profiler.cli import main
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE
from torch_tb_profiler.workspace.recordings import RecordingError, append_to_history, saved_recordings, saved_text

resource = pytest.importorskip("resource", reason="takes limits of processes")

APPEND = """
import resource, sys
from pathlib import Path
from torch_tb_profiler.workspace.recordings import RecordingError, append_to_history, saved_recordings
source, target, times, limit = sys.argv[1:]
found = saved_recordings(source).recordings
if int(limit):
    sys.dont_write_bytecode = True  # Python keeps compiled modules that a limit has cut off
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(limit), int(limit)))
for _ in range(int(times)):
    try:
        append_to_history(target, found)
    except RecordingError as error:
        sys.exit(str(error))
"""


@pytest.fixture(scope="module")
def figures() -> RecordingFigures:
    return recorded(config(1, steps=4, layers=1))


@pytest.fixture
def line(figures: RecordingFigures) -> bytes:
    return saved_text([figures]).encode()


def appending(source: Path, history: Path, times: int, limit: int = 0) -> subprocess.Popen[str]:
    words = [sys.executable, "-c", APPEND, str(source), str(history), str(times), str(limit)]
    return subprocess.Popen(words, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("left", [0.1, 0.5, 0.999])
def test_what_was_left_of_a_line_is_ended(left: float, line: bytes, figures: RecordingFigures, tmp_path: Path) -> None:
    history = tmp_path / "history.jsonl"
    part = line[: int(len(line) * left)]
    for before in (line + part, line + part + line[:-1], part):
        history.write_bytes(before)
        append_to_history(str(history), [figures, figures])
        assert history.read_bytes() == before + b"\n" + line + line
        found = saved_recordings(str(history))
        assert found.recordings[-2:] == [figures, figures]
        assert (len(found.recordings), found.damaged) == (2 + before.startswith(line), 1)


@pytest.mark.parametrize(
    "damage",
    [
        lambda line: line[: len(line) // 2],
        lambda line: line[:9],
        lambda line: b"\0" * 500,
        lambda line: b"\xff\xfe nonsense",
        lambda line: line.replace(b'"lanes":1', b'"lanes":0').rstrip(),
    ],
    ids=["half", "nine bytes", "a hole", "nonsense", "impossible"],
)
@pytest.mark.parametrize("place", [1, 2])
def test_a_damaged_line_costs_only_itself(
    damage: object, place: int, line: bytes, figures: RecordingFigures, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    assert callable(damage)
    lines = [line, line]
    lines.insert(place, damage(line) + b"\n")
    (tmp_path / "history.jsonl").write_bytes(b"".join(lines))
    found = saved_recordings(str(tmp_path / "history.jsonl"))
    assert (found.recordings, found.damaged) == ([figures, figures], 1)
    (told,) = caplog.messages
    assert f"line {place + 1}, is " in told


def test_nothing_but_damaged_lines(line: bytes, tmp_path: Path) -> None:
    (tmp_path / "history.jsonl").write_bytes(2 * (line[:99] + b"\n"))
    with pytest.raises(RecordingError, match="line 1, is not a saved baseline, or is damaged"):
        saved_recordings(str(tmp_path / "history.jsonl"))


def test_a_baseline_over_several_lines_is_one(line: bytes, figures: RecordingFigures, tmp_path: Path) -> None:
    for text in (json.dumps(json.loads(line), indent=1), line.decode().replace(",", ",\n", 3)):
        (tmp_path / "base.json").write_text(text)
        assert saved_recordings(str(tmp_path / "base.json")).recordings == [figures]


def test_no_room(line: bytes, tmp_path: Path) -> None:
    """The limit lies within the line that is appended, as the end of a disk does."""
    source, history = tmp_path / "source.json", tmp_path / "history.jsonl"
    source.write_bytes(line)
    history.write_bytes(line)
    process = appending(source, history, 1, limit=len(line) * 3 // 2)
    assert "cannot be written" in process.communicate(timeout=60)[1]
    assert history.read_bytes() == line


@pytest.mark.slow
def test_several_processes_append_at_once(line: bytes, tmp_path: Path) -> None:
    source, history = tmp_path / "source.json", tmp_path / "history.jsonl"
    source.write_bytes(line)
    processes = [appending(source, history, 40) for _ in range(3)]
    assert [process.communicate(timeout=120)[1] for process in processes] == [""] * 3
    assert history.read_bytes() == 120 * line


def test_the_command_and_the_program_say_it(
    line: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    write(config(2, steps=4, layers=1), tmp_path / "new")
    history = tmp_path / "history.jsonl"
    history.write_bytes(line + line[:500] + b"\n" + line)
    main(["check", str(history), str(tmp_path / "new"), "--format", "text", "--format", "json", "-o", "out.json"])
    assert "1 line of the history cannot be read" in capsys.readouterr().out
    assert json.loads((tmp_path / "out.json").read_text())["base"]["damaged"] == 1
    assert torch_tb_profiler.check(history, tmp_path / "new").base.damaged == 1
    assert len(torch_tb_profiler.trends(history).recordings) == 2


@pytest.mark.parametrize("content", [b"not a history\n", b"\0" * 100])
def test_other_files_are_left_alone(content: bytes, figures: RecordingFigures, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(RecordingError, match="is not a history"):
        append_to_history(str(tmp_path / "file"), [figures])
    assert (tmp_path / "file").read_bytes() == content
