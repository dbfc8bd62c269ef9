"""Inference steps: passes of a model that read prompts, generate, or do both; stages of diffusion."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.analysis.program.engine_names import EngineStep, engine_step
from torch_tb_profiler.analysis.program.graphs import capture_spans
from torch_tb_profiler.analysis.program.kinds import CODE, ProgramPhase
from torch_tb_profiler.analysis.program.known_names import known_names
from torch_tb_profiler.analysis.result import Result, column
from torch_tb_profiler.analysis.shared.backward_links import evaluates
from torch_tb_profiler.analysis.shared.host_threads import main_lane
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import greatest_at, least_at, sums_at
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import NN_MODULE
from torch_tb_profiler.trace import Category


class Lookups(msgspec.Struct, frozen=True):
    """Look-ups in the table of tokens, which has the most rows of all; parallel, by start.

    node, track     in the call tree
    batch, length   of the index: requests and new tokens of each; batch -1 where all tokens stand in one row
    """

    node: Int64
    track: Int64
    start: Int64
    batch: Int64
    length: Int64

    def within(self, track: int, start: int, end: int) -> tuple[int, int] | None:
        """Return the first that begins in an interval of a thread."""
        low, high = np.searchsorted(self.start, [start, end])
        for at in range(int(low), int(high)):
            if self.track[at] == track:
                return int(self.batch[at]), int(self.length[at])
        return None


@cached
def lookups(model: Model) -> Lookups:
    tree, strings = model.tree, model.trace.strings
    code = strings.code("aten::embedding")
    node = np.flatnonzero((tree.name == code) & tree.is_operator) if code >= 0 else np.empty(0, np.int64)
    node = node[np.argsort(tree.start[node], kind="stable")]
    shapes = [
        _index(strings[int(dims)]) for dims in take_known(model.trace.operators.input_dims, tree.operator[node], 0)
    ]
    largest = max((shape[0] for shape in shapes if shape is not None), default=0)
    kept = [at for at, shape in enumerate(shapes) if shape is not None and shape[0] == largest]
    node = node[kept]
    indices = [shape for shape in shapes if shape is not None and shape[0] == largest]
    return Lookups(
        node=node,
        track=tree.track[node].astype(np.int64),
        start=tree.start[node],
        batch=np.array([shape[1] for shape in indices], np.int64),
        length=np.array([shape[2] for shape in indices], np.int64),
    )


def _index(dims: str) -> tuple[int, int, int] | None:
    """Return rows of the table, requests (-1: unknown) and tokens of the index; None if it is no look-up."""
    try:
        table, index = json.loads(dims)[:2]
        sizes = [int(each) for each in (*table, *index)]
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None
    if len(table) != 2 or len(index) not in (1, 2) or not all(0 < each < 2**48 for each in sizes):
        return None
    return (sizes[0], sizes[2], sizes[3]) if len(index) == 2 else (sizes[0], -1, sizes[2])


#: how steps were found: names that an engine wrote, ranges of the program's own, calls of a language model, look-ups of
#: tokens, calls of the parts of a diffusion pipeline
How = Literal["names", "ranges", "modules", "embedding", "stages"]

_OF_STEPS = frozenset(
    {
        ProgramPhase.PREFILL,
        ProgramPhase.DECODE,
        ProgramPhase.MIXED,
        ProgramPhase.DRAFT,
        ProgramPhase.VERIFY,
        ProgramPhase.DENOISE,
        ProgramPhase.OTHER,
    }
)
_OF_LOOPS = frozenset({ProgramPhase.PREFILL, ProgramPhase.DECODE})
_LANGUAGE = lazy_pattern(r"nn\.Module: \w*(?:ForCausalLM|LMHeadModel|ForConditionalGeneration)\w*$")
_TEXT = lazy_pattern(r"nn\.Module: (?:CLIPTextModel\w*|T5EncoderModel|\w*TextModel\w*|\w*TextEncoder\w*)_\d+$")
_DENOISER = lazy_pattern(
    r"nn\.Module: (?:UNet2DConditionModel|\w*Transformer2DModel\w*|\w*DiT\w*|OptimizedModule)_\d+$"
)
_IMAGE = lazy_pattern(r"nn\.Module: (?:Decoder|AutoencoderKL\w*)_\d+$")
#: the frames of a call of `generate`
_GENERATE = lazy_pattern(r"(?:^|/)transformers/generation/utils\.py\(")
_GRAPH_LAUNCH = lazy_pattern(r"\w*GraphLaunch")


class EngineSteps(Result, group="engine_steps"):
    """One row per step, in the order of time. Times in ns; -1 for what is unknown."""

    phase: tuple[str, ...] = column("Phase", "What kind of step it is.")
    row: Int64 = column("Event", "Number of its event in the file.", unit=None, missing_below_zero=True, hidden=True)
    start_ns: Int64 = column("Begins", "Since the start of the trace.")
    host_ns: Int64 = column("Host", "Its duration on the host.")
    period_ns: Int64 = column(
        "To the next", "From its beginning to the beginning of the next step.", missing_below_zero=True
    )
    gap_ns: Int64 = column(
        "Gap", "From its end on the host to the beginning of the next step.", missing_below_zero=True
    )
    device_ns: Int64 = column("Device", "Σ durations of device work that was launched in it.")
    graph_ns: Int64 = column("In graphs", "The part of that which replays of graphs ran.")
    device_gap_ns: Int64 = column(
        "Device gap", "From the end of its last device work to the first of the next.", missing_below_zero=True
    )
    requests: Int64 = column("Requests", "Requests of the step.", missing_below_zero=True)
    generation: Int64 = column("Generating", "Requests that generate.", missing_below_zero=True)
    tokens: Int64 = column("Tokens", "New tokens that the step computes.", missing_below_zero=True)
    context_tokens: Int64 = column("Prompt tokens", "Those of prompts.", missing_below_zero=True)
    padded: Int64 = column("Room", "Requests that the captured graph has room for.", missing_below_zero=True)

    def of(self, phase: ProgramPhase) -> Bool:
        return np.array([each == phase.value for each in self.phase], np.bool_)


class Engine(msgspec.Struct, frozen=True):
    """The steps of inference of a trace.

    kind    who wrote their names; `loop` of ranges of the program's own, `model` of calls of a model, `diffusion`
    how     how they were found
    track   index into Trace.tracks: the thread that runs them
    steps   a row each
    """

    kind: str
    how: How
    track: int
    steps: EngineSteps


class _Passes(msgspec.Struct, frozen=True):
    """Inference passes before they are measured; parallel, by start.

    row   the event; -1 where a step has none
    """

    kind: str
    how: How
    track: int
    row: Int64
    start: Int64
    end: Int64
    steps: Sequence[EngineStep]


@cached
def engine(model: Model) -> Engine | None:
    """Return the inference steps of the selection; None if nothing says that the program infers."""
    for find in (_by_names, _by_ranges, _by_stages, _by_modules, _by_embedding):
        found = find(model)
        if found is not None and len(found.row):
            return Engine(found.kind, found.how, found.track, _measured(model, found))
    return None


def _by_names(model: Model) -> _Passes | None:
    """Return the ranges of an engine; of nested ones the outermost is the step and the innermost says most."""
    tree, strings = model.tree, model.trace.strings
    step_of = {
        code: step
        for code in distinct(tree.name[tree.category == Category.USER_ANNOTATION]).tolist()
        if (step := engine_step(strings[code])) is not None and step.phase in _OF_STEPS
    }
    if not step_of:
        return None
    named = np.isin(tree.name, list(step_of)) & (tree.category == Category.USER_ANNOTATION)
    node = np.flatnonzero(named)
    inner = nearest(tree.parent, named, tree.parent[node])
    last = np.full(len(tree), -1, np.int64)
    last[node] = node
    for each, around in zip(node[::-1].tolist(), inner[::-1].tolist(), strict=True):
        if around >= 0:
            last[around] = last[each]
    outer = node[inner < 0]
    track = _most(tree.track[outer])
    outer = outer[tree.track[outer] == track]
    outer = outer[np.argsort(tree.start[outer], kind="stable")]
    steps = [step_of[int(tree.name[last[each]])] for each in outer.tolist()]
    return _Passes(
        steps[0].engine, "names", track, tree.row[outer].astype(np.int64), tree.start[outer], tree.end[outer], steps
    )


def _by_ranges(model: Model) -> _Passes | None:
    """Return the program's own ranges `prefill` and `decode`."""
    tree, strings, known = model.tree, model.trace.strings, known_names()
    phase_of = {
        code: phase
        for code in distinct(tree.name[tree.category == Category.USER_ANNOTATION]).tolist()
        if (phase := known.by_user(strings[code])) in _OF_LOOPS and phase is not None
    }
    if not phase_of:
        return None
    named = np.isin(tree.name, list(phase_of)) & (tree.category == Category.USER_ANNOTATION)
    node = np.flatnonzero(named & (nearest(tree.parent, named, tree.parent) < 0))
    track = _most(tree.track[node])
    node = node[tree.track[node] == track]
    node = node[np.argsort(tree.start[node], kind="stable")]
    looked = lookups(model)
    steps = []
    for each in node.tolist():
        phase = phase_of[int(tree.name[each])]
        inside = looked.within(track, int(tree.start[each]), int(tree.end[each]))
        steps.append(_of_lookup("loop", inside, phase))
    return _Passes("loop", "ranges", track, tree.row[node].astype(np.int64), tree.start[node], tree.end[node], steps)


