"""Names of kernels for people, and the element types that names tell."""

# ruff: noqa: E501 - names are long

from __future__ import annotations

import pytest

from tests.growth import MOST, growth_of_text
from tests.unit.test_kernel_names import HOSTILE, MOST_OF_WORDS, NAMES, in_words, many_names
from torch_tb_profiler.model.kernel_names.plain import element_type, plain_name
from torch_tb_profiler.model.kernel_names.short import short_name

ELEMENTWISE = (
    "void at::native::vectorized_elementwise_kernel<4, {}, at::detail::Array<char*, 3> >(int, at::detail::Array)"
)
LAMBDAS = "(at::TensorIteratorBase&, c10::Scalar)::{lambda()#1}::operator()() const::{lambda()#7}::operator()() const::"
SM90 = "cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<7, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> > >"


@pytest.mark.parametrize(
    ("name", "short"),
    [
        (
            ELEMENTWISE.format("at::native::CUDAFunctor_add<float>"),
            "vectorized_elementwise_kernel<CUDAFunctor_add<float>>",
        ),
        (
            ELEMENTWISE.format(
                "at::native::BinaryFunctor<c10::BFloat16, c10::BFloat16, c10::BFloat16, "
                "at::native::binary_internal::MulFunctor<float> >"
            ),
            "vectorized_elementwise_kernel<MulFunctor<float>>",
        ),
        (
            ELEMENTWISE.format(
                f"at::native::(anonymous namespace)::launch_clamp_scalar{LAMBDAS}{{lambda(c10::BFloat16)#1}}"
            ),
            "vectorized_elementwise_kernel<launch_clamp_scalar<bf16>>",
        ),
        (
            "void at::native::elementwise_kernel<128, 2, at::native::gpu_kernel_impl_nocast<at::native::AddFunctor<float> >"
            "(at::TensorIteratorBase&, at::native::AddFunctor<float> const&)::{lambda(int)#1}>(int)",
            "elementwise_kernel<AddFunctor<float>>",
        ),
        (
            "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<c10::Half, at::native::func_wrapper_t<c10::Half, "
            "at::native::sum_functor<c10::Half, float, c10::Half>::operator()(at::TensorIterator&)::{lambda(float, float)#1}>"
            ", unsigned int, c10::Half, 4> >(int)",
            "reduce_kernel<sum_functor<fp16>>",
        ),
        (
            "void at::native::(anonymous namespace)::multi_tensor_apply_kernel<at::native::(anonymous namespace)::"
            "TensorListMetadata<2>, at::native::(anonymous namespace)::BinaryOpListAlphaFunctor<float, 2, 2, 0>, "
            "std::plus<float>, float>(int)",
            "multi_tensor_apply_kernel<BinaryOpListAlphaFunctor<float>>",
        ),
        ("void at::native::vectorized_elementwise_kernel<4, at::native::(anon", "vectorized_elementwise_kernel"),
        # an index type is no element type
        (
            "void gemv2T_kernel_val<int, int, double, double, 128, false, cublasGemvParamsEx<int> >(int)",
            "gemv2T_kernel_val<double>",
        ),
        (
            "void at::native::CatArrayBatchedCopy<at::native::OpaqueType<4u>, unsigned int, long, 3>(int)",
            "CatArrayBatchedCopy",
        ),
        ("void at::native::CatArrayBatchedCopy<long, unsigned int, 3, 64, 64>(long*)", "CatArrayBatchedCopy<long>"),
        ("void at::native::vectorized_gather_kernel<16, long>(char*, char*, long*)", "vectorized_gather_kernel"),
        ("void at::native::unique_kernel<signed char, int>(int)", "unique_kernel<signed char>"),
        (ELEMENTWISE.format("at::native::FillFunctor<int>"), "vectorized_elementwise_kernel<FillFunctor<int>>"),
        (
            "std::enable_if<(((8)>(0)))&&vllm::_typeConvert<c10::Half>::exists, void>::type vllm::rms_norm_kernel<c10::Half, 8>(int)",
            "vllm::rms_norm_kernel<fp16>",
        ),
        (
            "void cudnn::ops::nchwToNhwcKernel<__nv_bfloat16, float, (cudnnKernelDataType_t)0>(int)",
            "cudnn::nchwToNhwcKernel<bf16>",
        ),
        ("at::cuda::(anonymous namespace)::spin_kernel(long)", "spin_kernel"),
        (
            "void cutlass::Kernel2<cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8>(int)",
            "cutlass_80_tensorop_bf16_s16816gemm_relu_bf16_64x64_64x6_tn_align8",
        ),
        (
            "void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, "
            f"cutlass::gemm::collective::CollectiveMma<{SM90}, cute::tuple<cute::C<128>, cute::C<256>, cute::C<64> >, "
            "cutlass::bfloat16_t> > >(int)",
            "cutlass::GemmUniversal<Sm90TmaGmmaWarpSpecialized, 128x256x64, bf16>",
        ),
        (
            "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<64, 128, 128, 4, false, false, "
            "cutlass::bfloat16_t> >(pytorch_flash::Flash_fwd_params)",
            "pytorch_flash::flash_fwd_kernel<d64, bf16>",
        ),
        (
            "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x32_MI16x16x1_SN_LDSB1_AFC1.kd",
            "Tensile TN bf16 MT256x128x32 MI16x16x1",
        ),
        ("Cijk_Ailk_Bjlk_SB_MT64x64x8_SE_1LDSB0", "Tensile NT fp32 MT64x64x8"),
        ("_ZN7ck_tile6kentryILi1ENS_12Rmsnorm2dFwdINS_4PipeIDF16bEEEEEvT_", "ck_tile::Rmsnorm2dFwd<bf16>"),
        ("_ZN5aiter12fmoe_bf16_g1E", "aiter::fmoe_bf16_g1"),
        ("triton_poi_fused_add_mul_3.kd", "triton_poi_fused_add_mul_3"),
        (
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
            "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
        ),
        (
            "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64_stage3_warpsize2x2x1_tensor16x8x16_kernel",
            "sm80_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64",
        ),
        ("event_wait", "event_wait"),
        ("my kernel (second version)", "my kernel (second version)"),
        ("kernel <img src=stolen onerror=alert(1)>{a|b}", "kernel <img src=stolen onerror=alert(1)>{a|b}"),
        ("", ""),
    ],
)
def test_short_name(name: str, short: str) -> None:
    assert short_name(name) == short


