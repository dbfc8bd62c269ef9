"""Three GPUs: their limits, and the names their libraries give to kernels and launch calls."""

from __future__ import annotations

import math
from typing import NamedTuple

from . import names


class Kernel(NamedTuple):
    """One kernel as launched. ``nanoseconds`` is its mean duration."""

    name: str
    nanoseconds: int
    grid: tuple[int, int, int]
    block: tuple[int, int, int] = (128, 1, 1)
    registers: int = 32
    shared: int = 0
    driver: bool = False  # launched by the driver API instead of the runtime API


class Device(NamedTuple):
    key: str
    name: str
    memory: int
    units: int  # SMs or CUs
    capability: tuple[int, int]
    warp: int
    teraflops: float  # reached by a large half-precision GEMM
    bandwidth: float  # of the device memory, bytes per ns
    link: float  # of an all-reduce, bytes per ns
    element: str  # C++ name of the half-precision type
    gemm: str  # {layout}: nn, nt, tn
    gemm_by_driver: bool
    attention: str
    attention_backward: str
    all_reduce: str
    compute_stream: int

    @property
    def is_rocm(self) -> bool:
        return self.key.startswith("mi")

    def properties(self, index: int) -> dict[str, object]:
        """One entry of the header's ``deviceProperties``."""
        common: dict[str, object] = {
            "id": index,
            "name": self.name,
            "totalGlobalMem": self.memory,
            "computeMajor": self.capability[0],
            "computeMinor": self.capability[1],
            "maxThreadsPerBlock": 1024,
            "maxThreadsPerMultiprocessor": 2048,
            "regsPerBlock": 65536,
            "warpSize": self.warp,
        }
        if self.is_rocm:
            return common | {
                "sharedMemPerBlock": 65536,
                "numSms": self.units,
                "maxSharedMemoryPerMultiProcessor": 65536,
            }
        return common | {
            "sharedMemPerBlock": 49152,
            "numSms": self.units,
            "regsPerMultiprocessor": 65536,
            "sharedMemPerBlockOptin": 232448 if self.capability[0] >= 9 else 98304,
            "sharedMemPerMultiprocessor": 233472 if self.capability[0] >= 9 else 98304,
        }

    def gemm_kernel(self, layout: str, m: int, n: int, k: int) -> Kernel:
        nanoseconds = 2 * m * n * k / (self.teraflops * 1000)
        grid = (math.ceil(n / 128), math.ceil(m / 128), 1)
        shared = 213168 if self.capability[0] >= 9 else 32768
        return Kernel(
            self.gemm.format(layout=layout),
            round(nanoseconds) + 3000,
            grid,
            (256, 1, 1),
            168,
            shared,
            self.gemm_by_driver,
        )

    def attention_kernel(self, batch: int, heads: int, length: int, width: int, backward: bool = False) -> Kernel:
        flops = 4 * batch * heads * length * length * width * (2.5 if backward else 1)
        name = self.attention_backward if backward else self.attention
        return Kernel(
            name,
            round(flops / (self.teraflops * 500)) + 4000,
            (length // 128, batch, heads),
            (256, 1, 1),
            255,
            49152,
        )

    def memory_bound_kernel(self, name: str, elements: int, bytes_each: float, registers: int = 32) -> Kernel:
        """A kernel that reads and writes ``bytes_each`` bytes for each of ``elements``."""
        blocks = max(1, math.ceil(elements / 512))
        nanoseconds = round(elements * bytes_each / self.bandwidth) + 1500
        return Kernel(name.replace("{T}", self.element), nanoseconds, (blocks, 1, 1), registers=registers)


DEVICES = {
    "h100": Device(
        key="h100",
        name="NVIDIA H100 80GB HBM3",
        memory=85_018_279_936,
        units=132,
        capability=(9, 0),
        warp=32,
        teraflops=600,
        bandwidth=2600,
        link=300,
        element="c10::BFloat16",
        gemm="nvjet_tst_128x256_64x4_2x1_v_bz_coopA_{layout}",
        gemm_by_driver=True,
        attention=names.FLASH,
        attention_backward=names.FLASH_BACKWARD,
        all_reduce="ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
        compute_stream=7,
    ),
    "v100": Device(
        key="v100",
        name="Tesla V100-SXM2-32GB",
        memory=34_079_899_648,
        units=80,
        capability=(7, 0),
        warp=32,
        teraflops=80,
        bandwidth=750,
        link=90,
        element="c10::Half",
        gemm="volta_fp16_s884gemm_fp16_128x128_ldg8_f2f_{layout}",
        gemm_by_driver=False,
        attention=names.EFFICIENT,
        attention_backward=names.EFFICIENT_BACKWARD,
        all_reduce="ncclDevKernel_AllReduce_Sum_f16_RING_LL(ncclDevComm*, unsigned long, ncclWork*)",
        compute_stream=7,
    ),
    "mi300x": Device(
        key="mi300x",
        name="AMD Instinct MI300X",
        memory=206_141_652_992,
        units=304,
        capability=(9, 4),
        warp=64,
        teraflops=500,
        bandwidth=3600,
        link=250,
        element="c10::BFloat16",
        gemm="Cijk_{layout}_BBS_BH_Bias_HA_S_SAV_UserArgs_MT256x256x64_MI16x16x1_SN",
        gemm_by_driver=False,
        attention="attn_fwd",
        attention_backward="bwd_kernel_fuse",
        all_reduce="ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)",
        compute_stream=0,
    ),
}
