"""What a process costs before it does anything; the reasons are in docs/architecture.md."""

from __future__ import annotations

import gc
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import torch_tb_profiler
from tests.tiny import wait_until
from torch_tb_profiler import lazy_pattern as late
from torch_tb_profiler.trace.schema import Events, OutOfMemory
from torch_tb_profiler.web import app
from torch_tb_profiler.web.app import TimeLimit

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]

#: of a worker process that answers ahead and of a server
ALL = "import torch_tb_profiler.web.app, torch_tb_profiler.web.prefetch, torch_tb_profiler.workspace.reading.worker\n"

#: a field of theirs is left out of what is printed or compared, which a struct cannot do
DATACLASSES = {"CriticalPath", "JointRank", "RankSummary", "Reason", "EntrySide", "SlowRank", "WhatIf"}


def python(script: str) -> list[str]:
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=ROOT)
    return done.stdout.split()


def test_records_are_structs() -> None:
    script = """
import sys
modules = [module for name, module in sys.modules.items() if name.startswith("torch_tb_profiler")]
print(*{value.__name__ for module in modules for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__ and "__dataclass_fields__" in vars(value)})
"""
    assert set(python(ALL + script)) <= DATACLASSES


def test_no_pattern_of_a_module_is_compiled_before_it_is_used() -> None:
    script = """
import re, sys
modules = [(name, module) for name, module in sys.modules.items() if name.startswith("torch_tb_profiler")]
print(*[f"{name}.{key}" for name, module in modules for key, value in vars(module).items()
        if isinstance(value, re.Pattern)])
"""
    assert python(ALL + script) == []


def test_every_pattern_can_be_compiled() -> None:
    for module in pkgutil.walk_packages(torch_tb_profiler.__path__, "torch_tb_profiler."):
        if not module.name.startswith(
            ("torch_tb_profiler.plugin", "torch_tb_profiler.mcp", "torch_tb_profiler.__main")
        ):
            importlib.import_module(module.name)
    gc.unfreeze()  # what was there before the tests: tests/spread.py
    patterns = [each for each in gc.get_objects() if isinstance(each, late._LazyPattern)]
    gc.freeze()
    assert len(patterns) > 200
    for each in patterns:
        assert each.pattern == each._arguments[0]


def test_a_pattern_is_what_re_makes_of_it() -> None:
    pattern = late.lazy_pattern(r"a(?P<n>\d)", re.ASCII)
    found = pattern.search("xa1")
    assert found is not None
    assert found["n"] == "1"
    assert pattern.sub("b", "a1a2") == "bb"
    assert pattern.groups == 1
    with pytest.raises(AttributeError):
        pattern.nothing  # type: ignore[attr-defined] # noqa: B018
    with pytest.raises(re.error):
        late.lazy_pattern("(").match("")


def test_pages_do_not_load_masked_arrays() -> None:
    """numpy.ma looks into its own documentation when it is loaded, which takes 10 ms."""
    script = """
import sys
import numpy as np
from torch_tb_profiler.analysis.answer import Definition
from torch_tb_profiler.analysis.tabular import PageMeta, Table
from torch_tb_profiler.tables.query import Query, TableAnswer
number = Definition("n", "N", "number", None, "")
table = Table(PageMeta(), [number], {"n": np.array([3, -1, 2])}, totals={"n": 5}, unknown_below_zero=["n"])
answer = TableAnswer(table)
print(*answer.page().rows["n"], *answer.page(Query(sort="-n")).rows["n"], *answer.page(Query(filter="n>0")).rows["n"])
print("numpy.ma" in sys.modules, table.values["n"].tolist()[1], "numpy.ma" in sys.modules)
"""
    assert python(script) == ["3", "None", "2", "3", "2", "None", "3", "2", "False", "None", "True"]


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="the system does not list threads")
@pytest.mark.parametrize("asked", [None, "2"])
def test_commands_start_no_thread_that_multiplies_matrices(asked: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unless their user wants some."""
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    if asked:
        monkeypatch.setenv("OPENBLAS_NUM_THREADS", asked)
    script = """
import os
from torch_tb_profiler.cli import main
main(["summary", "samples/cnn_workers0"])
print(os.environ["OPENBLAS_NUM_THREADS"], len(os.listdir("/proc/self/task")))
"""
    of_openblas = int(python("import os, numpy\nprint(len(os.listdir('/proc/self/task')))")[-1]) - 1
    *_, told, threads = python(script)
    assert told == (asked or "1")
    assert int(threads) == 1 + of_openblas * bool(asked)


def cpu(script: str) -> float:
    """The least of five, in seconds."""
    told = "import resource\nused = resource.getrusage(resource.RUSAGE_SELF)\nprint(used.ru_utime + used.ru_stime)"
    return min(float(python(script + told)[-1]) for _ in range(5))


@pytest.mark.skipif(bool(os.environ.get("PYTHONDONTWRITEBYTECODE")), reason="modules are compiled each time")
@pytest.mark.skipif(sys.platform == "win32", reason="there is no module resource")
def test_all_that_processes_load_takes_a_few_times_what_numpy_takes() -> None:
    """3.4 to 3.7 times; it was 5.4 with dataclasses and patterns that are compiled when a module is loaded."""
    python(ALL)
    assert cpu(ALL) < 4.6 * cpu("import numpy, msgspec, threading, subprocess, tempfile, logging, dataclasses\n")


def test_a_table_is_made_of_its_columns() -> None:
    names = OutOfMemory.column_names()
    one = OutOfMemory(**OutOfMemory.empty().columns())
    assert list(one.columns()) == list(names)
    assert len(OutOfMemory(*one.columns().values())) == 0
    with pytest.raises(TypeError, match="is made of row"):
        OutOfMemory(one.row)  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="is made of phase"):
        Events(**{**Events.empty().columns(), "nothing": one.row})
    with pytest.raises(AttributeError, match="does not change"):
        one.row = one.row  # type: ignore[misc]
    other = one.with_columns(row=one.row + 1)
    assert other.columns().keys() == one.columns().keys()
    assert other.row is not one.row


def test_a_thread_answers_again() -> None:
    limit = TimeLimit()
    first = limit.call(threading.get_ident)
    for _ in range(20):
        wait_until(lambda: limit._idle == 1, "the thread has nothing to do")
        assert limit.call(threading.get_ident) == first
    # one that is busy is not waited for
    assert limit.call(lambda: limit.call(threading.get_ident)) != first


def test_a_thread_that_has_nothing_to_do_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.01)
    limit = TimeLimit()
    thread = limit.call(threading.current_thread)
    wait_until(lambda: not thread.is_alive(), "the thread ends")
    assert limit._idle == 0
    assert limit.call(lambda: 7) == 7


def test_nothing_is_lost_between_threads_that_end_and_those_that_begin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(app, "IDLE_SECONDS", 0.001)
    limit = TimeLimit()
    for number in range(300):
        assert limit.call(lambda number=number: number) == number
        time.sleep(0.001 * (number % 3) / 2)
