"""A file that a command cannot use is told the same way by every command, and so is what opens it."""

from __future__ import annotations

import bz2
import json
import lzma
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.snapshots import dumped, fragmented
from torch_tb_profiler.cli import main

TRACE = json.dumps({"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 5}]})


@pytest.fixture
def snapshots(tmp_path: Path) -> tuple[str, str]:
    """In a folder whose name a shell would take apart."""
    folder = tmp_path / "two runs"
    folder.mkdir()
    for steps, name in ((3, "a.pickle"), (5, "b.pickle")):
        (folder / name).write_bytes(dumped(fragmented(steps=steps).snapshot()))
    return str(folder / "a.pickle"), str(folder / "b.pickle")


def refused(capsys: pytest.CaptureFixture[str], tmp_path: Path, *arguments: str) -> str:
    assert main([*arguments, "--cache-dir", str(tmp_path / "cache")]) in (2, 3)
    return capsys.readouterr().err


def runs(capsys: pytest.CaptureFixture[str], tmp_path: Path, message: str) -> None:
    """What a message gives between backticks is a command that works."""
    program, *command = shlex.split(message.split("`")[1])
    assert program == "torch-tb-profiler"
    assert main([*command, "--cache-dir", str(tmp_path / "cache")]) == 0
    assert capsys.readouterr().out


@pytest.mark.parametrize("command", [["compare"], ["compare", "--each"], ["check"]])
def test_snapshots_are_compared_by_memory(
    command: list[str], snapshots: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    base, new = snapshots
    wanted = f"`{shlex.join(['torch-tb-profiler', 'memory', new, '--against', base])}`"
    for sides in ([base, new], ["--base", base, new]):
        said = refused(capsys, tmp_path, *command, *sides)
        assert wanted in said
    runs(capsys, tmp_path, said)
    trace = tmp_path / "w.pt.trace.json"
    trace.write_text(TRACE)
    assert f"memory {shlex.quote(new)}` opens it" in refused(capsys, tmp_path, *command, str(trace), new)


@pytest.mark.parametrize(
    "command", ["summary", "operators", "health", "traces", "communication", "rank-ranges", "ingest", "export"]
)
def test_commands_about_traces_say_what_opens_a_snapshot(
    command: str, snapshots: tuple[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = ["-o", str(tmp_path / "x.json.gz")] if command == "export" else []
    runs(capsys, tmp_path, refused(capsys, tmp_path, command, snapshots[0], *output))


@pytest.mark.parametrize("name", ["w.pt.trace.json", "w.pt.trace.json.xz", "w.json.xz", "w.json.bz2", "w.json.gz"])
@pytest.mark.parametrize("pack", [lzma.compress, bz2.compress])
def test_another_packing_is_told_the_same_of_a_file_and_in_a_directory(
    pack: Callable[[bytes], bytes], name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "run" / name
    file.parent.mkdir()
    file.write_bytes(pack(TRACE.encode()))
    of_file, of_folder = (refused(capsys, tmp_path, "summary", str(path)) for path in (file, file.parent))
    told = f"{name} is packed with "
    assert told in of_file
    assert of_file.partition(told)[2] == of_folder.partition(told)[2]
