"""How many blocks of a kernel a multiprocessor holds at once, and what limits them. Only CUDA traces say it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Literal

from torch_tb_profiler.analysis.shared.numerals import whole_number
from torch_tb_profiler.analysis.shared.tensor_cores import nvidia_capability
from torch_tb_profiler.trace import Strings

BlockLimit = Literal["threads", "registers", "shared_memory"]
LIMITS: tuple[BlockLimit, ...] = ("threads", "registers", "shared_memory")
WARP = 32
#: registers are given out in pieces of this many to each warp
_REGISTERS = 256
#: shared memory that the system keeps of each block from capability 8.0 on, bytes
_RESERVED = 1024


def threads_of(strings: Strings, block: int) -> int:
    """Of a block, by its text `[x, y, z]`; 0 for none."""
    sizes = [whole_number(each) for each in str(strings[block]).strip("[] ").split(",")]
    threads = math.prod(each or 0 for each in sizes)
    return threads if threads < 2**31 else 0


def resident_blocks(device: Mapping[str, Any], threads: int, registers: int, shared: int) -> tuple[int, int]:
    """How many blocks a multiprocessor holds at once, 0 where it is not known; what limits them, index into LIMITS."""
    capability = nvidia_capability(device)
    sizes = [device.get(f"{name}PerMultiprocessor") for name in ("maxThreads", "regs", "sharedMem")]
    if capability is None or threads <= 0 or registers < 0 or shared < 0:
        return 0, 0
    if not all(isinstance(each, int) and each > 0 for each in sizes):
        return 0, 0
    most_threads, most_registers, most_shared = (int(each or 0) for each in sizes)
    warps = -(-threads // WARP)
    of_warp = -(-registers * WARP // _REGISTERS) * _REGISTERS
    of_block = shared + (_RESERVED if capability >= (8, 0) else 0)
    counts = (
        most_threads // (warps * WARP),
        most_registers // (warps * of_warp) if of_warp else most_threads,
        most_shared // of_block if of_block else most_threads,
    )
    least = min(counts)
    return least, counts.index(least)
