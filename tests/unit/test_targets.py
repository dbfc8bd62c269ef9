"""No command overwrites what it reads, nor any trace or memory snapshot; what it wrote itself it may write again."""

from __future__ import annotations

import contextlib
import gzip
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.snapshots import dumped, random_run
from tests.tiny import write_trace
from tests.unit.test_bad_input import apart, ended
from torch_tb_profiler.cli.parsers import READ, command_parser
from torch_tb_profiler.cli.registry import COMMANDS

pytestmark = pytest.mark.slow

__all__ = ["apart"]

#: every way to write a file: of a trace and a target, the words of a command
WAYS: dict[str, Callable[[str, str], list[str]]] = {
    "export": lambda trace, to: ["export", trace, "--format", "trace", "-o", to],
    "stacks": lambda trace, to: ["export", trace, "--format", "folded", "--weight", "host", "-o", to],
    "table of export": lambda trace, to: ["export", trace, "--table", "steps", "-o", to],
    "report": lambda trace, to: ["report", trace, "-o", to],
    "table": lambda trace, to: ["steps", trace, "--json", "-o", to],
    "parquet": lambda trace, to: ["steps", trace, "--parquet", to],
    "sql": lambda trace, to: ["sql", trace, "select 1 as one", "--csv", "-o", to],
    "check": lambda trace, to: ["check", trace, trace, "--format", "junit", "-o", to],
    "save": lambda trace, to: ["check", trace, "--save", to],
    "history": lambda trace, to: ["check", trace, "--history", to],
}
#: what is written is chosen by the extension
ENDINGS = {"table of export": ".json"}


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "logs" / "run" / "w.pt.trace.json")


@contextlib.contextmanager
def unchanged(*paths: Path) -> Iterator[None]:
    before = [path.read_bytes() for path in paths]
    yield
    assert [path.read_bytes() for path in paths] == before


def refused(capsys: pytest.CaptureFixture[str], words: list[str]) -> str:
    code, out, err = ended(capsys, *words)
    assert (code, out) == (2, ""), err
    (told,) = [line for line in err.splitlines() if line.startswith("torch-tb-profiler: ")]
    return told


def names_of(trace: Path) -> dict[str, Path]:
    """The same file under other names."""
    folder = trace.parents[2]
    (folder / "link.json").symlink_to(trace)
    (folder / "hard.json").hardlink_to(trace)
    (folder / "elsewhere").symlink_to(trace.parent)
    return {
        "itself": trace,
        "a link": folder / "link.json",
        "a hard link": folder / "hard.json",
        "through a link": folder / "elsewhere" / trace.name,
        "with ..": trace.parent / ".." / "run" / trace.name,
    }


