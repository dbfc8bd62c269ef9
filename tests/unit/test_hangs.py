"""Diagnosis of jobs that hang, from the flight-recorder dumps of their ranks."""

from __future__ import annotations

import json
import os
import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import torch_tb_profiler
from tests.flight_recorder import HANG, WORLD, Rank, hanging_job, ranks_of, write
from tests.recorded import SHARED
from torch_tb_profiler.cli import main as command
from torch_tb_profiler.hangs.diagnose import HangReport, diagnose
from torch_tb_profiler.hangs.dump import read_dump
from torch_tb_profiler.hangs.job import HungJob
from torch_tb_profiler.workspace.reading import hang_reports
from torch_tb_profiler.workspace.reading.hang_reports import hang_report

RECORDED = SHARED.with_name("inputs") / "fr"
recorded = pytest.mark.skipif(not RECORDED.is_dir(), reason="needs the dumps in ../shared/data/inputs/fr")
#: the ranks of the log of injected faults
PLANTED = {"gpu_error_1st": {12, 14}, "gpu_error_2nd": {9, 14}, "lock_gil_1st": {9, 14}, "lock_gil_2nd": {10, 15}}


def report_of(ranks: Sequence[Rank | None], **options: Any) -> HangReport:
    dumps = {number: rank.dump(**options) for number, rank in enumerate(ranks) if rank is not None}
    return diagnose(HungJob({number: read_dump(pickle.dumps(dump, protocol=2)) for number, dump in dumps.items()}))


def named(report: HangReport) -> dict[int, str]:
    return {each.rank: each.kind for each in report.named}


@pytest.mark.parametrize("options", [{}, {"only_unfinished": True}, {"one_status": True}, {"version": "2.4"}])
def test_a_rank_that_did_not_enter_is_named_with_its_last_line(options: dict[str, Any]) -> None:
    ranks = ranks_of(4)
    for number, rank in enumerate(ranks):
        rank.call().call().call(done=number != 2) if number != 2 else rank.call().call()
    for number in (0, 1, 3):
        ranks[number]._entries[-1]["state"] = "scheduled"
        ranks[number]._done[WORLD] = 2
    report = report_of(ranks, **options)
    assert named(report) == {2: "host_stopped"}
    (stopped,) = report.named
    assert (stopped.call, stopped.group) == ("all_reduce #3", WORLD)
    assert stopped.line == (None if options.get("only_unfinished") else "train.py:82")
    assert report.answer == "yes"
    assert [wait.on for wait in report.waits] == [[2], [2], [2]]
    (state,) = report.groups
    assert (state.entered, state.not_entered, state.finished) == ([0, 1, 3], [2], [])


@pytest.mark.parametrize(
    ("odd", "says"),
    [
        ({"operator": "broadcast"}, "it calls broadcast, others all_reduce"),
        ({"input_dtypes": ["Half"]}, "it passes Half → Float, others Float → Float"),
        ({"input_sizes": [[7]], "output_sizes": [[7]]}, "it passes 7 → 7 elements, others 8,192 → 8,192"),
    ],
)
def test_a_rank_that_calls_something_else_is_named(odd: dict[str, Any], says: str) -> None:
    ranks = ranks_of(4)
    for number, rank in enumerate(ranks):
        rank.call().call(done=False, **(odd if number == 1 else {}))
    report = report_of(ranks)
    assert named(report) == {1: "desync"}
    assert says in report.named[0].evidence
    assert report.named[0].line == "train.py:82"


def test_sizes_may_differ_where_ranks_exchange_different_amounts() -> None:
    ranks = ranks_of(3)
    for number, rank in enumerate(ranks):
        rank.call(operator="all_to_all", done=False, input_sizes=[[number + 1]])
    report = report_of(ranks)
    assert (named(report), report.answer) == ({}, "partly")
    assert "Ranks 0–2 are all in all_to_all #1" in report.sentence


def test_shapes_of_as_many_elements_are_no_difference() -> None:
    ranks = ranks_of(2)
    ranks[0].call(done=False)
    ranks[1].call(done=False, input_sizes=[[8192]], output_sizes=[[8192]])
    assert named(report_of(ranks)) == {}


