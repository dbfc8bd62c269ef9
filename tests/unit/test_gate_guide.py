"""docs/gate-your-ci.md: its commands, its settings, its Python and its workflow are run."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.gate_pairs import config, write
from tests.recorded import ROOT
from torch_tb_profiler.analysis.change.metrics import DEFAULT_FAIL, DEFAULT_WARN
from torch_tb_profiler.api.errors import ProfileError
from torch_tb_profiler.cli.work.check_settings import PROJECT
from torch_tb_profiler.defaults import DIRECTORY_VARIABLE

pytestmark = pytest.mark.slow

PAGE = (ROOT / "docs" / "gate-your-ci.md").read_text("utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """An environment in which `torch-tb-profiler` is this one, and `python` this Python."""
    folder = tmp_path_factory.mktemp("bin")
    for name, words in (("torch-tb-profiler", "-m torch_tb_profiler"), ("python", "")):
        (folder / name).write_text(f'#!/bin/sh\nexec "{sys.executable}" {words} "$@"\n')
        (folder / name).chmod(0o755)
    cache = tmp_path_factory.mktemp("cache")
    paths = {"PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "PYTHONPATH": str(ROOT)}
    return os.environ | paths | {DIRECTORY_VARIABLE: str(cache)}


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs")
    write(config(1, steps=11), folder / "main")
    write(config(3, "nvjet", 1.1, steps=11), folder / "branch")
    return folder


def run(command: str, folder: Path, shell: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-ec", command], cwd=folder, env=shell, capture_output=True, text=True, check=False)


def test_commands_of_the_page(runs: Path, tmp_path: Path, shell: dict[str, str]) -> None:
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    commands = [line[2:] for block in blocks("console") for line in block.splitlines() if line.startswith("$ ")]
    codes = []
    for command in commands:
        done = run(command, tmp_path, shell)
        assert "Traceback" not in done.stderr
        codes.append(done.returncode)
        if not codes[:-1]:
            said = " ".join(PAGE.split("```\nSlower", 1)[1].split("```", 1)[0].split())
            assert done.stdout.startswith(f"Slower {said}")
    assert codes == [0 if "--save" in command else 1 for command in commands]
    assert len(commands) >= 4


def test_settings_of_the_page(runs: Path, tmp_path: Path, shell: dict[str, str]) -> None:
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    (settings,) = blocks("toml")
    (tmp_path / PROJECT).write_text(settings)
    done = run("torch-tb-profiler check main branch", tmp_path, shell)
    assert done.returncode == 1, done.stderr
    assert "exposed_communication" not in done.stdout.splitlines()[0]


def test_the_table_has_what_is_usual() -> None:
    rows = {
        key: row
        for row in PAGE.splitlines()
        if row.startswith("| `")
        for key in re.findall(r"`([\w.()*]+)`", row.split("|")[1])
    }
    for rule in (*DEFAULT_FAIL, *DEFAULT_WARN):
        key, limit = rule.split(" > ")
        assert key in rows
        if limit.endswith("%"):
            assert f"above {limit[:-1]} %" in rows[key], rule
        assert ("warns" in rows[key]) == (rule in DEFAULT_WARN), rule


def test_python_of_the_page(runs: Path, tmp_path: Path, shell: dict[str, str]) -> None:
    shutil.copytree(runs, tmp_path, dirs_exist_ok=True)
    (script,) = blocks("python")
    (tmp_path / "script.py").write_text(script)
    done = run("python script.py", tmp_path, shell)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("failed 1\n")
    assert "kernel nvjet" in done.stdout


def test_python_refuses_in_sentences(runs: Path, cache: Path) -> None:
    for sides, rules in (((runs / "main", runs / "nothing"), None), ((runs / "main", runs / "branch"), ["x > 1"])):
        with pytest.raises(ProfileError):
            torch_tb_profiler.check(*sides, fail_on=rules, cache_dir=cache)
    with pytest.raises(ProfileError, match="each side"):
        torch_tb_profiler.check([], runs / "main", cache_dir=cache)


TRAIN = """
import os, shutil, sys
shutil.copytree(os.environ["RUNS"] + "/" + sys.argv[2][-1], sys.argv[2])
"""


def workflow_commands() -> list[str]:
    """What the workflow runs, in order."""
    (workflow,) = blocks("yaml")
    found = re.findall(r"run: (?:\|\n((?: {10}.*\n)+)|(.*)\n)", workflow)
    return [re.sub(r"^ {10}", "", block, flags=re.MULTILINE) or line.partition("  #")[0] for block, line in found]


def test_the_workflow_of_the_page(tmp_path: Path, shell: dict[str, str]) -> None:
    install, train, check, save, report = workflow_commands()
    assert install == "pip install torch-tb-profiler"
    for side, kernel in (("main", ""), ("slow", "nvjet")):
        for number in (1, 2, 3):
            write(config(number + 10 * bool(kernel), kernel, 1.1, steps=11), tmp_path / side / str(number))
    (tmp_path / "bench").mkdir()
    (tmp_path / "bench" / "train.py").write_text(TRAIN)
    environment = shell | {"GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md")}
    assert run(train, tmp_path, environment | {"RUNS": str(tmp_path / "main")}).returncode == 0
    assert run(save, tmp_path, environment).returncode == 0
    unchanged = run(check, tmp_path, environment)
    assert unchanged.returncode == 0, unchanged.stderr
    assert unchanged.stdout.startswith("::notice ")
    shutil.rmtree(tmp_path / "new")
    assert run(train, tmp_path, environment | {"RUNS": str(tmp_path / "slow")}).returncode == 0
    slower = run(check, tmp_path, environment)
    assert slower.returncode == 1
    assert slower.stdout.startswith("::error ")
    assert "nvjet" in slower.stdout
    assert (tmp_path / "summary.md").read_text().startswith("### Performance: failed")
    assert "<failure" in (tmp_path / "check.xml").read_text()
    assert report == "torch-tb-profiler report new/1 -o report.html"