def _by_modules(model: Model) -> _Passes | None:
    """Return the outermost calls of a language model that generates, in a program without a backward pass.

    Calls that are captured run nothing. Where every call reads whole sequences, only frames of `generate` around them
    tell that the model generates, though no more than one token.
    """
    frames = model.frames
    if not len(frames) or evaluates(model).any():
        return None
    looked = lookups(model)
    outer = _outer_modules(model)
    node = outer[model.trace.strings.where(_LANGUAGE.match, frames.name[outer])[frames.name[outer]]]
    if not len(node):
        node = _generating(model, outer)
    if not len(node):
        return None
    track = _most(frames.track[node])
    node = node[frames.track[node] == track]
    node = node[~capture_spans(model).at(frames.track[node], frames.start[node])]
    steps = [
        _of_lookup("model", looked.within(track, int(frames.start[each]), int(frames.end[each])))
        for each in node.tolist()
    ]
    if all(each.phase is ProgramPhase.PREFILL for each in steps) and not _in_generate(model, node).all():
        return None
    return _Passes(
        "model", "modules", track, frames.row[node].astype(np.int64), frames.start[node], frames.end[node], steps
    )


def _in_generate(model: Model, node: Int64) -> Bool:
    """Return whether some calls lie in a call of `generate` of Transformers; positions in the frames."""
    frames = model.frames
    around = model.trace.strings.where(_GENERATE.search, frames.name)[frames.name]
    found: Bool = nearest(frames.parent, around, frames.parent[node]) >= 0
    return found


