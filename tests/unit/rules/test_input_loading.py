"""Rules about loading: programs with one fault, the same without it, and what they really save."""

from __future__ import annotations

import pytest

from tests.events import kernel, model_of
from tests.input_programs import MS, SINGLE, WORKERS, diagnosed, found_in, saved, work
from tests.replay_programs import US, Instruction
from torch_tb_profiler.insights.findings import diagnosis

HAND_OVER = 500 * US
LOADING = {"dataloader", "synchronous_dataloader", "worker_stalls", "dataloader_restart", "input_annotation"}


def fetching(times: list[int], iterator: str, count: int = 40) -> list[list[Instruction]]:
    return [[("fetch", length, iterator), *work(count)] for length in times]


def silent(program: list[list[Instruction]]) -> bool:
    return not LOADING & set(found_in(program))


def test_batches_made_in_the_main_process() -> None:
    faulty = fetching([4 * MS] * 6, SINGLE)
    healthy = fetching([HAND_OVER] * 6, WORKERS)
    finding = found_in(faulty)["synchronous_dataloader"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert finding.saving.bound
    assert finding.where is not None
    assert (finding.where.file, finding.where.line) == ("data.py", 39)
    assert finding.confidence == "high"
    assert {each.key: each.value for each in finding.evidence}["batch_p50"] == 4 * MS
    assert len(finding.instances) == 6
    assert silent(healthy)


def test_batches_that_workers_do_not_make_sooner() -> None:
    assert silent(fetching([900 * US] * 6, SINGLE, count=5)), "a hand-over takes as long"
    assert silent(fetching([300 * US] * 6, SINGLE, count=200)), "a small part of the step"
    assert silent(fetching([9 * MS, 9 * MS, 1 * MS], SINGLE)), "few, and slow at first alone"
    assert found_in(fetching([1200 * US] * 6, SINGLE, count=20))["synchronous_dataloader"].confidence == "medium"


def test_loading_that_hides_behind_the_device_saves_nothing() -> None:
    busy = work(10, 5 * US, 600 * US)
    found = diagnosed([busy, *([("fetch", 2 * MS, SINGLE), *busy] for _ in range(6))])
    assert not LOADING & {each.id for each in found.findings}
    assert "synchronous_dataloader" in found.checked


@pytest.mark.parametrize("iterator", [SINGLE, WORKERS])
def test_loading_that_only_the_first_step_waits_for_is_hidden(iterator: str) -> None:
    first = [("fetch", 8 * MS, iterator), *work(40, 10 * US, 600 * US)]
    assert silent([first] * 8)
    late = [[("fetch", each * MS, iterator), *work(40, 10 * US, 600 * US)] for each in (8, 8, 8, 8, 60, 60, 60, 60)]
    assert not silent(late)


def test_a_dataset_on_the_device_is_not_told_to_use_workers() -> None:
    events: list[list[Instruction]] = [[("fetch", 4 * MS, SINGLE), *work(30)] for _ in range(5)]
    plain = found_in(events)["synchronous_dataloader"]
    assert "num_workers=4" in plain.advice
    on_device = found_in([[("fetch_on_device", 4 * MS), *work(30)] for _ in range(5)])["synchronous_dataloader"]
    assert "num_workers=4" not in on_device.advice
    assert on_device.confidence == "medium"


def test_workers_that_do_not_keep_up() -> None:
    times = [3 * MS, 5 * MS, 4 * MS, 6 * MS, 5 * MS, 3 * MS, 4 * MS, 6 * MS]
    faulty, healthy = fetching(times, WORKERS), fetching([HAND_OVER] * 8, WORKERS)
    finding = found_in(faulty)["dataloader"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert "prefetch_factor" in finding.advice
    assert "synchronous_dataloader" not in found_in(faulty)
    assert silent(healthy)


def test_the_batch_that_starts_the_workers_is_waited_for_once() -> None:
    assert silent(fetching([200 * MS] + [200 * US] * 9, WORKERS))


def test_periodic_stalls_of_workers() -> None:
    faulty = fetching([100 * US, 100 * US, 100 * US, 9 * MS] * 4, WORKERS)
    healthy = fetching([100 * US] * 16, WORKERS)
    found = found_in(faulty)
    finding = found["worker_stalls"]
    assert finding.values["period"] == 4
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert "dataloader" not in found, "the same, said less precisely"
    assert [each.duration_ns for each in finding.instances] == [9 * MS] * 4
    assert silent(healthy)


@pytest.mark.parametrize(
    "times",
    [
        pytest.param([100 * US, 9 * MS, 100 * US, 100 * US, 100 * US, 9 * MS, 9 * MS, 100 * US] * 2, id="irregular"),
        pytest.param([*[1_900 * US] * 7, 10 * MS] * 4, id="most of the time is of the others"),
        pytest.param([100 * US] * 8 + [4 * MS, 4 * MS, 4 * MS, 12 * MS] * 2, id="the others are late, too"),
    ],
)
def test_no_rhythm_is_said_where_there_is_none(times: list[int]) -> None:
    found = found_in(fetching(times, WORKERS))
    assert "worker_stalls" not in found
    assert "dataloader" in found


def test_short_epochs_are_no_stalls() -> None:
    """An epoch ends with a fetch that finds nothing: two without work between."""
    epoch: list[list[Instruction]] = [[("fetch", 100 * US, WORKERS), *work(40)] for _ in range(3)]
    last: list[Instruction] = [
        *(("fetch", 100 * US, WORKERS), *work(40)),
        *(("fetch", 50 * US, WORKERS), ("iterator", 3 * MS), ("fetch", 9 * MS, WORKERS), *work(40)),
    ]
    found = found_in([*epoch, last] * 4)
    assert "worker_stalls" not in found
    assert found["dataloader_restart"].values["times"] == 4


def test_workers_that_are_started_again() -> None:
    def program(restart: list[Instruction]) -> list[list[Instruction]]:
        steps: list[list[Instruction]] = [[("fetch", 100 * US, WORKERS), *work(40)] for _ in range(10)]
        steps[6] = [*restart, *work(40)]
        return steps

    faulty = program([("iterator", 20 * MS), ("fetch", 15 * MS, WORKERS)])
    healthy = program([("fetch", 100 * US, WORKERS)])
    finding = found_in(faulty)["dataloader_restart"]
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert "persistent_workers=True" in finding.advice
    assert silent(healthy)
    without_stacks = diagnosed(faulty, stacks=False)
    assert "dataloader_restart" in {each.id for each in without_stacks.not_evaluated}
    # the first iterator has to be made
    assert silent([[("iterator", 20 * MS), ("fetch", 15 * MS, WORKERS), *work(40)], *program([])[:9]])


def test_a_range_that_the_program_calls_loading() -> None:
    faulty: list[list[Instruction]] = [[("range", "## load_batch ##", 4 * MS), *work(40)] for _ in range(6)]
    healthy: list[list[Instruction]] = [[("range", "## load_batch ##", HAND_OVER), *work(40)] for _ in range(6)]
    finding = found_in(faulty)["input_annotation"]
    assert diagnosed(faulty).bound.kind == "input"
    assert finding.saving is not None
    assert finding.saving.alone_ns == pytest.approx(saved(faulty, healthy), rel=0.02)
    assert finding.where is not None
    assert finding.where.annotation == "## load_batch ##"
    assert silent(healthy)
    for name in ("forward", "load_state", "get_logits", "next_token", "dataparallel"):
        assert silent([[("range", name, 4 * MS), *work(40)] for _ in range(6)])


def test_not_evaluated_without_a_host() -> None:
    found = diagnosis(model_of([kernel(at * 10, 5, at) for at in range(5)]))
    needs = {each.id: each.needs for each in found.not_evaluated}
    assert {needs[id_] for id_ in LOADING} <= {"host", "steps"}
