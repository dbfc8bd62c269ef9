"""Peaks of devices: by name, of parts of devices, and of none that is not known."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest

from torch_tb_profiler.analysis.shared.peaks import VARIABLE, Peaks, peaks_of


def of(name: str, **properties: Any) -> Peaks | None:
    return peaks_of({"name": name, **properties})


@pytest.mark.parametrize(
    ("name", "kind", "tflops", "gbytes"),
    [
        ("Tesla V100-SXM2-32GB", "fp16", 125, 900),
        ("Tesla V100-DGXS-32GB", "fp32", 15.7, 900),
        ("Tesla V100-PCIE-16GB", "fp16", 112, 900),
        ("Tesla V100S-PCIE-32GB", "fp16", 130, 1134),
        ("Tesla T4", "fp16", 65, 320),
        ("NVIDIA GeForce RTX 2080 Ti", "fp16", 53.8, 616),
        ("NVIDIA A100-SXM4-40GB", "tf32", 156, 1555),
        ("NVIDIA A100-PG509-200", "bf16", 312, 1555),
        ("NVIDIA A100-SXM4-80GB", "bf16", 312, 2039),
        ("NVIDIA A100 80GB PCIe", "bf16", 312, 1935),
        ("NVIDIA A10", "bf16", 125, 600),
        ("NVIDIA A10G", "bf16", 70, 600),
        ("NVIDIA A30", "bf16", 165, 933),
        ("NVIDIA A40", "bf16", 149.7, 696),
        ("NVIDIA L4", "fp8", 242, 300),
        ("NVIDIA L40", "bf16", 181, 864),
        ("NVIDIA L40S", "bf16", 362, 864),
        ("NVIDIA GeForce RTX 4090", "bf16", 165, 1008),
        ("NVIDIA H100 80GB HBM3", "bf16", 989.4, 3350),
        ("NVIDIA H100 PCIe", "bf16", 756, 2039),
        ("NVIDIA H100 NVL", "bf16", 835, 3938),
        ("NVIDIA H200", "fp8", 1978.9, 4800),
        ("NVIDIA GH200 480GB", "bf16", 989.4, 4000),
        ("NVIDIA H20", "bf16", 148, 4000),
        ("NVIDIA B200", "bf16", 2250, 8000),
        ("NVIDIA B300 SXM6 AC", "bf16", 2250, 8000),
        ("NVIDIA B300 SXM6 AC", "fp8", 4500, 8000),
        ("NVIDIA GB300", "bf16", 2500, 8000),
        ("AMD Instinct MI210", "bf16", 181, 1638),
        ("AMD Instinct MI250X", "bf16", 191.5, 1638),
        ("AMD Instinct MI300X VF", "bf16", 1307.4, 5300),
        ("AMD Instinct MI300X", "fp32", 163.4, 5300),
        ("AMD Instinct MI325X", "bf16", 1307.4, 6000),
        ("AMD Instinct MI355X", "bf16", 2517, 8000),
        ("NVIDIA T4", "fp16", 65, 320),
        ("NVIDIA H100 80GB HBM2e", "bf16", 756, 2039),
        ("NVIDIA H800 PCIe", "bf16", 756, 2039),
        ("NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition", "bf16", 438, 1792),
        ("Intel(R) Data Center GPU Max 1100", "bf16", 355.5, 1229),
        ("Intel(R) Arc(TM) B580 Graphics", "fp16", 116.5, 456),
        ("GAUDI2", "bf16", 432, 2450),
        ("HL-325L", "fp8", 1835, 3700),
    ],
)
def test_listed_devices(name: str, kind: Any, tflops: float, gbytes: float) -> None:
    peaks = of(name)
    assert peaks is not None
    assert peaks.flops[kind] == pytest.approx(tflops * 1e12)
    assert peaks.bandwidth == gbytes * 1e9


@pytest.mark.parametrize(
    "name",
    [
        "",
        "GPU",
        "NVIDIA GeForce GTX 1080",
        "AMD Radeon Graphics",
        "NVIDIA GeForce RTX 4090 Laptop GPU",
        "NVIDIA A2",
        "NVIDIA A100 80GB PCIe MIG 1g.10gb",
        "GRID A100D-80C",
        "Intel(R) Arc(TM) A770 Graphics",
        "AMD Instinct MI308X",
        "NVIDIA T400 4GB",
        "NVIDIA GeForce RTX 3080 Laptop GPU",
    ],
)
def test_devices_that_are_not_listed_have_none(name: str) -> None:
    assert of(name) is None


def test_no_description_no_peaks() -> None:
    assert peaks_of(None) is None
    assert peaks_of({}) is None
    assert peaks_of({"name": 3}) is None


def test_types_without_units_are_left_out() -> None:
    v100 = of("Tesla V100-SXM2-32GB")
    assert v100 is not None
    assert set(v100.flops) == {"fp64", "fp32", "fp16"}
    a100 = of("NVIDIA A100-SXM4-40GB")
    assert a100 is not None
    assert "fp8" not in a100.flops


def test_a_part_of_a_device_has_that_part_of_the_peaks() -> None:
    whole, part = of("NVIDIA A100-SXM4-40GB", numSms=108), of("NVIDIA A100-SXM4-40GB MIG 3g.20gb", numSms=42)
    assert whole is not None
    assert part is not None
    assert whole.sure
    assert not part.sure
    assert part.flops["bf16"] == pytest.approx(whole.flops["bf16"] * 42 / 108)
    assert part.bandwidth == pytest.approx(whole.bandwidth * 42 / 108)


def test_rocm_may_leave_the_name_empty() -> None:
    size = {"warpSize": 64, "computeMajor": 9, "computeMinor": 4, "numSms": 304}
    smaller, larger = of("", **size, totalGlobalMem=206_141_652_992), of("", **size, totalGlobalMem=274_900_000_000)
    assert smaller is not None
    assert larger is not None
    assert (smaller.bandwidth, larger.bandwidth) == (5300e9, 6000e9)
    assert of("", **{**size, "warpSize": 32}, totalGlobalMem=206_141_652_992) is None
    assert of("", **size) is None


def test_what_may_be_one_of_two_devices_is_not_sure() -> None:
    size = {"warpSize": 64, "computeMajor": 9, "computeMinor": 5, "numSms": 256, "totalGlobalMem": 309_000_000_000}
    peaks = of("AMD Radeon Graphics", **size)
    assert peaks is not None
    assert not peaks.sure
    assert peaks.bandwidth == 8000e9


@pytest.mark.parametrize(
    "device",
    [
        "match = '('\nmemory = 1\ntflops = {}",
        f"match = '{'(' * 3000}'\nmemory = 1\ntflops = {{}}",
        "match = 'a{999999999999}'\nmemory = 1\ntflops = {}",
        f"match = 'H'\nmemory = {'9' * 400}\ntflops = {{}}",
        f"match = 'H'\nmemory = {'9' * 5000}\ntflops = {{}}",
        "match = 'H'\nmemory = nan\ntflops = {}",
        "match = 'H'\nmemory = 1\ntflops = 1",
        "match = 'H'\nmemory = 1\ntflops = {fp3 = 1}",
    ],
    ids=lambda text: repr(text[:40]),
)
def test_a_wrong_file_of_the_user_costs_nothing_else(
    device: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    file = tmp_path / "peaks.toml"
    file.write_text(f"[[device]]\n{device}\n")
    monkeypatch.setenv(VARIABLE, str(file))
    with caplog.at_level(logging.WARNING):
        found = of("NVIDIA A100-SXM4-40GB", numSms=108)
    assert found is not None
    assert found.bandwidth == 1555e9
    assert "the devices of the package are used" in caplog.text
