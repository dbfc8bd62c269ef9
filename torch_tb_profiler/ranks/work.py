"""What a rank did apart from collectives, by name: what it reaches in most of its steps."""

from __future__ import annotations

import msgspec
import numpy as np

from torch_tb_profiler.arrays.types import Float32, Int8, Int32
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.ranks.join import Codes
from torch_tb_profiler.ranks.robust import reached
from torch_tb_profiler.ranks.summary import RankSummary

#: of the steps: a kernel that only now and then takes longer is chance
ALWAYS = 0.9


class WorkOfRank(msgspec.Struct, frozen=True):
    """Shape (names,): what is reached in 90 % of the steps of the rank; `rate`: in half of them.

    code        of (name, on the device): the same number on all ranks
    on_device   1 for kernels, 0 for operators on the host
    ns          of a step
    spread      how much more of it is reached in half of the steps
    calls       of a step
    blocks      of a step: Σ of the grids
    rate        ns of a block, of a call where blocks were not recorded; NaN without any
    exchanged   bytes that it sends or receives, whichever is more, in a mean all-to-all; NaN without any
    """

    code: Int32
    on_device: Int8
    ns: Float32
    spread: Float32
    calls: Float32
    blocks: Float32
    rate: Float32
    exchanged: float


def work_of_rank(summary: RankSummary, codes: Codes, operators: dict[int, str]) -> WorkOfRank:
    """codes: of names, extended; operators: by code what launches a kernel, likewise."""
    of, steps = summary.work, len(summary.steps)
    key = of.name.astype(np.int64) * 2 + of.on_device
    kept = np.flatnonzero(of.name > 0)
    known, first, place = np.unique(key[kept], return_index=True, return_inverse=True)
    table = np.zeros((3, len(known), max(steps, 1)), np.float32)
    for at, values in enumerate((of.ns, of.calls, of.blocks)):
        table[at, place.reshape(-1), of.step[kept]] = values[kept]
    ns, calls, blocks = (reached(values, ALWAYS) for values in table)
    spread = (reached(table[0], 0.5) - ns).astype(np.float32)
    rate = _rate(*table)
    names = summary.head.work_names
    texts = [(names[int(each) // 2], int(each) % 2) for each in known]
    code = codes.all(texts)[:-1].astype(np.int32)
    for each, row in zip(code.tolist(), kept[first].tolist(), strict=True):
        if each not in operators:
            operators[each] = names[of.operator[row]]
    return WorkOfRank(code, (known % 2).astype(np.int8), ns, spread, calls, blocks, rate, _exchanged(summary))


def _rate(ns: Float32, calls: Float32, blocks: Float32) -> Float32:
    """Shape (names, steps) → (names,)."""
    units = np.where((blocks > 0).any(axis=1, keepdims=True), blocks, calls)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(units > 0, ns / units, np.nan)
    return reached(each, 0.5) if len(ns) else np.empty(0, np.float32)


def _exchanged(summary: RankSummary) -> float:
    of = summary.calls
    rows = np.flatnonzero(of.kind == KINDS.index("all_to_all"))
    if not len(rows):
        return float("nan")
    return max(float(of.in_bytes[rows].mean()), float(of.out_bytes[rows].mean()))