def test_two_ranks_that_differ_are_both_named_and_the_answer_is_partly() -> None:
    one, other = ranks_of(2)
    one.call(done=False)
    other.call(operator="broadcast", done=False)
    report = report_of([one, other])
    assert (named(report), report.answer) == ({0: "desync", 1: "desync"}, "partly")


def _device_fault(partner: bool = True) -> list[Rank | None]:
    """Rank 0 hangs in a call of its pair that rank 1 has finished; ranks 2 and 3 wait for rank 0 later."""
    ranks = ranks_of(4, pair=(0, 1))
    ranks[0].call("pair", done=False).call(done=False)
    ranks[1].call("pair").call(done=True).call(done=False)
    for rank in ranks[2:]:
        rank.call(done=True).call(done=False)
    return [ranks[0], ranks[1] if partner else None, *ranks[2:]]


def test_a_device_that_did_not_finish_what_its_partner_has_is_named() -> None:
    report = report_of(_device_fault())
    assert named(report) == {0: "device_stopped"}
    assert "rank 1 went on after it" in report.named[0].evidence
    assert "3 ranks wait for it" in report.sentence


def test_a_lost_dump_of_the_partner_does_not_hide_it() -> None:
    # rank 2 has finished a call with rank 1 that comes after the one of the pair
    assert named(report_of(_device_fault(partner=False))) == {0: "device_stopped"}


def test_the_root_of_a_broadcast_may_finish_early() -> None:
    ranks = ranks_of(3)
    for number, rank in enumerate(ranks):
        rank.call(operator="broadcast", done=number == 0)
    assert named(report_of(ranks)) == {}


def test_a_rank_without_a_dump_that_others_wait_for_is_missing() -> None:
    ranks = ranks_of(3)
    for rank in ranks:
        rank.call().call(done=False)
    report = report_of([ranks[0], None, ranks[2]])
    assert (named(report), report.answer, report.ranks, report.dumps) == ({1: "missing"}, "partly", 3, 2)


def test_collectives_in_two_orders_are_a_deadlock() -> None:
    one, other, third = ranks_of(3, a=(0, 1), b=(0, 1))
    one.call("a", done=False).call("b", done=False)
    other.call("b", done=False).call("a", done=False)
    report = report_of([one, other, third])
    assert named(report) == {0: "deadlock", 1: "deadlock"}
    assert [(wait.rank, wait.on) for wait in report.waits] == [(0, [1]), (1, [0])]


def test_transfers_lead_to_the_rank_that_stopped() -> None:
    # a pipeline of ranks 4, 5, 6 in a group: numbers in the names are places within it
    ranks: list[Rank | None] = [None] * 4
    stages = [Rank({"pipe": (4, 5, 6)}) for _ in range(3)]
    stages[0].transfer("send 0->1", "pipe")
    stages[1].transfer("send 1->2", "pipe")
    report = report_of([*ranks, *stages])
    assert named(report) == {6: "host_stopped"}
    assert {wait.rank: wait.on for wait in report.waits} == {4: [5], 5: [6]}


def test_both_ends_of_one_transfer_wait_for_nobody() -> None:
    one, other = ranks_of(2)
    one.transfer("send 0->1")
    other.transfer("recv 1<-0")
    report = report_of([one, other])
    assert (named(report), report.answer) == ({}, "partly")


def test_parts_of_a_finished_coalesced_call_are_finished() -> None:
    ranks = ranks_of(2)
    for rank, operator in zip(ranks, ("send 0->1", "recv 1<-0"), strict=True):
        rank.transfer(operator, number=1).transfer("coalesced", number=1, done=True)
    report = report_of(ranks)
    assert (report.waits, report.answer) == ([], "yes")


def test_a_call_that_timed_out_is_unfinished_though_it_is_retired() -> None:
    ranks = ranks_of(2)
    ranks[0].call(done=False, retired=True)
    assert named(report_of(ranks)) == {1: "host_stopped"}


def test_numbers_of_transfers_are_not_those_of_collectives() -> None:
    """The status of a group with sends counts these: 9 finished ones are not 9 finished collectives."""
    ranks = ranks_of(3)
    for number, rank in enumerate(ranks):
        rank.call().transfer("send 0->1", done=True)
        if number != 1:
            rank.call(done=False)
        rank._numbers[WORLD], rank._done[WORLD] = 9, 9
    assert named(report_of(ranks)) == {1: "host_stopped"}


