"""FLOP of random products, convolutions and attention beside torch's FlopCounterMode."""

from __future__ import annotations

import gzip
import importlib.util
import json
from collections import Counter
from typing import Any

import pytest

from tests.flop_cases import CASES, KEPT, cases
from torch_tb_profiler.analysis.flops.operators import work_of


def counted(operator: str, dims: Any, types: Any, concrete: Any) -> int:
    """FLOP in the convention of FlopCounterMode.

    It counts scores that are masked, and of grouped convolutions the gradient of the weights once for each group.
    """
    work = work_of(operator, *(json.dumps(each) for each in (dims, types, concrete)))
    assert work.dense_flops is not None, (operator, dims, work.why)
    product = work.product
    if operator != "aten::convolution_backward" or product is None:
        return work.dense_flops
    x, w = (eval_mask(concrete[10])[at] for at in range(2))
    return work.dense_flops // (x + w) * (x + product.groups * w)


def eval_mask(text: str) -> list[bool]:
    return [each.strip() == "True" for each in text.strip("[]").split(",")]


def wrong(table: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in table if sum(counted(*each) for each in case["operators"]) != case["flops"]]


def test_kept_cases() -> None:
    table = json.loads(gzip.decompress(KEPT.read_bytes()))
    assert Counter(case["family"] for case in table) == {"convolution": 240, "attention": 200, "matrices": 200}
    assert wrong(table) == []


@pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")
def test_new_cases() -> None:
    table = list(cases(64, seed=20261123))
    assert {case["family"] for case in table} == set(CASES)
    assert wrong(table) == []
