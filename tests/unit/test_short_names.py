"""Short names of kernels: those of GPU Kernel, wherever a kernel is named."""

from __future__ import annotations

from pathlib import Path

import pytest

import torch_tb_profiler
from torch_tb_profiler.model.kernel_names.short import short_name

SAMPLE = "generated_4gpu_h100"


@pytest.mark.parametrize("category", ["kernel", "communication"])
def test_of_a_category(samples: Path, category: str) -> None:
    answer = torch_tb_profiler.open(samples / SAMPLE).trace(worker="rank0").answer("category", category=category)
    kernels = [each for each in answer.parts if each.kind == "kernel"]
    assert kernels
    assert [each.short_name for each in kernels] == [short_name(each.name or "") for each in kernels]
    known = {each.name: each.short_name for each in answer.parts}
    assert all(each.short_name == known[each.name] for each in answer.stretches if each.name in known)


def test_on_the_critical_path(samples: Path) -> None:
    answer = torch_tb_profiler.open(samples / SAMPLE).trace(worker="rank0").answer("critical_path")
    assert [each.short_name for each in answer.operators] == [each.name for each in answer.operators]
    kernels = [each for each in answer.kernels if each.what == "kernel"]
    assert [each.short_name for each in kernels] == [short_name(each.name) for each in kernels]
    assert any(each.short_name != each.name for each in kernels)