def test_groups_whose_members_a_dump_does_not_list_are_all_who_name_them() -> None:
    ranks = [Rank({WORLD: None}) for _ in range(3)]
    for rank in ranks[:2]:
        rank.call(done=False)
    assert named(report_of(ranks)) == {2: "host_stopped"}


def test_a_job_that_does_not_hang_is_said_to() -> None:
    ranks = ranks_of(3)
    for rank in ranks:
        rank.call().call()
    report = report_of(ranks)
    assert (report.answer, report.named, report.waits) == ("yes", [], [])
    assert "no hang" in report.sentence


# ---- files


class _Hostile:
    def __reduce__(self) -> tuple[Any, ...]:
        return os.system, ("touch hostile",)


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (pickle.dumps({"version": "2.9", "entries": [_Hostile()]}), "nothing of that kind is ever loaded"),
        (pickle.dumps({"version": "9.0", "entries": []}), "of format 9.0; 2.x is read"),
        (pickle.dumps({"version": "2.9", "entries": "none"}), "is not a flight-recorder dump"),
        (pickle.dumps([1, 2, 3]), "is not a flight-recorder dump"),
        (pickle.dumps(Rank({WORLD: (0,)}).call().dump())[:-9], "damaged"),
        (b"\x80\x04P0\n.", "is not a flight-recorder dump: it names a persistent object"),
        (b'{"version": "2.9", "entries": [', "damaged"),
        (b'{"version": "2.9", "entries": ' + b"[" * 100_000, "damaged"),
        (b'{"schemaVersion": 1, "traceEvents": []}', "is not a flight-recorder dump"),
        (b"Rank 12 failed\n", "is not a flight-recorder dump"),
        (b"", "is not a flight-recorder dump"),
    ],
)
def test_a_file_that_is_no_dump_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, [rank.call(done=False) for rank in ranks_of(3)])
    (tmp_path / "nccl_trace_rank_1").write_bytes(content)
    report = hang_report(str(tmp_path))
    assert (named(report), report.dumps) == ({1: "missing"}, 2)
    assert [each.file for each in report.left_out] == ["nccl_trace_rank_1"]
    assert why in report.left_out[0].reason
    assert not (tmp_path / "hostile").exists()


@pytest.mark.parametrize(
    "odd",
    [
        {"profiling_name": "nccl:\ud800"},
        {"input_sizes": [[1.5]]},
        {"input_sizes": [["a", 2**70]]},
        {"output_sizes": [[2**40, 2**40]]},
        {"record_id": 2**70},
        {"frames": [{"filename": "a.py", "line": []}, None]},
        {"process_group": [None, {}]},
    ],
)
def test_a_value_that_torch_does_not_write_costs_only_itself(tmp_path: Path, odd: dict[str, Any]) -> None:
    write(tmp_path, [rank.call(done=False, **(odd if number == 1 else {})) for number, rank in enumerate(ranks_of(3))])
    report = hang_report(str(tmp_path))
    assert (report.dumps, report.left_out) == (3, [])
    assert {0, 2} <= {wait.rank for wait in report.waits}


def test_ranks_of_a_group_may_be_anything(tmp_path: Path) -> None:
    rank = ranks_of(2)[0].call(done=False).dump()
    rank["pg_config"][WORLD]["ranks"] = [0, 1, "x", 2**70, None]
    (tmp_path / "nccl_trace_rank_0").write_bytes(pickle.dumps(rank))
    assert named(hang_report(str(tmp_path))) == {1: "missing"}


def test_a_size_that_is_not_known_of_all_is_compared_where_it_is() -> None:
    ranks = ranks_of(4)
    for number, rank in enumerate(ranks):
        sizes = {3: None, 1: [[7]]}.get(number, [[8]])
        rank.call(done=False, input_sizes=sizes, output_sizes=[[1]])
    assert named(report_of(ranks)) == {1: "desync"}


