"""What counts as communication, and what is known of each operation."""

from __future__ import annotations

from typing import Any

import pytest

from tests.events import Event, annotation, event, kernel, launch, model_of, op
from torch_tb_profiler.model.communication import (
    KINDS,
    RECOGNISED,
    Communications,
    ProcessGroup,
    element_bytes,
    kind_of,
    library_of_kernel,
)

ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"


def arguments(name: str = "allreduce", dtype: str = "Float", group: str = "0", **more: Any) -> dict[str, Any]:
    return {
        "Collective name": name,
        "dtype": dtype,
        "In msg nelems": 1000,
        "Out msg nelems": 1000,
        "Group size": 2,
        "Process Group Name": group,
        "Process Group Description": "default_pg",
        "Process Group Ranks": "[0, 1]",
        **more,
    }


def nccl(at: float, correlation: int, parameters: dict[str, Any], on_kernel: bool = True) -> list[Event]:
    """An all-reduce as torch 2 records it: three ranges, a launch, a kernel 100 µs later that runs for 50."""
    return [
        op("c10d::allreduce_", at, 40),
        op("record_param_comms", at + 2, 36, **parameters),
        annotation("nccl:all_reduce", at + 4, 30),
        launch(at + 10, correlation),
        kernel(at + 100, 50, correlation, ALL_REDUCE, **(parameters if on_kernel else {})),
    ]


def found(events: list[Event], **header: Any) -> Communications:
    return model_of(events, **header).communications


def recognised(of: Communications) -> list[str]:
    return [RECOGNISED[i] for i in of.operations.recognised]


def kinds(of: Communications) -> list[str]:
    return [KINDS[i] for i in of.operations.kind]


