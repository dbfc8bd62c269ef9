"""Marks of phases: ranges and Python frames of known purpose."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.engine import engine, phase_codes
from torch_tb_profiler.analysis.program.graphs import CaptureSpans, capture_spans
from torch_tb_profiler.analysis.program.kinds import CODE, PhaseEvidence, ProgramPhase
from torch_tb_profiler.analysis.program.known_names import known_names
from torch_tb_profiler.analysis.shared.backward_links import autograd_nodes, recomputed
from torch_tb_profiler.arrays.distinct import distinct, one_of
from torch_tb_profiler.arrays.nesting import Nesting, nearest, nest
from torch_tb_profiler.arrays.types import Bool, Int8, Int32, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.call_tree import CallTree, FrameTree
from torch_tb_profiler.model.event_names import NN_MODULE
from torch_tb_profiler.model.recording import still_open
from torch_tb_profiler.trace import Category, StringTable

#: a module of a loss
_LOSS_MODULE = lazy_pattern(r"nn\.Module: \w*Loss(?:_\d+)?$")
#: loss functions of torch
_LOSS_FRAME = lazy_pattern(
    r"(?:^|/)torch/nn/functional\.py\(\d+\): (?:cross_entropy|\w*_loss|binary_cross_entropy(?:_with_logits)?|kl_div)$"
)
_STEPS = (ProgramPhase.PREFILL, ProgramPhase.DECODE, ProgramPhase.MIXED, ProgramPhase.DRAFT, ProgramPhase.VERIFY)
_STAGES = (ProgramPhase.ENCODE, ProgramPhase.DENOISE, ProgramPhase.DECODE_IMAGE)
_ENGINE = tuple(CODE[each] for each in (*_STEPS, *_STAGES))
_FORWARD = (CODE[ProgramPhase.FORWARD], CODE[ProgramPhase.LOSS])
_ALWAYS = (CODE[ProgramPhase.COMPILE], CODE[ProgramPhase.CAPTURE])
_VALIDATION = CODE[ProgramPhase.VALIDATION]


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
        found: Bool = nearest(self.nesting.parent, self.evidence == PhaseEvidence.AUTOGRAD, self.nesting.parent) >= 0
        return found


class _Ranges(msgspec.Struct, frozen=True):
    """Ranges that mark one phase each; parallel."""

    track: Int32
    start: Int64
    end: Int64
    phase: Int8
    evidence: Int8
    row: Int64


@cached
def marks(model: Model) -> Marks:
    """Return all marks of the trace, whatever steps were chosen."""
    tree, frames = model.structure.tree, model.structure.frames
    of_frames, has_backward = _of_frames(model.trace.strings, frames)
    captured = _of_captures(capture_spans(model))
    parts = [_of_ranges(model, tree), of_frames, captured, _of_recomputed(model, tree), _of_passes(model)]
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
    sure = np.flatnonzero((evidence == PhaseEvidence.OPERATORS) & (parent >= 0))
    sure = sure[phase[parent[sure]] == CODE[ProgramPhase.RECOMPUTE]]
    evidence[sure] = evidence[parent[sure]]
    return Marks(nesting, phase, evidence, joined["row"][nesting.order], has_backward)


def _settled(nesting: Nesting, given: Int8, evidence: Int8) -> Int8:
    """Settle the marks whose meaning depends on what they lie in."""
    phase = given.copy()
    parent = nesting.parent
    in_node = nearest(parent, evidence == PhaseEvidence.AUTOGRAD, parent) >= 0
    phase[in_node & one_of(given, _FORWARD)] = CODE[ProgramPhase.RECOMPUTE]
    # what a call of the backward pass runs in no node is compiled autograd: modules of its own, none of the program
    call = (given == CODE[ProgramPhase.BACKWARD]) & (evidence == PhaseEvidence.FRAME)
    in_call = nearest(parent, call, parent) >= 0
    phase[in_call & ~in_node & (evidence == PhaseEvidence.MODULE)] = CODE[ProgramPhase.BACKWARD]
    # the model that is tried out
    tried = nearest(parent, given == _VALIDATION, parent) >= 0
    phase[tried & ~in_node & one_of(given, _FORWARD)] = _VALIDATION
    # the model inside a step of an engine is that step's
    engine = nearest(parent, one_of(given, _ENGINE), parent)
    inside = (engine >= 0) & one_of(given, _FORWARD)
    phase[inside] = given[engine[inside]]
    # what a compiler or a capture runs is not run by the program
    over = nearest(parent, one_of(given, _ALWAYS), parent)
    phase[over >= 0] = given[over[over >= 0]]
    return phase


def _of_ranges(model: Model, tree: CallTree) -> _Ranges:
    """Return autograd nodes, ranges of torch, and ranges with known names."""
    known, strings = known_names(), model.trace.strings
    phase, evidence = np.full((2, len(tree)), -1, np.int8)
    if len(tree):
        by_user = _coded(strings, tree.name[tree.category == Category.USER_ANNOTATION], known.by_user)
        by_torch = _coded(strings, tree.name, known.by_torch)
        named = np.where(tree.category == Category.USER_ANNOTATION, by_user[tree.name], np.int8(-1))
        phase, evidence = named, np.where(named >= 0, PhaseEvidence.NAMED, 0).astype(np.int8)
        torch = by_torch[tree.name]
        evidence[torch >= 0] = PhaseEvidence.TORCH
        phase = np.where(torch >= 0, torch, phase)
        nodes = autograd_nodes(model)
        phase[nodes], evidence[nodes] = CODE[ProgramPhase.BACKWARD], PhaseEvidence.AUTOGRAD
    marking = np.flatnonzero(phase >= 0)
    # the call tree cuts a range that ends behind one around it, as ranges of steps may cross all others
    row = tree.row[marking].astype(np.int64)
    events = model.trace.events
    end = np.maximum(tree.end[marking], events.end[row])
    is_open = still_open(model.trace)
    closed = np.flatnonzero(~is_open[tree.row])
    for track in distinct(tree.track[marking[is_open[row]]]).tolist():
        # what was open when the recording ended lasts as long as anything of its thread was recorded
        last = int(tree.end[closed[tree.track[closed] == track]].max(initial=0))
        mine = is_open[row] & (tree.track[marking] == track)
        end[mine] = np.maximum(tree.start[marking][mine], last)
    return _Ranges(tree.track[marking], tree.start[marking], end, phase[marking], evidence[marking], row)


def _of_frames(strings: StringTable, frames: FrameTree) -> tuple[_Ranges, bool]:
    """Return frames of torch, outermost modules, and loss functions outside modules."""
    phase, evidence = np.full((2, len(frames)), -1, np.int8)
    has_backward = False
    if len(frames):
        by_name = _coded(strings, frames.name, known_names().by_frame)
        phase = by_name[frames.name]
        has_backward = bool((phase == CODE[ProgramPhase.BACKWARD]).any())
        evidence = np.where(phase >= 0, PhaseEvidence.FRAME, 0).astype(np.int8)
        module = strings.where(lambda text: text.startswith(NN_MODULE), frames.name)[frames.name]
        loss = strings.where(lambda text: _LOSS_MODULE.match(text) or _LOSS_FRAME.search(text), frames.name)
        modelled = module | loss[frames.name]
        outer = modelled & (nearest(frames.parent, modelled, frames.parent) < 0)
        phase[outer] = np.where(loss[frames.name[outer]], CODE[ProgramPhase.LOSS], CODE[ProgramPhase.FORWARD])
        evidence[outer] = PhaseEvidence.MODULE
    at = np.flatnonzero(phase >= 0)
    found = _Ranges(
        frames.track[at], frames.start[at], frames.end[at], phase[at], evidence[at], frames.row[at].astype(np.int64)
    )
    return found, has_backward


def _of_captures(found: CaptureSpans) -> _Ranges:
    count = len(found.row)
    code, evidence = (np.full(count, each, np.int8) for each in (CODE[ProgramPhase.CAPTURE], PhaseEvidence.TORCH))
    return _Ranges(found.track, found.start, found.end, code, evidence, found.row)


def _of_passes(model: Model) -> _Ranges:
    """Return inference passes that no range names: calls of a language model, pipeline stages, look-ups of tokens."""
    passes = engine(model.whole)
    if passes is None or passes.how in ("names", "ranges"):
        nothing, code = np.empty(0, np.int64), np.empty(0, np.int8)
        return _Ranges(nothing.astype(np.int32), nothing, nothing, code, code, nothing)
    steps = passes.steps
    phase = phase_codes(steps)
    at = np.flatnonzero(phase != CODE[ProgramPhase.OTHER])
    evidence = PhaseEvidence.OPERATORS if passes.how == "embedding" else PhaseEvidence.MODULE
    return _Ranges(
        np.full(len(at), passes.track, np.int32),
        steps.start_ns[at],
        (steps.start_ns + steps.host_ns)[at],
        phase[at],
        np.full(len(at), evidence, np.int8),
        steps.row[at],
    )


def _of_recomputed(model: Model, tree: CallTree) -> _Ranges:
    """Return the spans of operators that run again, one after the other in one autograd node."""
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
        np.full(size, CODE[ProgramPhase.RECOMPUTE], np.int8),
        np.full(size, PhaseEvidence.OPERATORS, np.int8),
        tree.row[nodes[begins]].astype(np.int64),
    )


def _coded(strings: StringTable, names: Int32, phase_of: Callable[[str], ProgramPhase | None]) -> Int8:
    """Return the code of the phase of each name by string code, -1 for none."""
    found = np.full(len(strings), -1, np.int8)
    for code in distinct(names).tolist():
        phase = phase_of(strings[code])
        if phase is not None:
            found[code] = CODE[phase]
    return found
