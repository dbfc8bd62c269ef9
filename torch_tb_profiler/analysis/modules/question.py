"""Time by module."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, InlineTable, TraceMeta
from torch_tb_profiler.analysis.health.recording import no_modules
from torch_tb_profiler.analysis.modules.table import DEVICE_COLUMNS, hooks, modules
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.shared.operator_times import module_sources
from torch_tb_profiler.model.program_tree import Source


class OfSource(msgspec.Struct, frozen=True):
    """Whose modules."""

    source: Annotated[Source | None, Meta(description="Who named the modules; without it the first.")] = None


class ModulesMeta(TraceMeta, frozen=True, kw_only=True):
    """Beside modules.

    source   who named them
    sources  who named modules or hooks in this trace
    total    how many modules there are
    """

    source: Source
    sources: Sequence[Source]
    total: Count


class ModulesAnswer(InlineTable, frozen=True, kw_only=True):
    """Modules as a tree in a table: `parent` is an `id`, -1 at the top.

    meta   which trace, and where the names come from
    hooks  Lightning's hooks by name; null if none were recorded
    """

    meta: ModulesMeta
    hooks: InlineTable | None


def _modules(subject: Subject, asked: OfSource) -> ModulesAnswer:
    model = subject.model
    sources = module_sources(model)
    shown = asked.source or (sources[0] if sources else "nn")
    found, called = modules(model, shown), hooks(model)
    notes = [] if len(found) else [no_modules()]
    table = found.as_columns(without=() if model.has_device_work else DEVICE_COLUMNS, nulls=False)
    return ModulesAnswer(
        meta=ModulesMeta(**subject.about("modules", *notes), source=shown, sources=sources, total=len(found)),
        columns=table.columns,
        rows=table.rows,
        hooks=called.as_columns() if len(called) else None,
    )


MODULES = Question(
    name="modules",
    summary="Modules as a tree in a table",
    compute=_modules,
    # they need another tree, and nothing of what is computed for the questions about calls
    bundle="modules",
    precompute=(OfSource("nn"), OfSource("lightning"), OfSource()),
    report=({"source": "nn"}, {"source": "lightning"}),
)
