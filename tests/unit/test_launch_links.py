"""Which call started which device work, where correlations are missing, shared, or those of several processes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.events import Event, annotation, event, kernel, launch, model_of, op
from torch_tb_profiler.analysis.health.notes import health
from torch_tb_profiler.analysis.operators.table import operators
from torch_tb_profiler.analysis.shared.owners import owner_shares
from torch_tb_profiler.model import Model


def device_us(model: Model) -> dict[str, float]:
    table = operators(model)
    return dict(zip(table.name, (table.device_self_ns / 1000).tolist(), strict=True))


def kinds(model: Model) -> dict[str, Any]:
    return {note.kind: note.values for note in health(model)}


# no correlation ---------------------------------------------------------------------------------------------


def rocm(names: list[str], flows: bool = True, ids: bool = True, calls: bool = True) -> list[Event]:
    """A kernel for each operator, without correlations; the device lags behind the host."""
    events = [annotation("ProfilerStep#1", 0, 100 * len(names))]
    for i, name in enumerate(names):
        at, ran, number = 100.0 * i, 100.0 * len(names) + 30 * i, 50 + i
        events.append(op(name, at, 90, **{"External id": 900 + i}))
        shared = {"External id": number} if ids else {}
        if calls:
            events.append({**event("cuda_runtime", "hipLaunchKernel", at + 10, 5, **shared)})
            events.append(event("cuda_runtime", "hipGetDevice", at + 20, 1, **shared))
        else:
            shared = {"External id": 900 + i}
        events.append({**event("kernel", "k", ran, 10 + i, 0, device=0, stream=0, **shared), "pid": 0})
        if flows:
            arrow = {"cat": "ac2g", "name": "ac2g", "id": 7000 + i}
            events.append({**arrow, "ph": "s", "pid": 1, "tid": 1, "ts": at + 10})
            events.append({**arrow, "ph": "f", "pid": 0, "tid": 0, "ts": ran, "bp": "e"})
    return events


@pytest.mark.parametrize(
    ("given", "link", "note"),
    [
        ({"ids": False}, "flow", {"flow": 3, "external_id": 0}),
        ({}, "flow", {"flow": 3, "external_id": 0}),
        ({"flows": False}, "external_id", {"flow": 0, "external_id": 3}),
        ({"flows": False, "calls": False}, "external_id", {"flow": 0, "external_id": 3}),
    ],
)
def test_without_correlations_flows_and_external_ids_link(
    given: dict[str, bool], link: str, note: dict[str, int]
) -> None:
    model = model_of(rocm(["aten::mm", "aten::add", "aten::mm"], **given))
    assert device_us(model) == {"aten::mm": 22, "aten::add": 11}
    shares = owner_shares(model)
    assert shares is not None
    assert (shares.linked, shares.by_link) == (1, {link: 1})
    found = kinds(model)
    assert found["linked_without_correlation"] == note
    (text,) = (each.text for each in health(model) if each.kind == "linked_without_correlation")
    assert f"linked by {'flow' if link == 'flow' else 'External id'} (3)" in text
    assert not found.keys() & {"no_launch", "no_correlation"}
    assert int(model.in_steps.is_work.sum()) == 3


def test_kernels_that_begin_together_take_the_flows_in_their_order() -> None:
    events = rocm(["aten::mm", "aten::add"], ids=False)
    for each in events:
        if each["pid"] == 0:
            each["ts"] = 500.0
    assert device_us(model_of(events)) == {"aten::mm": 10, "aten::add": 11}


def test_several_calls_of_one_operator_share_an_external_id() -> None:
    calls = [event("cuda_runtime", "hipLaunchKernel", at, 5, **{"External id": 4}) for at in (10.0, 20.0)]
    ran = [
        {**event("kernel", "k", at, 10, stream, device=0, stream=stream, **{"External id": 4}), "pid": 0}
        for stream, at in enumerate((100.0, 105.0))
    ]
    model = model_of([op("aten::mm", 0, 90, **{"External id": 4}), *calls, *ran])
    assert device_us(model) == {"aten::mm": 20}


def test_one_correlation_in_the_file_and_no_other_rule_is_asked() -> None:
    events = rocm(["aten::mm", "aten::add"])
    model = model_of([*events, launch(190, 3), kernel(900, 5, 3)])
    assert device_us(model) == {"aten::mm": 0, "aten::add": 0}
    shares = owner_shares(model)
    assert shares is not None
    assert shares.by_reason.keys() == {"no_correlation"}
    assert "no_launch" not in kinds(model)


def test_a_launch_that_a_flow_leads_to_is_not_told_as_missing() -> None:
    arrow = {"cat": "ac2g", "name": "ac2g", "id": 2}
    flow = [
        {**arrow, "ph": "s", "pid": 1, "tid": 1, "ts": 20.0},
        {**arrow, "ph": "f", "pid": 0, "tid": 7, "ts": 200.0, "bp": "e"},
    ]
    call = event("cuda_runtime", "hipLaunchKernel", 20, 5)
    base = [launch(10, 1), kernel(100, 5, 1), call, kernel(200, 5, 2)]
    assert "no_launch" in kinds(model_of(base))
    assert kinds(model_of([*base, *flow])).keys() & {"no_launch", "no_correlation"} == {"no_correlation"}


# several processes ------------------------------------------------------------------------------------------


def rank(
    pid: int | str, device_pid: int | str, device: int, name: str, times: list[float], first: int = 1
) -> list[Event]:
    """Operators of one name on a rank: its host events, then its kernels, which last 10 µs on rank 0, 20 on rank 1 …"""
    host, ran = [], []
    for i, at in enumerate(times):
        host += [op(name, at, 40), launch(at + 5, first + i)]
        ran.append({**kernel(at + 50, 10 * (device + 1), first + i, f"k_{name}", device), "pid": device_pid})
    return [{**each, "pid": pid} for each in host] + ran


TIMES = [0.0, 100.0, 200.0]
RIGHT = {"aten::mm": 30, "aten::add": 60}


def by_time(events: list[Event]) -> list[Event]:
    return sorted(events, key=lambda each: float(each["ts"]))


@pytest.mark.parametrize(
    "events",
    [
        pytest.param(
            rank(100, 0, 0, "aten::mm", TIMES) + rank(200, 1, 1, "aten::add", TIMES), id="one after the other"
        ),
        pytest.param(
            by_time(
                rank("[TP00] 9", "[TP00] 0", 0, "aten::mm", TIMES) + rank("[TP01] 9", "[TP01] 1", 1, "aten::add", TIMES)
            ),
            id="pids as SGLang writes them",
        ),
        pytest.param(
            by_time(
                rank("9 (rank 0)", "0 (rank 0)", 0, "aten::mm", TIMES)
                + rank("9 (rank 1)", "1 (rank 1)", 1, "aten::add", TIMES)
            ),
            id="rank behind the pid",
        ),
        pytest.param(
            by_time(rank("rank0", "rank0", 0, "aten::mm", TIMES) + rank("rank1", "rank1", 1, "aten::add", TIMES)),
            id="one pid for all of a rank",
        ),
        pytest.param(
            by_time(rank(100, 0, 0, "aten::mm", TIMES, 1) + rank(200, 1, 1, "aten::add", TIMES, 3)),
            id="few ids collide",
        ),
        pytest.param(
            by_time(rank(100, 0, 0, "aten::mm", TIMES) + rank(200, 1, 1, "aten::add", [t + 70 for t in TIMES])),
            id="one rank is later",
        ),
    ],
)
def test_work_of_merged_ranks_belongs_to_its_own_rank(events: list[Event]) -> None:
    model = model_of(events)
    assert device_us(model) == RIGHT
    assert kinds(model)["merged_processes"] == {"processes": 2, "collide": True, "unowned": 0}


def test_merged_ranks_on_devices_of_one_number() -> None:
    second = [
        {**each, "args": {**each["args"], "device": 0}}
        for each in rank(200, 0, 1, "aten::add", TIMES)
        if each["pid"] == 0
    ]
    host = [each for each in rank(200, 0, 1, "aten::add", TIMES) if each["pid"] == 200]
    assert device_us(model_of(rank(100, 0, 0, "aten::mm", TIMES) + host + second)) == RIGHT


def test_ranks_that_share_a_device_are_not_all_taken_for_one() -> None:
    """Most of the work is of one rank; what the other has launched is known by its ids alone."""
    first = rank(100, 0, 0, "aten::mm", [100.0 * i for i in range(8)])
    second = rank(200, 0, 1, "aten::add", [50.0 + 100 * i for i in range(3)], 7)
    model = model_of(by_time(first + [{**each, "args": {**each["args"], "device": 0}} for each in second]))
    found = device_us(model)
    assert found["aten::mm"] <= 80
    assert found["aten::add"] == 20, "of three ids one is its own"


def test_what_two_ranks_may_have_launched_has_no_owner() -> None:
    events = by_time(rank(100, 0, 0, "aten::mm", TIMES) + rank(200, 1, 1, "aten::add", TIMES))
    model = model_of(events)
    assert device_us(model) == {"aten::mm": 0, "aten::add": 0}
    shares = owner_shares(model)
    assert shares is not None
    assert (shares.linked, shares.by_reason) == (0, {"ambiguous": 1})
    found = kinds(model)
    assert found["merged_processes"] == {"processes": 2, "collide": True, "unowned": 6}
    assert "no_launch" not in found


def test_the_process_that_allocates_on_a_device_launches_there() -> None:
    events = rank(100, 0, 0, "aten::mm", TIMES) + rank(200, 1, 1, "aten::add", TIMES)
    for pid, device in ((100, 0), (200, 1)):
        args = {"Bytes": 512, "Device Id": device, "Device Type": 1, "Addr": 4096}
        events.append(
            {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": pid, "tid": 1, "ts": 1.0, "args": args}
        )
    assert device_us(model_of(by_time(events))) == RIGHT


def test_processes_of_one_pid_are_not_told_apart() -> None:
    events = rank(100, 0, 0, "aten::mm", TIMES) + [
        {**each, "tid": 2} if each["pid"] == 100 else each for each in rank(100, 1, 1, "aten::add", TIMES)
    ]
    model = model_of(events)
    assert device_us(model) == {"aten::mm": 0, "aten::add": 0}
    assert kinds(model)["shared_correlation"] == {"matched": 0, "unowned": 6}


def test_calls_that_a_device_records_are_no_process() -> None:
    events = [
        op("aten::mm", 0, 40),
        launch(5, 1),
        {**launch(20, 1), "pid": 17},
        {**kernel(50, 10, 1, device=17), "pid": 17},
    ]
    assert "merged_processes" not in kinds(model_of(events))


# kernels of one call ----------------------------------------------------------------------------------------


def doubled(steps: int = 3, lag: float = 0, **of_call: Any) -> list[Event]:
    """Two operators a step; the kernel of the second carries the correlation of the first."""
    events = []
    for i in range(steps):
        at, first = 1000.0 * i, 2 * i + 1
        events += [op("aten::mm", at, 60), {**launch(at + 10, first), "name": "hipExtModuleLaunchKernel"}]
        events += [op("aten::softmax", at + 70, 60), {**launch(at + 80, first + 1), "name": "hipLaunchKernel"}]
        events += [kernel(at + lag + 200, 50, first, "gemm", stream=1 << 40)]
        events += [kernel(at + lag + 210, 70, first, "softmax", stream=(1 << 40) + 8)]
    return events


@pytest.mark.parametrize("lag", [0, 1500])
def test_a_launch_starts_one_kernel(lag: float) -> None:
    model = model_of(doubled(lag=lag))
    assert device_us(model) == {"aten::mm": 150, "aten::softmax": 210}
    found = kinds(model)
    assert found["shared_correlation"] == {"matched": 3, "unowned": 0}
    assert not found.keys() & {"kernels_lost", "kernels_lost_at_start", "kernels_after_end"}
    shares = owner_shares(model)
    assert shares is not None
    assert shares.by_link.keys() == {"correlation", "order"}


def test_a_call_before_that_of_the_correlation_started_the_earlier_kernel() -> None:
    """The kernels of three operators carry the correlation of the second, or of the third."""
    for shared in (2, 3):
        events = []
        for number, name in enumerate(("aten::mm", "aten::softmax", "aten::add"), 1):
            events += [op(name, 100.0 * number, 60), {**launch(100.0 * number + 10, number), "name": "hipLaunchKernel"}]
            events.append(kernel(500.0 + number, 10 * number, shared, f"k{number}", stream=number))
        model = model_of(events)
        assert device_us(model) == {"aten::mm": 10, "aten::softmax": 20, "aten::add": 30}
        assert kinds(model)["shared_correlation"] == {"matched": 2, "unowned": 0}


def test_a_second_kernel_without_a_free_launch_has_no_owner() -> None:
    events = [each for each in doubled() if each["name"] not in ("hipLaunchKernel", "aten::softmax")]
    model = model_of(events)
    assert device_us(model) == {"aten::mm": 150}
    assert kinds(model)["shared_correlation"] == {"matched": 0, "unowned": 3}
    shares = owner_shares(model)
    assert shares is not None
    assert shares.by_reason.keys() == {"ambiguous"}


def test_a_launch_between_two_others_takes_the_kernel_though_more_are_free() -> None:
    lost = [op("aten::relu", 2200, 60), {**launch(2210, 90), "name": "hipLaunchKernel"}]
    lost += [op("aten::relu", 2270, 60), {**launch(2280, 91), "name": "hipLaunchKernel"}]
    model = model_of([*doubled(), *lost])
    found = device_us(model)
    assert (found["aten::mm"], found["aten::relu"]) == (150, 0)
    assert found["aten::softmax"] in (140, 210)


def test_the_call_keeps_the_kernel_that_it_names() -> None:
    events = [op("aten::mm", 0, 60), launch(10, 1), op("aten::softmax", 70, 60), launch(80, 2)]
    for each, named in zip((events[1], events[3]), ("gemm", "softmax"), strict=True):
        each["args"]["kernel"] = named
    model = model_of([*events, kernel(200, 7, 1, "softmax", stream=2), kernel(300, 5, 1, "gemm", stream=1)])
    assert device_us(model) == {"aten::mm": 5, "aten::softmax": 7}


@pytest.mark.parametrize("name", ["cudaGraphLaunch", "cudaLaunchCooperativeKernelMultiDevice", "hipGraphLaunch"])
def test_graphs_and_calls_for_several_devices_start_more_kernels(name: str) -> None:
    model = model_of(
        [op("aten::mm", 0, 60), {**launch(10, 1), "name": name}, kernel(100, 5, 1), kernel(110, 7, 1, "b", 1)]
    )
    assert device_us(model) == {"aten::mm": 12}
    assert "shared_correlation" not in kinds(model)


def test_an_id_that_is_used_again_belongs_to_the_last_call() -> None:
    events = []
    for i, name in enumerate(["aten::mm", "aten::add"]):
        events += [op(name, 100 * i, 60), launch(100 * i + 10, 7), kernel(100 * i + 70, 10 + i, 7)]
    model = model_of(events)
    assert device_us(model) == {"aten::mm": 10, "aten::add": 11}
    assert np.array_equal(model.device_links.launch, [0, 1])
