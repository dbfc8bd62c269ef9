"""Every command with every kind of bad input: one sentence, exit code 2, never a traceback."""

from __future__ import annotations

import gzip
import io
import json
import logging
import os
import random
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.cli import main
from torch_tb_profiler.cli.parsers import command_parser
from torch_tb_profiler.cli.registry import COMMANDS
from torch_tb_profiler.tables.listing import COMMANDS as TABLES
from torch_tb_profiler.workspace.cache.shared_cache import catalog_name, read_catalog
from torch_tb_profiler.workspace.cache.stores import store_at

pytestmark = pytest.mark.slow

#: commands that take something else than a trace, or that never end
OTHERS = {"serve", "demo", "hang", "what-if", "completion", "sql", "mcp", "check", "compare", "prove", "cache"}
NAMES = sorted(set(COMMANDS) - OTHERS)
#: what else a command cannot do without
NEEDED = {"report": ["-o", "out.html"], "export": ["-o", "out.json"]}

INPUTS = (
    "missing",
    "empty_folder",
    "empty",
    "binary",
    "text",
    "array",
    "number",
    "truncated_gzip",
    "bad_gzip",
    "no_events",
)

#: of the commands that print a table, which run the same code, those that each test tries; at night all are tried
SOME_TABLES = set("steps operators slices allocations communication path modules traces rank-ranges".split())


def commands(names: Iterable[str]) -> list[Any]:
    """Return commands as the parameters of a test."""
    night = TABLES.keys() - SOME_TABLES
    return [pytest.param(name, marks=pytest.mark.long) if name in night else name for name in names]


_dice = random.Random(7)
NOISE = bytes(_dice.randrange(256) for _ in range(5000))


