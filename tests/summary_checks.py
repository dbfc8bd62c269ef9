"""What every summary of a trace keeps to, as a program reads it."""

from __future__ import annotations

import json
from typing import Any, get_args

import msgspec

from torch_tb_profiler.analysis.health.notes import troubles
from torch_tb_profiler.analysis.question import Subject
from torch_tb_profiler.insights.findings import LISTED, diagnosis
from torch_tb_profiler.insights.resources import BoundKind
from torch_tb_profiler.insights.summary.summary import summary
from torch_tb_profiler.model import Model

SAVING = {"alone_ns", "after_others_ns", "low_ns", "high_ns", "bound", "refused"}
#: instances that a finding shows at least, where it has as many
FEWEST_SHOWN = 5


def check_summary(model: Model) -> None:
    """Keys, sums, order, numbers and reasons of `summary --json`."""
    answer = summary(Subject(model, "run", "w0", "1", 10, 1, troubles))
    found: dict[str, Any] = json.loads(msgspec.json.encode(answer))
    assert {"bound", "explained", "waterfall", "findings"} <= set(found)
    assert found["bound"] in get_args(BoundKind)
    assert found["explained"] is None or 0 <= found["explained"] <= 1
    assert all({"cause", "ns"} <= set(part) for part in found["waterfall"])
    if found["steps"]["count"]:
        assert sum(part["ns"] for part in found["waterfall"]) == found["steps"]["mean_ns"]
    else:
        assert (found["bound"], found["waterfall"], found["steps"]["mean_ns"]) == ("unknown", [], None)
    for each in found["findings"]:
        assert {"id", "title", "where", "saving", "evidence"} <= set(each)
        if each["saving"] is not None:
            _check_saving(each["saving"])
    # warnings come last
    warnings = [each["saving"] is None for each in found["findings"]]
    assert warnings == sorted(warnings)
    for each, one in zip(found["findings"], diagnosis(model).findings, strict=True):
        assert each["id"] == one.id
        assert len(each["evidence"]) == min(one.count, LISTED) >= min(one.count, FEWEST_SHOWN)


def _check_saving(saving: dict[str, Any]) -> None:
    """It has numbers that fit each other, or the reason why there are none."""
    assert set(saving) >= SAVING
    numbers = [saving[name] for name in ("alone_ns", "after_others_ns")]
    if saving["refused"] is not None:
        assert saving["refused"].strip()
        assert [*numbers, saving["low_ns"], saving["high_ns"]] == [None] * 4
        return
    assert None not in numbers
    assert min(numbers) >= 0
    low, high = saving["low_ns"], saving["high_ns"]
    assert (low is None) == (high is None)
    if low is not None:
        assert low <= saving["after_others_ns"] <= high
