"""How compute kernels use the device, as a whole: tensor cores and occupancy, as shares of their time.

Communication kernels, copies, fills and waits are no part of it: they fill no multiprocessor with work of the program,
and how long a collective runs depends on the other ranks.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.analysis.shared.device_roles import Role, device_roles, share
from torch_tb_profiler.analysis.shared.tensor_cores import Use, nvidia_capability, use_of_device_work
from torch_tb_profiler.analysis.text_format import whole_number
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Bool, Float64, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.trace.schema import DeviceWork
from torch_tb_profiler.trace.store import StringTable

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
    """Return the threads of a block, from its text `[x, y, z]`; 0 for none."""
    threads = _volume(strings, block)
    return threads if threads < 2**31 else 0


def _volume(strings: StringTable, code: int) -> int:
    """Return x · y · z of a text `[x, y, z]`; 0 of any other."""
    sizes = [whole_number(each) for each in str(strings[code]).strip("[] ").split(",")]
    return math.prod(each or 0 for each in sizes)


def resident_blocks(device: Mapping[str, Any], threads: int, registers: int, shared: int) -> tuple[int, int]:
    """Return how many blocks a multiprocessor holds at once (0: unknown), and what limits them, index into LIMITS."""
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
    """Read what the file says of a device; it does not say how many blocks there may be."""
    sizes = [device.get(f"{name}PerMultiprocessor") for name in ("maxThreads", "regs", "sharedMem")]
    threads, registers, shared = (each if isinstance(each, int) and each > 0 else 0 for each in sizes)
    return _Multiprocessor(threads, registers, shared, threads, 1) if threads and registers and shared else None


def blocks_per_sm(trace: Trace, work: DeviceWork) -> Float64:
    """Return blocks of each kernel ÷ multiprocessors of its device: as recorded, otherwise computed; NaN where unknown.

    work: any rows of the trace's device work
    """
    recorded = np.where(work.blocks_per_sm > 0, work.blocks_per_sm, np.nan)
    return _completed(recorded, np.isnan(work.blocks_per_sm), trace, work, _blocks_per_sm)


def known_occupancy(trace: Trace, work: DeviceWork) -> Float64:
    """Return the estimated achieved occupancy in percent: as recorded, otherwise computed; NaN where unknown.

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
    """Fill what is missing in `recorded`, computing it once for equal launches."""
    wanted = np.flatnonzero(missing & (work.grid > 0) & (work.block > 0))
    if not len(wanted) or not trace.header.devices:
        return recorded
    launch = [column[wanted] for column in (work.device, work.grid, work.block, work.registers, work.shared_memory)]
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
            *(column[groups.first].tolist() for column in launch), strict=True
        )
    ]
    recorded[wanted] = np.array(computed, np.float64)[groups.inverse]
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


class TensorCores(msgspec.Struct, frozen=True):
    """Parts of the time of compute kernels, 0…1; what is not None adds up to 1. None if there is no such time.

    yes      part of kernels known to use tensor cores, 0…1; None if it is known of none
    no       part of kernels known not to, 0…1; None if it is known of none
    unknown  part of kernels where it is unknown, 0…1
    """

    yes: Annotated[
        Fraction | None,
        column(
            "Tensor cores used",
            "Duration of the compute kernels known by name to use tensor cores ÷ duration of all compute kernels; "
            "empty if it is known for none of them.",
            unit="fraction",
        ),
    ]
    no: Annotated[
        Fraction | None,
        column(
            "Tensor cores not used",
            "Duration of the compute kernels known by name not to use tensor cores ÷ duration of all compute kernels; "
            "empty if it is known for none of them.",
            unit="fraction",
        ),
    ]
    unknown: Annotated[
        Fraction | None,
        column(
            "Tensor cores unknown",
            "Duration of the compute kernels whose name does not show whether they use tensor cores ÷ duration of all "
            "compute kernels.",
            unit="fraction",
        ),
    ]


class Occupancy(msgspec.Struct, frozen=True):
    """Estimated achieved occupancy of compute kernels, 0…1.

    mean         over the kernels where it is known, weighted by duration, 0…1; None if it is known for none
    known_share  time of these ÷ time of all compute kernels, 0…1; None without compute kernels
    """

    mean: Fraction | None
    known_share: Fraction | None


def is_compute(model: Model) -> Bool:
    """Return shape (device work,): whether it is a compute kernel."""
    computes: Bool = device_roles(model) == Role.COMPUTE
    return computes


def durations(model: Model, chosen: Bool | Int64 | None = None) -> Int64:
    """Return the durations of device work, or of chosen rows of it, ns; 0 where the file has less."""
    row = model.device_work.row if chosen is None else model.device_work.row[chosen]
    return np.maximum(model.trace.events.duration[row], 0)


def tensor_cores(model: Model, chosen: Bool | Int64) -> TensorCores:
    """Sum the use of tensor cores over chosen compute kernels, rows of device work (a mask or positions)."""
    duration, use = durations(model, chosen), use_of_device_work(model)[chosen]
    whole = int(duration.sum())
    if not whole:
        return TensorCores(None, None, None)
    yes, unknown = (int(duration[use == value].sum()) for value in (Use.YES, Use.UNKNOWN))
    if unknown == whole:
        return TensorCores(None, None, 1.0)
    return TensorCores(yes / whole, (whole - yes - unknown) / whole, unknown / whole)


def occupancy(model: Model, chosen: Bool | Int64) -> Occupancy:
    """Average the occupancy of chosen compute kernels, rows of device work (a mask or positions)."""
    duration, percent = durations(model, chosen), known_occupancy(model.trace, model.device_work.take(chosen))
    known = ~np.isnan(percent)
    weights = duration[known]
    weight = int(weights.sum())
    mean = float((percent[known] * weights).sum()) / weight / 100 if weight else None
    return Occupancy(mean, share(weight, int(duration.sum())))
