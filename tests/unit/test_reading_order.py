"""Which ranks are read first, and how many at once."""

from __future__ import annotations

import pytest

from torch_tb_profiler.discovery import TraceFile
from torch_tb_profiler.storage import Entry
from torch_tb_profiler.workspace.reading.pool import Pool
from torch_tb_profiler.workspace.reading.protocol import Job
from torch_tb_profiler.workspace.reading.reading_order import (
    MEMORY_VARIABLE,
    PROCESS_BYTES,
    host_in,
    in_reading_order,
    memory_for,
    processes_for,
)


def file(worker: str, size: int) -> TraceFile:
    return TraceFile(worker, "1", Entry(f"{worker}.1.pt.trace.json.gz", f"/{worker}", size, 0))


FILES = [file(f"node{rank // 4}_{rank}", 1000 - rank) for rank in range(8)]


def test_the_smallest_of_each_host_come_first_then_all_others_by_size() -> None:
    assert [f.worker for f in in_reading_order(FILES)] == [
        "node1_7",
        "node0_3",
        *(f"node1_{rank}" for rank in (6, 5, 4)),
        *(f"node0_{rank}" for rank in (2, 1, 0)),
    ]


def test_two_that_read_the_same_have_orders_of_their_own() -> None:
    orders = [[f.worker for f in in_reading_order(FILES, seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]
    assert orders[0][:2] == orders[2][:2] == ["node1_7", "node0_3"]
    assert sorted(orders[2]) == sorted(f.worker for f in FILES)
    lone = [file("host_77", 3)]
    assert in_reading_order(lone, 1) == lone


@pytest.mark.parametrize(
    ("worker", "host"), [("node1_0", "node1"), ("rank12", "rank"), ("gpu-a7-31_9912", "gpu-a7-31"), ("main", "main")]
)
def test_hosts_in_names(worker: str, host: str) -> None:
    assert host_in(worker) == host


def test_memory_bounds_how_many_are_read_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    large = [file(f"node_{rank}", 10 * 1000**2) for rank in range(8)]
    need = memory_for(large[0].entry)
    assert need > PROCESS_BYTES
    monkeypatch.setattr("torch_tb_profiler.workspace.reading.reading_order.processors", lambda: 16)
    for budget, expected in ((3 * need, 3), (need // 2, 1), (100 * need, 8)):
        monkeypatch.setenv(MEMORY_VARIABLE, str(budget))
        assert processes_for(large) == expected
    assert processes_for(large, most=5) == 5
    assert processes_for([]) == 1


def test_a_pool_starts_no_more_than_its_memory_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    entry = Entry("w.pt.trace.json.gz", "/w.pt.trace.json.gz", 10 * 1000**2, 0)
    jobs = [Job(number, entry, "/none") for number in range(3)]
    pool = Pool(0, lambda *_: None, memory=2 * memory_for(entry))
    pool.close()  # no thread takes what is asked for here
    pool._closed = False
    for job in jobs:
        pool.submit(job)
    taken = [pool._next(0), pool._next(0), pool._next(0)]
    assert [running.job.id if running else None for running in taken] == [0, 1, None]
    assert taken[0]
    pool._running.discard(taken[0])
    third = pool._next(0)
    assert third
    assert third.job.id == 2


def test_a_snapshot_needs_what_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(size: int, name: str = "s.pickle") -> TraceFile:
        return TraceFile("rank0", "1", Entry(name, f"/{name}", size, 0), kind="snapshot")

    for size, measured in ((100_806_061, 310 * 10**6), (970_968_783, 2_270 * 10**6)):
        assert measured <= memory_for(of(size).entry, kind="snapshot") <= 1.25 * measured
    plain, packed = (memory_for(of(10**7, name).entry, kind="snapshot") for name in ("s.pickle", "s.pickle.gz"))
    assert packed > 2 * plain
    monkeypatch.setattr("torch_tb_profiler.workspace.reading.reading_order.processors", lambda: 16)
    monkeypatch.setenv(MEMORY_VARIABLE, str(8 * 10**9))
    assert processes_for([of(10**9)] * 4) == 3
