"""Examples in docstrings outside of `arrays`, whose tests have their own (`test_arrays.py`), are true."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.recorded import ROOT

WITH_EXAMPLES = sorted(
    ".".join(path.relative_to(ROOT).with_suffix("").parts)
    for path in (ROOT / "torch_tb_profiler").rglob("*.py")
    if path.parent.name != "arrays" and "    >>> " in path.read_text("utf-8")
)


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_are_true(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name))
    assert found.attempted > 0
    assert found.failed == 0
