"""`cache`, `--quiet`, and the address of a trace on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.cli import main
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE
from torch_tb_profiler.workspace.cache.trace_cache import LIMIT_VARIABLE
from torch_tb_profiler.workspace.local_workspace import Address, address_of


@pytest.fixture
def logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Two runs, one of two workers with two spans; the cache is empty."""
    monkeypatch.setenv(DIRECTORY_VARIABLE, str(tmp_path / "cache"))
    for name in ("a/w0.1.pt.trace.json", "a/w0.2.pt.trace.json", "a/w1.1.pt.trace.json", "x~y/w0.1.pt.trace.json"):
        write_trace(tmp_path / "logs" / name)
    return tmp_path / "logs"


def answer(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, object]:
    assert main([*map(str, words), "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_the_cache_is_measured_pruned_and_cleared(
    logs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert answer(capsys, "cache")["bytes"] == 0
    for worker in ("w0", "w1"):
        assert main(["summary", str(logs / "a"), "--worker", worker, "--span", "1", "-q"]) == 0
    capsys.readouterr()
    full = answer(capsys, "cache")
    assert {each["kind"]: each["files"] for each in full["kinds"]}["traces"] == 2  # type: ignore[attr-defined]
    files = [path for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert full["bytes"] == sum(path.stat().st_size for path in files)
    (tmp_path / "cache" / "notes.txt").write_text("mine")
    monkeypatch.setenv(LIMIT_VARIABLE, "1")
    pruned = answer(capsys, "cache", "--prune")
    assert 0 < int(str(pruned["removed"])) < int(str(full["bytes"]))
    assert {each["kind"]: each["files"] for each in pruned["kinds"]}["traces"] == 1  # type: ignore[attr-defined]
    assert main(["cache", "--clear"]) == 0
    assert "removed" in capsys.readouterr().out
    assert [path.name for path in (tmp_path / "cache").rglob("*") if path.is_file()] == ["notes.txt"]


def test_quiet_says_only_what_is_wrong(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["kernels", str(logs / "a")]
    main(words)
    assert "the first of 3 traces" in capsys.readouterr().err
    main([*words, "--quiet"])
    assert capsys.readouterr().err == ""
    assert main(["summary", str(logs / "nowhere"), "-q"]) == 2
    assert capsys.readouterr().err.startswith("torch-tb-profiler: ")


def test_an_address_names_a_trace(logs: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for address, worker, span in (("a~w1~1", "w1", "1"), ("a~w1", "w1", "1"), ("a~w0~2", "w0", "2")):
        found = answer(capsys, "operators", logs / address)
        assert (found["meta"]["worker"], found["meta"]["span"]) == (worker, span)  # type: ignore[index]
    assert main(["operators", str(logs / "a~w7")]) == 2
    assert "no such worker or span" in capsys.readouterr().err
    assert main(["compare", str(logs / "a~w0~1"), str(logs / "a~w1"), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["meta"]["worker"], found["exp"]["worker"]) == ("w0", "w1")
    assert main(["compare", str(logs / "a~w0~1"), str(logs / "a~w9")]) == 2
    assert "contains no trace of a worker 'w9'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("path", "meant"),
    [
        ("x~y", Address("x~y")),
        ("x%7Ey~w0", Address("x~y", "w0")),
        ("none~w%7e0~a%25b", Address("none", "w~0", "a%b")),
        ("none~", Address("none~")),
        ("none~a~b~c", Address("none~a~b~c")),
        ("~user/run", Address("~user/run")),
        ("~w0", Address("~w0")),
        ("s3://bucket/run~w0", Address("s3://bucket/run", "w0")),
        ("a\0~b", Address("a\0", "b")),
    ],
)
def test_addresses(path: str, meant: Address, logs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is there as it is written is no address."""
    monkeypatch.chdir(logs)
    assert address_of(path) == meant