def test_a_short_name_is_shorter() -> None:
    for *_, name in NAMES:
        short = short_name(name)
        assert 0 < len(short) <= len(name)
        assert "::native" not in short
        assert short.count("<") == short.count(">")


@pytest.mark.parametrize("part", [*HOSTILE, "a<", "k<f(", "{lambda(int", "tuple<C<1>, C<1>, C<1>", "kernel_traits<1"])
def test_no_name_takes_long(part: str) -> None:
    def say(name: str) -> object:
        return short_name(name), element_type(name)

    assert growth_of_text(lambda times: part * times, say, 25_000 // len(part)) < MOST


def test_many_names() -> None:
    names = many_names()
    for name in names:
        plain_name(name)
    assert in_words(short_name, names) < MOST_OF_WORDS


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("nvjet_tst_128x256_64x4_2x1_v_bz_coopA_tn", "bf16"),
        ("nvjet_sm103_qqtst_128x256_128x6", "fp8"),
        ("nvjet_hsh_256x128_64x4", "fp16"),
        ("nvjet_xyz_256x128_64x4", None),
        ("sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize64x64x64", "bf16"),
        ("sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16", "tf32"),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma", "fp32"),
        ("void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(int)", "tf32"),
        ("void cutlass::Kernel<cutlass_80_wmma_tensorop_bf16_s161616gemm_bf16_32x32_128x1_tn_align8>(int)", "bf16"),
        ("void cutlass::Kernel<cutlass_80_tensorop_d884gemm_64x64_16x4_nn_align1>(int)", "fp64"),
        ("void cutlass::Kernel<cutlass_80_tensorop_i16832gemm_s8_256x128_64x3_tn_align16>(int)", "int8"),
        ("void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(int)", "fp32"),
        ("volta_fp16_s884gemm_fp16_128x64_ldg8_f2f_nn", "fp16"),
        ("volta_sgemm_128x64_nn", "fp32"),
        ("turing_hgemm_128x64_tn", "fp16"),
        ("volta_dgemm_64x64_nn", "fp64"),
        ("cudnn_volta_scudnn_128x64_relu_xregs_large_nn_v1", "fp32"),
        ("Cijk_Alik_Bljk_HHS_BH_Bias_MT128x128x64_MI32x32x1_SN", "fp16"),
        ("Cijk_Ailk_Bljk_F8BS_BH_MT256x256x128_MI16x16x1_SN", "fp8"),
        ("Cijk_Ailk_Bljk_I8II_BH_MT256x256x128_MI16x16x1_SN", "int8"),
        ("Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN", "fp32"),
        ("igemm_fwd_gtcx3_nhwc_bf16_bx0_ex1_bt256x128x32", "bf16"),
        ("bmm_E4m3_E4m3E4m3_Fp32_t128x8x128u2_s6", "fp8"),
        ("bmm_Bfloat16_MxE2m1MxE4m3_Fp32_t128x8x512_s4", "mxfp4"),
        ("fmhaSm100aKernel_QkvE4m3OBfloat16H128PagedKvCausal", "fp8"),
        ("_matmul_ogs_NNT_bf16xbf16xmxfp4_16x128x256x1", "bf16"),
        ("fmha_cutlassF_f16_aligned_64x64_rf_sm75(int)", "fp16"),
        ("void flash::flash_fwd_kernel<flash::Flash_fwd_kernel_traits<64, 128, cutlass::half_t> >(int)", "fp16"),
        ("_ZN5aiter50fmoe_bf16_pertokenFp8_g1u1_vs_silu_1tg_ps_32x512E", "bf16"),
        ("ncclDevKernel_AllReduce_Sum_bf16_RING_LL(int)", "bf16"),
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "fp32"),
        ("ncclBroadcastRingLLKernel_copy_i8(ncclColl)", "int8"),
        ("ncclDevKernel_SendRecv(int)", None),
        ("my_own", None),
    ],
)
def test_element_type(name: str, kind: str | None) -> None:
    assert element_type(name) == kind
