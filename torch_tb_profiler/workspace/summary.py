"""What the server keeps of a trace without opening it."""

from __future__ import annotations

from torch_tb_profiler.analysis.cached import put_cached
from torch_tb_profiler.analysis.health.notes import health, troubles
from torch_tb_profiler.analysis.module_sources import module_sources
from torch_tb_profiler.model import Model
from torch_tb_profiler.ranks import identity_of, is_distributed
from torch_tb_profiler.snapshot.schema import Records
from torch_tb_profiler.snapshot.state import is_snapshot
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.workspace.answer_store import AnswerFolder
from torch_tb_profiler.workspace.protocol import Summary


def open_model(trace: Trace, summary: Summary | None, answers: AnswerFolder | None = None) -> Model:
    """The model of a trace that was summarized before: its troubles are not looked for a second time.

    answers: where what was made ahead is kept
    """
    model = Model(trace)
    if answers is not None:
        model.kept = answers.content
    if summary is not None:
        put_cached(model, troubles, summary.troubles)
    return model


def summarize(model: Model) -> Summary:
    if is_snapshot(model.trace):
        found = troubles(model)
        return Summary(len(model.trace.table(Records)), len(found), found, ("snapshot",), None, None, "")
    views = ["overview", "operators"]
    if model.has_kernels:
        views.append("kernels")
    if len(model.frames) or len(model.tree):
        views.append("stacks")
    if is_distributed(model):
        views.append("distributed")
    if len(model.memory):
        views.append("memory")
    sources = module_sources(model)
    if sources:
        views.append("modules")
    if "lightning" in sources:
        views.append("lightning")
    identity = identity_of(model.trace.header)
    return Summary(
        len(model.trace.events),
        len(health(model)),
        troubles(model),
        tuple(views),
        identity.rank,
        identity.world_size,
        identity.host_name,
    )
