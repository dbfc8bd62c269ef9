"""Why a matmul is far from its roof, by its sizes and its kernel.

Matmuls near their roof, or too short for their duration to say anything, get no advice.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Literal, get_args

import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.flops.calls import WorkCounts, work_counts
from torch_tb_profiler.analysis.flops.work import Matmul
from torch_tb_profiler.analysis.roofline.activities import BOUNDS, call_roofs
from torch_tb_profiler.analysis.shared.kernel_use import resident_blocks, threads_of
from torch_tb_profiler.arrays.distinct import begins_run
from torch_tb_profiler.arrays.grouping import first_at, group
from torch_tb_profiler.arrays.lookup import places_of, take_known
from torch_tb_profiler.arrays.order import stable_order
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model

#: alignment: rows do not begin at 16 bytes; few_rows: at most 16 rows, which the memory bounds: batch; split_k: fewer
#: tiles than multiprocessors and a long sum; last_wave: tiles fill the device some times, and then a small part of it;
#: edges: tiles lie beyond the matrix; merge: products with an input of the same size in a row; batch: many small equal
#: ones in a row
Advice = Literal["alignment", "few_rows", "split_k", "last_wave", "edges", "merge", "batch"]
ADVICES: tuple[Advice, ...] = get_args(Advice)

#: at so much of its roof a product is good enough
_GOOD = 0.75
#: shorter ones say nothing of how good they are, ns
_SHORT_NS = 5_000
_FEW = 16
#: how many times as long as wide a product is that is worth to be split along its sum
_LONG = 8
#: rounds of tiles, and the part of them that must be lost
_MOST_WAVES, _LEAST_LOST = 4, 0.15
#: how many small products in a row are many
_MANY = 8
_TILE = lazy_pattern(
    r"tilesize(\d{1,9})x(\d{1,9})x|_MT(\d{1,9})x(\d{1,9})x|nvjet_\w{0,100}?_(\d{1,9})x(\d{1,9})|gemm\w{0,100}?_(\d{2,3})x(\d{2,3})(?=_|$)"
)
_SPLIT = lazy_pattern(r"(?i)split_?k|stream_?k|GSU(?!1_)\d|_SK\d")


@cached
def call_advice(model: Model) -> Int8:
    """Return the advice on each: an index into ADVICES, -1 for none, shape (calls,)."""
    counts, of_calls = work_counts(model), call_roofs(model)
    calls = counts.calls
    advice = np.full(len(calls), -1, np.int8)
    is_product = np.array([_is_matrices(work.product) for work in calls.works] or [False], np.bool_)[calls.work]
    if counts.on_host or not is_product.any():
        return advice
    with np.errstate(divide="ignore", invalid="ignore"):
        slow = is_product & (of_calls.roof_ns < _GOOD * calls.duration)
    launched = of_calls.bound == BOUNDS.index("launch")
    chosen = np.flatnonzero(slow & ~launched & (calls.duration >= _SHORT_NS))
    activities, work = counts.activities, model.device_work
    at = _longest(counts, chosen)
    place = activities.place[at]
    name = model.trace.events.name[activities.row[at]]
    limited = of_calls.bound[chosen] == BOUNDS.index("memory")
    sizes = (work.device[place], work.block[place], work.registers[place], work.shared_memory[place])
    groups = group([calls.work[chosen], name, *sizes, limited])
    strings, header = model.trace.strings, model.trace.header
    advices = []
    for first in groups.first.tolist():
        product = calls.works[int(calls.work[chosen[first]])].product
        device, block, registers, shared = (int(each[first]) for each in sizes)
        properties = header.device(device) or {}
        threads = threads_of(strings, block) if block > 0 else 0
        held, _ = resident_blocks(properties, threads, registers, shared)
        count = properties.get("numSms")
        multiprocessors = count if isinstance(count, int) and count > 0 else 0
        assert product is not None
        kernel_advice = of_product(product, str(strings[int(name[first])]), multiprocessors, held, bool(limited[first]))
        advices.append(-1 if kernel_advice is None else ADVICES.index(kernel_advice))
    advice[chosen] = np.array(advices or [-1], np.int8)[groups.inverse]
    in_a_row = _in_a_row(model, counts, is_product)
    return np.where(((advice < 0) & slow) | (in_a_row == ADVICES.index("batch")), in_a_row, advice).astype(np.int8)


def of_product(product: Matmul, kernel: str, multiprocessors: int, held: int, by_memory: bool) -> Advice | None:
    """Advise on a product by its sizes and its longest kernel.

    multiprocessors   of the device; 0: unknown
    held              how many of the kernel's blocks one of them holds at once; 0: unknown
    by_memory         moving bounds the product
    """
    m, n, k = product.m, product.n, product.k
    if min(m, n) <= _FEW:
        return "few_rows" if by_memory else None
    if product.aligned * product.size < 16:
        return "alignment"
    tile = tile_of(kernel)
    if tile is None:
        return None
    # libraries may compute the transpose: the advice must hold for both
    shapes = [(ceil(m / a), ceil(n / b), a, b) for a, b in (tile, tile[::-1])]
    tiles = [product.batch * rows * columns for rows, columns, _, _ in shapes]
    if multiprocessors and max(tiles) < multiprocessors and k > _LONG * max(m, n) and not _SPLIT.search(kernel):
        return "split_k"
    if multiprocessors and held == 1 and not _SPLIT.search(kernel):
        waves = [count / multiprocessors for count in tiles]
        if all(1 < each < _MOST_WAVES and 1 - each / ceil(each) > _LEAST_LOST for each in waves):
            return "last_wave"
    if all(1 - m * n / (rows * a * columns * b) > _LEAST_LOST for rows, columns, a, b in shapes):
        return "edges"
    return None


@lru_cache(maxsize=4096)
def tile_of(kernel: str) -> tuple[int, int] | None:
    """Return rows and columns of the result that a block computes, by the name of the kernel.

    >>> tile_of("ampere_bf16_s16816gemm_bf16_128x64_ldg8_f2f_stages_32x5_tn")
    (128, 64)
    """
    found = _TILE.search(kernel)
    if found is None:
        return None
    a, b = (int(each) for each in found.groups() if each is not None)
    return (a, b) if a and b else None


def _is_matrices(product: Matmul | None) -> bool:
    return product is not None and product.batch > 0 and product.m > 0 and product.k > 0


def _longest(found: WorkCounts, chosen: Int64) -> Int64:
    """Return the longest activity of some calls, an index into `Activities`, shape (chosen,)."""
    activities = found.activities
    place = places_of(chosen, len(found.calls))
    call = take_known(place, activities.call)
    owned = np.flatnonzero(call >= 0)
    owned = owned[np.argsort(-activities.duration[owned], kind="stable")]
    return first_at(call[owned], owned, len(chosen))


def _in_a_row(model: Model, found: WorkCounts, is_product: Bool) -> Int8:
    """Shape (calls,): products that follow one another on their thread with no other device work between, as they do
    with the same input (2 to 7, weights) or in a loop (8 and more); index into ADVICES, -1.
    """
    calls, activities, tree = found.calls, found.activities, model.tree
    advice = np.full(len(calls), -1, np.int8)
    # what ran on the device in the order of the program: products by their call, all else by itself
    launched = np.flatnonzero(activities.node >= 0)
    launched = launched[stable_order(activities.node[launched])]
    call = activities.call[launched]
    code = np.where(call >= 0, call, -1 - np.arange(len(launched)))
    steps = launched[begins_run(code)]
    call = activities.call[steps]
    product = np.append(is_product, False)[call]
    work = np.append(calls.work, -1)[call]
    numbers: dict[object, int] = {}
    inputs = [_input_of(item.product) for item in calls.works]
    like = np.array([*(numbers.setdefault(item, len(numbers)) for item in inputs), -1], np.int64)
    alike = np.where(product, like[work], -1)
    thread = model.trace.events.track[tree.row[activities.node[steps]]]
    begins = np.flatnonzero(begins_run(np.where(alike >= 0, alike, -1 - np.arange(len(alike))), thread))
    ends = np.append(begins[1:], len(alike))
    several = (ends - begins > 1) & (alike[begins] >= 0)
    for begin, end in zip(begins[several].tolist(), ends[several].tolist(), strict=True):
        row = call[begin:end]
        if end - begin >= _MANY and (calls.work[row] == calls.work[row[0]]).all():
            small = calls.duration[row] < 2 * _SHORT_NS
            advice[row[small]] = ADVICES.index("batch")
        elif end - begin < _MANY and all(_has_weights(calls.works[int(item)].product) for item in calls.work[row]):
            advice[row] = ADVICES.index("merge")
    return advice


def _input_of(product: Matmul | None) -> tuple[int, int, int, str] | None:
    """Return the sizes and the type of the first matrix."""
    return None if product is None else (product.batch, product.m, product.k, product.data)


def _has_weights(product: Matmul | None) -> bool:
    return product is not None and product.constant and min(product.m, product.n) > _FEW
