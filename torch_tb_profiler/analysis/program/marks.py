"""What marks phases: ranges and Python frames of which it is known what they are for."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.program.kinds import CODE, Evidence, Phase
from torch_tb_profiler.analysis.program.known_names import known_names
from torch_tb_profiler.analysis.remember import remembered
from torch_tb_profiler.analysis.shared.backward import autograd_nodes, recomputed
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.nesting import Nesting, nearest, nest
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.frame_names import NN_MODULE
from torch_tb_profiler.trace import Category, Strings

#: a module of a loss
_LOSS_MODULE = re.compile(r"nn\.Module: \w*Loss(?:_\d+)?$")
#: loss functions of torch
_LOSS_FRAME = re.compile(
    r"(?:^|/)torch/nn/functional\.py\(\d+\): (?:cross_entropy|\w*_loss|binary_cross_entropy(?:_with_logits)?|kl_div)$"
)
_BEGIN_CAPTURE, _END_CAPTURE = re.compile(r"\w+StreamBeginCapture"), re.compile(r"\w+StreamEndCapture")

_ENGINE = tuple(CODE[each] for each in (Phase.PREFILL, Phase.DECODE, Phase.MIXED, Phase.DRAFT, Phase.VERIFY))
_FORWARD = (CODE[Phase.FORWARD], CODE[Phase.LOSS])
_ALWAYS = (CODE[Phase.COMPILE], CODE[Phase.CAPTURE])


class Marks(msgspec.Struct, frozen=True):
    """Ranges that mark a phase, nested thread by thread. Positions are those of the nesting.

    nesting     the ranges; `nesting.lane` is an index into Trace.tracks
    phase       shape (marks,): code of the phase, of `kinds.PHASES`
    evidence    shape (marks,): Evidence
    row         shape (marks,): the event, -1 of those that have none
    has_frames  whether Python frames of the backward pass were recorded
    """

    nesting: Nesting
    phase: Int8
    evidence: Int8
    row: Int64
    has_frames: bool

    def __len__(self) -> int:
        return len(self.phase)

    @property
    def in_node(self) -> Bool:
        """Shape (marks,): whether a mark lies inside an autograd node."""
        found: Bool = nearest(self.nesting.parent, self.evidence == Evidence.AUTOGRAD, self.nesting.parent) >= 0
        return found


class _Ranges(msgspec.Struct, frozen=True):
    """Ranges that mark one phase each; parallel."""

    track: Int32
    start: Int64
    end: Int64
    phase: Int8
    evidence: Int8
    row: Int64


@remembered
def marks(model: Model) -> Marks:
    """All marks of the trace, whatever steps were chosen."""
    tree, frames = model.structure.tree, model.structure.frames
    of_frames, has_backward = _of_frames(model.trace.strings, frames)
    parts = [_of_ranges(model, tree), of_frames, _of_captures(model), _of_recomputed(model, tree)]
    joined = {
        name: np.concatenate([getattr(each, name) for each in parts])
        for name in ("track", "start", "end", "phase", "evidence", "row")
    }
    # of two that begin and end together the one that is surer is outside
    nesting = nest(joined["track"], joined["start"], joined["end"], joined["evidence"].astype(np.int32))
    evidence = joined["evidence"][nesting.order]
    phase = _settled(nesting, joined["phase"][nesting.order], evidence)
    # what runs again is sure where frames say so, too
    parent = nesting.parent
    sure = np.flatnonzero((evidence == Evidence.OPERATORS) & (parent >= 0))
    sure = sure[phase[parent[sure]] == CODE[Phase.RECOMPUTE]]
    evidence[sure] = evidence[parent[sure]]
    return Marks(nesting, phase, evidence, joined["row"][nesting.order], has_backward)


def _settled(nesting: Nesting, given: Int8, evidence: Int8) -> Int8:
    """What a mark means depends on what it lies in."""
    phase = given.copy()
    parent = nesting.parent
    in_node = nearest(parent, evidence == Evidence.AUTOGRAD, parent) >= 0
    phase[in_node & one_of(given, _FORWARD)] = CODE[Phase.RECOMPUTE]
    # the model inside a step of an engine is that step's
    engine = nearest(parent, one_of(given, _ENGINE), parent)
    inside = (engine >= 0) & one_of(given, _FORWARD)
    phase[inside] = given[engine[inside]]
    # what a compiler or a capture runs is not run by the program
    over = nearest(parent, one_of(given, _ALWAYS), parent)
    phase[over >= 0] = given[over[over >= 0]]
    return phase


def _of_ranges(model: Model, tree: CallTree) -> _Ranges:
    """Autograd nodes, ranges of torch, ranges with known names."""
    known, strings = known_names(), model.trace.strings
    phase, evidence = np.full((2, len(tree)), -1, np.int8)
    if len(tree):
        by_user = _coded(strings, tree.name[tree.category == Category.USER_ANNOTATION], known.by_user)
        by_torch = _coded(strings, tree.name, known.by_torch)
        named = np.where(tree.category == Category.USER_ANNOTATION, by_user[tree.name], np.int8(-1))
        phase, evidence = named, np.where(named >= 0, Evidence.NAMED, 0).astype(np.int8)
        torch = by_torch[tree.name]
        evidence[torch >= 0] = Evidence.TORCH
        phase = np.where(torch >= 0, torch, phase)
        nodes = autograd_nodes(model)
        phase[nodes], evidence[nodes] = CODE[Phase.BACKWARD], Evidence.AUTOGRAD
    at = np.flatnonzero(phase >= 0)
    return _Ranges(tree.track[at], tree.start[at], tree.end[at], phase[at], evidence[at], tree.row[at].astype(np.int64))


def _of_frames(strings: Strings, frames: FrameTree) -> tuple[_Ranges, bool]:
    """Frames of torch, outermost modules, loss functions outside of modules."""
    phase, evidence = np.full((2, len(frames)), -1, np.int8)
    has_backward = False
    if len(frames):
        by_name = _coded(strings, frames.name, known_names().by_frame)
        phase = by_name[frames.name]
        has_backward = bool((phase == CODE[Phase.BACKWARD]).any())
        evidence = np.where(phase >= 0, Evidence.FRAME, 0).astype(np.int8)
        module = strings.where(lambda text: text.startswith(NN_MODULE), frames.name)[frames.name]
        loss = strings.where(lambda text: _LOSS_MODULE.match(text) or _LOSS_FRAME.search(text), frames.name)
        modelled = module | loss[frames.name]
        outer = modelled & (nearest(frames.parent, modelled, frames.parent) < 0)
        phase[outer] = np.where(loss[frames.name[outer]], CODE[Phase.LOSS], CODE[Phase.FORWARD])
        evidence[outer] = Evidence.MODULE
    at = np.flatnonzero(phase >= 0)
    found = _Ranges(
        frames.track[at], frames.start[at], frames.end[at], phase[at], evidence[at], frames.row[at].astype(np.int64)
    )
    return found, has_backward


def _of_captures(model: Model) -> _Ranges:
    """From a call that begins a capture to the next that ends one, on one thread."""
    events, row = model.trace.events, model.trace.launches.row
    names = model.trace.strings
    begins = np.flatnonzero(names.where(_BEGIN_CAPTURE.match, events.name[row])[events.name[row]])
    ends = np.flatnonzero(names.where(_END_CAPTURE.match, events.name[row])[events.name[row]])
    pairs = []
    for call in begins.tolist():
        same = events.track[row[ends]] == events.track[row[call]]
        later = ends[same & (events.start[row[ends]] >= events.start[row[call]])]
        if len(later):
            pairs.append((call, int(later[np.argmin(events.start[row[later]])])))
    first = row[np.array([a for a, _ in pairs], np.int64)]
    last = row[np.array([b for _, b in pairs], np.int64)]
    return _Ranges(
        events.track[first],
        events.start[first],
        events.end[last],
        np.full(len(first), CODE[Phase.CAPTURE], np.int8),
        np.full(len(first), Evidence.TORCH, np.int8),
        first.astype(np.int64),
    )


def _of_recomputed(model: Model, tree: CallTree) -> _Ranges:
    """From the first to the last of operators that run again, one after the other in one autograd node."""
    nodes = np.sort(recomputed(model.whole))
    if not len(nodes):
        nothing = np.empty(0, np.int64)
        code = np.empty(0, np.int8)
        return _Ranges(nothing.astype(np.int32), nothing, nothing, code, code, nothing)
    parent = tree.parent[nodes]
    begins = np.flatnonzero(np.concatenate(([True], parent[1:] != parent[:-1])))
    after = np.append(begins[1:], len(nodes)) - 1
    size = len(begins)
    return _Ranges(
        tree.track[nodes[begins]],
        tree.start[nodes[begins]],
        tree.end[nodes[after]],
        np.full(size, CODE[Phase.RECOMPUTE], np.int8),
        np.full(size, Evidence.OPERATORS, np.int8),
        tree.row[nodes[begins]].astype(np.int64),
    )


def _coded(strings: Strings, names: Int32, phase_of: Callable[[str], Phase | None]) -> Int8:
    """By string code: the code of the phase of each name, -1 for none."""
    found = np.full(len(strings), -1, np.int8)
    for code in distinct(names).tolist():
        phase = phase_of(strings[code])
        if phase is not None:
            found[code] = CODE[phase]
    return found
