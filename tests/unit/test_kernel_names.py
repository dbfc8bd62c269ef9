"""What the names of kernels say. The cases are names of real traces, and of the public sources of libraries."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.growth import MOST, beside, growth_of_text
from torch_tb_profiler.model.communication import LIBRARIES, kind_of, library_of_kernel
from torch_tb_profiler.model.kernel_names.families import FAMILIES, family_of
from torch_tb_profiler.model.kernel_names.family import FirstMatch, KernelKind, literal_of
from torch_tb_profiler.model.kernel_names.plain import plain_name

CASES = Path(__file__).parent.parent / "cases" / "kernel_names.tsv"
NAMES = [line.split("\t") for line in CASES.read_text(encoding="utf-8").splitlines()[1:]]
VERDICTS = {"yes": True, "no": False, "?": None}


@pytest.mark.parametrize(("kind", "verdict", "name"), NAMES, ids=[name[:60] for *_, name in NAMES])
def test_family(kind: str, verdict: str, name: str) -> None:
    family = family_of(name)
    if kind == "?":
        assert family is None
    else:
        assert family is not None
        assert (family.label, family.tensor_cores) == (kind, VERDICTS[verdict])


def test_the_page_has_words_for_every_kind(repository: Path) -> None:
    labels = {family.label for family in FAMILIES}
    for language in ("en", "zh-CN"):
        text = (repository / "fe" / "src" / "i18n" / language / "kernels.ts").read_text(encoding="utf-8")
        found = re.findall(r'^    "?([\w +]+?)"?: "', text[text.index("kinds: {") :].split("}")[0], re.MULTILINE)
        assert set(found) == labels


def test_enough_names() -> None:
    assert len(NAMES) >= 150
    known = {family_of(name) for *_, name in NAMES} - {None}
    missing = [family for family in FAMILIES if family not in known]
    assert len(missing) <= len(FAMILIES) // 10, missing


@pytest.mark.parametrize("suffix", ["", ".kd", " [clone .kd]", "(int, float*)"])
def test_ends_of_names(suffix: str) -> None:
    family = family_of("fused_moe_kernel" + suffix)
    assert family is not None
    assert family.kind is KernelKind.GEMM


def test_a_name_that_was_cut_off() -> None:
    """At 155 characters, as in a trace of a B200: never a "no" that the rest of the name would have refuted."""
    for _, verdict, name in NAMES:
        family = family_of(name[:155])
        if verdict == "yes" and family is not None and family.kind is KernelKind.GEMM:
            assert family.tensor_cores is not False, name


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("void at::native::(anonymous namespace)::k<4, c10::Half>(int)", "at::native::k<4, fp16>"),
        ("void k<f(at::T&)::{lambda(c10::BFloat16)#1}>(int)", "k<f(at::T&)::{lambda(bf16)#1}>"),
        ("std::enable_if<!(false), void>::type internal::gemvx::kernel<int>(int)", "internal::gemvx::kernel<int>"),
        ("std::enable_if<((8) > (0)) && has<int>::value, void>::type ns::norm<c10::Half, 8>(int)", "ns::norm<fp16, 8>"),
        ("typename std::enable_if<(2 < (N >> 1)), void>::type ns::k<2>(int)", "ns::k<2>"),
        ("std::enable_if_t<(sizeof(T) < 4), void> ns::k<bool>", "ns::k<bool>"),
        ("triton_poi_fused_add_0.kd", "triton_poi_fused_add_0"),
        ("a name of my own", "a name of my own"),
        ("my kernel (second version)", "my kernel (second version)"),
        ("(cudaGraphLaunch)", "(cudaGraphLaunch)"),
        ("_ZN5aiter12fmoe_bf16_g1E", "aiter::fmoe_bf16_g1"),
        ("_ZN12_GLOBAL__N_14lookIDF16bEEvT_", "look<bf16>"),
        ("_Z4lookILi128EDF16_N3abc3defEEvT_", "look<fp16 abc def>"),
        ("_ZN99short", "short"),
        ("", ""),
    ],
)
def test_plain_name(name: str, plain: str) -> None:
    assert plain_name(name) == plain


def test_first_match_is_that_of_trying_all() -> None:
    patterns = [pattern for family in FAMILIES for pattern in family.patterns]
    found = FirstMatch(patterns)
    for *_, name in NAMES:
        plain = plain_name(name)
        assert found(plain) == next((at for at, each in enumerate(patterns) if re.search(each, plain)), None)


@pytest.mark.parametrize(
    ("pattern", "literal"),
    [
        (r"nvjet_", "nvjet_"),
        (r"(?i:MoE)All", "moeall"),
        (r"^(?:one|two)shotAll\w*Reduce", "shotall"),
        (r"[hs](?:884|16816)cudnn", "cudnn"),
        (r"ab?cde+f", "cde"),
        (r"\w+", ""),
    ],
)
def test_literal_of_a_pattern(pattern: str, literal: str) -> None:
    assert literal_of(pattern) == literal


def test_alternatives_stand_in_groups() -> None:
    with pytest.raises(ValueError, match="alternative"):
        literal_of("a|b")


WORDS = re.compile(r"[A-Za-z]+|\d+")
#: CPU of what is said of a name, in that of finding its words; it is 3 to 8
MOST_OF_WORDS = 20


def many_names() -> list[str]:
    names = [f"{name}{turn}" for turn in range(10_000 // len(NAMES) + 1) for *_, name in NAMES][:10_000]
    assert len(set(names)) == 10_000
    return names


def in_words(say: Callable[[str], object], names: list[str]) -> float:
    return beside(lambda: [say(name) for name in names], lambda: [WORDS.findall(name) for name in names])


HOSTILE = (
    "a|<|(|<(|cutlass|Cijk_|Cijk_MT1x1x1_|sm90_xmma_|_w8a8_|flash_fwd|chunk_|(anonymous namespace)::|_ZN1a|_ZN9|ck_tile"
    "|cutlass_cudnn ImplicitGemmConvolution |Ep|gemm_|a::|volta_s|conv|nccl|{lambda(|userbuffers|pplx|symm_mem"
).split("|")


@pytest.mark.parametrize("part", HOSTILE)
def test_no_name_takes_long(part: str) -> None:
    told = growth_of_text(
        lambda times: part * times, lambda name: (family_of(name), kind_of(name)), 25_000 // len(part)
    )
    assert told < MOST


def test_many_names() -> None:
    assert in_words(family_of, many_names()) < MOST_OF_WORDS


@pytest.mark.parametrize(
    ("name", "library", "kind"),
    [
        ("void trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>(P)", "custom", "all_reduce"),
        ("void tensorrt_llm::kernels::reduce_fusion::lamport_style_one_shot<__half>(int)", "custom", "all_reduce"),
        ("void aiter::local_device_load_rmsnorm_512n<bf16, 8>(int)", "custom", "all_reduce"),
        ("void aiter::reduce_scatter_cross_device_store<bf16, 8>(int)", "custom", "reduce_scatter"),
        ("void quickreduce::allreduce_prototype_twoshot<__half>(int)", "custom", "all_reduce"),
        ("userbuffers_fp16_sum_inplace_gpu_rw", "userbuffers", "all_reduce"),
        ("userbuffers_fp16_sum_inplace_gpu_rr_rs_oop", "userbuffers", "reduce_scatter"),
        ("userbuffers_fp16_sum_inplace_gpu_rr_ag", "userbuffers", "all_gather"),
        ("kuserbuffers_pushrecv", "userbuffers", "recv"),
        ("EpDispatchIntraNodeKernel_bf16", "mori", "all_to_all"),
        ("void pplx::intranode::combineKernel<16, true>(int*)", "pplx", "all_to_all"),
        ("void tensorrt_llm::kernels::moe_comm::moeAllToAllKernel<false>(int)", "trt_llm", "all_to_all"),
        ("void tensorrt_llm::kernels::moeA2ACombineKernel<8>(int)", "trt_llm", "all_to_all"),
        ("event_wait", None, "other"),
    ],
)
def test_communication(name: str, library: str | None, kind: str) -> None:
    assert (library_of_kernel(name), kind_of(name)) == (library, kind)


def test_every_library_of_communication_has_a_name() -> None:
    libraries = {family.library for family in FAMILIES if family.kind is KernelKind.COMMUNICATION}
    assert set(LIBRARIES) <= libraries
    assert libraries - set(LIBRARIES) == {"custom", "TensorRT-LLM, FlashInfer, AITER"}
