"""What workers are asked before the first rank, and what is said of one that cannot do it."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.rank_logs import write_ranks
from torch_tb_profiler.ingest.reading import Children, judge, probe_worker, read_rank
from torch_tb_profiler.ingest.runner import IngestRefused, IngestTarget, RankLost, Task, WorkerFact, WorkerProbe
from torch_tb_profiler.workspace.cache.identity import answers_version


def check_of(tmp_path: Path, url: str = "") -> WorkerProbe:
    place = tmp_path / "place"
    place.mkdir(exist_ok=True)
    (path,) = write_ranks(tmp_path / "job", 1)
    target = IngestTarget(str(place), False, "ingest-", 400, answers_version())
    size = path.stat().st_size
    return WorkerProbe(path.name, url or str(path), size, 0, nonce="ingest-probe.part", target=target)


def asked(check: WorkerProbe) -> WorkerFact:
    fact = msgspec.json.decode(probe_worker(msgspec.json.encode(check)), type=WorkerFact)
    return msgspec.structs.replace(fact, address="tcp://10.0.0.7:1")


def test_a_worker_that_can_do_it(tmp_path: Path) -> None:
    check = check_of(tmp_path)
    fact = asked(check)
    assert (fact.unreadable, fact.unwritable, fact.code) == ("", "", answers_version())
    judge([fact], check)
    assert not list((tmp_path / "place").iterdir())


def test_what_a_worker_lacks_is_said_with_its_name(tmp_path: Path) -> None:
    check = check_of(tmp_path)
    elsewhere = asked(check_of(tmp_path, str(tmp_path / "none")))
    fact = asked(check)
    gone = msgspec.structs.replace(check.target, place=str(tmp_path / "nowhere" / "place"))
    unwritable = asked(msgspec.structs.replace(check, target=gone))
    for wrong, told in (
        (elsewhere, f"cannot read {check.url}: .*No such file"),
        (unwritable, "cannot write to .*No such file"),
        (msgspec.structs.replace(fact, code="other"), "has another build of torch-tb-profiler"),
    ):
        with pytest.raises(IngestRefused, match=rf"worker tcp://10.0.0.7:1 \({fact.host}\) {told}"):
            judge([wrong], check)


def test_a_place_of_its_own_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch_tb_profiler.workspace.cache.stores.VISIBLE_SECONDS", 0.0)
    monkeypatch.setattr("torch_tb_profiler.ingest.reading.read_when_visible", lambda place, name: place.read(name))
    check = check_of(tmp_path)
    unseen = msgspec.structs.replace(asked(check), nonce="ingest-probe.part-another")
    with pytest.raises(IngestRefused, match=r"has its own .*place"):
        judge([unseen], check)


def test_a_newcomer_with_another_build_reads_nothing(tmp_path: Path) -> None:
    check = check_of(tmp_path)
    target = msgspec.structs.replace(check.target, code="other")
    children = Children(1)
    try:
        outcome = read_rank(Task(check.path, check.url, check.size, 0, number=3, target=target), children)
    finally:
        children.close()
    assert isinstance(outcome, RankLost)
    assert "another build" in outcome.text


def test_many_workers_are_not_all_listed(tmp_path: Path) -> None:
    check = check_of(tmp_path)
    wrong = [msgspec.structs.replace(asked(check), code="other", address=f"tcp://w{n}:1") for n in range(9)]
    with pytest.raises(IngestRefused, match="and 4 more workers"):
        judge(wrong, check)
