"""Work that depends on contents of tensors: ranges of FLOP, and what other events of a trace say."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from tests.events import kernel, launch, model_of, op
from tests.flop_calls import BF16, INT, LONG, of
from tests.kernel_programs import A100, Op, add, matrices, run
from tests.kernel_programs import model_of as model_of_machine
from torch_tb_profiler.analysis.flops.calls import work_counts
from torch_tb_profiler.analysis.flops.work import Certainty, FlopBounds, OperatorWork, UnknownReason
from torch_tb_profiler.analysis.roofline.table import roofline
from torch_tb_profiler.analysis.roofline.utilization import step_flops
from torch_tb_profiler.analysis.shared.vllm_steps import step_sums
from torch_tb_profiler.model import Model

HEADS, SIZE, OUT = 4, 64, 32


def packed(
    operator: str,
    queries: list[int],
    keys: list[int],
    rest: list[str],
    first: int = 0,
    gap: int = 0,
    four: bool = False,
) -> OperatorWork:
    """A call over sequences behind one another. first: where q stands; gap: arguments between v and the lengths."""
    rows = [[sum(queries), HEADS, SIZE], [sum(keys), 2, SIZE], [sum(keys), 2, OUT]]
    rows = [[1, *each] for each in rows] if four else rows
    longest = [str(max(queries)), str(max(keys))]
    dims = [*[rows[0]] * first, *rows, *[[]] * gap, [len(queries) + 1], [len(keys) + 1], *[[]] * (2 + len(rest))]
    types = [BF16] * (first + 3) + [""] * gap + [INT] * 2 + [""] * (2 + len(rest))
    return of(operator, dims, types, [*[""] * (first + 3 + gap + 2), *longest, *rest])


def pairs_of(queries: list[int], keys: list[int], causal: bool, before: int = -1, behind: int = -1) -> int:
    """Counted one by one; the diagonal ends in the lower right corner."""
    found = 0
    for many, of_keys in zip(queries, keys, strict=True):
        for query in range(many):
            at = query + of_keys - many
            last = at if causal else of_keys - 1 if behind < 0 else min(of_keys - 1, at + behind)
            found += max(last - (0 if before < 0 else max(0, at - before)) + 1, 0)
    return found


#: name, where q stands, arguments between v and the lengths, whether tensors have four dimensions, what stands behind
FORMS: tuple[tuple[str, int, int, bool, list[str]], ...] = (
    ("aten::_flash_attention_forward", 0, 0, False, ["0.", "CAUSAL", "False", "0.125", "BEFORE", "BEHIND"]),
    ("flash_attn::_flash_attn_varlen_forward", 0, 0, False, ["0.", "0.125", "CAUSAL", "BEFORE", "BEHIND"]),
    ("torch_attn::_varlen_attn", 0, 0, False, ["CAUSAL"]),
    ("aten::_efficient_attention_forward", 0, 1, True, ["0.", "TYPE", "True"]),
    ("aten::_cudnn_attention_forward", 0, 1, False, ["True", "0.", "CAUSAL", "False"]),
    ("aten::_flash_attention_backward", 1, 2, False, ["0.", "CAUSAL", "", "", "0.125", "BEFORE", "BEHIND"]),
    ("aten::_efficient_attention_backward", 1, 2, True, ["", "0.", "", "", "TYPE", "False"]),
    ("aten::_cudnn_attention_backward", 1, 5, False, ["0.", "CAUSAL"]),
)


@pytest.mark.parametrize(("operator", "first", "gap", "four", "rest"), FORMS)
@pytest.mark.parametrize("seed", range(12))
def test_flop_of_packed_sequences_lie_in_the_range(
    operator: str, first: int, gap: int, four: bool, rest: list[str], seed: int
) -> None:
    dice = random.Random(seed)
    queries = [dice.randint(1, 60) for _ in range(dice.randint(1, 6))]
    keys = list(queries) if dice.random() < 0.7 else [dice.randint(each, 90) for each in queries]
    causal, (before, behind) = dice.random() < 0.5, dice.choice([(-1, -1), (7, 0), (3, 4)])
    if "BEFORE" not in rest:
        before = behind = -1
    words = {"CAUSAL": str(causal), "TYPE": "2" if causal else "0", "BEFORE": str(before), "BEHIND": str(behind)}
    work = packed(operator, queries, keys, [words.get(each, each) for each in rest], first, gap, four)
    assert (work.flops, work.why, work.sure) == (None, UnknownReason.CONTENTS, Certainty.BOUND)
    assert work.bytes is not None
    assert work.between is not None
    pairs, once = pairs_of(queries, keys, causal, before, behind), 2 * HEADS
    truth = once * (3 * SIZE + 2 * OUT if first else SIZE + OUT) * pairs
    assert work.between.least <= truth <= work.between.most
    assert work.between.model_least <= once * (SIZE + OUT) * (2 if first else 1) * pairs <= work.between.model_most
    if len(set(queries)) == 1 and queries == keys and before < 0:
        assert work.between.least == truth == work.between.most, "of one length all is known but that it is so"


def test_the_range_of_packed_sequences() -> None:
    """By hand: 3 sequences, 60 rows, the longest 30."""
    flash = FORMS[0][0]
    rest = ["0.", "False", "False", "0.125", "-1", "-1"]
    once = 2 * HEADS * (SIZE + OUT)
    dense = packed(flash, [10, 20, 30], [10, 20, 30], rest).between
    assert dense == FlopBounds(once * 1200, once * 1800, once * 1200, once * 1800)
    rest[1] = "True"
    causal = packed(flash, [10, 20, 30], [10, 20, 30], rest).between
    assert causal == FlopBounds(once * 630, once * 930, once * 630, once * 930)
    # keys of other sequences: there may be none
    cross = packed(flash, [10, 20, 30], [30, 20, 10], ["0.", "False", "False"]).between
    assert cross is not None
    assert cross.least == once * 1200, "as many rows, and as long: taken for the same sequences"
    other = packed(flash, [10, 20, 30], [40, 20, 10], ["0.", "False", "False"]).between
    assert other == FlopBounds(0, once * 60 * 40, 0, once * 60 * 40)
    # scores are computed again in the backward pass
    back = packed("flash_attn::_flash_attn_varlen_backward", [10, 20, 30], [10, 20, 30], ["0.", "0.1", "False"], 1)
    assert back.between is not None
    assert back.between.most == 2 * HEADS * 1800 * (3 * SIZE + 2 * OUT)
    assert back.between.model_most == 2 * HEADS * 1800 * (2 * SIZE + 2 * OUT)
    # the first truth value of this one says something else
    other_flag = packed("aiter::mha_varlen_fwd", [10, 20, 30], [10, 20, 30], ["1", "0.", "0.1", "0.", "False", "True"])
    assert other_flag.between == FlopBounds(once * 630, once * 1800, once * 630, once * 1800)


def test_no_range_where_rows_are_left_over_or_pages_are_read() -> None:
    flash = FORMS[0][0]
    left_over = of(flash, [[99, 4, 64]] * 3 + [[3], [3], [], []], [BF16] * 3 + [INT] * 2, [*[""] * 5, "30", "30", "0."])
    assert left_over.between is not None
    assert left_over.between.least == 0
    pages = of("flash_attn::_flash_attn_varlen_forward", [[9, 4, 64], [50, 16, 2, 64], [50, 16, 2, 64], [3]], BF16)
    assert pages.between is None


PACKED = {
    "Input Dims": [[4096, 16, 64]] * 3 + [[9], [9], [], [], [], []],
    "Input type": [BF16] * 3 + [INT] * 2 + ["Scalar"] * 4,
    "Concrete Inputs": ["", "", "", "", "", "1024", "1024", "0.", "False"],
}


def test_a_range_is_shown_as_one() -> None:
    product = matrices(4096, 4096, 4096, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", 600, BF16)
    varlen = Op("aten::_flash_attention_forward", (("flash_fwd_kernel", 100, {}),), PACKED)
    known = model_of_machine(run([[product, add(50)]] * 3), A100)
    model = model_of_machine(run([[product, varlen, add(50)]] * 3), A100)
    least, most = (2 * 16 * 128 * each for each in (4096 * 4096 // 8, 4096 * 1024))
    found = step_flops(model)
    assert found.per_step == step_flops(known).per_step == 2 * 4096**3
    assert found.packed is not None
    assert (found.packed.least, found.packed.most) == (least, most)
    assert step_flops(known).packed is None
    table = roofline(model, "operator")
    rows = {name: at for at, name in enumerate(table.name)}
    at, other = rows["aten::_flash_attention_forward"], rows["aten::mm"]
    assert np.isnan(table.flops[at])
    assert np.isnan(table.flop_rate[at])
    assert (table.least_flops[at], table.most_flops[at]) == (3 * least, 3 * most)
    assert np.isnan([table.least_flops[other], table.most_flops[other]]).all()
    # together with what is known
    whole = roofline(model, "phase")
    assert whole.least_flops[0] == 3 * (least + 2 * 4096**3)
    mfu = found.mfu
    assert mfu.value is not None
    assert mfu.low is not None
    assert mfu.high is not None
    room = found.time_ns * 312e12 / 1e9
    assert mfu.value * room == pytest.approx(3 * 2 * 4096**3, rel=1e-3)
    assert mfu.low * room == pytest.approx(3 * (least + 2 * 4096**3), rel=1e-3)
    assert mfu.high * room == pytest.approx(3 * (most + 2 * 4096**3), rel=1e-3)


def test_a_utilization_without_what_lies_in_a_range_is_a_least() -> None:
    """However little time it takes."""
    product = matrices(4096, 4096, 4096, "ampere_bf16_s16816gemm_bf16_128x128_ldg8_f2f_tn", 600, BF16)
    varlen = Op("aten::_flash_attention_forward", (("flash_fwd_kernel", 6, {}),), PACKED)
    with_it, without = (model_of_machine(run([[product, *more, add(50)]] * 3), A100) for more in ([varlen], []))
    assert step_flops(with_it).mfu.shown == "at_least"
    assert step_flops(without).mfu.shown == "exact"


STEP = "execute_5_context_2(sq12sk30sqsq104sqsk268)_generation_3(sq3sk300sqsq3sqsk300)"


def served(step: str, rows: int = 16) -> Model:
    dims = [[rows, 8, 64], [rows, 2, 64], [rows, 2, 64], [rows, 512], []]
    args: Any = {"Input Dims": dims, "Input type": [BF16] * 4 + [""]}
    return model_of(
        [
            {**op(step, 0, 100), "cat": "user_annotation"},
            op("vllm::unified_attention_with_output", 10, 50, **args),
            launch(20, 1),
            kernel(100, 50, 1, "kernel_unified_attention_2d"),
        ]
    )


def test_the_step_of_an_engine_says_how_many_keys_are_seen() -> None:
    """Two prompts of 2 and 10 new tokens, the second behind 16 of the cache; three requests that generate."""
    sums = step_sums(STEP)
    assert sums is not None
    by_hand = pairs_of([2, 10], [4, 26], causal=True) + 300
    assert (sums.tokens, sums.keys) == (15, 330)
    assert sums.pairs == by_hand
    (work,) = {each for each in work_counts(served(STEP)).calls.works if each.flops}
    assert work.flops == 2 * 8 * 128 * sums.pairs
    assert work.bytes == 2 * (15 * 8 * 128 + 330 * 2 * 128)
    assert work.sure == Certainty.BOUND
    decode = step_sums("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)")
    assert decode is not None
    assert decode.pairs == 55_086


@pytest.mark.parametrize(
    ("step", "rows"),
    [
        ("execute_32_context_0(sq0sk0)_generation_32(sq32sk55086)", 64),  # without the sums of products
        ("execute_context_1(888)_generation_0(0)", 888),
        ("my range", 16),
        (STEP, 14),  # more tokens than rows
    ],
)
def test_a_step_that_does_not_say_it(step: str, rows: int) -> None:
    found = work_counts(served(step, rows))
    assert not [each for each in found.calls.works if each.flops]
    assert found.activities.why.tolist() == [list(UnknownReason).index(UnknownReason.CONTENTS)]


def lookups(numbers: tuple[int, int] = (-1, -1), width: int = 48, bags: int = 4) -> Model:
    """A lookup of 40 rows in 3 tables and its backward, of `bags` samples."""
    dims = [[0], [9999], [0], [0], [3], [3], [4], [], [], [4], [], [40], [13]]
    types = ["float"] * 4 + [INT, LONG, INT, "Scalar", "Scalar", LONG, "Scalar", LONG, LONG]
    forward, backward = ({} if each < 0 else {"Sequence number": each} for each in numbers)
    looked: Any = {"Input Dims": dims, "Input type": types, **forward}
    passed: Any = {"Input Dims": [[bags, width]], "Input type": ["float"], **backward}
    return model_of(
        [
            op("fbgemm::split_embedding_codegen_lookup_adagrad_function", 10, 50, **looked),
            launch(20, 1),
            op("torch::autograd::CppNode<SplitLookupFunction_adagrad_Op>", 100, 50, **passed),
            launch(110, 2),
            kernel(200, 50, 1, "split_embedding_codegen_forward_unweighted_kernel"),
            kernel(300, 50, 2, "split_embedding_backward_codegen_adagrad_unweighted_kernel_cta_per_row_1"),
        ]
    )


@pytest.mark.parametrize("numbers", [(-1, -1), (7, 7), (-1, 7)])
def test_a_lookup_and_its_backward_tell_each_other(numbers: tuple[int, int]) -> None:
    calls = work_counts(lookups(numbers)).calls
    read = 40 * 16 * 4
    size = calls.numbers("bytes").tolist()
    assert size == [read + 8 * 53 + 4 * 48 * 4, 4 * 48 * 4 + 2 * read + 12 * 40]
    assert calls.numbers("flops").tolist() == [0, 0]
    assert {each.sure for each in calls.works if each.bytes} == {Certainty.ESTIMATE}


@pytest.mark.parametrize("model", [lookups((7, 8)), lookups(bags=5), lookups(width=2)])
def test_a_gradient_of_another_lookup_tells_nothing(model: Model) -> None:
    assert np.isnan(work_counts(model).calls.numbers("bytes")).all()
