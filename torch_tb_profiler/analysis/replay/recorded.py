"""The critical path as it was recorded, computed once for all questions about a trace."""

from __future__ import annotations

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.replay.build import graph_of
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.pieces import Pieces, pieces_of
from torch_tb_profiler.analysis.replay.refusals import Quality, quality_of
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.model import Model


@cached
def recorded_path(model: Model) -> CriticalPath:
    """The critical path of all steps of a trace, without changes."""
    return critical_path(unchanged(graph_of(model)))


@cached
def recorded_quality(model: Model) -> Quality:
    """How far the replay of a trace can be trusted."""
    return quality_of(model, graph_of(model), recorded_path(model))


@cached
def recorded_pieces(model: Model) -> Pieces:
    """The path of all steps as it lies in time; its lengths by step and part are the composition of the path."""
    return pieces_of(model, recorded_path(model))
