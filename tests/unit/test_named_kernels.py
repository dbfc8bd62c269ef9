"""Traces whose kernels have the names of libraries: what the table, the shares and the times of devices say of them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import US, Event, annotation, kernel, launch, model_of, op
from tests.unit.test_kernel_names import NAMES, VERDICTS
from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.kernels import KernelTable, kernels

V100 = {"id": 0, "name": "Tesla V100", "computeMajor": 7, "computeMinor": 0}


def one_after_another(names: list[str], duration: int = 10) -> list[Event]:
    return [kernel(duration * i, duration, 1000 + i, name) for i, name in enumerate(names)]


def rows(table: KernelTable) -> dict[str, tuple[str | None, bool | None]]:
    """Kind and use of tensor cores by name."""
    return dict(zip(table.name, zip(table.kind, table.tensor_cores_used, strict=True), strict=True))


def test_a_trace_with_every_name_has_the_verdict_of_each() -> None:
    """10 µs of each. Shares are of compute kernels; what no family matches is unknown, and waits are no kernels."""
    table = kernels(model_of(one_after_another([name for *_, name in NAMES])))
    waits = {name for kind, _, name in NAMES if kind == "wait"}
    work = [row for row in NAMES if row[2] not in waits]
    assert rows(table) == {name: (None if kind == "?" else kind, VERDICTS[verdict]) for kind, verdict, name in work}
    assert {wait.name for wait in table.waits} == waits != set()
    verdicts = [verdict for kind, verdict, _ in work if not kind.startswith("communication")]
    assert (table.kernel_ns, table.compute_ns) == (len(work) * 10 * US, len(verdicts) * 10 * US)
    shares = table.tensor_cores
    assert shares is not None
    assert (shares.yes, shares.no, shares.unknown) == pytest.approx(
        tuple(verdicts.count(verdict) / len(verdicts) for verdict in ("yes", "no", "?"))
    )


@pytest.mark.parametrize(
    "name",
    [
        "void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<8>(int)",
        "void tensorrt_llm::kernels::ar_fusion::allreduce_fusion_kernel_twoshot_sync<__half, 8>(int)",
        "void aiter::local_device_load_rmsnorm_512n<__hip_bfloat16, 8>(aiter::RankSignals)",
        "void quickreduce::allreduce_prototype_twoshot<quickreduce::AllReduceTwoshot<__half> >(int)",
        "userbuffers_fp16_sum_inplace_gpu_rr_rs_oop",
        "EpDispatchIntraNodeKernel_bf16",
        "void pplx::intranode::dispatchKernel<16, true>(int*)",
        "void tensorrt_llm::kernels::moe_comm::moeAllToAllKernel<false>(int)",
    ],
)
def test_fused_reductions_and_exchanges_of_experts_are_communication(name: str) -> None:
    """30 of 100 µs, of which computing hides 10."""
    (device,) = device_use(
        model_of(
            [
                annotation("ProfilerStep#1", 0, 100),
                kernel(10, 30, 1, name, stream=9),
                kernel(30, 50, 2, "volta_sgemm_128x64_nn"),
            ]
        )
    )
    assert (device.communicating, device.exposed_communication, device.computing) == (0.3, 0.2, 0.5)


def test_an_open_name_is_decided_by_the_types_of_the_product() -> None:
    """Tensor cores of a V100 take half precision; what the names of these kernels leave open, the operator tells."""

    def used(kind: str, name: str) -> bool | None:
        inputs: dict[str, Any] = {"Input type": [kind, kind], "Input Dims": [[8, 8], [8, 8]]}
        called = op("aten::mm", 0, 10, **inputs)
        table = kernels(model_of([called, launch(5, 1), kernel(20, 5, 1, name)], deviceProperties=[V100]))
        return table.tensor_cores_used[0]

    for name in ("triton__0d1d2d3d", "my_gemm"):
        assert [used(kind, name) for kind in ("double", "float", "c10::Half")] == [False, False, None]
    assert used("float", "fused_moe_kernel") is True, "a name that says it is believed"


def test_the_table_has_a_name_for_people_beside_the_whole_one() -> None:
    functor = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, int>(int, float*)"
    tensile = "Cijk_Alik_Bljk_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x128x32_MI16x16x1_SN_LDSB1_AFC1.kd"
    names = {
        functor: "vectorized_elementwise_kernel<CUDAFunctor_add<float>>",
        tensile: "Tensile TN bf16 MT256x128x32 MI16x16x1",
        "triton_poi_fused_add_mul_3.kd": "triton_poi_fused_add_mul_3",
        "_ZN5aiter12fmoe_bf16_g1E": "aiter::fmoe_bf16_g1",
    }
    table = kernels(model_of(one_after_another(list(names))))
    assert dict(zip(table.name, table.short_name, strict=True)) == names
