"""The question how a program infers: its steps by phase, time per output token, gaps, kinds of kernels."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import (
    Answer,
    Count,
    Fraction,
    InlineTable,
    Ns,
    NsMean,
    TraceMeta,
)
from torch_tb_profiler.analysis.program.engine import Engine, EngineSteps, How, engine, phase_codes, step_of_work
from torch_tb_profiler.analysis.program.kinds import CODE, PHASES, PhaseName, ProgramPhase, name_of
from torch_tb_profiler.analysis.program.phases import phases
from torch_tb_profiler.analysis.question import NoParameters, Question, Subject
from torch_tb_profiler.analysis.shared.device_roles import share
from torch_tb_profiler.arrays import intervals
from torch_tb_profiler.arrays.distinct import distinct
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.intervals import Spans
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int8, Int64
from torch_tb_profiler.lazy_pattern import lazy_pattern
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.event_names import SYNCHRONIZE
from torch_tb_profiler.model.kernel_names.families import family_of
from torch_tb_profiler.trace import Category

#: a mean number
CountMean = Annotated[float, Meta(description="how many, a mean")]
PerSecond = Annotated[float, Meta(description="how many in a second")]

_GENERATING = (CODE[ProgramPhase.DECODE], CODE[ProgramPhase.MIXED], CODE[ProgramPhase.VERIFY])
_DETOKENISE = lazy_pattern(r"detokeni[sz]e", re.IGNORECASE)


class EnginePhase(msgspec.Struct, frozen=True, kw_only=True):
    """The steps of one phase. Means and medians are of one step; null if no step says it.

    name       which phase
    steps      how many
    period_ns  median from the beginning of a step to the beginning of the next
    host_ns    mean duration on the host
    device_ns  mean Σ of durations of the device work launched in it
    requests   mean number of requests
    tokens     how many new tokens, over the steps for which this is known
    """

    name: PhaseName
    steps: Count
    period_ns: NsMean | None
    host_ns: NsMean
    device_ns: NsMean
    requests: CountMean | None
    tokens: Count | None


class EngineGaps(msgspec.Struct, frozen=True, kw_only=True):
    """Time of the host between the end of a step and the beginning of the next, over all steps, by what it did then.

    total_ns       all of it
    sample_ns      in ranges of sampling
    schedule_ns    in ranges of scheduling
    detokenise_ns  in ranges of detokenizing
    wait_ns        in calls that wait for a device
    other_ns       the rest
    """

    total_ns: Ns
    sample_ns: Ns
    schedule_ns: Ns
    detokenise_ns: Ns
    wait_ns: Ns
    other_ns: Ns


class EngineSummary(msgspec.Struct, frozen=True, kw_only=True):
    """How a program infers.

    kind               vllm, sglang, atom, tensorrt_llm, xdit; loop (ranges of the program's own), model (calls of a
                       model), diffusion
    how                how its steps were found
    steps              the phases that occur
    tokens             how many new tokens all steps compute; null if it is unknown for some step
    generated          how many tokens steps generate, one for each request; null if it is unknown for some step,
                       or a step checks draft tokens
    tokens_per_second  generated, without the last step ÷ time from the first step to the last; null like it, and with
                       one step
    tpot_ns            time per output token: mean from the beginning of a step that generates to that of the next,
                       weighted by its requests if they are known for all steps; null with fewer than two steps,
                       and with draft tokens, because it is not recorded how many of them were accepted
    gap_ns             Σ of the gaps between steps, on the host; null if their ends are unknown, and with one step
    graph_share        part of the device time of the steps that replays of graphs have, 0…1; null without device time
    """

    kind: str
    how: How
    steps: Sequence[EnginePhase]
    tokens: Count | None
    generated: Count | None
    tokens_per_second: PerSecond | None
    tpot_ns: NsMean | None
    gap_ns: Ns | None
    graph_share: Fraction | None


class EngineAnswer(Answer, frozen=True, kw_only=True):
    """How a program infers; all but meta is null or empty if nothing shows that it does.

    meta      which trace
    engine    figures of all steps
    gaps      the time between steps, by what the host did; null if unknown
    families  Σ durations of device work by phase and kind of kernel
    steps     a row for each step
    """

    meta: TraceMeta
    engine: EngineSummary | None
    gaps: EngineGaps | None
    families: Mapping[str, Mapping[str, Ns]]
    steps: InlineTable | None


def engine_summary(model: Model) -> EngineSummary | None:
    """Summarise the selected inference steps."""
    passes = engine(model)
    if passes is None:
        return None
    steps, code = passes.steps, phase_codes(passes.steps)
    generating = np.isin(code, _GENERATING)
    followed = generating & (steps.period_ns >= 0)
    weight = steps.generation[followed]
    known = bool((weight > 0).all())
    period = steps.period_ns[followed].astype(np.float64)
    decodes = code == CODE[ProgramPhase.DECODE]
    # of tokens that were guessed the trace does not tell how many were kept
    guesses = bool(_guesses(steps, code).any())
    counts_tokens = (steps.generation[generating] >= 0).all() and not guesses
    generated = int(steps.generation[generating].sum()) if counts_tokens else None
    window = int(steps.start_ns[-1] - steps.start_ns[0])
    early = generating & (np.arange(len(steps)) < len(steps) - 1)
    gaps = steps.gap_ns[steps.gap_ns >= 0]
    return EngineSummary(
        kind=passes.kind,
        how=passes.how,
        steps=[_phase(passes, PHASES[each], code == each) for each in distinct(code).tolist()],
        tokens=int(steps.tokens.sum()) if (steps.tokens >= 0).all() else None,
        generated=generated if decodes.any() else None,
        tokens_per_second=int(steps.generation[early].sum()) / window * 1e9 if generated and window else None,
        tpot_ns=float(np.average(period, weights=weight if known else None))
        if len(period) and not _guesses(steps, code).any()
        else None,
        gap_ns=int(gaps.sum()) if len(gaps) else None,
        graph_share=share(int(steps.graph_ns.sum()), int(steps.device_ns.sum())),
    )


def _guesses(steps: EngineSteps, code: Int8) -> Bool:
    """Return the steps that verify speculated tokens: they give a request one token or more."""
    has_counts = (steps.tokens >= 0) & (steps.context_tokens >= 0) & (steps.generation >= 0)
    found: Bool = (code == CODE[ProgramPhase.VERIFY]) | (
        has_counts & (steps.tokens - steps.context_tokens > steps.generation)
    )
    return found


def _phase(found: Engine, phase: ProgramPhase, mine: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> EnginePhase:
    steps = found.steps
    period = steps.period_ns[mine & (steps.period_ns >= 0)]
    requests, tokens = (column[mine & (column >= 0)] for column in (steps.requests, steps.tokens))
    return EnginePhase(
        name=name_of(phase),
        steps=int(mine.sum()),
        period_ns=median(period) if len(period) else None,
        host_ns=float(steps.host_ns[mine].mean()),
        device_ns=float(steps.device_ns[mine].mean()),
        requests=float(requests.mean()) if len(requests) else None,
        tokens=int(tokens.sum()) if len(tokens) else None,
    )


def engine_gaps(model: Model, passes: Engine) -> EngineGaps | None:
    """Return Σ by priority: what a range says comes before waiting, and that before the rest."""
    steps = passes.steps
    if not (steps.gap_ns >= 0).any():
        return None
    start = (steps.start_ns + steps.host_ns)[:-1]
    between = intervals.union(start, steps.start_ns[1:])
    segments = phases(model).segments

    def marked(phase: ProgramPhase) -> Spans:
        mine = segments.phase == CODE[phase]
        return intervals.union(segments.start[mine], segments.end[mine])

    sets = [
        marked(ProgramPhase.SAMPLE),
        marked(ProgramPhase.SCHEDULE),
        _detokenising(model),
        _waiting(model, passes.track),
    ]
    parts = intervals.paint(sets, between.start, between.end).sum(axis=1).tolist()
    sample, schedule, detokenise, wait, other = parts
    return EngineGaps(
        total_ns=sum(parts),
        sample_ns=sample,
        schedule_ns=schedule,
        detokenise_ns=detokenise,
        wait_ns=wait,
        other_ns=other,
    )


def _detokenising(model: Model) -> Spans:
    tree, strings = model.tree, model.trace.strings
    ranges = tree.category == Category.USER_ANNOTATION
    chosen = ranges & strings.where(_DETOKENISE.search, tree.name[ranges])[tree.name]
    return intervals.union(tree.start[chosen], tree.end[chosen])


def _waiting(model: Model, track: int) -> Spans:
    events, row = model.trace.events, model.launches.row
    name = events.name[row]
    chosen = model.trace.strings.where(SYNCHRONIZE.search, name)[name] & (events.track[row] == track)
    return intervals.union(events.start[row[chosen]], events.end[row[chosen]])


def _families(model: Model, passes: Engine) -> dict[str, dict[str, int]]:
    work, step = step_of_work(model, passes)
    events, row = model.trace.events, model.device_work.row[work]
    duration = np.maximum(events.duration[row], 0)
    name = events.name[row]
    kinds: dict[str, int] = {}
    of_name = np.zeros(len(model.trace.strings), np.int64)
    for code in distinct(name).tolist():
        family = family_of(model.trace.strings[code])
        of_name[code] = kinds.setdefault("unknown" if family is None else family.kind.value, len(kinds))
    size = len(PHASES) * max(len(kinds), 1)
    place: Int64 = phase_codes(passes.steps)[step].astype(np.int64) * max(len(kinds), 1) + of_name[name]
    sums = sums_at(place, duration, size).reshape(len(PHASES), -1)
    return {
        phase.value: {kind: int(sums[code, at]) for kind, at in kinds.items() if sums[code, at]}
        for code, phase in enumerate(PHASES)
        if sums[code].any()
    }


def _engine(subject: Subject, _: NoParameters) -> EngineAnswer:
    model = subject.model
    found = engine(model)
    return EngineAnswer(
        meta=TraceMeta(**subject.about("overview")),
        engine=engine_summary(model),
        gaps=None if found is None else engine_gaps(model, found),
        families={} if found is None else _families(model, found),
        steps=None if found is None else found.steps.as_columns(),
    )


PROGRAM_ENGINE = Question(
    name="engine",
    summary="How the program infers: its steps by phase, time per output token, gaps, kinds of kernels",
    compute=_engine,
    precompute=(NoParameters(),),
    more="What steps are, and how they are found: docs/views/program.md.",
    report=({},),
)
