"""What kernels of PyTorch move at least, by their names and grids: an estimate, where arguments were not recorded.

Elements are known to within one block, and types by the functor; more than its inputs and its result is not told.
"""

from __future__ import annotations

import json
from math import prod

import numpy as np

from torch_tb_profiler.analysis.flops.calls import Pieces
from torch_tb_profiler.arrays.grouping import group
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model

_VECTORIZED = lazy_pattern(r"\b(?:vectorized|unrolled)_elementwise_kernel<(\d{1,9})?")
_ELEMENTWISE = lazy_pattern(r"\belementwise_kernel(?:_manual_unroll)?<(\d{1,9}), ?(\d{1,9})")
_GATHER = lazy_pattern(r"\bvectorized_gather_kernel<(\d{1,9})")
_TYPE = r"(?:float|double|c10::BFloat16|c10::Half|unsigned char|signed char|bool|long|int)"
_FUNCTOR = lazy_pattern(rf"(?:Functor\w{{0,100}}|\w_op|\wOp|_impl|_kernel_cuda)<({_TYPE}(?:, ?{_TYPE})*)[,>]")
_OPERANDS = lazy_pattern(r"[Aa]rray<char ?\*, ?(\d)")
_BYTES = {"float": 4, "double": 8, "c10::BFloat16": 2, "c10::Half": 2, "long": 8, "int": 4}


def moved_by_grid(model: Model, pieces: Pieces) -> Int64:
    """Shape (pieces,): bytes, -1 where nothing can be said. Vectorised kernels of ROCm differ by version."""
    found = np.full(len(pieces), -1, np.int64)
    if not model.has_device_work:
        return found
    work, strings = model.device_work, model.trace.strings
    chosen = np.flatnonzero((pieces.recorded < 0) & (work.grid[pieces.place] > 0) & (work.block[pieces.place] > 0))
    place = pieces.place[chosen]
    groups = group(
        [model.trace.events.name[pieces.row[chosen]], work.grid[place], work.block[place], work.device[place]]
    )
    if not len(groups):
        return found
    moved = [
        _moved(
            strings[int(model.trace.events.name[pieces.row[chosen[first]]])],
            strings[int(work.grid[place[first]])],
            strings[int(work.block[place[first]])],
            (model.trace.header.device(int(work.device[place[first]])) or {}).get("warpSize") == 64,
        )
        for first in groups.first.tolist()
    ]
    found[chosen] = np.array(moved, np.int64)[groups.of]
    return found


def _moved(kernel: str, grid: str, block: str, is_rocm: bool) -> int:
    blocks, threads = _size(grid), _size(block)
    if not blocks or not threads:
        return -1
    gather = _GATHER.search(kernel)
    if gather:
        return 2 * blocks * threads * int(gather[1])
    types = _types(kernel)
    if not types:
        return -1
    vectorized, plain = _VECTORIZED.search(kernel), _ELEMENTWISE.search(kernel)
    if vectorized and not is_rocm:
        return blocks * threads * max(4, int(vectorized[1] or 4)) * types
    return blocks * int(plain[1]) * int(plain[2]) * types if plain else -1


def _size(text: str) -> int:
    """Of `[x, y, z]`; 0 for none."""
    try:
        sizes = json.loads(text)
        return prod(each for each in sizes if type(each) is int and 0 < each < 2**31)
    except (ValueError, TypeError):
        return 0


def _types(kernel: str) -> int:
    """Bytes of the inputs and of the result of one element, by the functor; 0 where its name does not tell.

    One type stands for all operands, whose number the kernel is a template of, as in `CUDAFunctor_add<float>`.
    """
    functor = _FUNCTOR.search(kernel)
    sizes = [_BYTES.get(each.strip(), 1) for each in functor[1].split(",")] if functor else []
    operands = _OPERANDS.search(kernel)
    if len(sizes) > 1 or not sizes:
        return sum(sizes)
    return sizes[0] * (int(operands[1]) if operands else 3)