@pytest.mark.parametrize("way", WAYS)
def test_what_is_read_is_not_overwritten(way: str, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = names_of(trace)
    for source in (trace, f"file://{trace}", trace.parent, trace.parents[1]):
        for name in names.values():
            with unchanged(trace):
                refused(capsys, WAYS[way](str(source), str(name)))


@pytest.mark.parametrize("kind", ["a trace", "a trace without its name", "a snapshot", "a damaged trace"])
@pytest.mark.parametrize("way", WAYS)
def test_no_trace_is_overwritten(
    way: str, kind: str, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`check --save logs/*`: the shell makes the first trace the target, and the others are read."""
    other = write_trace(tmp_path / "other.pt.trace.json")
    if kind == "a trace without its name":
        other = other.rename(tmp_path / "other.json")
    if kind == "a snapshot":
        other.unlink()
        other = tmp_path / "memory.json"
        other.write_bytes(dumped(random_run(1).snapshot()))
    if kind == "a damaged trace":
        other.write_bytes(b"\0" * 99)
        if way == "export":
            pytest.skip("what is no trace any more is replaced by one")
    with unchanged(other):
        told = refused(capsys, WAYS[way](str(trace), str(other)))
    assert str(other) in told


@pytest.mark.parametrize("way", WAYS)
def test_what_was_written_is_written_again(
    way: str, trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / f"out{ENDINGS.get(way, '.json')}"
    for _ in range(2):
        code, _, err = ended(capsys, *WAYS[way](str(trace), str(target)))
        assert code == (3 if way == "check" else 0), err  # a few steps cannot be judged
        assert target.stat().st_size > 0


def test_what_export_wrote_is_a_trace_for_all_others(
    trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may be written again, but not where it is read, alone or as a trace of its run."""
    cut = tmp_path / "cut.pt.trace.json.gz"
    assert ended(capsys, "export", str(trace), "-o", str(cut))[0] == 0
    with unchanged(cut):
        assert refused(capsys, ["check", str(trace), "--save", str(cut)])
        assert refused(capsys, ["export", str(cut), "-o", str(cut)])
        inside = cut.rename(trace.parent / cut.name)
        assert refused(capsys, ["export", str(trace.parent), "--worker", "w", "-o", str(inside)])
        inside.rename(cut)


@pytest.mark.parametrize("folder", ["run", "run/"])
def test_an_export_into_the_folder_that_is_read(folder: str, trace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    packed = trace.with_name("w.pt.trace.json.gz")
    packed.write_bytes(gzip.compress(trace.read_bytes()))
    trace.unlink()
    with unchanged(packed):
        refused(capsys, ["export", str(trace.parent), "-o", str(trace.parents[1] / folder)])
    assert list(trace.parent.iterdir()) == [packed]


def test_stdin_and_stdout(trace: Path) -> None:
    command = [sys.executable, "-m", "torch_tb_profiler", "steps", "--csv"]
    with unchanged(trace):
        with trace.open("rb") as stdin:
            done = subprocess.run([*command, "-", "-o", str(trace)], stdin=stdin, capture_output=True, check=False)
        assert (done.returncode, b"is read" in done.stderr) == (2, True)
        with trace.open("ab") as stdout:
            done = subprocess.run([*command, str(trace)], stdout=stdout, stderr=subprocess.PIPE, check=False)
        assert (done.returncode, b"is read" in done.stderr) == (2, True)


def test_other_files_that_are_read(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    query, base, settings = tmp_path / "query.csv", tmp_path / "base.json", Path("torch-tb-profiler.toml")
    query.write_text("select 1 as one")
    settings.write_text('[check]\nfail-on = ["step_time > 5%"]\n')
    assert ended(capsys, "check", str(trace), "--save", str(base))[0] == 0
    with unchanged(query, base, settings):
        refused(capsys, ["sql", str(trace), "-f", str(query), "-o", str(query)])
        refused(capsys, ["check", str(base), str(trace), "--save", str(base)])
        refused(capsys, ["check", "--base", str(tmp_path / "b*.json"), str(trace), "-o", str(base)])
        refused(capsys, ["check", str(trace), str(trace), "-o", str(settings)])
        refused(capsys, ["report", str(trace), "--compare", str(query), "-o", str(query)])


def test_two_outputs_of_one_name(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "out")
    words = ["check", str(trace), str(trace), "-o", str(tmp_path / "out")]
    for more in (["-o", str(tmp_path / "link")], ["--save", str(tmp_path / "out")], ["--history", "../out"]):
        assert "two outputs" in refused(capsys, [*words, *more])
    assert not (tmp_path / "out").exists()


def test_a_baseline_may_grow_where_it_is_read(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nothing is lost by appending."""
    history = tmp_path / "history.jsonl"
    for count in (1, 2):
        base = ["--base", str(history)] if count == 2 else []
        assert ended(capsys, "check", *base, str(trace), "--history", str(history))[0] in (0, 3)
        assert len(history.read_text("utf-8").splitlines()) == count


@pytest.mark.skipif(os.name == "nt", reason="other names of devices")
def test_pipes_and_devices_stay(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "link").symlink_to("/dev/null")
    for name in ("/dev/null", str(tmp_path / "link")):
        assert ended(capsys, "report", str(trace), "-o", name)[0] == 0
        assert Path(name).is_char_device()


def test_a_report_is_replaced_whole_or_not_at_all(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "report" / "page.html"
    target.parent.mkdir()
    target.write_text("as it was")

    def fails(path: Path, content: bytes) -> int:
        with path.open("wb") as stream:
            stream.write(content[:100])
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch, unchanged(target):
        patch.setattr(Path, "write_bytes", fails)
        assert "No space left on device" in refused(capsys, ["report", str(trace), "-o", str(target)])
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_path_of_a_command_is_known(name: str) -> None:
    """A new option that takes a path is one that is read, or one that is written through `targets`."""
    written = {"output", "outputs", "parquet", "save", "history", "cache_dir"}
    paths = {
        action.dest
        for action in command_parser(COMMANDS[name].load())._actions
        if action.metavar in ("PATH", "FILE", "BASE", "ROOT", "LOGDIR", "DIR")
    }
    assert paths <= {*READ, *written}
