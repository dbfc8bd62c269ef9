"""Sketches of programs say how much two of them are alike."""

from __future__ import annotations

from tests.events import model_of, op
from torch_tb_profiler.analysis.shared.likeness import program_sketch


def sketch(*names: str) -> str:
    return program_sketch(model_of([op(name, 10 * at, 5) for at, name in enumerate(names)]))


def test_the_share_of_equal_hashes_is_that_of_common_names() -> None:
    names = [f"aten::op{number}" for number in range(200)]
    whole, half, other = sketch(*names), sketch(*names[100:]), sketch(*(f"{name}x" for name in names))
    alike = [sum(whole[at : at + 4] == each[at : at + 4] for at in range(0, 64, 4)) for each in (whole, half, other)]
    assert alike[0] == 16
    assert 3 <= alike[1] <= 13
    assert alike[2] == 0
    assert sketch(*reversed(names)) == whole
    assert program_sketch(model_of([])) == ""
