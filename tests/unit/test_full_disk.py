"""What is said goes to a full disk: the exit code is the command's own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tiny import write_trace
from torch_tb_profiler.cli.messages import BAD_INPUT

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="no /dev/full there")]

#: as a user has it
BUFFERED = {**os.environ, "PYTHONUNBUFFERED": ""}


@pytest.mark.parametrize("words", [["--version"], ["steps", "--help"], ["nothing"], ["summary", "nothing"], ["cache"]])
@pytest.mark.parametrize("place", ["/dev/full", "limited"])
def test_neither_output_nor_messages_can_be_written(words: list[str], place: str, tmp_path: Path) -> None:
    """`> log 2>&1` on a full disk: Python itself ends with 120, where it cannot write what is left."""
    command = [sys.executable, "-m", "torch_tb_profiler", *words]
    path = tmp_path / place if place == "limited" else Path(place)
    limit = "ulimit -f 0; " if place == "limited" else ""
    command = ["sh", "-c", f'{limit}exec "$@"', "sh", *command]
    with path.open("wb") as out:
        done = subprocess.run(command, stdout=out, stderr=out, env=BUFFERED, check=False)
    assert done.returncode == BAD_INPUT


def test_a_success_whose_messages_cannot_be_written(tmp_path: Path) -> None:
    write_trace(tmp_path / "logs" / "w.pt.trace.json")
    command = [sys.executable, "-m", "torch_tb_profiler", "ingest", str(tmp_path / "logs")]
    environment = {**BUFFERED, "TORCH_TB_PROFILER_CACHE_DIR": str(tmp_path / "cache")}
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=full, env=environment, check=False)
    assert done.returncode == 0
