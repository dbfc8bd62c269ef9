"""Texts of a trace that say numbers which nobody would write: nothing is made of them, and nothing else suffers."""

from __future__ import annotations

import json
from io import BytesIO

import pytest

from tests.attack.contents import hostile
from tests.tiny import events
from torch_tb_profiler.analysis.roofline.advice import call_advice
from torch_tb_profiler.analysis.shared.kernel_use import threads_of
from torch_tb_profiler.analysis.text_format import whole_number
from torch_tb_profiler.insights.run.facts import _FORWARD
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import _PLACE
from torch_tb_profiler.ranks.peers import StepGrid
from torch_tb_profiler.ranks.summary_columns import _work
from torch_tb_profiler.trace import read_trace
from torch_tb_profiler.trace.store import StringTable

MANY = "9" * 5000


@pytest.mark.parametrize(
    ("block", "threads"),
    [
        ("[32, 2, 1]", 64),
        ("[1024,1,1]", 1024),
        ("", 0),
        (f"[{MANY}, 1, 1]", 0),
        ("[²,1,1]", 0),
        ("[-1,1,1]", 0),
        ("[999999999999999999,9,9]", 0),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_threads_of_a_block(block: str, threads: int) -> None:
    assert threads_of(StringTable(["", block]), 1) == threads


def test_whole_numbers() -> None:
    assert [whole_number(text) for text in ("7", " 12 ", "0")] == [7, 12, 0]
    assert [whole_number(text) for text in ("", "-1", "1.5", "²", "٣", MANY)] == [None] * 6


def test_names_with_numbers_of_thousands_of_digits() -> None:
    assert _FORWARD.fullmatch(f"Forward {MANY}") is None
    assert _PLACE.fullmatch(f"a.py({MANY}): f") is None
    assert StepGrid.of([["2", "10", MANY]]).names == ("2", "10", MANY)


@pytest.mark.parametrize("grid", [[2**31, 2**31, 2**31], [2**62, 1, 1], [-1, 1, 1]])
def test_a_grid_that_no_device_takes_costs_no_rank(grid: list[int]) -> None:
    made = events()
    for event in made:
        if event.get("cat") == "kernel":
            event["args"]["grid"] = grid
    text = json.dumps({"traceEvents": made}).encode()
    work, _ = _work(Model(read_trace(BytesIO(text))))
    assert not work["blocks"].any()


def test_a_block_of_thousands_of_digits_costs_no_roofline() -> None:
    """Found by `make attack`, seed 31011."""
    content = hostile(310117)
    assert any(text == MANY or MANY in text for _, _, text in content.changes)
    model = Model(read_trace(BytesIO(content.text)))
    assert len(call_advice(model))
