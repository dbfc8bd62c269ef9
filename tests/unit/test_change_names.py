"""Names of two recordings: what is normalised and what never is, and each pass of the alignment."""

from __future__ import annotations

import pytest

from torch_tb_profiler.analysis.change import matching
from torch_tb_profiler.analysis.change.matching import matches, normalised, one_name
from torch_tb_profiler.analysis.change.shares import Share

ELEMENTWISE = "void at::native::vectorized_elementwise_kernel<{}, at::native::{}<float>, std::array<char*, 3ul> >(int)"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ELEMENTWISE.format(4, "CUDAFunctor_add"), ELEMENTWISE.format(8, "CUDAFunctor_add")),
        ("triton_poi_fused_add_mul_3", "triton_poi_fused_add_mul_17"),
        ("ampere_sgemm_128x64_tn", "ampere_sgemm_32x128_tn"),
        ("cutlass_80_tensorop_s1688gemm_256x64_16x4_nt_align4", "cutlass_80_tensorop_s1688gemm_128x64_32x3_nt_align8"),
        ("ProfilerStep#3", "ProfilerStep#12"),
        ("## Call CompiledFxGraph fabc123 ##", "## Call CompiledFxGraph f9d8e7 ##"),
        ("kernel_0x7f01", "kernel_0x8f02"),
        ("attn_fwd.kd", "attn_fwd"),
    ],
)
def test_what_only_configures(one: str, other: str) -> None:
    assert normalised(one) == normalised(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ELEMENTWISE.format(4, "CUDAFunctor_add"), ELEMENTWISE.format(4, "MulFunctor")),
        ("triton__0d1d2d3de", "triton__0d1d2d3d4d5d"),
        ("triton_poi_fused_add_mul_3", "triton_red_fused_add_mul_3"),
        ("ampere_sgemm_128x64_tn", "ampere_sgemm_128x64_nn"),
        ("void f<float>(int)", "void f<double>(int)"),
        ("ampere_bf16_s16816gemm_bf16_128x128", "ampere_bf16_s1688gemm_bf16_128x128"),
        ("ncclDevKernel_AllReduce_Sum_f32_RING_LL", "ncclDevKernel_AllGather_RING_LL"),
    ],
)
def test_what_says_what_is_computed(one: str, other: str) -> None:
    assert normalised(one) != normalised(other)


def test_renamed_operators() -> None:
    assert one_name("aten::_foreach_add_") == one_name("aten::add_")
    assert one_name("aten::relu") == one_name("aten::clamp_min")
    assert one_name("aten::conv2d") == "aten::conv2d"
    lines = matching.tomllib.loads(matching._FILE.read_text(encoding="utf-8"))["operators"]
    every = [name for line in lines for name in line["names"]]
    assert len(every) == len(set(every)), "an operator is in one line"
    assert all(len(line["names"]) > 1 and set(line) == {"torch", "names"} for line in lines)


def share(operator: str = "aten::mm", kernel: str = "gemm", **more: object) -> Share:
    fields: dict[str, object] = {
        "cause": "compute.gemm",
        "operator": operator,
        "is_operator": True,
        "outermost": "",
        "shapes": "",
        "kernel": kernel,
        "place": 0,
        "calls": 1,
        "exposed_ns": 5,
        "full_ns": 5,
    }
    return Share(**(fields | more))  # type: ignore[arg-type]


def joined(before: list[Share], after: list[Share]) -> set[tuple[str, str, str | None]]:
    """Kernels (of host time operators) of both sides, and how they were joined. Each share is in one match."""
    found = matches(before, after)
    assert sorted(id(each) for match in found for each in (*match.before, *match.after)) == sorted(
        map(id, [*before, *after])
    )

    def text(side: tuple[Share, ...]) -> str:
        return " ".join(sorted(each.kernel or each.operator for each in side))

    return {(text(match.before), text(match.after), match.how) for match in found}


def test_each_pass() -> None:
    assert joined([share()], [share()]) == {("gemm", "gemm", "name")}
    assert joined([share()], [share(shapes="[[2, 3]]")]) == {("gemm", "gemm", "name")}
    assert joined([share()], [share(operator="aten::bmm")]) == {("gemm", "gemm", "name")}
    assert joined([share()], [share(kernel="other")]) == {("gemm", "other", "place")}
    tile, other = "ampere_sgemm_128x64_tn", "ampere_sgemm_32x64_tn"
    assert joined([share(kernel=tile)], [share(operator="aten::bmm", kernel=other)]) == {(tile, other, "launch")}
    renamed = [share("aten::add_", "a")], [share("aten::_foreach_add_", "b")]
    assert joined(*renamed) == {("a", "b", "renamed")}
    parents = [share("aten::mm", "a", outermost="aten::linear")], [share("aten::addmm", "b", outermost="aten::linear")]
    assert joined(*parents) == {("a", "b", "parent")}
    assert joined([share("aten::mm", "a")], [share("aten::sort", "b")]) == {("a", "", None), ("", "b", None)}


def test_places_of_a_call() -> None:
    before = [share(kernel="a0", place=0), share(kernel="a1", place=1)]
    after = [share(kernel="b0", place=0), share(kernel="b1", place=1)]
    assert joined(before, after) == {("a0", "b0", "place"), ("a1", "b1", "place")}
    assert joined(before, [*after, share(kernel="b2", place=2)]) == {("a0 a1", "b0 b1 b2", "place")}
    # a kernel before the others moves them, and they are still the same
    moved = [share(kernel="new", place=0), share(kernel="a0", place=1), share(kernel="a1", place=2)]
    assert joined(before, moved) == {("a0", "a0", "name"), ("a1", "a1", "name"), ("", "new", None)}


def test_what_is_no_operator_has_no_places() -> None:
    step = share("ProfilerStep#…", "a", is_operator=False), share("ProfilerStep#…", "b", is_operator=False)
    assert joined([step[0]], [step[1]]) == {("a", "", None), ("", "b", None)}


def test_host_time_goes_by_operators() -> None:
    def host(operator: str) -> Share:
        return share(operator, "", cause="host.operator")

    before = [host("aten::conv2d"), host("aten::relu")]
    assert joined(before, [host("aten::conv2d"), host("aten::clamp_min")]) == {
        ("aten::conv2d", "aten::conv2d", "name"),
        ("aten::relu", "aten::clamp_min", "renamed"),
    }
