"""Rows that tie in what a table is sorted by stand in one order: at every door, and however the file is ordered."""

from __future__ import annotations

import csv
import io
import json
import random
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.events import Event, annotation, copy, kernel, launch, op
from tests.served import client_of, everything_read, get
from torch_tb_profiler.cli import main
from torch_tb_profiler.mcp.tools.tables import TABLES as FOR_AGENTS
from torch_tb_profiler.tables.listing import COMMANDS, ListedTable
from torch_tb_profiler.tables.query import Query, TableAnswer

NAMES = ["gemm", "add", "mul", "cat", "softmax", "dropout", "exp", "index"]
#: where every row ties, the second key is the name
BY_NAME = [("kernels", "name"), ("roofline", "kernel"), ("roofline", "operator"), ("launches", "operator")]
GROUPED = [(name, group) for name, of in COMMANDS.items() if not of.command.of_run for group in of.groups or ("",)]


def ties() -> list[Event]:
    """Three steps of operators that take as long as each other, as do their launches, kernels and copies."""
    events: list[Event] = []
    for step in range(3):
        begin = 1_000 * step
        events.append(annotation(f"ProfilerStep#{step}", begin, 900))
        for at, name in enumerate(NAMES):
            start, number = begin + 100 * at, 10 * step + at + 1
            events += [
                annotation(f"range_{name}", start, 60),
                op(f"aten::{name}", start + 1, 50, **{"Input Dims": [[2, 2]]}),
                launch(start + 5, number),
                kernel(start + 20, 30, number, f"kernel_of_{name}", grid=[1, 1, 1], block=[32, 1, 1]),
                launch(start + 12, 100 + number),
                copy(start + 60, 10, 100 + number, bytes=64),
            ]
    return events


def orders() -> list[list[Event]]:
    written = ties()
    return [written, written[::-1], random.Random(1).sample(written, len(written))]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run for each order in which the same events are written."""
    top = tmp_path_factory.mktemp("ties")
    found = []
    for number, events in enumerate(orders()):
        folder = top / str(number) / "run"
        folder.mkdir(parents=True)
        (folder / "w.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
        found.append(folder)
    return found


def printed(capsys: pytest.CaptureFixture[str], folder: Path, of: ListedTable, group: str, form: str) -> str:
    grouped = ["--group-by", group] if group else []
    cache = str(folder.parent / "cache")
    assert main([of.name, str(folder), form, "--limit", "all", *grouped, "--cache-dir", cache]) == 0
    return capsys.readouterr().out


def texts_of(rows: Any) -> list[tuple[Any, ...]]:
    """The columns of a table that say what a row is; not numbers of events, which follow the file."""
    kept = [key for key, values in rows.items() if any(isinstance(value, str) for value in values)]
    return list(zip(*(rows[key] for key in kept), strict=True))


@pytest.mark.parametrize(("name", "group"), GROUPED)
def test_the_order_of_the_file_does_not_matter(
    name: str, group: str, folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    found = [texts_of(json.loads(printed(capsys, each, COMMANDS[name], group, "--json"))["rows"]) for each in folders]
    assert found[1:] == found[:1] * (len(found) - 1)


@pytest.mark.parametrize(("name", "group"), BY_NAME)
def test_equal_rows_are_in_order_of_name(
    name: str, group: str, folders: list[Path], capsys: pytest.CaptureFixture[str]
) -> None:
    rows = json.loads(printed(capsys, folders[0], COMMANDS[name], group, "--json"))["rows"]
    assert len(rows["name"]) == len(NAMES) + (name == "roofline" and group == "kernel")
    kernels = [each for each in rows["name"] if "Memcpy" not in each]
    assert kernels == sorted(kernels)


@pytest.mark.parametrize("name", ["operators", "kernels", "roofline", "ranges"])
def test_every_door_has_the_same_order(name: str, folders: list[Path], capsys: pytest.CaptureFixture[str]) -> None:
    folder, of = folders[0], COMMANDS[name]
    group = of.groups[0] if of.groups else ""
    rows = json.loads(printed(capsys, folder, of, group, "--json"))["rows"]
    in_csv = list(csv.DictReader(io.StringIO(printed(capsys, folder, of, group, "--csv"))))
    assert [row["name"] for row in in_csv] == rows["name"]
    lines = [json.loads(line) for line in printed(capsys, folder, of, group, "--jsonl").splitlines()]
    assert [line["name"] for line in lines] == rows["name"]
    trace = torch_tb_profiler.open(folder, cache_dir=folder.parent / "cache").trace()
    agents = TableAnswer(FOR_AGENTS[name].ask(trace, group or None, None)).page(Query(limit="all"))
    assert agents.rows["name"] == rows["name"]
    with everything_read(folder, folder.parent / "other") as workspace:
        grouped = f"&group_by={group}" if group else ""
        answer = get(client_of(workspace), f"/api/{of.question}?run={folder.name}&worker=w{grouped}")
    assert answer["rows"]["name"] == rows["name"]
