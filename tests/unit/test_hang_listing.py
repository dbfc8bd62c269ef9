"""Hang reports of a log directory: which folders are listed, what the old routes say, and the answer of /api/hang."""

from __future__ import annotations

import json
import pickle
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from werkzeug.test import Client

import torch_tb_profiler
from tests.events import all_reduce
from tests.flight_recorder import HANG, WORLD, ranks_of
from tests.served import client_of, everything_read, get
from tests.tiny import write_trace


@pytest.fixture(scope="module")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("logs")
    shutil.copytree(HANG, root / "hung")
    for run, elements in (("traced", 8192), ("again", 7)):
        shutil.copytree(HANG, root / run)
        # the group of the dumps, and the last call that rank 2 has finished, which is its twelfth
        given = {"Process Group Name": WORLD, "In msg nelems": elements, "Out msg nelems": elements}
        calls = [all_reduce(100 * number, 50, number, Seq=number, **given) for number in (11, 12)]
        trace = {"schemaVersion": 1, "distributedInfo": {"rank": 2, "world_size": 4}, "traceEvents": calls}
        (root / run / "worker2.1700000000000.pt.trace.json").write_text(json.dumps(trace))
    write_trace(root / "plain" / "worker0.1700000000000.pt.trace.json")
    for number, rank in enumerate(ranks_of(2)):
        (root / "nodes" / f"node{number}").mkdir(parents=True)
        content = pickle.dumps(rank.call(done=number == 0).dump(), protocol=2)
        (root / "nodes" / f"node{number}" / f"nccl_trace_rank_{number}").write_bytes(content)
    (root / "hung" / "nccl_trace_rank_9").write_bytes(b"no dump at all")
    (root / "plain" / "step_rank_7").write_bytes(b"weights of rank 7")
    return root


@pytest.fixture(scope="module")
def client(logs: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with everything_read(logs, tmp_path_factory.mktemp("cache")) as workspace:
        yield client_of(workspace)


def test_dumps_alone_are_a_run_of_the_page_and_none_of_the_old_routes(client: Client) -> None:
    status = get(client, "/api/status")
    assert {run["name"]: (len(run["traces"]), run["dumps"]) for run in status["runs"]} == {
        "again": (1, 4),
        "hung": (0, 5),
        "nodes": (0, 2),
        "plain": (1, 0),
        "traced": (1, 4),
    }
    assert [status["skipped"], *(run["skipped"] for run in status["runs"])] == [[]] * 6
    assert get(client, "/runs")["runs"] == ["again", "plain", "traced"]
    for route in ("views?run=hung", "workers?run=hung&view=Overview", "api/overview?run=hung&worker=0"):
        get(client, f"/{route}", 404)


def test_the_answer_is_the_report_of_the_command(client: Client, logs: Path) -> None:
    answer = get(client, "/api/hang?run=hung")
    report = msgspec.to_builtins(torch_tb_profiler.hang(logs / "hung"))
    (left_out,) = report["left_out"]
    # in a log directory, files are named by their path in it
    left_out["file"] = f"hung/{left_out['file']}"
    assert answer["report"] == report
    assert " ".join(each["text"] for each in answer["sentence"]) == answer["report"]["sentence"]
    assert [each["text"] for each in answer["evidence"]] == [each["evidence"] for each in answer["report"]["named"]]
    assert [each["kind"] for each in answer["left_out"]] == ["no_dump"]
    assert [(each["rank"], each["call"]) for each in answer["others"]] == [(2, "all_reduce #12")]


def test_nodes_in_folders_of_their_own_are_one_job(client: Client) -> None:
    report = get(client, "/api/hang?run=nodes")["report"]
    assert (report["ranks"], report["dumps"], [each["rank"] for each in report["waits"]]) == (2, 2, [1])


def test_the_last_finished_call_is_shown_in_the_trace_of_its_rank(client: Client) -> None:
    (joined,) = get(client, "/api/hang?run=traced")["joined"]
    assert (joined["rank"], joined["worker"], joined["call"]) == (2, "worker2", "all_reduce #12")
    assert (joined["start_ns"], joined["duration_ns"]) == (100_000, 50_000)


def test_a_call_that_contradicts_the_trace_joins_nothing(client: Client) -> None:
    assert get(client, "/api/hang?run=again")["joined"] == []


def test_a_run_without_dumps_has_no_report(client: Client) -> None:
    assert get(client, "/api/hang?run=plain", 404)["why"]["kind"] == "no_dumps"
    get(client, "/api/hang?run=absent", 404)
