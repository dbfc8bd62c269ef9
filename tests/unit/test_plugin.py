"""The plugin without TensorBoard around it; in TensorBoard: tests/integration."""

from __future__ import annotations

import subprocess
import sys
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any

import pytest
from tensorboard.plugins.base_plugin import TBContext

from torch_tb_profiler.plugin import TorchProfilerPlugin, create_plugin
from torch_tb_profiler.plugin_loader import TorchProfilerLoader
from torch_tb_profiler.reason import Reason
from torch_tb_profiler.workspace import RunStatus, Skipped, Status, TraceStatus

READY = RunStatus("run", (TraceStatus("w", "1", "f", 1, "ready"),))


class FixedWorkspace:
    """A workspace of which only the status is asked."""

    def __init__(self, status: Status) -> None:
        self._status = status

    def status(self) -> Status:
        return self._status


@pytest.mark.parametrize(
    ("status", "active"),
    [
        (Status("logs", True, None, ()), True),
        (Status("logs", False, None, ()), False),
        (Status("logs", False, Reason("unlistable", "cannot be listed"), ()), False),
        (Status("s3://logs", False, Reason("unlistable", "cannot be listed"), (), remote=True), True),
        (Status("logs", False, None, (READY,)), True),
        (Status("logs", False, None, (), (Skipped("config.json", Reason("empty", "is empty")),)), True),
    ],
)
def test_is_active_until_it_is_known_that_there_is_nothing(status: Status, active: bool) -> None:
    workspace: Any = FixedWorkspace(status)
    assert TorchProfilerPlugin(workspace).is_active() is active


@pytest.mark.parametrize(
    "context",
    [
        TBContext(),
        TBContext(logdir="", flags=Namespace(logdir_spec="")),
        TBContext(logdir="https://example.com/x", flags=Namespace()),
    ],
)
def test_without_a_log_directory_it_can_read_there_is_no_plugin(context: TBContext) -> None:
    assert create_plugin(context) is None
    assert TorchProfilerLoader().load(context) is None


def test_flags_have_defaults_that_mean_the_default() -> None:
    parser = ArgumentParser()
    TorchProfilerLoader().define_flags(parser)
    flags = parser.parse_args([])
    assert (flags.torch_profiler_cache_dir, flags.torch_profiler_workers) == ("", 0)
    assert flags.torch_profiler_max_expansion == 0


def test_errors_stay_in_the_loader(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("torch_tb_profiler.plugin.open_for_page", lambda *args: 1 // 0)
    assert TorchProfilerLoader().load(TBContext(logdir=str(tmp_path), flags=Namespace())) is None


def test_the_loader_imports_nothing_heavy() -> None:
    script = """
import sys
import torch_tb_profiler.plugin_loader
print([m for m in sys.modules if m.startswith("torch_tb_profiler.")], "msgspec" in sys.modules)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "['torch_tb_profiler.plugin_loader'] False"
