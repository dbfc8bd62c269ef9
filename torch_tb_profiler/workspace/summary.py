"""What the server keeps of a trace without opening it."""

from __future__ import annotations

from torch_tb_profiler.model import Model
from torch_tb_profiler.workspace.messages import Summary


def summarize(model: Model) -> Summary:
    views = ["overview", "operators"]
    if model.has_kernels:
        views.append("kernels")
    return Summary(len(model.trace.events), len(model.notes), tuple(views))
