"""The command line as a whole: what is loaded when, the help, and what the process ends with."""

from __future__ import annotations

import io
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import write_trace
from torch_tb_profiler import __version__
from torch_tb_profiler import cli as command_line
from torch_tb_profiler.cli.messages import UserError
from torch_tb_profiler.cli.parsers import command_parser
from torch_tb_profiler.cli.registry import COMMANDS, Command, CommandEntry

#: what takes long to import, or is of one command only
HEAVY = (
    *("numpy", "msgspec", "werkzeug", "zstandard", "regex", "duckdb", "mcp"),
    *(f"torch_tb_profiler.{room}" for room in ("analysis", "api", "cli.work", "serving", "web", "workspace")),
)
#: modules of the package that the help of the program loads, and the help of every command one after another
MOST_FOR_HELP, MOST_FOR_ALL = 14, 36


class Does:
    """A command that does what a test wants."""

    name = "does"

    def __init__(self, what: object) -> None:
        self.what = what

    def declare(self, parser: object) -> None:
        """It takes no arguments."""

    def run(self, arguments: object) -> int | None:
        if isinstance(self.what, BaseException):
            raise self.what
        assert self.what is None or isinstance(self.what, int)
        return self.what


def ends(monkeypatch: pytest.MonkeyPatch, what: object) -> int:
    monkeypatch.setattr(CommandEntry, "load", lambda _: Does(what))
    return command_line.main(["serve"])


def python(script: str, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_help_of_all_commands_loads_nothing_heavy() -> None:
    script = """
import contextlib, io, sys
from torch_tb_profiler.cli import COMMANDS, main
counts = []
for words in [["--version"], ["--help"], *([name, "--help"] for name in COMMANDS)]:
    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):
        main(words)
    found = [each for each in sys.argv[1:] if each in sys.modules]
    if found:
        sys.exit(f"{' '.join(words)} imports {', '.join(found)}")
    counts.append(sum(each.startswith("torch_tb_profiler") for each in sys.modules))
print(counts[1], counts[-1])
"""
    of_program, of_all = map(int, python(script, *HEAVY).split())
    assert of_program <= MOST_FOR_HELP
    assert of_all <= MOST_FOR_ALL


def test_the_help_of_the_program_names_every_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--help"])
    assert ended.value.code == 0
    told = " ".join(capsys.readouterr().out.split())
    for name, place in COMMANDS.items():
        assert f" {name} {place.help}" in told, name


@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_is_what_the_registry_says(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    command: Command = COMMANDS[name].load()
    assert command.name == name
    assert (command.__doc__ or "").partition("\n")[0] == COMMANDS[name].help
    with pytest.raises(SystemExit) as ended:
        command_line.main([name, "--help"])
    assert ended.value.code == 0
    told = capsys.readouterr().out
    assert told.startswith(f"usage: torch-tb-profiler {name} ")
    for action in command_parser(command)._actions:
        assert action.help, f"{name} {action.dest} is not described"
        assert all(option in told for option in action.option_strings)


def test_the_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["--version"])
    assert (ended.value.code, capsys.readouterr().out) == (0, f"torch-tb-profiler {__version__}\n")


def test_help_names_no_page_that_a_reader_does_not_have(capsys: pytest.CaptureFixture[str]) -> None:
    for name in COMMANDS:
        with pytest.raises(SystemExit):
            command_line.main([name, "--help"])
    assert not re.findall(r"\S*docs/\S*", capsys.readouterr().out)


def test_a_path_without_a_command_is_summarized(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command wins over a file of its name; `./NAME` is the file."""
    monkeypatch.chdir(tmp_path)
    trace = write_trace(tmp_path / "cache" / "w.pt.trace.json")
    told = []
    for words in (["summary", str(trace)], [str(trace)], ["./cache"], [f"{tmp_path}/cache~w"]):
        assert command_line.main([*words, "--cache-dir", str(tmp_path / "kept")]) == 0
        told.append(capsys.readouterr().out)
    assert len(set(told)) == 1
    assert "Steps: " in told[0]
    assert command_line.main(["cache", "--cache-dir", str(tmp_path / "kept")]) == 0
    assert "Steps: " not in capsys.readouterr().out


def test_a_word_that_is_neither_names_the_closest_command(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(["summery", "logs"])
    assert ended.value.code == 2
    assert "no command and no file 'summery' (did you mean 'summary'?)" in capsys.readouterr().err


@pytest.mark.parametrize("words", [[], ["no-such-command"], ["serve", "--no-such-option"], ["--no-such-option"]])
def test_wrong_usage_ends_with_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        command_line.main(words)
    assert ended.value.code == 2
    assert "usage: torch-tb-profiler" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("what", "code"),
    [
        (None, 0),
        (3, 3),
        (UserError("there is none"), 2),
        (UserError("it regressed", exit_code=1), 1),
        (KeyboardInterrupt(), 130),
        (ZeroDivisionError("by 0"), 70),
        (MemoryError(), 2),
        (ImportError("libx.so: failed to map segment from shared object"), 2),
        (RuntimeError("can't start new thread"), 2),
    ],
)
def test_exit_codes(what: object, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(command_line.DEBUG_VARIABLE, raising=False)
    assert ends(monkeypatch, what) == code


def test_a_fault_of_ours_is_one_line_and_more_when_asked_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv(command_line.DEBUG_VARIABLE, raising=False)
    assert ends(monkeypatch, ZeroDivisionError("by 0")) == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert "ZeroDivisionError: by 0" in line
    assert "doctor" in line
    monkeypatch.setenv(command_line.DEBUG_VARIABLE, "1")
    assert ends(monkeypatch, ZeroDivisionError("by 0")) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_message_cannot_steer_the_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ends(monkeypatch, UserError("run \x1b[2J\x07\u202e is not there")) == 2
    assert capsys.readouterr().err == "torch-tb-profiler: run \ufffd[2J\ufffd\ufffd is not there\n"


def test_text_that_the_encoding_lacks_is_printed_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", out)

    class Says(Does):
        """Prints names as files have them."""

        def run(self, arguments: object) -> int | None:
            sys.stdout.write("模型 µs \udcff\n")
            return None

    monkeypatch.setattr(CommandEntry, "load", lambda _: Says(None))
    assert command_line.main(["serve"]) == 0
    out.flush()
    assert out.buffer.getvalue().decode() == "模型 µs \\udcff\n"  # type: ignore[attr-defined]
