"""What a trace is too poor to answer, and why."""

from __future__ import annotations

from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import Change, NoStraggler, ScaleHost, ScaleWork, WithoutWaits
from torch_tb_profiler.analysis.replay.graph import Graph
from torch_tb_profiler.analysis.replay.launched_work import WorkKind
from torch_tb_profiler.analysis.replay.path import CriticalPath, critical_path
from torch_tb_profiler.analysis.replay.scenario import unchanged
from torch_tb_profiler.arrays.distinct import distinct, isin
from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model import Model
from torch_tb_profiler.trace import Trace
from torch_tb_profiler.words import section

Scope = Literal["everything", "savings", "host", "device"]
Confidence = Literal["normal", "low", "none"]

#: shares of the work of the steps without a launch, of launches without work, of work before its launch
MOST_WITHOUT_LAUNCH, MOST_WITHOUT_WORK, MOST_EARLY = 0.2, 0.01, 0.01
#: shares of the time of the steps that nothing explains: numbers are doubtful, savings are refused
DOUBTFUL, USELESS = 0.1, 0.4


class ReplayRefusal(msgspec.Struct, frozen=True):
    """One thing that is not answered.

    id      what is wrong with the trace; `words/*/refusals.toml` has a sentence of it
    scope   what is refused: everything, all savings, changes of host time, changes of work on devices
    share   the measure that decided, 0…1, where there is one
    sign    what else decided, where the sentence depends on it
    """

    id: str
    scope: Scope
    share: float | None = None
    sign: str = ""

    @property
    def text(self) -> str:
        """Why, in one sentence."""
        measure = {} if self.share is None else {"share": self.share}
        return section("refusals", "texts").say(self.id, {"sign": self.sign, **measure})


class Quality(msgspec.Struct, frozen=True):
    """How far the answers of a graph can be trusted.

    unexplained   share of the time of the steps that nothing in the trace explains; None without steps
    confidence    "low": numbers are shown with a warning; "none": savings are refused
    """

    unexplained: float | None
    confidence: Confidence
    refusals: tuple[ReplayRefusal, ...]

    def of(self, change: Change) -> ReplayRefusal | None:
        """Return why a change is refused; None if it is not."""
        if isinstance(change, NoStraggler):
            return ONE_RANK
        scopes = ("everything", "savings", *scopes_of(change))
        return next((each for each in self.refusals if each.scope in scopes), None)


def scopes_of(change: Change) -> tuple[Scope, ...]:
    """Return what must be right for a change: host time with the launches that follow it, work on devices, or both.

    A wait is host time: who waits goes on earlier, and what it launches then.
    """
    match change:
        case ScaleHost() | WithoutWaits():
            return ("host",)
        case ScaleWork():
            return ("device",)
        case _:
            return ("host", "device")


#: what one trace cannot say
ONE_RANK = ReplayRefusal("one_rank", "everything")


def quality_of(model: Model, graph: Graph, path: CriticalPath | None = None) -> Quality:
    """Look at what the trace lacks. `path`: of the unchanged graph, when it is known already."""
    steps, evidence = graph.steps, model.unrecorded_device
    if model.foreign_program is not None:
        return Quality(None, "none", (ReplayRefusal("foreign", "everything"),))
    if not len(steps) or int(steps.end[-1]) <= int(steps.start[0]):
        return Quality(None, "none", (ReplayRefusal("no_step", "everything"),))
    refusals = [*_lost(model.trace, graph)]
    if evidence is not None:
        refusals.insert(0, ReplayRefusal("no_device", "savings", sign=evidence))
    if not len(graph.point_lane) or graph.main < 0:
        refusals.append(ReplayRefusal("no_host", "everything"))
    unexplained = (path or critical_path(unchanged(graph))).unexplained
    confidence: Confidence = "normal"
    if unexplained is not None and unexplained > USELESS:
        refusals.append(ReplayRefusal("unexplained", "savings", unexplained))
        confidence = "none"
    elif unexplained is not None and unexplained > DOUBTFUL:
        confidence = "low"
    return Quality(unexplained, confidence, tuple(refusals))


def _lost(trace: Trace, graph: Graph) -> list[ReplayRefusal]:
    items, calls = graph.items, graph.calls
    on_device = (items.work >= 0) & (items.start < graph.steps.end[-1]) & (items.end > graph.steps.start[0])
    n = int(np.count_nonzero(on_device))
    refusals = []
    if n:
        share = float(np.count_nonzero(on_device & (items.call < 0))) / n
        if share > MOST_WITHOUT_LAUNCH:
            refusals.append(ReplayRefusal("no_launches", "host", share))
    early = graph.calibration.early
    if early:
        # with clocks far apart no work is in the steps at all
        share = min(early / n, 1.0) if n else 1.0
        if share > MOST_EARLY:
            refusals.append(ReplayRefusal("clocks", "everything", share))
    starts = trace.strings.where(lambda name: "LaunchKernel" in name or "GraphLaunch" in name, calls.name)[calls.name]
    # what is launched after the steps, in one that is left out, may run after the recording
    starts &= _outermost(graph) & (calls.start < graph.steps.host_end[-1])
    if starts.any() and (items.kind == WorkKind.KERNEL).any():
        share = float(np.count_nonzero(starts & (calls.release < 0))) / int(np.count_nonzero(starts))
        if share > MOST_WITHOUT_WORK:
            refusals.append(ReplayRefusal("lost_work", "device", share))
    elif starts.any() and len(items):
        refusals.append(ReplayRefusal("lost_work", "device", 1.0, "no_kernel"))
    return refusals


def _outermost(graph: Graph) -> Bool:
    """Mark calls that started something, and those meant to whose correlation no such call of another name shares: the
    driver's call inside the runtime's does. Shape (calls,).
    """
    calls = graph.calls
    does = calls.release >= 0
    doing = distinct(calls.correlation[does])
    if not len(doing):
        return np.ones(len(calls), np.bool_)
    place = np.minimum(np.searchsorted(doing, calls.correlation), len(doing) - 1)
    repeated = doing[place] == calls.correlation
    key = place * (int(calls.name.max()) + 1) + calls.name
    of_another: Bool = repeated & ~isin(key, distinct(key[does]))
    return does | ~of_another
