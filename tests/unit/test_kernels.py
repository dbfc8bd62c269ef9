"""Kernels by name and by launch configuration, copies, and which use tensor cores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from msgspec.structs import asdict

from tests.events import US, Event, annotation, copy, fill, frame, kernel, launch, model_of, op
from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.kernels import TransferSums, kernel_sums, kernels, kernels_by_call
from torch_tb_profiler.analysis.shared.kernel_use import Occupancy, TensorCores
from torch_tb_profiler.analysis.shared.tensor_cores import ELIGIBLE_2021, ELIGIBLE_OPERATORS, Use, use_of


def shape(x: int) -> dict[str, object]:
    return {"grid": [16, 1, 1], "block": [16, 16, x], "registers per thread": 18, "shared memory": 4}


def test_by_name() -> None:
    events = [kernel(0, 10, 1, "a"), kernel(20, 15, 2, "a"), kernel(50, 30, 3, "b"), copy(90, 7, 4, bytes=100)]
    table = kernels(model_of(events))
    assert (table.name, table.calls.tolist()) == (("b", "a"), [1, 2])
    assert table.total_ns.tolist() == [30 * US, 25 * US]
    assert table.mean_ns.tolist() == [30 * US, 12.5 * US]
    assert (table.max_ns.tolist(), table.min_ns.tolist()) == ([30 * US, 15 * US], [30 * US, 10 * US])
    assert (table.mean_blocks_per_sm, table.mean_achieved_occupancy, table.operator) == (None, None, None)


def test_few_sums_are_those_of_the_table() -> None:
    rng = np.random.default_rng(3)
    lengths, names = rng.integers(0, 40, 200).tolist(), rng.choice(list("abcdefgh"), 200).tolist()
    events = [kernel(100 * at, length, at, name) for at, (length, name) in enumerate(zip(lengths, names, strict=True))]
    model = model_of([*events, copy(30_000, 7, 999, bytes=100)])
    table, sums = kernels(model), kernel_sums(model)
    assert len(sums.name) == 8
    assert sums.name == table.name
    assert (sums.calls.tolist(), sums.total_ns.tolist()) == (table.calls.tolist(), table.total_ns.tolist())


def test_by_launch() -> None:
    events = [
        op("op1", 0, 100),
        *(launch(10 * i, i) for i in range(1, 5)),
        kernel(230, 15, 1, "k", **shape(16)),
        kernel(250, 10, 2, "k", **shape(16)),
        kernel(270, 13, 3, "k", **shape(64)),
        kernel(290, 17, 99, "k", **shape(64)),
        kernel(310, 1, 4, "k"),
    ]
    table = kernels(model_of(events), "name_op_launch")
    # work that ran before it on its stream was launched in the recording
    assert table.operator == ("op1", "(its launch was lost)", "op1", "op1")
    assert table.calls.tolist() == [2, 1, 1, 1]
    assert table.block == ("[16, 16, 16]", "[16, 16, 64]", "[16, 16, 64]", "")
    assert table.registers_per_thread is not None
    assert table.registers_per_thread.tolist() == [18, 18, 18, -1]
    assert table.operator_tensor_core_eligible is not None
    assert not table.operator_tensor_core_eligible.any()


def test_by_launch_outside_of_operators() -> None:
    def graph(start: float, correlation: int, tid: int = 1) -> Event:
        return {**launch(start, correlation, tid=tid), "name": "cudaGraphLaunch"}

    events = [
        *(annotation("Optimizer.step#SGD.step", 100, 50), graph(110, 1), kernel(200, 10, 1, "k")),
        *(graph(160, 2), kernel(220, 10, 2, "k"), graph(170, 3, tid=2), kernel(240, 10, 3, "k")),
        *(frame("nn.Module: Linear_3", 300, 50), launch(310, 4), kernel(400, 5, 4, "k")),
    ]
    table = kernels(model_of(events), "name_op_launch")
    # of threads the API call is shown: their numbers differ from trace to trace
    assert table.operator == (
        "(cudaGraphLaunch)",
        "(graph replay in Optimizer.step#SGD.step)",
        "(module: Linear_3)",
    )
    assert table.calls.tolist() == [2, 1, 1]
    old = kernels_by_call(model_of(events))
    assert old.operator == ("(cudaGraphLaunch)", "(cudaLaunchKernel)")
    assert old.calls.tolist() == [3, 1]


def test_means_are_weighted_by_duration_and_leave_out_missing_values() -> None:
    given = {"blocks per SM": 0.5, "est. achieved occupancy %": 60}
    events = [
        kernel(0, 10, 1, "a", **given),
        kernel(20, 30, 2, "a", **{"blocks per SM": 2.5, "est. achieved occupancy %": 0}),
        kernel(60, 50, 3, "a", **{"blocks per SM": 0, "est. achieved occupancy %": -1}),
        kernel(120, 5, 4, "b"),
        kernel(130, 0, 5, "c", **given),
    ]
    table = kernels(model_of(events))
    assert table.mean_blocks_per_sm is not None
    assert table.mean_achieved_occupancy is not None
    assert table.mean_blocks_per_sm[0] == pytest.approx((0.5 * 10 + 2.5 * 30) / 40)
    assert table.mean_achieved_occupancy[0] == pytest.approx(60 * 10 / 40)
    assert np.isnan(table.mean_blocks_per_sm[1:]).all()


def test_copies_and_fills() -> None:
    events = [copy(0, 10, 1, bytes=100), copy(20, 5, 2, bytes=50), fill(30, 5, 3)]
    table = kernels(model_of(events))
    assert table.memcpy == (TransferSums("Memcpy HtoD", 2, 15 * US, 150),)
    assert table.memset == (TransferSums("Memset (Device)", 1, 5 * US, None),)
    assert len(table) == 0


def test_annotations_on_the_device_are_no_kernels() -> None:
    events = [annotation("a", 0, 10), {**kernel(0, 10, 1, "a"), "cat": "gpu_user_annotation"}]
    totals = kernels(model_of(events))
    assert (totals.kernel_ns, totals.compute_ns) == (0, 0)
    assert (totals.tensor_cores, totals.occupancy) == (TensorCores(None, None, None), Occupancy(None, None))


def test_tensor_core_time() -> None:
    events = [kernel(0, 10, 1, "volta_h884gemm"), kernel(20, 5, 2, "relu"), kernel(30, 3, 3, "triton_poi_fused_add")]
    totals = kernels(model_of(events))
    assert (totals.kernel_ns, totals.compute_ns) == (18 * US, 18 * US)
    assert (totals.tensor_cores, totals.occupancy) == (TensorCores(10 / 18, 3 / 18, 5 / 18), Occupancy(None, 0.0))
    assert sum(asdict(totals.tensor_cores).values()) == pytest.approx(1)


def test_without_a_name_that_says_it_the_use_of_tensor_cores_is_not_known() -> None:
    """Not 0: the kernels may use them. What is known of a part is known to be so much at least."""
    events = [kernel(0, 10, 1, "my_own"), kernel(20, 5, 2, "my_other")]
    assert kernels(model_of(events)).tensor_cores == TensorCores(None, None, 1)
    no_time = kernel(30, 0, 3, "volta_h884gemm")
    assert kernels(model_of([*events, no_time])).tensor_cores == TensorCores(None, None, 1)
    known = kernel(30, 5, 3, "triton_poi_fused_relu_0")
    assert kernels(model_of([*events, known])).tensor_cores == TensorCores(0, 5 / 20, 15 / 20)


def test_communication_is_no_part_of_the_time_of_compute_kernels() -> None:
    """With it in the denominator the share of tensor cores falls whenever ranks wait: 0.03 instead of 0.10."""
    reduced = kernel(50, 70, 4, "ncclDevKernel_AllReduce_Sum_f32_RING_LL", **{"est. achieved occupancy %": 2})
    computes = [
        kernel(0, 10, 1, "volta_h884gemm", **{"est. achieved occupancy %": 40}),
        kernel(20, 20, 2, "triton_poi_fused_relu_0", **{"est. achieved occupancy %": 70}),
    ]
    totals = kernels(model_of([*computes, reduced]))
    assert (totals.kernel_ns, totals.compute_ns) == (100 * US, 30 * US)
    assert totals.tensor_cores == TensorCores(10 / 30, 20 / 30, 0)
    assert totals.occupancy.mean == pytest.approx((0.4 * 10 + 0.7 * 20) / 30)
    assert totals.occupancy.known_share == 1


def test_an_occupancy_of_0_with_much_shared_memory_is_not_known() -> None:
    def work(start: int, number: int, name: str, percent: int, shared: int) -> Event:
        return kernel(start, 10, number, name, **{"est. achieved occupancy %": percent, "shared memory": shared})

    events = [
        work(0, 1, "gemm", 0, 49_153),
        work(20, 2, "gemm", 60, 49_153),
        work(40, 3, "attention", 0, 200_000),
        work(60, 4, "small", 0, 49_152),
        work(80, 5, "relu", 90, 0),
    ]
    table = kernels(model_of(events))
    assert table.mean_achieved_occupancy is not None
    assert table.occupancy_known_share is not None
    both = zip(table.mean_achieved_occupancy.tolist(), table.occupancy_known_share.tolist(), strict=True)
    of = dict(zip(table.name, both, strict=True))
    assert of["gemm"] == (60, 0.5)
    assert np.isnan(of["attention"][0])
    assert of["attention"][1] == 0
    assert of["small"] == (0, 1), "really 0: few blocks"
    assert of["relu"] == (90, 1)
    assert table.occupancy == Occupancy((0.6 + 0 + 0.9) / 3, 3 / 5)


def test_where_no_occupancy_is_recorded_its_share_is_0() -> None:
    table = kernels(model_of([kernel(0, 10, 1, "a")]))
    assert table.occupancy == Occupancy(None, 0.0)
    assert (table.mean_achieved_occupancy, table.occupancy_known_share) == (None, None)


def test_waits_of_mtia_are_no_kernels() -> None:
    def mtia(start: int, length: int, number: int, name: str) -> Event:
        return {**kernel(start, length, number, name), "cat": "mtia_ccp_events"}

    model = model_of(
        [
            annotation("ProfilerStep#1", 0, 100),
            launch(5, 1),
            mtia(10, 20, 1, "pe_exe"),
            mtia(30, 50, 2, "event_wait"),
            mtia(80, 5, 3, "event_record"),
        ]
    )
    table = kernels(model)
    assert table.name == ("pe_exe",)
    assert table.kernel_ns == 20 * US
    assert table.waits == (TransferSums("event_wait", 1, 50 * US, None), TransferSums("event_record", 1, 5 * US, None))
    (device,) = device_use(model)
    assert (device.busy, device.computing) == (0.2, 0.2)


@pytest.mark.parametrize(
    "name",
    [
        "volta_fp16_s884cudnn_fp16_256x128_ldg8_relu_f2f_exp_small_nhwc2nchw_tn_v1",
        "volta_h884gemm_64x128_ldg8_nn",
        "turing_fp16_s1688gemm_fp16_128x128_ldg8_f2f_tn",
        "ampere_bf16_s16816gemm_bf16_128x256_ldg8_relu_f2f_stages_64x3_tn",
        "void cutlass::Kernel<cutlass_80_tensorop_s1688gemm_256x64_16x4_nn_align4>(cutlass_80_tensorop_s1688gemm)",
        "void cutlass::Kernel<cutlass_70_wmma_tensorop_f16_s161616gemm_f16_32x32_64x2_tn_align8>()",
        "sm80_xmma_fprop_implicit_gemm_indexed_tf32f32_tf32f32_f32_nhwckrsc_nchw_tilesize128x128x16_stage4",
        "sm90_xmma_gemm_bf16bf16_bf16f32_f32_tn_n_tilesize128x128x64_warpgroupsize1x1x1_execute_segment_k_off",
        "nvjet_hsh_256x128_64x4_1x2_h_bz_coopA_NTT",
        "void pytorch_flash::flash_fwd_kernel<pytorch_flash::Flash_fwd_kernel_traits<32, 128, 128, 4>>()",
        "void flash::FlashAttnFwdSm90<flash::CollectiveMainloopFwdSm90<2>>()",
        "fmha_cutlassF_bf16_aligned_64x128_rf_sm80(PyTorchMemEffAttention::AttentionKernel<cutlass::bfloat16_t>)",
        "cudnn_generated_fort_native_sdpa_sm90_flash_fprop_wgmma_f16_knob_3_64x64x64_4x1x1_kernel0_0",
        "Cijk_Alik_Bljk_SB_Bias_AS_SAV_UserArgs_MT64x16x32_MI16x16x1_SN_LDSB0_AFC1",
        "void ck::kernel_gemm_xdl_cshuffle_v3<ck::GridwiseGemm_xdl_cshuffle_v3<>>()",
    ],
)
def test_uses_tensor_cores(name: str) -> None:
    assert use_of(name) is Use.YES


@pytest.mark.parametrize(
    "name",
    [
        "volta_sgemm_128x64_nn",
        "ampere_sgemm_32x32_sliced1x4_tn",
        "cudnn_ampere_scudnn_128x64_relu_xregs_large_nn_v1",
        "void cutlass::Kernel<cutlass_80_simt_sgemm_128x32_8x5_nn_align1>(cutlass_80_simt_sgemm_128x32_8x5_nn)",
        "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize32x32x8_stage3_warpsize1x2x1_ffma_aligna4_alignc4_execute",
        "void cudnn::detail::dgrad_engine<float, 512, 6, 5, 3, 3, 3, false>(int, int, int, float const*, int)",
        "void implicit_convolve_sgemm<float, float, 1024, 6, 7, 3, 3, 5, 1, false, true, true>(int, int, int)",
        "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)",
        "void cudnn::bn_bw_1C11_kernel_new<float, float, float2, 512, true, 1>(float, float, float)",
        "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
        "void cublasLt::splitKreduce_kernel<32, 16, int, float, float, float, float, true, true, false>()",
        "void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>()",
    ],
)
def test_does_not_use_tensor_cores(name: str) -> None:
    assert use_of(name) is Use.NO


@pytest.mark.parametrize(
    "name",
    [
        "triton__0d1d2d3d",
        "Cijk_Ailk_Bljk_SB_MT64x64x8",
        "my_gemm",
    ],
)
def test_leaves_open_what_the_name_leaves_open(name: str) -> None:
    assert use_of(name) is Use.UNKNOWN


def test_eligible_operators() -> None:
    assert len(ELIGIBLE_2021) == len(set(ELIGIBLE_2021)) == 45
    assert {"aten::mm", "aten::convolution_backward", "AddmmBackward0"} <= ELIGIBLE_OPERATORS
    assert "aten::add" not in ELIGIBLE_OPERATORS


A100 = {"id": 0, "name": "NVIDIA A100", "computeMajor": 8, "computeMinor": 0}
V100 = {"id": 0, "name": "Tesla V100", "computeMajor": 7, "computeMinor": 0}
P100 = {"id": 0, "name": "Tesla P100", "computeMajor": 6, "computeMinor": 0}
MI210 = {"id": 0, "name": "AMD Instinct MI210", "computeMajor": 9, "computeMinor": 0}


@pytest.mark.parametrize(
    ("device", "operator", "types", "used"),
    [
        (P100, "aten::relu", [], False),  # no tensor cores at all
        (V100, "aten::mm", ["float", "float"], False),  # no TF32
        (V100, "aten::mm", ["c10::BFloat16", "c10::BFloat16"], False),
        (V100, "aten::addmm", ["double", "double", "double", "Scalar", ""], False),
        (V100, "aten::mm", ["c10::Half", "c10::Half"], None),
        (V100, "aten::mm", ["Float8_of_the_future"], None),
        (V100, "aten::mm", [], None),
        (V100, "mine::mm", ["float", "float"], None),  # it may multiply what is not among its inputs
        (A100, "aten::mm", ["float", "float"], None),
        (A100, "aten::mm", ["long int", "long int"], False),
        (MI210, "aten::mm", ["long int", "long int"], None),
        ({**V100, "name": ""}, "aten::mm", ["float"], None),
    ],
)
def test_the_operator_decides_where_the_name_leaves_it_open(
    device: dict[str, Any], operator: str, types: list[str], used: bool | None
) -> None:
    called = op(operator, 0, 10, **{"Input type": types, "Input Dims": [[8, 8]] * len(types)})
    model = model_of([called, launch(5, 1), kernel(20, 5, 1, "my_own")], deviceProperties=[device])
    assert kernels(model).tensor_cores_used == (used,)


def test_kernels_of_one_name_that_differ_are_unknown() -> None:
    events = []
    for at, kind in ((0, "double"), (100, "c10::Half")):
        events += [op("aten::mm", at, 10, **{"Input type": [kind, kind]}), launch(at + 1, at + 1)]
        events += [kernel(at + 20, 5, at + 1, "my_own")]
    model = model_of(events, deviceProperties=[V100])
    assert kernels(model).tensor_cores_used == (None,)
    totals = kernels(model)
    assert totals.tensor_cores == TensorCores(0, 0.5, 0.5)


def test_what_the_name_says() -> None:
    names = ("void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>(int)", "k")
    table = kernels(model_of([kernel(20 * i, 10 - i, i + 1, name) for i, name in enumerate(names)]))
    assert table.name == names
    assert table.short_name == ("vectorized_elementwise_kernel<CUDAFunctor_add<float>>", "k")
    assert (table.kind, table.library) == (("pointwise", None), ("PyTorch", None))