def bad_input(kind: str, folder: Path) -> Path:
    """A file or directory that no command can read."""
    path = folder / "w.pt.trace.json"
    whole = write_trace(folder.parent / "whole.pt.trace.json").read_bytes()
    contents = {
        "empty": b"",
        "binary": NOISE,
        "text": b"step 1: loss 0.7\n" * 50,
        "array": b"[1, 2, 3]",
        "number": b"12",
        "no_events": b'{"traceEvents": []}',
    }
    if kind == "missing":
        return folder / "not_there.json"
    if kind == "empty_folder":
        return folder
    if kind in ("truncated_gzip", "bad_gzip"):
        packed = gzip.compress(whole)
        path = folder / "w.pt.trace.json.gz"
        path.write_bytes(packed[:40] if kind == "truncated_gzip" else packed[:20] + b"\0" * 300)
        return path
    path.write_bytes(contents[kind])
    return path


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCH_TB_PROFILER_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("TORCH_TB_PROFILER_DEBUG", raising=False)
    # the log goes to the stderr of this test
    monkeypatch.setattr(logging.getLogger("torch_tb_profiler"), "handlers", [])
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def ended(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    try:
        code = main(words)
    except SystemExit as end:
        code = int(end.code or 0)
    out, err = capsys.readouterr()
    assert "Traceback" not in out + err
    return code, out, err


@pytest.mark.parametrize("kind", INPUTS)
@pytest.mark.parametrize("name", commands(NAMES))
def test_bad_input_is_said_in_a_sentence(
    name: str, kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "logs").mkdir()
    path = bad_input(kind, tmp_path / "logs")
    code, out, err = ended(capsys, name, *NEEDED.get(name, []), str(path))
    if name == "doctor" and code == 3:  # it says what is wrong with the file
        assert path.name in out
        return
    if name == "traces" and code == 0:  # a table of those that can be read
        return
    assert code == 2, err
    told = [line for line in err.splitlines() if line.startswith("torch-tb-profiler: ")]
    assert len(told) == 1, err
    assert len(told[0]) > len("torch-tb-profiler: ") + 15
    assert list((tmp_path / "here").iterdir()) == []


@pytest.mark.skipif(os.name == "nt" or not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may read anything")
@pytest.mark.parametrize("name", commands(NAMES))
def test_a_file_that_must_not_be_read(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write_trace(tmp_path / "run" / "w.pt.trace.json")
    path.chmod(0)
    code, _, err = ended(capsys, name, *NEEDED.get(name, []), str(path))
    assert code in (2, 3), err


@pytest.mark.parametrize("name", commands(NAMES))
def test_stdin_without_a_trace(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"no trace")))
    code, _, err = ended(capsys, name, *NEEDED.get(name, []), "-")
    assert code in ((0, 2, 3) if name in ("doctor", "traces") else (2,)), err


#: what an option may say; a shell cannot pass a zero byte
ODD = ("", "-1", "0", "x", "nan", "1e999", "9" * 40, "\x1b[2J", "模型", "../..", "a" * 5000, "%s%n", "'; --")


@pytest.mark.parametrize("name", commands(NAMES))
def test_odd_values_of_every_option(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Whatever an option says, the command ends as it should: no fault of the program, no traceback."""
    path = str(write_trace(tmp_path / "run" / "w.pt.trace.json"))
    actions: list[Any] = [
        action
        for action in command_parser(COMMANDS[name].load())._actions
        if action.option_strings and action.nargs != 0 and action.dest not in ("cache_dir", "scheduler")
    ]
    for action in actions:
        for odd in ODD:
            option = f"{action.option_strings[-1]}={odd}"
            words = [name, *(NEEDED.get(name, []) if "output" not in action.dest else []), option, path]
            code, _, err = ended(capsys, *words)
            assert code in (0, 2, 3), f"{words}: {err}"
            assert "\x1b" not in err


HOSTILE = "\x1b]0;owned\x07\n::error ::x\x9b31m"


@pytest.mark.skipif(os.name == "nt", reason="no such names of files there")
@pytest.mark.parametrize("name", commands(NAMES))
def test_names_cannot_steer_a_terminal(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Names of files, of directories, and of whatever is in a trace."""
    run = tmp_path / "logs" / f"r{HOSTILE.replace('/', '')}"
    run.mkdir(parents=True)
    for at in (1, 2):
        text = write_trace(run / f"w{HOSTILE}{at}.pt.trace.json").read_text()
        text = text.replace("aten::mm", f"mm{json.dumps(HOSTILE)[1:-1]}").replace("volta", json.dumps(HOSTILE)[1:-1])
        (run / f"w{HOSTILE}{at}.pt.trace.json").write_text(text)
    (run / f"not{HOSTILE}.json").write_text("{}")
    for words in ([str(run)], [str(run), "--run", HOSTILE], [str(tmp_path / HOSTILE)]):
        if name not in ("ingest", "doctor") or "--run" not in words:
            code, out, err = ended(capsys, name, *NEEDED.get(name, []), *words)
            assert code in (0, 2, 3), err
            for line in (out + err).split("\n"):
                assert line.isprintable(), (words, line)
                assert not line.lstrip().startswith("::")


@pytest.mark.skipif(sys.platform != "linux", reason="names of files are any bytes on Linux alone")
def test_names_of_directories_that_are_no_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The directory that is named, of the cache and of a shared place, too."""
    logs, cache, place = (Path(os.fsdecode(os.fsencode(tmp_path / name) + b"\xff\xed\xa0\x80")) for name in "lcp")
    logs.mkdir()
    write_trace(logs / "w1.pt.trace.json")
    write_trace(Path(os.fsdecode(os.fsencode(logs / "w2") + b"\xfe.pt.trace.json")))
    commands = {
        "doctor": ["--json"],
        "ingest": ["--json"],
        "traces": ["--json"],
        "report": ["-o", str(tmp_path / "report.html")],
        "summary": ["--worker", "w1"],
        "sql": ["--worker", "w1", "select run from traces"],
    }
    for name, words in commands.items():
        own = ["--cache-dir", f"file://{place}" if name == "ingest" else str(cache)]
        code, _, err = ended(capsys, name, str(logs), *words, *own)
        assert code in (0, 3), (name, err)
    (catalog,) = place.glob("*.catalog")
    found = read_catalog(store_at(f"file://{place}"), catalog.name)
    assert found is not None
    assert {Path(trace.of.file.entry.url).read_bytes()[:1] for trace in found.traces()} == {b"{"}
    assert len(list(found.traces())) == 2
    assert catalog_name(str(logs)) == catalog.name


def test_every_table_is_among_those_tried() -> None:
    assert set(TABLES) <= set(NAMES)
