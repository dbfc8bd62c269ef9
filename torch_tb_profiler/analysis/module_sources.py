"""Who named modules in a trace."""

from __future__ import annotations

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.modules import lightning_modules, nn_modules
from torch_tb_profiler.model.program_tree import Source


@cached(for_good=True)
def module_sources(model: Model) -> tuple[Source, ...]:
    """Who named modules or hooks in this trace; Lightning first, because its names are paths."""
    found: list[Source] = []
    if len(lightning_modules(model)):
        found.append("lightning")
    if len(nn_modules(model).row):
        found.append("nn")
    return tuple(found)
