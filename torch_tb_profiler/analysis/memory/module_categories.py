"""What memory is for, by the module that allocated it: a table of modules and categories at the peak."""

from __future__ import annotations

from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Bytes
from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.memory.blocks import memory_blocks
from torch_tb_profiler.analysis.memory.categories import CATEGORIES, memory_categories
from torch_tb_profiler.analysis.memory.records import memory_records
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.result import Result, column, fact
from torch_tb_profiler.analysis.shared.operator_times import lightning_program, module_sources, nn_program
from torch_tb_profiler.analysis.tabular import Table, TableMeta
from torch_tb_profiler.arrays.grouping import descending, group
from torch_tb_profiler.arrays.nesting import nearest, nest
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import module_name
from torch_tb_profiler.model.program_tree import NodeKind, Source
from torch_tb_profiler.words.sentences import because

BEFORE = CATEGORIES.index("before_recording")


class RecordModules(msgspec.Struct, frozen=True):
    """The innermost module around each record, in forward or, through the operator it is the backward of, in backward.

    of     code in `names` of each of `memory_records`, -1 for none; shape (records,)
    source who named modules; None if nobody did
    """

    of: Int64
    names: tuple[str, ...]
    source: Source | None


class MemoryModules(Result, group="memory.modules"):
    """What was in use at the peak of a device, a row for each module, the most bytes first.

    Columns of categories: bytes. Σ bytes + unknown_bytes = peak.
    """

    module: tuple[str, ...] = column(
        "Module",
        "The innermost module in whose forward it was allocated, or in the backward of one of its operators; empty "
        "outside modules.",
    )
    bytes: Int64 = column("Size", "Σ bytes of its blocks in use at the peak.")
    blocks: Int64 = column("Blocks", "The number of these blocks.")
    gradient: Int64 = column(
        "Gradients", "Bytes in use at the peak: allocated in backward and not released in it.", unit="bytes"
    )
    optimizer_state: Int64 = column(
        "Optimizer state",
        "Bytes in use at the peak: allocated in a step of the optimizer and not released in one.",
        unit="bytes",
    )
    saved_for_backward: Int64 = column(
        "Saved for backward", "Bytes in use at the peak: allocated in forward and released in backward.", unit="bytes"
    )
    kept_from_forward: Int64 = column(
        "Kept from forward",
        "Bytes in use at the peak: allocated in forward and released neither there nor in backward.",
        unit="bytes",
    )
    forward_temporary: Int64 = column(
        "Forward, temporary", "Bytes in use at the peak: allocated and released in forward.", unit="bytes"
    )
    backward_temporary: Int64 = column(
        "Backward, temporary", "Bytes in use at the peak: allocated and released in backward.", unit="bytes"
    )
    optimizer_temporary: Int64 = column(
        "Optimizer, temporary",
        "Bytes in use at the peak: allocated and released in a step of the optimizer.",
        unit="bytes",
    )
    in_use: Int64 = column(
        "In use", "Bytes in use at the peak: in a trace with neither backward nor optimizer.", unit="bytes"
    )

    device: str = fact("whose memory it is")
    source: Source | None = fact("what named the modules; None if nothing did")
    peak: int = fact("most in use: Σ rows + unknown_bytes")
    unknown_bytes: int = fact("of what was allocated before the recording began")


@cached
def record_modules(model: Model) -> RecordModules:
    """Return the module in which each record happened."""
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
    none[inside] = np.array([number[text] for text in texts], np.int64)[named.inverse]
    return RecordModules(none, tuple(number), sources[0])


@cached
def memory_modules(model: Model) -> tuple[MemoryModules, ...]:
    """Return the table of each device with totals."""
    blocks, modules = memory_blocks(model), record_modules(model)
    tables = []
    for categories in memory_categories(model):
        alive = categories.alive(model)
        code = modules.of[blocks.allocation[alive]]
        groups = group([code])
        size, category = blocks.bytes[alive], categories.category[alive]
        total = groups.sum(size)
        order = descending(total)
        first = code[groups.first[order]].tolist()
        columns = {
            name: groups.sum(np.where(category == place, size, 0))[order]
            for place, name in enumerate(CATEGORIES)
            if place != BEFORE
        }
        tables.append(
            MemoryModules(
                device=categories.curve.device.name,
                source=modules.source,
                peak=categories.curve.peak.allocated,
                unknown_bytes=int(categories.at_peak[BEFORE]),
                module=tuple(modules.names[i] if i >= 0 else "" for i in first),
                bytes=total[order],
                blocks=groups.count()[order],
                **columns,
            )
        )
    return tuple(tables)


#: columns that there are wherever a trace tells the parts of a step apart
_USUAL = ("gradient", "optimizer_state", "saved_for_backward", "kept_from_forward")


class ModuleMemoryDevice(msgspec.Struct, frozen=True):
    """A device."""

    device: Annotated[str | None, Meta(description="A device, as in meta.devices; without it the first.")] = None


class MemoryModulesMeta(TableMeta, frozen=True, kw_only=True):
    """Beside what memory is for, by module.

    device         which the table is about, null if no totals were recorded
    source         what named the modules; null if nothing did, and everything is then in one row
    peak           most in use: Σ rows + unknown_bytes
    unknown_bytes  of what was allocated before the recording began
    """

    device: str | None
    source: Source | None = None
    peak: Bytes = 0
    unknown_bytes: Bytes = 0


def _modules(subject: Subject, params: ModuleMemoryDevice) -> Table[MemoryModulesMeta]:
    found = memory_modules(subject.model)
    chosen = next((each for each in found if params.device in (None, each.device)), None)
    about = subject.about("memory")
    if chosen is None:
        if params.device is not None:
            raise NotFound(because("no_memory_of", {"device": params.device}))
        columns = [MemoryModules.columns[key] for key in ("module", "bytes", "blocks")]
        return Table(MemoryModulesMeta(**about, device=None), columns, {column.key: () for column in columns})
    # without phases none of the others is known, so that they are no columns of zeros
    usual = () if chosen.in_use.any() else _USUAL
    without = [
        name
        for place, name in enumerate(CATEGORIES)
        if place != BEFORE and name not in usual and not getattr(chosen, name).any()
    ]
    meta = MemoryModulesMeta(
        **about, device=chosen.device, source=chosen.source, peak=chosen.peak, unknown_bytes=chosen.unknown_bytes
    )
    return chosen.table(meta, without=without, totals={"bytes": chosen.peak})


MEMORY_BY_MODULE = Question(
    name="memory/modules",
    summary="What memory is for at the peak, by module",
    tag="memory",
    compute=_modules,
    of_steps=False,
)
