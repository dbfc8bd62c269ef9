"""The question what memory is for, by module."""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Bytes
from torch_tb_profiler.analysis.memory.categories import CATEGORIES
from torch_tb_profiler.analysis.memory.module_categories import BEFORE, MemoryModules, memory_modules
from torch_tb_profiler.analysis.question import NotFound, Question, Subject
from torch_tb_profiler.analysis.table import Table, TableMeta
from torch_tb_profiler.model.program_tree import Source
from torch_tb_profiler.words.reasons import because

#: columns that there are wherever a trace tells the parts of a step apart
_USUAL = ("gradient", "optimizer_state", "saved_for_backward", "kept_from_forward")


class OfMemory(msgspec.Struct, frozen=True):
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


def _modules(subject: Subject, asked: OfMemory) -> Table[MemoryModulesMeta]:
    found = memory_modules(subject.model)
    chosen = next((each for each in found if asked.device in (None, each.device)), None)
    about = subject.about("memory")
    if chosen is None:
        if asked.device is not None:
            raise NotFound(because("no_memory_of", {"device": asked.device}))
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
