"""Every command where its input is of another kind, and where its output has no place: a sentence, no fault."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path

import pytest

from tests.flight_recorder import HANG
from tests.snapshots import dumped, random_run
from tests.tiny import write_trace
from tests.unit.test_bad_input import INPUTS, NEEDED, apart, bad_input, commands, ended
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.messages import BAD_INPUT, CLOSED_PIPE, INTERRUPTED, OUR_FAULT, UNSOUND
from torch_tb_profiler.cli.registry import COMMANDS

pytestmark = pytest.mark.slow

__all__ = ["apart"]

#: what a command is given beside a trace; those that are not here take one alone
WORDS: dict[str, Callable[[str], list[str]]] = {
    "sql": lambda path: [path, "select count(*) from steps"],
    "check": lambda path: [path, path],
    "prove": lambda path: [path, path, "--finding", "device_idle"],
    "compare": lambda path: [path, path],
    "what-if": lambda path: [path, "data:0"],
    "completion": lambda _: ["zsh"],
    "cache": lambda _: [],
    "mcp": lambda _: ["--skill"],
    "hang": lambda _: [str(HANG)],
}
#: those that read traces once, and then end
READING = sorted(set(COMMANDS) - {"serve", "demo", "completion", "cache", "mcp", "hang"})
PRINTING = sorted(set(COMMANDS) - {"serve", "demo"})

needs_posix = pytest.mark.skipif(os.name == "nt", reason="no such devices there")


def words_of(name: str, path: Path) -> list[str]:
    if name == "memory" and path.name.endswith(".json"):
        path = path.with_name("snapshot.pickle")
        path.write_bytes(dumped(random_run(1).snapshot()))
    return [name, *NEEDED.get(name, []), *WORDS.get(name, lambda trace: [trace])(str(path))]


def told(err: str) -> list[str]:
    return [line for line in err.splitlines() if line.startswith("torch-tb-profiler: ")]


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", ["check", "compare", "prove", "sql", "what-if"])
def test_of_several_traces_or_of_a_query(
    name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").mkdir()
    code, _, err = ended(capsys, *words_of(name, bad_input(kind, tmp_path / "logs")))
    assert code in ((BAD_INPUT, UNSOUND) if name == "check" else (BAD_INPUT,)), err
    assert len(told(err)) == 1, err


@pytest.mark.parametrize("name", commands(sorted(set(READING) - {"memory"})))
def test_a_snapshot_where_a_trace_is_asked(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "snapshot.pickle"
    path.write_bytes(dumped(random_run(1).snapshot()))
    code, out, err = ended(capsys, *words_of(name, path))
    if name in ("doctor", "ingest", "report", "traces") and code == 0:
        return
    assert code in (BAD_INPUT, UNSOUND), err
    assert len(told(err)) == 1 or (name == "doctor" and path.name in out), err


def test_a_trace_where_a_snapshot_is_asked(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ended(capsys, "memory", str(write_trace(tmp_path / "run" / "w.pt.trace.json")))
    assert code == BAD_INPUT
    assert len(told(err)) == 1, err


@pytest.mark.parametrize("name", commands(READING))
def test_a_trace_without_steps(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_trace(tmp_path / "run" / "w.pt.trace.json")
    path.write_text(path.read_text().replace("ProfilerStep#", "Iteration "))
    code, _, err = ended(capsys, *words_of(name, path))
    assert code in (0, BAD_INPUT, UNSOUND), err
    assert len(told(err)) <= 1, err


@pytest.mark.parametrize("name", commands(COMMANDS))
def test_an_unknown_option(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = ended(capsys, name, "--no-such-option", str(tmp_path))
    assert (code, out) == (BAD_INPUT, "")
    assert err.startswith(f"usage: torch-tb-profiler {name} ")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return write_trace(tmp_path / "run" / "w.pt.trace.json")


@pytest.fixture
def put_stdout(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Make a file of this number stdout; it is closed at the end, whatever then cannot be written."""
    opened = []

    def put(number: int) -> None:
        opened.append(os.fdopen(number, "w", encoding="utf-8"))
        monkeypatch.setattr(sys, "stdout", opened[-1])

    yield put
    monkeypatch.undo()
    for each in opened:
        each.close()