def test_a_file_that_ends_its_reader_costs_only_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hang_reports, "SECONDS", 2)
    write(tmp_path, [rank.call(done=False) for rank in ranks_of(3)])
    # each tuple holds the one before twice: to look at all of it never ends
    bomb = b"(" * 1 + b"]" + b"".join(b"2\x86" for _ in range(64))
    (tmp_path / "nccl_trace_rank_0").write_bytes(
        b"\x80\x02}(X\x07\x00\x00\x00versionX\x03\x00\x00\x002.9X\x07\x00\x00\x00entries" + bomb + b"u."
    )
    report = hang_report(str(tmp_path))
    assert report.dumps == 2
    assert [each.file for each in report.left_out] == ["nccl_trace_rank_0"]


def test_json_and_nodes_in_folders_of_their_own_are_read(tmp_path: Path) -> None:
    for number, rank in enumerate(ranks_of(2)):
        folder = tmp_path / f"node{number}"
        folder.mkdir()
        content = (rank.call(done=False) if number else rank).dump()
        (folder / f"dump_rank_{number}.json").write_text(json.dumps(content))
    assert named(hang_report(str(tmp_path))) == {0: "host_stopped"}


def test_folders_of_several_jobs_are_not_mixed(tmp_path: Path) -> None:
    for job in ("monday", "tuesday"):
        (tmp_path / job).mkdir()
        (tmp_path / job / "nccl_trace_rank_0").write_bytes(pickle.dumps(Rank({WORLD: (0,)}).dump()))
    report = hang_report(str(tmp_path))
    assert (report.answer, report.dumps) == ("cannot", 0)
    assert "monday and tuesday" in report.sentence


def test_another_set_of_numbered_files_is_left_out(tmp_path: Path) -> None:
    write(tmp_path, [rank.call() for rank in ranks_of(3)])
    (tmp_path / "step_100").write_bytes(b"weights")
    report = hang_report(str(tmp_path))
    assert (report.dumps, [each.file for each in report.left_out]) == (3, ["step_100"])


def test_command_and_python_give_one_answer(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranks = ranks_of(2)
    ranks[0].call(done=False)
    write(tmp_path, ranks)
    report = hang_report(str(tmp_path))
    assert torch_tb_profiler.hang(tmp_path) == report
    assert command(["hang", str(tmp_path), "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["schema"] == "hang/1.0"
    assert set(printed["named"][0]) == {"rank", "kind", "call", "group", "line", "evidence"}
    assert printed["waits"][0]["for"] == [1]
    assert command(["hang", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(report.sentence)
    assert "rank 1  host stopped: " in text
    with pytest.raises(torch_tb_profiler.ProfileError):
        torch_tb_profiler.hang(tmp_path / "absent")


# ---- real faults


@recorded
@pytest.mark.parametrize("job", PLANTED)
def test_recorded_faults_are_named_by_the_log_of_their_injection(job: str) -> None:
    report = hang_report(str(RECORDED / job))
    kind = "device_stopped" if job.startswith("gpu") else "host_stopped"
    assert (named(report), report.answer) == (dict.fromkeys(PLANTED[job], kind), "yes")


@recorded
@pytest.mark.parametrize("job", PLANTED)
def test_a_lost_dump_hides_no_rank_and_accuses_none(job: str) -> None:
    paths = (RECORDED / job).glob("_dump_*")
    dumps = {int(path.name.rpartition("_")[2]): read_dump(path.read_bytes()) for path in paths}
    for lost in dumps:
        names = set(named(diagnose(HungJob({rank: dump for rank, dump in dumps.items() if rank != lost}))))
        assert PLANTED[job] <= names
        assert names <= PLANTED[job] | {lost}


@pytest.mark.slow
@recorded
def test_made_jobs_have_the_roots_of_their_truth() -> None:
    truth = json.loads((RECORDED / "made" / "truth.json").read_text())
    jobs = {name: about["roots"] for name, about in truth.items() if isinstance(about, dict)}
    assert len(jobs) == 8
    assert {name: sorted(named(hang_report(str(RECORDED / "made" / name)))) for name in jobs} == jobs


def test_the_example_of_the_docs_is_fresh(tmp_path: Path) -> None:
    write(tmp_path, hanging_job())
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == {
        path.name: path.read_bytes() for path in HANG.iterdir()
    }