def _generating(model: Model, outer: Int64) -> Int64:
    """Return calls of the outermost module that looks up tokens, if one of them reads one token of each request."""
    frames, looked = model.frames, lookups(model)
    of_name: dict[int, list[int]] = {}
    generates: set[int] = set()
    for each in outer.tolist():
        lookup = looked.within(int(frames.track[each]), int(frames.start[each]), int(frames.end[each]))
        if lookup is not None:
            of_name.setdefault(int(frames.name[each]), []).append(each)
            if lookup[0] >= 0 and lookup[1] == 1:
                generates.add(int(frames.name[each]))
    chosen = max(generates, key=lambda name: (len(of_name[name]), -name), default=None)
    return np.array([] if chosen is None else of_name[chosen], np.int64)


def _by_embedding(model: Model) -> _Passes | None:
    """Begin a pass at each look-up of tokens; it ends with the next, or with the last operator."""
    if evaluates(model).any():
        return None
    looked = lookups(model)
    if len(looked.node) < 2:
        return None
    tree = model.tree
    main = main_lane(model)
    mine = np.flatnonzero(looked.track == main)
    if len(mine) < 2:
        return None
    node = looked.node[mine]
    start = tree.start[node]
    top = tree.is_operator & (tree.track == main)
    end = np.append(start[1:], tree.end[top].max())
    has_batch = looked.batch[mine] >= 0
    if has_batch.all() and not (looked.length[mine] == 1).any():
        # a model that reads whole sequences only, an encoder for example, generates nothing
        return None
    steps = [_of_lookup("model", (looked.batch[at], looked.length[at])) for at in mine.tolist()]
    return _Passes("model", "embedding", main, tree.row[node].astype(np.int64), start, end, steps)


def _by_stages(model: Model) -> _Passes | None:
    """Return the stages of a diffusion pipeline: outermost modules; the one called most often is the denoiser."""
    frames = model.frames
    if not len(frames) or evaluates(model).any():
        return None
    strings = model.trace.strings
    node = _outer_modules(model)
    names = strings.texts(frames.name[node])
    calls = [name for name in names if _DENOISER.match(name)]
    if not calls or not any(_TEXT.match(name) or _IMAGE.match(name) for name in names):
        return None
    denoiser = max(set(calls), key=lambda name: (calls.count(name), name))
    last = max(at for at, name in enumerate(names) if name == denoiser)
    stages: list[tuple[int, ProgramPhase]] = []
    for at, (each, name) in enumerate(zip(node.tolist(), names, strict=True)):
        if name == denoiser:
            stages.append((each, ProgramPhase.DENOISE))
        elif _TEXT.match(name):
            stages.append((each, ProgramPhase.ENCODE))
        elif _IMAGE.match(name) and at > last:
            stages.append((each, ProgramPhase.DECODE_IMAGE))
    chosen = np.array([each for each, _ in stages], np.int64)
    steps = [EngineStep("diffusion", phase) for _, phase in stages]
    track = _most(frames.track[chosen])
    return _Passes(
        "diffusion",
        "stages",
        track,
        frames.row[chosen].astype(np.int64),
        frames.start[chosen],
        frames.end[chosen],
        steps,
    )


