"""How many blocks of a kernel a multiprocessor holds at once, what limits them, and the occupancy that follows.

The rules are those of the occupancy calculator in NVIDIA's CUDA C++ Programming Guide (Hardware Multithreading, and the
table Technical Specifications per Compute Capability). Only CUDA traces say what they need. torch's exporter in Python
leaves out blocks per SM and occupancy, and Kineto fails to compute some occupancies: these are computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.shared.numerals import whole_number
from torch_tb_profiler.analysis.shared.tensor_cores import nvidia_capability
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Bool, Float64
from torch_tb_profiler.trace import StringTable, Trace
from torch_tb_profiler.trace.schema import DeviceWork

BlockLimit = Literal["threads", "registers", "shared_memory"]
LIMITS: tuple[BlockLimit, ...] = ("threads", "registers", "shared_memory")
WARP = 32
#: with more bytes of shared memory in a block than this Kineto fails to compute an occupancy, and writes 0
KINETO_SHARED_MEMORY = 49_152
#: registers are given out in pieces of this many to each warp
_REGISTERS = 256
#: of a multiprocessor; each has an equal part of the registers, and warps of its own
_PARTITIONS = 4
#: shared memory that the system keeps of each block from capability 8.0 on, bytes
_RESERVED = 1024


class _Multiprocessor(msgspec.Struct, frozen=True):
    """The most that a multiprocessor holds at once.

    shared   bytes of shared memory
    pieces   bytes of shared memory that are given to a block at once
    """

    threads: int
    registers: int
    shared: int
    blocks: int
    pieces: int


#: by compute capability, where the occupancies of recorded kernels were compared with those of Kineto
_KNOWN = {
    (7, 0): _Multiprocessor(2048, 65_536, 96 << 10, 32, 256),
    (7, 5): _Multiprocessor(1024, 65_536, 64 << 10, 16, 256),
    (8, 0): _Multiprocessor(2048, 65_536, 164 << 10, 32, 128),
    (9, 0): _Multiprocessor(2048, 65_536, 228 << 10, 32, 128),
}


def threads_of(strings: StringTable, block: int) -> int:
    """Of a block, by its text `[x, y, z]`; 0 for none."""
    threads = _volume(strings, block)
    return threads if threads < 2**31 else 0


def _volume(strings: StringTable, code: int) -> int:
    """x · y · z of a text `[x, y, z]`; 0 of any other."""
    sizes = [whole_number(each) for each in str(strings[code]).strip("[] ").split(",")]
    return math.prod(each or 0 for each in sizes)


def resident_blocks(device: Mapping[str, Any], threads: int, registers: int, shared: int) -> tuple[int, int]:
    """How many blocks a multiprocessor holds at once, 0 where it is not known; what limits them, index into LIMITS."""
    capability = nvidia_capability(device)
    if capability is None or threads <= 0 or registers < 0 or shared < 0:
        return 0, 0
    most = _KNOWN.get(capability) or _multiprocessor_of(device)
    if most is None:
        return 0, 0
    warps = -(-threads // WARP)
    of_warp = -(-registers * WARP // _REGISTERS) * _REGISTERS
    of_block = shared + (_RESERVED if capability >= (8, 0) else 0)
    of_block = -(-of_block // most.pieces) * most.pieces
    counts = (
        min(most.threads // (warps * WARP), most.blocks),
        most.registers // _PARTITIONS // of_warp * _PARTITIONS // warps if of_warp else most.threads,
        most.shared // of_block if of_block else most.threads,
    )
    least = min(counts)
    return least, counts.index(least)


def _multiprocessor_of(device: Mapping[str, Any]) -> _Multiprocessor | None:
    """What the file says of a device; it does not say how many blocks there may be."""
    sizes = [device.get(f"{name}PerMultiprocessor") for name in ("maxThreads", "regs", "sharedMem")]
    threads, registers, shared = (each if isinstance(each, int) and each > 0 else 0 for each in sizes)
    return _Multiprocessor(threads, registers, shared, threads, 1) if threads and registers and shared else None


def blocks_per_sm(trace: Trace, work: DeviceWork) -> Float64:
    """Blocks of each kernel ÷ multiprocessors of its device: as recorded, otherwise computed; NaN where not known.

    work: any rows of the trace's device work
    """
    recorded = np.where(work.blocks_per_sm > 0, work.blocks_per_sm, np.nan)
    return _completed(recorded, np.isnan(work.blocks_per_sm), trace, work, _blocks_per_sm)


def known_occupancy(trace: Trace, work: DeviceWork) -> Float64:
    """Estimated achieved occupancy in percent: as recorded, otherwise computed; NaN where it is not known.

    work: any rows of the trace's device work

    A recorded 0 does not count with more shared memory than `KINETO_SHARED_MEMORY`. What is computed is, as by Kineto,
    min(blocks per SM, blocks that it holds at once) · threads of a block ÷ threads that it holds, in whole percent.
    """
    impossible = (work.occupancy == 0) & (work.shared_memory > KINETO_SHARED_MEMORY)
    recorded = np.where((work.occupancy >= 0) & ~impossible, work.occupancy, np.nan)
    return _completed(recorded, np.isnan(recorded), trace, work, _occupancy)


#: of a kernel, from the properties of its device, the blocks of its grid, the threads of a block, registers of a thread
#: and shared memory of a block
_Compute = Callable[[Mapping[str, Any], int, int, int, int], float]


def _completed(recorded: Float64, missing: Bool, trace: Trace, work: DeviceWork, compute: _Compute) -> Float64:
    """`recorded` with what is missing computed, once for equal launches."""
    wanted = np.flatnonzero(missing & (work.grid > 0) & (work.block > 0))
    if not len(wanted) or not trace.header.devices:
        return recorded
    launch = [each[wanted] for each in (work.device, work.grid, work.block, work.registers, work.shared_memory)]
    groups = group(launch)
    computed = [
        compute(
            trace.header.device(device) or {},
            _volume(trace.strings, grid),
            threads_of(trace.strings, block),
            registers,
            shared,
        )
        for device, grid, block, registers, shared in zip(
            *(each[groups.first].tolist() for each in launch), strict=True
        )
    ]
    recorded[wanted] = np.array(computed, np.float64)[groups.of]
    return recorded


def _blocks_per_sm(device: Mapping[str, Any], blocks: int, *_: int) -> float:
    count = device.get("numSms")
    known = nvidia_capability(device) is not None and isinstance(count, int) and count > 0 and blocks > 0
    return blocks / int(count or 0) if known else math.nan


def _occupancy(device: Mapping[str, Any], blocks: int, threads: int, registers: int, shared: int) -> float:
    most = _KNOWN.get(nvidia_capability(device) or (0, 0))
    resident, _ = resident_blocks(device, threads, registers, shared)
    per_sm = _blocks_per_sm(device, blocks)
    if most is None or not resident or math.isnan(per_sm):
        return math.nan
    return math.floor(100 * min(per_sm, resident) * threads / most.threads + 0.5)