@pytest.mark.parametrize("name", commands([*READING, "serve"]))
def test_an_empty_path(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As of a variable that is not set: what is in the working directory is not meant."""
    write_trace(tmp_path / "w.pt.trace.json")
    monkeypatch.chdir(tmp_path)
    more = {
        "sql": ["select 1"],
        "what-if": ["sync"],
        "check": [""],
        "compare": [""],
        "prove": ["", "--finding", "x"],
    }.get(name, [])
    code, _, err = ended(capsys, name, *NEEDED.get(name, []), "", *more)
    assert code == (UNSOUND if name == "check" else BAD_INPUT)
    assert told(err) == ["torch-tb-profiler: the path is empty"]


def test_no_place_for_stdin(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    code, _, err = ended(capsys, "summary", "-")
    assert code == BAD_INPUT
    (sentence,) = told(err)
    assert sentence.startswith("torch-tb-profiler: stdin cannot be kept in a temporary file: ")


def test_nowhere_to_write(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither a cache nor temporary files."""
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "gone"))
    code, _, err = ended(capsys, "summary", str(trace), "--cache-dir", str(tmp_path / "file"))
    assert code == BAD_INPUT
    (sentence,) = told(err)
    assert "and there is no temporary one (" in sentence


@pytest.mark.parametrize("host", ["a\udcff", "a" * 100, "999.1.1.1"])
def test_a_host_that_is_none(host: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = ended(capsys, "serve", str(tmp_path), "--port", "0", "--host", host)
    assert code == BAD_INPUT
    assert "cannot listen on " in err


@pytest.fixture
def put_stderr(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], None]]:
    opened: list[TextIOWrapper] = []

    def put(path: str) -> None:
        opened.append(open(path, "w", buffering=1, encoding="utf-8"))  # noqa: PTH123, SIM115 - closed below
        monkeypatch.setattr(sys, "stderr", opened[-1])

    yield put
    monkeypatch.undo()
    for each in opened:
        with contextlib.suppress(OSError):  # what could not be written is tried once more
            each.close()


