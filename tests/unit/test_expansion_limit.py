"""How far packed files are unpacked is a setting, which comes to whoever unpacks them."""

from __future__ import annotations

import gzip
from argparse import ArgumentParser
from functools import partial
from inspect import signature
from pathlib import Path
from queue import SimpleQueue
from typing import Any

import pytest
from tensorboard.plugins.base_plugin import TBContext

from tests.tiny import DEADLINE_SECONDS
from torch_tb_profiler import plugin
from torch_tb_profiler.cli.messages import UserError
from torch_tb_profiler.cli.serve import ServeCommand
from torch_tb_profiler.defaults import EXPANSION_VARIABLE
from torch_tb_profiler.discovery import parse_logdir
from torch_tb_profiler.plugin_loader import TorchProfilerLoader
from torch_tb_profiler.storage import StorageError
from torch_tb_profiler.trace import Limits
from torch_tb_profiler.workspace import open_workspace
from torch_tb_profiler.workspace.cache.trace_cache import TraceCache
from torch_tb_profiler.workspace.local_workspace import LocalTrace, LocalWorkspace, find_traces
from torch_tb_profiler.workspace.reading import worker
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import Job, decode_order, encode

MEGABYTE = 1 << 20
EVENT = b'{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":1,"tid":1,"ts":1,"dur":1}'


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    """A trace that unpacks to some two hundred times its size."""
    (tmp_path / "logs").mkdir()
    text = b'{"traceEvents": [\n' + b",\n".join([EVENT] * (4 * MEGABYTE // len(EVENT))) + b"\n]}"
    (tmp_path / "logs" / "w.pt.trace.json.gz").write_bytes(gzip.compress(text, 9))
    return tmp_path / "logs"


def notes_of(logs: Path, cache: Path) -> list[str]:
    (run,) = find_traces(str(logs)).runs
    return LocalTrace(LocalWorkspace(cache), run.traces[0]).ask(lambda model: [n.text for n in model.trace.notes])


def test_a_file_is_read_as_far_as_the_environment_allows(
    logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(worker, "Limits", partial(Limits, free_bytes=MEGABYTE))
    monkeypatch.setenv(EXPANSION_VARIABLE, "50")
    (note,) = notes_of(logs, tmp_path / "cache")
    assert "unpacks to more than 50 times its size" in note
    # with more allowed, what was cut off is not taken from the cache
    monkeypatch.setenv(EXPANSION_VARIABLE, "1000")
    assert notes_of(logs, tmp_path / "cache") == []


def test_the_server_tells_its_worker_processes(logs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs: SimpleQueue[Job] = SimpleQueue()
    monkeypatch.setattr(Pool, "submit", lambda _, job: jobs.put(job))
    workspace = open_workspace(parse_logdir(str(logs)), tmp_path / "cache", max_expansion=7)
    try:
        job = jobs.get(timeout=DEADLINE_SECONDS)
    finally:
        workspace.close()
    assert job.expansion == 7
    assert decode_order(encode(job)) == job
    # and what gives the file back unpacks as much of it
    assert workspace.limits == Limits(expansion=7)


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """What the doors open workspaces with; they open none."""
    calls: list[dict[str, Any]] = []

    def refuse(*arguments: Any, **named: Any) -> None:
        calls.append(signature(open_workspace).bind(*arguments, **named).arguments)
        raise StorageError("not here")

    # what is of the whole process stays as it is
    monkeypatch.setattr("torch_tb_profiler.workspace.process.configure_logging", lambda *_: None)
    monkeypatch.setattr("torch_tb_profiler.serving.open_for_page", refuse)
    monkeypatch.setattr(plugin, "open_for_page", refuse)
    return calls


@pytest.mark.parametrize(("options", "expected"), [([], None), (["--max-expansion", "1000"], 1000)])
def test_the_option_of_serve(
    options: list[str], expected: int | None, opened: list[dict[str, Any]], tmp_path: Path
) -> None:
    parser = ArgumentParser()
    ServeCommand().declare(parser)
    with pytest.raises(StorageError, match="not here"):
        ServeCommand().run(parser.parse_args([str(tmp_path), *options]))
    assert opened[0]["max_expansion"] == expected


def test_an_option_that_allows_nothing_is_refused() -> None:
    parser = ArgumentParser()
    ServeCommand().declare(parser)
    with pytest.raises(UserError, match="1 or more"):
        ServeCommand().run(parser.parse_args(["logs", "--max-expansion", "0"]))


@pytest.mark.parametrize(("options", "expected"), [([], None), (["--torch_profiler_max_expansion", "1000"], 1000)])
def test_the_flag_of_tensorboard(options: list[str], expected: int | None, opened: list[dict[str, Any]]) -> None:
    parser = ArgumentParser()
    TorchProfilerLoader().define_flags(parser)
    flags = parser.parse_args(options)
    assert plugin.create_plugin(TBContext(logdir="logs", flags=flags)) is None
    assert opened[0]["max_expansion"] == expected


@pytest.mark.parametrize(("text", "expected"), [("", 400), ("1000", 1000), ("0", 400), ("-5", 400), ("much", 400)])
def test_the_environment(
    text: str, expected: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(EXPANSION_VARIABLE, text)
    assert TraceCache(tmp_path).limits.expansion == expected
    assert (EXPANSION_VARIABLE in caplog.text) == (text != "" and expected == 400)
    # an option comes first
    assert TraceCache(tmp_path, expansion=9).limits.expansion == 9