def _outer_modules(model: Model) -> Int64:
    """Return the positions of outermost calls of nn.Module in the frames, by start."""
    frames = model.frames
    module = model.trace.strings.where(lambda name: name.startswith(NN_MODULE), frames.name)[frames.name]
    node = np.flatnonzero(module & (nearest(frames.parent, module, frames.parent) < 0))
    return node[np.argsort(frames.start[node], kind="stable")]


def _of_lookup(kind: str, found: tuple[int, int] | None, phase: ProgramPhase | None = None) -> EngineStep:
    """Return the phase by the index of tokens: one new token of each request is generating."""
    if found is None:
        return EngineStep(kind, phase or ProgramPhase.OTHER)
    batch, length = int(found[0]), int(found[1])
    if batch < 0:
        # all tokens are in one row: the number of requests is unknown
        return EngineStep(kind, phase or ProgramPhase.OTHER, tokens=length)
    by_length = phase or (ProgramPhase.PREFILL if length > 1 else ProgramPhase.DECODE)
    generating = by_length is ProgramPhase.DECODE
    return EngineStep(
        engine=kind,
        phase=by_length,
        requests=batch,
        context=0 if generating else batch,
        generation=batch if generating else 0,
        tokens=batch * length,
        context_tokens=0 if generating else batch * length,
    )


def _measured(model: Model, passes: _Passes) -> EngineSteps:
    start, end = passes.start, passes.end
    device, graph, first, last = _on_devices(model, passes)
    count = len(start)
    following = np.append(start[1:], -1)
    gap = np.append(np.maximum(start[1:] - end[:-1], 0), -1)
    if passes.how == "embedding":
        # such a step ends where the next begins: its duration is unknown
        gap[:] = -1
    worked = (last[:-1] >= 0) & (first[1:] >= 0)
    return EngineSteps(
        phase=tuple(step.phase.value for step in passes.steps),
        row=passes.row,
        start_ns=start,
        host_ns=end - start,
        period_ns=np.where(following >= 0, following - start, -1),
        gap_ns=gap[:count],
        device_ns=device,
        graph_ns=graph,
        device_gap_ns=np.append(np.where(worked, np.maximum(first[1:] - last[:-1], 0), -1), -1)[:count],
        requests=_numbers([step.requests for step in passes.steps]),
        generation=_numbers([step.generation for step in passes.steps]),
        tokens=_numbers([step.tokens for step in passes.steps]),
        context_tokens=_numbers([step.context_tokens for step in passes.steps]),
        padded=_numbers([step.padded for step in passes.steps]),
    )


def step_of_work(model: Model, passes: _Passes | Engine) -> tuple[Int64, Int64]:
    """Return the selected device work that was launched in a step: positions in `Model.device_work`, and steps."""
    start = passes.start if isinstance(passes, _Passes) else passes.steps.start_ns
    end = passes.end if isinstance(passes, _Passes) else passes.steps.start_ns + passes.steps.host_ns
    work = np.flatnonzero(model.is_work & (model.device_links.launch >= 0))
    call = model.launches.row[model.device_links.launch[work]]
    events = model.trace.events
    time = events.start[call]
    step = np.searchsorted(start, time, side="right") - 1
    inside = (step >= 0) & (time < np.append(end, 0)[step]) & (events.track[call] == passes.track)
    return work[inside], step[inside]


def _on_devices(model: Model, found: _Passes) -> tuple[Int64, Int64, Int64, Int64]:
    """Return Σ durations of each step's device work, the part that graphs replayed, begin and end; -1 without work."""
    work, step = step_of_work(model, found)
    events, row = model.trace.events, model.device_work.row[work]
    size = len(found.start)
    duration = np.maximum(events.duration[row], 0)
    name = events.name[model.launches.row[model.device_links.launch[work]]]
    replayed = model.trace.strings.where(_GRAPH_LAUNCH.match, name)[name] if len(name) else np.zeros(0, np.bool_)
    none = np.bincount(step, minlength=size) == 0
    first, last = least_at(step, events.start[row], size), greatest_at(step, events.end[row], size)
    return (
        sums_at(step, duration, size),
        sums_at(step[replayed], duration[replayed], size),
        np.where(none, -1, first),
        np.where(none, -1, last),
    )


def _numbers(values: Sequence[int | None]) -> Int64:
    return np.array([-1 if value is None else value for value in values], np.int64)


def _most(tracks: np.ndarray[tuple[int], np.dtype[np.int32]]) -> int:
    """Return the thread that has most of them."""
    return int(np.bincount(tracks).argmax())


def phase_codes(found: EngineSteps) -> Int8:
    """Return the code of the phase of each, shape (steps,)."""
    return np.array([CODE[ProgramPhase(each)] for each in found.phase], np.int8)
