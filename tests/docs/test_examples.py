"""The examples record in less than a minute on a CPU, and say how to open what they recorded."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.pages import Reader, blocks_in
from tests.recorded import ROOT

#: what is recorded: workers, steps of each
EXAMPLES = {
    "cnn_dataloader.py": ((), ["worker0"], 6),
    "ddp_gloo.py": (("--slow-rank", "1"), ["rank0", "rank1"], 5),
    "resnet_gpu.py": ((), ["worker0"], 5),
}
SECONDS = 60
#: on a machine that does other things beside
PATIENCE = 4


def test_every_example_is_tried() -> None:
    records = {path.name for path in (ROOT / "examples").glob("*.py") if "torch.profiler" in path.read_text("utf-8")}
    assert records == EXAMPLES.keys()


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_records_what_can_be_opened(
    name: str, tmp_path: Path, reader: Reader, with_torch: str | None
) -> None:
    if with_torch is None:
        pytest.skip("no torch: TORCH_PYTHON=… names a Python that has it")
    options, workers, steps = EXAMPLES[name]
    before = time.monotonic()
    done = subprocess.run(
        [with_torch, f"examples/{name}", "--out", "logs/example", *options],
        cwd=reader.folder,
        capture_output=True,
        text=True,
        timeout=SECONDS * PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert time.monotonic() - before < SECONDS * PATIENCE
    run = torch_tb_profiler.open(reader.folder / "logs", cache_dir=tmp_path / "own").run("example")
    assert sorted(run.workers) == workers
    for worker in workers:
        assert run.trace(worker).summary().steps.count == steps
    found = re.search(r"^Open it: (torch-tb-profiler serve .+?) {4}\(or (tensorboard .+)\)$", done.stdout, re.MULTILINE)
    assert found, done.stdout
    commands = "".join(f"$ {command}\n" for command in found.groups())
    reader.follow(blocks_in(f"```console\n{commands}```\n", ROOT / "examples" / name))


def _session(reader: Reader, before: str, after: str) -> str:
    command = [sys.executable, "examples/prove_a_change.py", "--before", before, "--after", after]
    done = subprocess.run(command, cwd=reader.folder, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_session_proves_the_change_of_the_samples(reader: Reader) -> None:
    told = _session(reader, "samples/cnn_workers0", "samples/cnn_workers2")
    assert "1. Diagnose\nsynchronous_dataloader: " in told
    assert "saves 30.26 ms, cnn_dataloader.py:39" in told
    assert "The cause is gone: 30.8 ms per step before, 1.26 ms after." in told


def test_the_session_proves_a_change_that_is_recorded_now(reader: Reader, with_torch: str | None) -> None:
    if with_torch is None:
        pytest.skip("no torch: TORCH_PYTHON=… names a Python that has it")
    for workers in (0, 2):
        command = [with_torch, "examples/cnn_dataloader.py", "--out", f"logs/{workers}", "--workers", str(workers)]
        subprocess.run(command, cwd=reader.folder, capture_output=True, timeout=SECONDS * PATIENCE, check=True)
    told = _session(reader, "logs/0", "logs/2")
    assert "synchronous_dataloader: " in told
    assert re.search(r"^The cause is (gone|reduced)|^These recordings do not decide", told, re.MULTILINE), told