def ranges(of: Communications) -> list[tuple[int, int, int]]:
    """(operation, start, end), in µs."""
    return [
        (int(o), int(s) // 1000, int(e) // 1000)
        for o, s, e in zip(of.ranges.operation, of.ranges.start, of.ranges.end, strict=True)
    ]


def test_arguments_on_the_kernel() -> None:
    of = found([op("a", 0, 1), *nccl(10, 1, arguments(Seq=7))])
    assert of.names == ("nccl:all_reduce",)
    assert of.groups == (ProcessGroup("0", "default_pg", (0, 1), 2),)
    assert [of.dtypes[i] for i in of.operations.dtype] == ["Float"]
    assert (of.operations.in_bytes[0], of.operations.out_bytes[0], of.operations.sequence[0]) == (4000, 4000, 7)
    assert (of.operations.host_start[0], of.operations.host_end[0]) == (14_000, 44_000)
    assert ranges(of) == [(0, 110, 160)], "the call on the host is no part of it"
    assert recognised(of) == ["kernel_arguments"]


def test_arguments_on_the_host() -> None:
    of = found([op("a", 0, 1), *nccl(10, 1, arguments(), on_kernel=False)])
    assert recognised(of) == ["host_arguments"]
    assert of.operations.in_bytes.tolist() == [4000]


def test_a_kernel_that_record_param_comms_launched_needs_no_name() -> None:
    events = [op("record_param_comms", 0, 50), launch(5, 1), kernel(60, 10, 1, "secret_kernel")]
    model = model_of([*events, op("record_param_comms", 100, 50), op("aten::cat", 110, 20), launch(115, 2)])
    assert model.device_links.is_communication.tolist() == [True]
    assert recognised(model.communications) == ["host_arguments"]
    flattening = [op("record_param_comms", 0, 50), op("aten::cat", 1, 20), launch(5, 1), kernel(60, 10, 1, "cat")]
    assert not model_of(flattening).device_links.is_communication.any(), "what aten::cat launched is no communication"


def test_only_the_name_of_the_kernel() -> None:
    of = found([kernel(0, 10, 1, ALL_REDUCE), kernel(20, 10, 2, "ncclDevKernel_SendRecv(x)"), kernel(40, 1, 3, "gemm")])
    assert of.names == ("nccl:all_reduce", "nccl:send_recv")
    assert recognised(of) == ["kernel_name", "kernel_name"]
    assert of.operations.in_bytes.tolist() == [-1, -1]


def test_a_library_without_kernels_is_timed_on_the_host() -> None:
    shapes: dict[str, Any] = {"Input Dims": [[10, 2], [3]], "Input type": ["float", "double"]}
    of = found([event("user_annotation", "gloo:broadcast", 0, 38, **shapes), kernel(5, 10, 1, "gemm")])
    assert ranges(of) == [(0, 0, 38)]
    assert of.operations.in_bytes.tolist() == [10 * 2 * 4 + 3 * 8]
    assert not of.operations.on_device.any()


def test_a_call_whose_kernel_was_not_recorded_has_no_time() -> None:
    of = found([*nccl(0, 1, arguments()), *nccl(500, 2, arguments())[:-1]])
    assert ranges(of) == [(0, 100, 150)]
    assert of.duration.tolist() == [50_000, -1]


def test_without_any_kernel_the_calls_are_what_there_is() -> None:
    assert ranges(found([annotation("nccl:all_reduce", 0, 71)])) == [(0, 0, 71)]


def test_waiting_and_groups_of_calls_are_no_operations() -> None:
    of = found(
        [
            op("record_param_comms", 0, 5, **arguments("wait")),
            annotation("nccl:coalesced", 100, 200),
            annotation("nccl:all_gather", 110, 20),
            annotation("nccl:all_gather", 140, 20),
        ]
    )
    assert of.names == ("nccl:all_gather",)
    assert len(of) == 2


def test_a_kernel_without_a_launch_finds_its_call_by_external_id() -> None:
    call = event("cpu_op", "nccl:broadcast", 0, 75, **{"External id": 146})
    by_id = {"External id": 146}
    of = found(
        [call, kernel(16, 16, 9, "ncclKernel_Broadcast_RING_LL", **by_id), kernel(50, 9, 8, ALL_REDUCE, **by_id)]
    )
    assert kinds(of) == ["broadcast", "all_reduce"], "the other one only has the same number"
    assert ranges(of) == [(0, 16, 32), (1, 50, 59)]


def test_the_group_is_the_only_one_there_is() -> None:
    header = {"distributedInfo": {"world_size": 4, "pg_config": [{"pg_name": "3", "pg_desc": "tp", "ranks": "[0, 2]"}]}}
    assert found([annotation("gloo:all_reduce", 0, 1)], **header).groups == (ProcessGroup("3", "tp", (0, 2), 2),)
    without = {"distributedInfo": {"world_size": 4}}
    assert found([annotation("gloo:all_reduce", 0, 1)], **without).groups == (ProcessGroup(size=4),)


@pytest.mark.parametrize(("other", "size"), [("[0, 1, 2, 3]", 4), ("[0, 1]", 0)])
def test_the_size_is_that_of_the_job_where_all_groups_hold_all_ranks(other: str, size: int) -> None:
    listed = [{"pg_name": "0", "ranks": "[0, 1, 2, 3]"}, {"pg_name": "1", "ranks": other}]
    header = {"distributedInfo": {"world_size": 4, "pg_config": listed}}
    assert found([annotation("gloo:all_reduce", 0, 1)], **header).groups == (ProcessGroup(size=size),)


def test_a_kernel_that_names_no_collective_does_what_its_operator_says() -> None:
    """As RCCL, whose kernels share a name, under a torch that records no arguments."""
    generic = "ncclDevKernel_Generic(ncclDevComm*, unsigned long, ncclWork*)"
    of = found(
        [
            *(op("c10d::_allgather_base_", 0, 40), op("record_param_comms", 1, 38), launch(10, 1)),
            kernel(100, 50, 1, generic),
            *(op("c10d::alltoall_", 200, 40), op("record_param_comms", 201, 38), launch(210, 2)),
            kernel(300, 50, 2, generic),
            *(op("aten::gather", 400, 40), launch(410, 3), kernel(500, 50, 3, generic)),
        ]
    )
    assert kinds(of) == ["all_gather", "all_to_all", "other"], "aten::gather is no call of torch.distributed"


def test_ranks_that_torch_shortened_are_unknown() -> None:
    long = arguments(**{"Process Group Ranks": "[0, 1, ..., 62, 63]", "Group size": 64})
    assert found(nccl(0, 1, long)).groups == (ProcessGroup("0", "default_pg", (), 64),)


@pytest.mark.parametrize(
    ("dtype", "size"),
    [
        *(("Double", 8), ("double", 8), ("Bool", 1), ("bool", 1), ("Char", 1), ("signed char", 1), ("Byte", 1)),
        *(("unsigned char", 1), ("Float8_e4m3fn", 1), ("c10::Float8_e5m2", 1), ("Half", 2), ("c10::Half", 2)),
        *(("BFloat16", 2), ("c10::BFloat16", 2), ("Short", 2), ("Int", 4), ("Long", 8), ("long int", 8)),
        *(("ComplexFloat", 8), ("c10::complex<double>", 16), ("UInt16", 2), ("Scalar", None), ("", None)),
    ],
)
def test_every_type_has_a_size(dtype: str, size: int | None) -> None:
    assert element_bytes(dtype) == size


@pytest.mark.parametrize(
    ("name", "library", "kind"),
    [
        ("ncclKernel_AllReduce_RING_LL_Sum_float(ncclWorkElem)", "nccl", "all_reduce"),
        ("ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL", "nccl", "reduce_scatter"),
        ("ncclKernel_Broadcast_RING_LL_Sum_int8_t", "nccl", "broadcast"),
        ("ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)", "nccl", "other"),
        ("rccl_main_kernel", "rccl", "other"),
        ("void vllm::cross_device_reduce_1stage<half, 8>(vllm::RankData*)", "custom", "all_reduce"),
        ("two_shot_all_reduce_kernel", "custom", "all_reduce"),
        ("void deep_ep::intranode::dispatch<8, 768, 8192>", "deep_ep", "all_to_all"),
        ("void mscclpp::allreduce7<int>", "mscclpp", "all_reduce"),
        ("nvshmemi_barrier_kernel", "nvshmem", "barrier"),
        ("oneccl_allgatherv_small", "oneccl", "all_gather"),
        ("hcom_allReduce__851_0", "hccl", "all_reduce"),
        ("volta_sgemm_128x64_nn", None, "other"),
        ("void at::native::reduce_kernel<512, 1>", None, "reduce"),
    ],
)
def test_kernels_by_name(name: str, library: str | None, kind: str) -> None:
    assert (library_of_kernel(name), kind_of(name)) == (library, kind)


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("_allgather_base", "all_gather"),
        ("_reduce_scatter_base", "reduce_scatter"),
        ("all_to_allv", "all_to_all"),
        ("allreduce_coalesced", "all_reduce"),
        ("recvAnySource", "recv"),
        ("gather", "gather"),
        ("barrier", "barrier"),
    ],
)
def test_collectives_by_name(name: str, kind: str) -> None:
    assert kind_of(name) == kind
