"""The change of the mean step taken apart: exact on every pair, and says what was done to generated programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.change_checks import check_change, check_shares
from tests.kernel_programs import A100, ADD, BF16, Op, add, matrices, model_of, run
from tests.properties import examples
from tests.recorded import ROOT, sample_traces, short, traces
from tests.recorded import model_of as model_of_file
from torch_tb_profiler.analysis.change.change import Recording, changed, recording
from torch_tb_profiler.analysis.change.parts import StepChange, WorkChange, headline, rounded, step_change
from torch_tb_profiler.analysis.change.shares import StepShares, own_parts, step_shares
from torch_tb_profiler.arrays.intervals import Spans

US = 1000
TILE = "ampere_bf16_s16816gemm_bf16_256x128_ldg8_f2f_stages_64x3_tn"
CUTLASS = "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_256x128_32x3_tn_align8"


@cache
def shares_of_file(path: Path) -> StepShares | None:
    model = model_of_file(path)
    found = step_shares(model)
    check_shares(model, found)
    return found if found.steps else None


SAMPLES = sample_traces()


@pytest.mark.parametrize("path", SAMPLES, ids=short)
def test_every_pair_of_samples_adds_up(path: Path) -> None:
    mine = shares_of_file(path)
    if mine is None:
        return
    same = step_change([mine], [mine])
    check_change(same)
    assert same.change == 0
    assert all(each.change == 0 and each.how == "name" for each in same.work)
    for other in SAMPLES:
        theirs = shares_of_file(other)
        if theirs is not None:
            check_change(step_change([mine], [theirs]))


def test_several_recordings_are_one_side() -> None:
    """The mean over all steps, whatever the recordings have of them."""
    one, other = (shares_of_file(traces(ROOT / "samples" / name)[0]) for name in ("cnn_workers0", "cnn_workers2"))
    assert one is not None
    assert other is not None
    found = step_change([one, other], [other])
    check_change(found)
    assert found.before == Fraction(one.step_ns + other.step_ns, one.steps + other.steps)
    with pytest.raises(ValueError, match="without steps"):
        step_change([], [one])


# what was done to a program is what is said ------------------------------------------------------------------

PRODUCT = matrices(1024, 1024, 1024, BF16, 200, "c10::BFloat16")


def compared(before: Sequence[Op], after: Sequence[Op], steps: int = 5) -> StepChange:
    sides = [made_of([list(side)] * steps) for side in (before, after)]
    found = changed([sides[0]], [sides[1]]).parts
    assert found is not None
    check_change(found)
    return found


def made_of(steps: list[list[Op]]) -> Recording:
    return recording(model_of(run(steps), A100), "run")


def of_kernels(found: StepChange) -> list[WorkChange]:
    return [each for each in found.work if any(share.kernel for share in (*each.before, *each.after)) and each.change]


def test_a_slower_kernel() -> None:
    found = compared([PRODUCT, add(50)], [PRODUCT.lasting(260), add(50)])
    (row,) = of_kernels(found)
    assert (row.how, row.main_kind) == ("name", "speed")
    assert row.parts["speed"] == 60 * US
    assert row.parts["calls"] == 0
    told = headline(found)
    assert told is not None
    assert (told.cause, told.kind, told.operator, told.delta_ns) == ("compute.gemm", "speed", "aten::mm", 60 * US)


def test_more_calls() -> None:
    found = compared([PRODUCT, add(50)], [PRODUCT, PRODUCT, add(50)])
    (row,) = of_kernels(found)
    assert row.main_kind == "calls"
    assert (row.parts["calls"], row.parts["speed"]) == (200 * US, 0)


def test_more_and_faster_calls_are_shared_out_without_a_rest() -> None:
    found = compared([PRODUCT], [PRODUCT.lasting(100), PRODUCT.lasting(100), PRODUCT.lasting(100)])
    (row,) = of_kernels(found)
    assert row.change == 100 * US
    assert row.parts == {"calls": 300 * US, "speed": -200 * US}


def test_new_and_gone() -> None:
    found = compared([PRODUCT], [PRODUCT, add(70)])
    (row,) = of_kernels(found)
    assert (row.how, row.main_kind, row.change) == (None, "new", 70 * US)
    (row,) = of_kernels(compared([PRODUCT, add(70)], [PRODUCT]))
    assert (row.how, row.main_kind, row.change) == (None, "gone", -70 * US)


def test_another_kernel_in_the_same_place() -> None:
    """Also where both kernels are used elsewhere on both sides."""
    other = replace(PRODUCT, kernels=((CUTLASS, 150, {}),))
    found = compared([PRODUCT, add(50)], [other, add(50)])
    (row,) = of_kernels(found)
    assert (row.how, row.main_kind, row.change) == ("place", "replaced", -50 * US)
    elsewhere = [replace(op, name="aten::bmm") for op in (PRODUCT, other)]
    found = compared([PRODUCT, *elsewhere], [other, *elsewhere])
    (row,) = of_kernels(found)
    assert (row.how, row.change) == ("place", -50 * US)
    told = headline(found)
    assert told is not None
    assert told.kind == "replaced"
    assert told.label != told.exp_label


def test_one_kernel_becomes_three() -> None:
    """They are one row, which says how many it puts together."""
    split = replace(PRODUCT, kernels=((CUTLASS, 80, {}), ("splitKreduce_kernel", 20, {}), (ADD, 30, {})))
    (row,) = of_kernels(compared([PRODUCT], [split]))
    assert (row.how, row.main_kind, row.change) == ("place", "replaced", -70 * US)
    assert (len(row.before), len(row.after)) == (1, 3)


def test_hidden_kernels_have_no_part_of_the_change() -> None:
    """What no earlier kernel covers is a kernel's own."""
    whole = Spans(np.array([0]), np.array([100]))
    starts, ends = np.array([0, 10, 20, 95]), np.array([60, 30, 90, 120])
    assert own_parts(starts, ends, whole).tolist() == [60, 0, 30, 5]
    assert own_parts(starts, ends, Spans(np.array([50]), np.array([70]))).tolist() == [10, 0, 10, 0]


@examples(60)
@given(
    st.lists(st.tuples(st.integers(0, 60), st.integers(0, 30)), max_size=12),
    st.lists(st.tuples(st.integers(0, 60), st.integers(1, 9)), max_size=5),
)
def test_own_parts_are_the_union(works: list[tuple[int, int]], windows: list[tuple[int, int]]) -> None:
    works.sort()
    inside = sorted({at for start, length in windows for at in range(start, start + length)})
    begins = [at for at in inside if at - 1 not in inside]
    ends = [at + 1 for at in inside if at + 1 not in inside]
    starts = np.array([start for start, _ in works], np.int64)
    own = own_parts(
        starts, starts + [length for _, length in works], Spans(np.array(begins, np.int64), np.array(ends, np.int64))
    )
    covered = {at for start, length in works for at in range(start, start + length)}
    assert own.sum() == len(covered & set(inside))
    taken: set[int] = set()
    for (start, length), ns in zip(works, own.tolist(), strict=True):
        mine = set(range(start, start + length)) - taken
        assert ns == len(mine & set(inside))
        taken |= mine


def test_whole_numbers_keep_the_sum() -> None:
    thirds = [Fraction(10, 3)] * 3
    assert sum(rounded(thirds)) == 10
    assert rounded([Fraction(1, 2), Fraction(-9, 2)], Fraction(-4)) == [0, -4]
    assert rounded([]) == []