@needs_posix
@pytest.mark.parametrize("name", commands(PRINTING))
def test_nobody_reads_the_output(
    name: str, trace: Path, put_stdout: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    put_stdout(writer)
    code, _, err = ended(capsys, *words_of(name, trace))
    assert code == CLOSED_PIPE, err
    assert told(err) == []


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no such device")
@pytest.mark.parametrize("name", commands(PRINTING))
def test_no_room_for_the_output(
    name: str, trace: Path, put_stdout: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    put_stdout(os.open("/dev/full", os.O_WRONLY))
    code, _, err = ended(capsys, *words_of(name, trace))
    assert code == BAD_INPUT, err
    assert told(err) == ["torch-tb-profiler: the output cannot be written: No space left on device"]


@pytest.mark.skipif(not Path("/dev/full").is_char_device(), reason="there is no such device")
@pytest.mark.parametrize("name", commands(PRINTING))
def test_no_room_for_messages(
    name: str, trace: Path, put_stderr: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    """The exit code says what it says elsewhere: 1 is a rule of `check` that failed."""
    usual, out, _ = ended(capsys, *words_of(name, trace))
    (trace.parents[1] / "here" / "out.json").unlink(missing_ok=True)
    put_stderr("/dev/full")
    code, again, _ = ended(capsys, *words_of(name, trace))
    assert code == usual
    if name != "ingest":  # it says what was there before
        assert again == out
    put_stderr("/dev/full")
    assert main(["summary", str(trace.parent / "nothing")]) == BAD_INPUT


@pytest.mark.parametrize("name", commands(PRINTING))
def test_a_closed_stdout(
    name: str, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Python has none then: what cannot be written is no success."""
    monkeypatch.setattr(sys, "stdout", None)
    code, _, err = ended(capsys, *words_of(name, trace))
    sys.stdout.close()
    assert code == BAD_INPUT, err
    assert told(err) == ["torch-tb-profiler: the output cannot be written: stdout is closed"]


def test_a_closed_stdout_that_is_not_needed(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert ended(capsys, "steps", str(trace), "-o", "steps.csv")[0] == 0
    sys.stdout.close()
    assert Path("steps.csv").read_text().startswith("name")


@needs_posix
@pytest.mark.parametrize("words", [["--help"], ["--version"], ["steps", "--help"]])
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_help_that_cannot_be_written(words: list[str], unbuffered: str) -> None:
    command = [sys.executable, "-m", "torch_tb_profiler", *words]
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=environment, check=False)
    assert done.returncode == BAD_INPUT
    assert told(done.stderr) == ["torch-tb-profiler: the output cannot be written: No space left on device"]


def failing_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr("torch_tb_profiler.cli.sql.SqlCommand.run", fails)


def test_memory_that_others_lack(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    failing_with(RuntimeError("Out of Memory Error: Failed to allocate block of 32768 bytes"), monkeypatch)
    code, _, err = ended(capsys, "sql", str(trace), "select 1")
    assert code == BAD_INPUT
    (sentence,) = told(err)
    assert "there is not enough memory" in sentence


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the system does not say what a process has taken")
@pytest.mark.parametrize("share", [0.5, 1.0, None])
def test_an_error_of_an_extension_is_memory_only_at_the_limit(
    share: float | None, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It may as well be a fault. share: of the limit of the address space that was reached; None: there is none."""
    import resource

    status = Path("/proc/self/status").read_text()
    peak = next(int(line.split()[1]) << 10 for line in status.splitlines() if line.startswith("VmPeak"))
    limit = resource.RLIM_INFINITY if share is None else int(peak / share)
    monkeypatch.setattr(resource, "getrlimit", lambda _: (limit, resource.RLIM_INFINITY))
    failing_with(SystemError("error return without exception set"), monkeypatch)
    code, _, err = ended(capsys, "sql", str(trace), "select 1")
    assert code == (BAD_INPUT if share == 1 else OUR_FAULT)
    (sentence,) = told(err)
    assert ("there is not enough memory" if share == 1 else "a fault of this program") in sentence


def test_no_memory_to_find_out_either(
    trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    failing_with(SystemError("<function f> returned NULL without setting an exception"), monkeypatch)
    monkeypatch.setattr(Path, "read_text", fails)
    assert ended(capsys, "sql", str(trace), "select 1")[0] == BAD_INPUT


@pytest.mark.parametrize("name", commands(sorted(set(READING) - {"ingest", "doctor", "health"})))
def test_no_memory(name: str, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def fails(*_: object, **__: object) -> None:
        raise MemoryError

    for where in ("workspace.local_workspace.ask_together", "serving.servers.report", "cli.work.traces.find_traces"):
        monkeypatch.setattr(f"torch_tb_profiler.{where}", fails)
    code, _, err = ended(capsys, *words_of(name, trace))
    assert code == BAD_INPUT, err
    (sentence,) = told(err)
    assert "there is not enough memory" in sentence
    assert f"{trace.name}: " in sentence or name == "memory"


class Interrupted(TextIOWrapper):
    """Somebody presses Ctrl-C when something is printed."""

    def write(self, text: str) -> int:
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", commands(PRINTING))
def test_interrupted(
    name: str, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Path(os.devnull).open("wb") as nowhere:
        monkeypatch.setattr(sys, "stdout", Interrupted(nowhere))
        code, _, err = ended(capsys, *words_of(name, trace))
    assert code == INTERRUPTED
    assert told(err) == []


@pytest.mark.parametrize("name", commands(READING))
def test_no_place_for_the_cache(
    name: str, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing can be kept, the answer is the same."""
    usual, out, _ = ended(capsys, *words_of(name, trace))
    (trace.parents[1] / "a file").write_text("")
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(trace.parents[1] / "a file" / "cache"))
    code, again, err = ended(capsys, *words_of(name, trace))
    if name == "ingest":  # it fills the cache
        assert (code, len(told(err))) == (BAD_INPUT, 1)
        return
    assert code == usual, err
    if name not in ("doctor", "report"):  # they say where it is
        assert again == out


@pytest.mark.parametrize("name", commands(READING))
def test_a_cache_without_a_path(
    name: str, trace: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", "file://")
    code, _, err = ended(capsys, *words_of(name, trace))
    assert (code, told(err)) == (BAD_INPUT, ["torch-tb-profiler: file://: the path is empty"])


@needs_posix
def test_what_is_no_file_stays_what_it_is(trace: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Not a file in place of a device, of a pipe, or of a link."""
    pipe, link, target = tmp_path / "pipe", tmp_path / "link.csv", tmp_path / "target"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    link.symlink_to(target)
    try:
        assert ended(capsys, "steps", "--csv", "-o", str(pipe), str(trace))[0] == 0
        assert os.read(reader, 4) == b"name"
    finally:
        os.close(reader)
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert ended(capsys, "steps", "-o", str(link), str(trace))[0] == 0
    assert link.is_symlink()
    assert target.read_text().startswith("name")


def test_a_closed_stdin_is_empty(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """As a service has it that was started without one."""
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["summary", "-"]) == 2
    assert "is empty" in capsys.readouterr().err
