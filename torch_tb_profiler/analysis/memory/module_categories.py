"""What memory is for, by the module that allocated it: a table of modules and categories at the peak."""

from __future__ import annotations

from typing import ClassVar

import msgspec
import numpy as np

from torch_tb_profiler.analysis.memory.blocks import memory_blocks
from torch_tb_profiler.analysis.memory.categories import CATEGORIES, memory_categories
from torch_tb_profiler.analysis.memory.columns import MEMORY_MODULES
from torch_tb_profiler.analysis.memory.records import memory_records
from torch_tb_profiler.analysis.module_sources import module_sources
from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.shared.program_times import lightning_program, nn_program
from torch_tb_profiler.analysis.tabular import Tabular
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.nesting import nearest, nest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import module_name
from torch_tb_profiler.model.program_tree import NodeKind, Source

BEFORE = CATEGORIES.index("before_recording")


class RecordModules(msgspec.Struct, frozen=True):
    """The innermost module around each record, in forward or, through the operator it is the backward of, in backward.

    of     code in `names` of each of `memory_records`, -1 for none; shape (records,)
    source who named modules; None if nobody did
    """

    of: Int64
    names: tuple[str, ...]
    source: Source | None


class MemoryModules(Tabular, frozen=True):
    """What was in use at the peak of a device, a row for each module, the most bytes first.

    Columns of categories: bytes. Σ bytes + unknown_bytes = peak.
    """

    missing_below_zero: ClassVar[tuple[str, ...]] = ()

    device: str
    source: Source | None
    peak: int
    unknown_bytes: int
    module: tuple[str, ...]
    bytes: Int64
    blocks: Int64
    gradient: Int64
    optimizer_state: Int64
    saved_for_backward: Int64
    kept_from_forward: Int64
    forward_temporary: Int64
    backward_temporary: Int64
    optimizer_temporary: Int64
    in_use: Int64

    defined = MEMORY_MODULES

    def __len__(self) -> int:
        return len(self.module)


@remembered
def record_modules(model: Model) -> RecordModules:
    """Of each record the module that it happened in."""
    records = memory_records(model)
    none = np.full(len(records), -1, np.int64)
    sources = module_sources(model)
    if not sources or not len(records):
        return RecordModules(none, (), sources[0] if sources else None)
    tree = (lightning_program if sources[0] == "lightning" else nn_program)(model).tree
    # nodes that are events, as they lie in time: those of backward stand elsewhere in the tree
    real = np.flatnonzero(tree.row >= 0)
    kind = tree.kind[real].astype(np.int32)
    nesting = nest(tree.track[real], tree.start[real], tree.end[real], kind)
    row = model.memory.row[records.entry]
    inner = nesting.innermost(model.trace.events.track[row], records.time)
    node = np.where(inner >= 0, real[nesting.order[np.maximum(inner, 0)]], -1) if len(real) else none
    is_module, is_backward = tree.kind == NodeKind.MODULE, tree.kind == NodeKind.BACKWARD
    found = nearest(tree.parent, is_module | is_backward, node).astype(np.int64)
    inside = np.flatnonzero(found >= 0)
    at = found[inside]
    at = np.where(is_backward[at], tree.module[at], at)
    # events of several names may be of one module
    named = group([tree.name[at]])
    texts = list(map(module_name, model.trace.strings.texts(tree.name[at[named.first]])))
    number = {text: code for code, text in enumerate(dict.fromkeys(texts))}
    none[inside] = np.array([number[text] for text in texts], np.int64)[named.of]
    return RecordModules(none, tuple(number), sources[0])


@remembered
def memory_modules(model: Model) -> tuple[MemoryModules, ...]:
    """Of each device with totals."""
    blocks, modules = memory_blocks(model), record_modules(model)
    found = []
    for each in memory_categories(model):
        alive = each.alive(model)
        code = modules.of[blocks.allocation[alive]]
        groups = group([code])
        size, category = blocks.bytes[alive], each.category[alive]
        total = groups.sum(size)
        order = descending(total)
        first = code[groups.first[order]].tolist()
        columns = {
            name: groups.sum(np.where(category == place, size, 0))[order]
            for place, name in enumerate(CATEGORIES)
            if place != BEFORE
        }
        found.append(
            MemoryModules(
                device=each.curve.device.name,
                source=modules.source,
                peak=each.curve.peak.allocated,
                unknown_bytes=int(each.at_peak[BEFORE]),
                module=tuple(modules.names[i] if i >= 0 else "" for i in first),
                bytes=total[order],
                blocks=groups.count()[order],
                **columns,
            )
        )
    return tuple(found)
