"""FLOP and bytes of attention: masks and windows by counting, the forms of its operators."""

from __future__ import annotations

from typing import Any

import pytest

from tests.flop_calls import BF16, INT, of
from torch_tb_profiler.analysis.flops.attention import kept, seen
from torch_tb_profiler.analysis.flops.work import Certainty, OperatorWork, UnknownReason


def test_sequences_of_different_length_say_what_is_moved() -> None:
    args = [[64, 8, 64], [96, 2, 64], [96, 2, 64], [3], [3]], [BF16] * 3 + [INT] * 2
    size = 2 * 64 * (2 * 64 * 8 + 2 * 96 * 2)
    for operator in ("aten::_flash_attention_forward", "flash_attn::_flash_attn_varlen_forward"):
        work = of(operator, *args)
        assert (work.flops, work.bytes, work.why) == (None, size, UnknownReason.CONTENTS)


@pytest.mark.parametrize("corner", ["upper_left", "lower_right"])
@pytest.mark.parametrize(("queries", "keys"), [(1, 1), (5, 5), (4, 7), (7, 4), (1, 9), (9, 1)])
def test_causal_masks_by_counting(queries: int, keys: int, corner: Any) -> None:
    shift = 0 if corner == "upper_left" else keys - queries
    left = sum(key <= query + shift for query in range(queries) for key in range(keys))
    assert kept(queries, keys, corner) * queries * keys == left


def attention(
    operator: str, *, backward: bool = False, last: bool = False, causal: str = "False", **more: Any
) -> OperatorWork:
    """Of 2 sequences, 8 heads over 4 of k and v, 16 × 32 scores, heads of 64."""
    q, k = ([2, 16, 8, 64], [2, 32, 4, 64]) if last else ([2, 8, 16, 64], [2, 4, 32, 64])
    dims = [*([q] if backward else []), q, k, k]
    return of(operator, dims, BF16, [*[""] * len(dims), "0.0", causal, "False"], **more)


def test_attention() -> None:
    scores = 2 * 8 * 16 * 32
    flash = attention("aten::_scaled_dot_product_flash_attention")
    assert (flash.flops, flash.sure) == (2 * scores * 128, Certainty.EXACT)
    assert flash.bytes == 2 * (2 * 2 * 8 * 16 * 64 + 2 * 2 * 4 * 32 * 64) + 4 * 2 * 8 * 16
    causal = attention("aten::_scaled_dot_product_flash_attention", causal="True")
    assert causal.dense_flops == flash.flops
    assert causal.flops == 2 * scores * 128 * (16 * 17 // 2) // (16 * 32)
    # lower right corner
    lower = attention("aten::_flash_attention_forward", last=True, causal="True")
    assert lower.flops == 2 * scores * 128 * (16 * 32 - 16 * 15 // 2) // (16 * 32)
    backward = attention("aten::_scaled_dot_product_flash_attention_backward", backward=True)
    assert (backward.flops, backward.model_flops) == (2 * scores * 5 * 64, 2 * scores * 4 * 64)
    # without the values it may be causal
    unsaid = of("aten::_scaled_dot_product_flash_attention", [[2, 8, 16, 64]] * 3, BF16)
    assert unsaid.sure == Certainty.BOUND


@pytest.mark.parametrize(
    ("operator", "dims", "concrete", "causal"),
    [
        ("cudnn_attention", 3, ["0.", "True", "False"], True),  # 2024
        ("cudnn_attention", 3, ["0.", "False", "True"], False),
        ("cudnn_attention", 4, ["True", "0.10000000000000001", "False", "False"], False),
        ("efficient_attention", 4, ["False", "0.", "True"], True),
        ("efficient_attention", 3, ["True", "False"], False),  # 2023
        ("efficient_attention", 3, ["False", "True"], True),
        ("flash_attention", 3, ["0.", "True", "False"], True),
    ],
)
def test_causal_in_all_versions(operator: str, dims: int, concrete: list[str], causal: bool) -> None:
    given = [[2, 4, 16, 64]] * 3 + [[]] * (dims - 3 + len(concrete))
    kinds = [BF16] * 3 + [""] * (len(given) - 3)
    work = of(f"aten::_scaled_dot_product_{operator}", given, kinds, [*[""] * dims, *concrete])
    assert work.dense_flops == 2 * 2 * 4 * 16 * 16 * 128
    assert work.flops == (work.dense_flops * 17 // 32 if causal else work.dense_flops)


@pytest.mark.parametrize(("before", "behind"), [(0, 0), (3, 0), (3, 2), (-1, 1), (2, -1), (99, 99)])
@pytest.mark.parametrize(("queries", "keys"), [(5, 5), (4, 9), (9, 4)])
def test_windows_by_counting(before: int, behind: int, queries: int, keys: int) -> None:
    left = sum(
        (before < 0 or key >= query + keys - queries - before)
        and (behind < 0 or key <= query + keys - queries + behind)
        for query in range(queries)
        for key in range(keys)
    )
    assert seen(queries, keys, before, behind) * queries * keys == left


def test_attention_of_libraries() -> None:
    dims = [[1, 16, 8, 64]] * 3
    dense = 2 * 8 * 16 * 16 * 128

    def flops(operator: str, *concrete: str) -> int | None:
        given = [*dims, *[[]] * len(concrete)]
        return of(operator, given, [BF16] * 3 + [""] * len(concrete), [*[""] * 3, *concrete]).flops

    flash = "flash_attn::_flash_attn_forward"
    assert flops(flash, "0.", "0.125", "False", "-1", "-1") == dense
    assert flops(flash, "0.", "0.125", "True", "-1", "-1") == dense * 17 // 32
    assert flops(flash, "0.", "0.125", "True", "3", "0") == dense * (1 + 2 + 3 + 4 * 13) // 256
    assert flops(flash, "0.", "0.125", "False", "1", "1") == dense * (16 + 15 + 15) // 256
    cutlass = "xformers::efficient_attention_forward_cutlass"
    for kind, part in (("0", 32), ("1", 17)):
        assert flops(cutlass, "", "", "", "", "0.", "True", kind, "") == dense * part // 32
