"""Occupancy and blocks per SM where the file does not have them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.events import kernel, model_of
from torch_tb_profiler.analysis.kernels import kernels
from torch_tb_profiler.analysis.shared.kernel_use import blocks_per_sm, known_occupancy, resident_blocks
from torch_tb_profiler.model import Model
from torch_tb_profiler.tables.sql.tables.device import COPIES
from torch_tb_profiler.timeline.details import computed

A100: dict[str, Any] = {
    "id": 0,
    "name": "NVIDIA A100-SXM4-40GB",
    "computeMajor": 8,
    "computeMinor": 0,
    "numSms": 108,
    "warpSize": 32,
    "maxThreadsPerMultiprocessor": 2048,
    "regsPerMultiprocessor": 65536,
    "sharedMemPerMultiprocessor": 167936,
}


def launched(
    grid: object = (1080, 1, 1), block: object = (256, 1, 1), registers: int | None = 32, shared: int = 0, **args: Any
) -> dict[str, Any]:
    given = {"registers per thread": registers, "shared memory": shared, "grid": grid, "block": block, **args}
    return {**kernel(0, 10, 1), "args": {"device": 0, "stream": 7, "correlation": 1, **given}}


def model_with(kernel: dict[str, Any], **device: Any) -> Model:
    return model_of([kernel], deviceProperties=[{**A100, **device}])


def occupancy(model: Model) -> float | None:
    value = float(known_occupancy(model.trace, model.device_work)[0])
    return None if np.isnan(value) else value


@pytest.mark.parametrize(
    ("args", "percent"),
    [
        ({}, 100),  # 8 blocks of 8 warps
        ({"grid": (108, 1, 1)}, 13),  # of a block for each multiprocessor 256 of 2048 threads
        ({"grid": (54, 1, 1)}, 6),
        ({"registers": 33}, 75),  # 40 registers a thread, 12 warps a quarter: 6 blocks
        ({"registers": 255, "block": (512, 1, 1)}, 0),  # a block does not fit: not computed
        ({"registers": 128, "block": (33, 1, 1)}, 13),  # 2 warps a block, 16 of them: 8 blocks of 33 threads
        ({"block": (32, 1, 1), "grid": (10800, 1, 1)}, 50),  # 32 blocks at most
        ({"shared": 65_536}, 25),  # 65 KiB with what is reserved: 2 blocks
        ({"shared": 80 << 10}, 25),
        ({"shared": 81 << 10}, 25),
        ({"shared": 82 << 10}, 13),
        ({"block": (16, 16, 1), "grid": (10, 9, 12)}, 100),
    ],
)
def test_occupancy_by_what_limits_it(args: dict[str, Any], percent: int) -> None:
    assert occupancy(model_with(launched(**args))) == (percent or None)


@pytest.mark.parametrize(
    ("capability", "percent"), [((7, 0), 100), ((7, 5), 100), ((9, 0), 100), ((8, 6), None), ((12, 0), None)]
)
def test_occupancy_is_computed_for_devices_that_were_compared(capability: tuple[int, int], percent: int | None) -> None:
    assert occupancy(model_with(launched(), computeMajor=capability[0], computeMinor=capability[1])) == percent


@pytest.mark.parametrize(
    "device",
    [
        {"name": "AMD Radeon Graphics", "computeMajor": 9, "warpSize": 64},  # has a capability of the same number
        {"numSms": None},
        {"numSms": 0},
        {"numSms": "108"},
        {"computeMajor": None},
        {"computeMajor": [8]},
    ],
)
def test_of_a_device_that_is_not_known_there_is_no_occupancy(device: dict[str, Any]) -> None:
    assert occupancy(model_with(launched(), **device)) is None


@pytest.mark.parametrize(
    "args", [{"registers": None}, {"shared": None}, {"grid": [0, 1, 1]}, {"grid": "x"}, {"block": []}]
)
def test_of_a_launch_that_is_not_known_there_is_no_occupancy(args: dict[str, Any]) -> None:
    assert occupancy(model_with(launched(**args))) is None


def test_without_device_properties_nothing_is_computed() -> None:
    model = model_of([launched()])
    assert occupancy(model) is None
    assert np.isnan(blocks_per_sm(model.trace, model.device_work)).all()


def test_limits_of_a_known_device_are_not_taken_from_the_file() -> None:
    """torch's streaming export writes the number of multiprocessors in place of their threads."""
    assert occupancy(model_with(launched(), maxThreadsPerMultiprocessor=108, regsPerMultiprocessor=None)) == 100


def test_what_is_recorded_counts() -> None:
    recorded = {"est. achieved occupancy %": 31, "blocks per SM": 2.5}
    model = model_with(launched(**recorded))
    assert (occupancy(model), blocks_per_sm(model.trace, model.device_work).tolist()) == (31, [2.5])


@pytest.mark.parametrize(("shared", "percent"), [(49_152, 0), (49_153, 38)])
def test_a_recorded_0_with_much_shared_memory_is_computed(shared: int, percent: int) -> None:
    assert occupancy(model_with(launched(shared=shared, **{"est. achieved occupancy %": 0}))) == percent


def test_kernels_have_what_is_computed() -> None:
    model = model_with(launched(grid=(216, 1, 1)))
    table = kernels(model)
    assert table.mean_blocks_per_sm is not None
    assert table.mean_blocks_per_sm.tolist() == [2.0]
    assert (table.occupancy.mean, table.occupancy.known_share) == (0.25, 1.0)


def test_details_say_what_is_computed() -> None:
    both = {"blocks per SM": 10.0, "est. achieved occupancy %": 100.0}
    assert computed(model_with(launched()).trace, 0) == both
    assert computed(model_with(launched(**both)).trace, 0) == {}
    zero = launched(shared=81 << 10, **{**both, "est. achieved occupancy %": 0})
    assert computed(model_with(zero).trace, 0) == {"est. achieved occupancy %": 25.0}
    assert computed(model_of([launched()]).trace, 0) == {}


@pytest.mark.parametrize(("capability", "blocks"), [((8, 0), 32), ((8, 6), 64)])
def test_how_many_blocks_there_may_be_is_known_of_some_devices(capability: tuple[int, int], blocks: int) -> None:
    device = {**A100, "computeMajor": capability[0], "computeMinor": capability[1]}
    assert resident_blocks(device, 32, 16, 0) == (blocks, 0)


def test_the_bandwidth_of_a_copy_is_as_recorded_or_computed() -> None:
    copies = [
        {**kernel(start, 10, 1, "Memcpy HtoD (Pinned -> Device)", bytes=10_000, **args), "cat": "gpu_memcpy"}
        for start, args in ((0, {}), (20, {"memory bandwidth (GB/s)": 1.5}))
    ]
    assert np.asarray(COPIES.fill(model_of(copies))["bandwidth"]).tolist() == [1.0, 1.5]
