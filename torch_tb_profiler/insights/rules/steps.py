"""Steps: time between them, some that take longer than the others, and devices that idle in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from math import prod

import numpy as np

from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.program.engine import engine
from torch_tb_profiler.analysis.program.engine_names import recording_engine
from torch_tb_profiler.analysis.program.engine_question import engine_gaps
from torch_tb_profiler.analysis.program.micro_batches import micro_batches, optimizers, updates
from torch_tb_profiler.analysis.replay.changes import ScaleHost, graphed, scale
from torch_tb_profiler.analysis.replay.on_path import recorded_quality
from torch_tb_profiler.analysis.replay.quality import USELESS, ReplayRefusal
from torch_tb_profiler.analysis.replay.scenario import apply_changes, unchanged
from torch_tb_profiler.analysis.shared.compiled import compiled
from torch_tb_profiler.analysis.step_kinds import step_kinds
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.question import cause_pieces
from torch_tb_profiler.arrays.distinct import distinct_first
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32, Int64
from torch_tb_profiler.insights.facts import DEVICE, HOST, STEPS, Facts
from torch_tb_profiler.insights.places import is_known, running_at
from torch_tb_profiler.insights.rule import NO_ROWS, Found, evidence, link, rule
from torch_tb_profiler.insights.shared.device_words import platform
from torch_tb_profiler.insights.shared.launch_bound import captured, launching_idle, unknown_idle
from torch_tb_profiler.insights.shared.patterns import shapes
from torch_tb_profiler.insights.shared.profiler_time import beside_profiler, profiler_ns
from torch_tb_profiler.model import Model
from torch_tb_profiler.model.steps.find import WITHOUT_MARKS
from torch_tb_profiler.reason import Value

#: with fewer gaps one of them may be anything
_FEWEST_GAPS = 3


@rule("R67", STEPS, HOST, replaces=("host_code",))
def step_gaps(facts: Facts) -> Iterator[Found]:
    """Time between the steps of inference, in which no step runs."""
    serving = engine(facts.model.in_steps)
    gaps = None if serving is None else engine_gaps(facts.model.in_steps, serving)
    if serving is None or gaps is None:
        return
    steps = serving.steps
    between = np.flatnonzero(steps.gap_ns > 0)
    gap_ns = steps.gap_ns[between]
    # where devices work what they idle counts, else what the host spends
    on_device = bool((steps.device_ns > 0).any())
    idle = steps.device_gap_ns if on_device else steps.gap_ns
    spent = int(np.minimum(idle[between], gap_ns).clip(0).sum())
    window = int(steps.start_ns[-1] + steps.host_ns[-1] - steps.start_ns[0])
    share = spent / window if window else 0.0
    if len(between) < _FEWEST_GAPS or share < facts.limit("step_gaps", "least_share"):
        return
    parts = {"sample": gaps.sample_ns, "schedule": gaps.schedule_ns, "detokenise": gaps.detokenise_ns}
    parts |= {"wait": gaps.wait_ns, "other": gaps.other_ns}
    ends = (steps.start_ns + steps.host_ns)[between]
    stretches = [(serving.track, end, end + gap) for end, gap in zip(ends.tolist(), gap_ns.tolist(), strict=True)]
    mean = spent / len(between)
    meanwhile = running_at(facts.model, np.full(len(ends), serving.track, np.int32), ends + gap_ns // 2)
    yield Found(
        values={
            "share": share,
            "mean_ns": mean,
            "most": max(parts, key=lambda name: parts[name]),
            "on_device": on_device,
        },
        rows=facts.longest_first(steps.row[between][steps.row[between] >= 0].astype(np.int32)),
        place_rows=meanwhile[meanwhile >= 0],
        place_ns=gap_ns[meanwhile >= 0],
        changes=(ScaleHost(0.0, intervals=tuple(stretches)),),
        seen=len(between) / (len(between) + 1),
        confidence="medium",
        evidence=(
            evidence("step_gaps", len(between), "count", "program"),
            evidence("step_gap_ns", mean, "ns", "program"),
        ),
        links=(link("tuning_guide"),),
    )


#: with fewer steps, what is usual is unknown
_FEWEST_STEPS = 5
#: fewest steps for one that takes far longer than all others to be reported, too
_FEWEST_OF_ALL = 3


@rule("R60", STEPS)
def step_jitter(facts: Facts) -> Iterator[Found]:
    """Find steps that take clearly longer than the others."""
    period, usual = facts.period_ns.astype(np.float64), _usual(facts)
    few = int(usual.sum()) < _FEWEST_STEPS
    if int(usual.sum()) < _FEWEST_OF_ALL:
        return
    middle = median(period[usual])
    ratio = facts.limit("step_jitter", "slow_ratio_of_few" if few else "slow_ratio")
    slow = usual & (period > ratio * middle)
    if facts.model.steps.rule in WITHOUT_MARKS and _is_regular(slow):
        return  # what repeats is likely the loop inside of the one that is meant
    excess = float((period[slow] - middle).sum()) / int(usual.sum())
    if not slow.any() or excess < facts.limit("step_jitter", "least_share") * middle:
        return
    grown, grown_ns = _grown(facts, slow, usual & ~slow)
    larger = _times_as_large(facts, slow, usual & ~slow)
    yield Found(
        values={
            **({} if larger is None else {"larger": larger}),
            "slow": int(slow.sum()),
            "steps": int(usual.sum()),
            "ratio": ratio,
            "median_ns": middle,
            "excess_ns": excess,
            "grown": grown,
            "grown_ns": grown_ns,
            "training": facts.is_training,
        },
        rows=_marks(facts, slow),
        severity="medium" if excess >= facts.limit("findings", "high_share") * middle else "low",
        confidence="low" if few else "medium",
        evidence=(
            evidence("slow_steps", int(slow.sum()), "count", "steps"),
            evidence("excess_per_step", excess, "ns", "steps"),
            evidence("grown_part", grown_ns, "ns", "overview"),
        ),
        links=(link("tuning_guide"),),
    )


def _usual(facts: Facts) -> Bool:
    """Select the steps of the most common kind: the prefill of a loop is no slow decode.

    But the first of them: it warms up, or begins with a device that has nothing to do, and waits for all that others
    hide.
    """
    kind = step_kinds(facts.model).of
    usual: Bool = kind == np.argmax(np.bincount(kind, minlength=1))
    usual[np.argmax(usual) if len(usual) else slice(0)] = False
    return usual


def _grown(facts: Facts, slow: Bool, others: Bool) -> tuple[str, float]:
    """Return the part of the waterfall that differs most between slow steps and the others, and by how much in a step,
    ns.
    """
    found = waterfall(facts.model)
    parts = found.ns.mean(axis=0)  # over devices
    growth = parts[slow].mean(axis=0) - parts[others].mean(axis=0)
    at = int(np.argmax(growth))
    return found.causes[at], float(growth[at])


def _times_as_large(facts: Facts, slow: Bool, others: Bool) -> float | None:
    """Return how many times as many elements operators of slow steps read as those of others; None if that is
    unknown, or about the same.
    """
    tree, strings = facts.model.tree, facts.trace.strings
    if not len(tree):
        return None
    dims = take_known(facts.trace.operators.input_dims, tree.operator, missing=0)
    codes, of = np.unique(dims, return_inverse=True)
    elements = np.array([sum(map(prod, filter(None, shapes(text)))) for text in strings.texts(codes)], np.float64)[of]
    step = facts.step_of(tree.row)
    counts = tree.is_operator & (elements > 0) & (step >= 0)

    def mean(chosen: Bool) -> float:
        inside = counts & np.append(chosen, False)[step]
        return float(elements[inside].mean()) if inside.any() else 0.0

    usual = mean(others)
    times = mean(slow) / usual if usual else 0.0
    return times if times >= facts.limit("step_jitter", "larger_ratio") else None


def _is_regular(slow: Bool) -> bool:
    """Tell whether every k-th step is slow."""
    apart = np.diff(np.flatnonzero(slow))
    return len(apart) >= 2 and bool((apart == apart[0]).all())


def _marks(facts: Facts, slow: Bool) -> Int32:
    """Return the annotations that mark the slow steps, where there are such."""
    steps = facts.model.steps
    rows = facts.model.annotation_rows(lambda _: True)
    start, end = facts.trace.events.start[rows], facts.trace.events.end[rows]
    at = np.searchsorted(steps.host_start, start)
    at = np.minimum(at, len(steps) - 1)
    marks = slow[at] & (steps.host_start[at] == start) & (np.abs(steps.host_end[at] - end) <= 1)
    return facts.longest_first(rows[marks])


#: so many steps are named
_NAMED = 5


@rule("R68", STEPS, HOST)
def uneven_accumulation(facts: Facts) -> Iterator[Found]:
    """Find steps of one optimizer that sum gradients over different numbers of backward passes."""
    passes, found = micro_batches(facts.model), optimizers(facts.model)
    trained = np.flatnonzero(np.bincount(passes.step, minlength=facts.steps))
    # an optimizer that does not step in each of them makes other steps than the recording has
    if len(trained) < 2 or not len(found) or int(found.calls.max()) < len(trained):
        return
    made = updates(facts.model)
    # of each optimizer its own number: a discriminator may take more passes than a generator
    uneven = [number for number in range(len(found)) if len(set(made.passes[made.optimizer == number].tolist())) > 1]
    if not uneven:
        return
    mine = made.optimizer == uneven[0]
    counts, step = made.passes[mine], made.step[mine]
    low, high, usual = int(counts.min()), int(counts.max()), int(np.bincount(counts).argmax())
    other = np.unique(step[counts != usual])
    yield Found(
        values={
            "other": len(other),
            "steps": len(trained),
            "usual": usual,
            "low": low,
            "high": high,
            "names": ", ".join(facts.model.steps.names[step_index] for step_index in other[:_NAMED].tolist()),
            "more": len(other) > _NAMED,
        },
        severity="low",
        confidence="medium",
        evidence=(
            evidence("fewest_passes", low, "count", "program"),
            evidence("most_passes", high, "count", "program"),
        ),
        links=(link("accumulation"),),
    )


@rule("R59", STEPS, DEVICE, general=True, replay=True)
def device_idle(facts: Facts) -> Iterator[Found]:
    """Devices that idle, with no better reason found."""
    idle = _idle_devices(facts)
    if not idle:
        return
    mean = 1 - sum(busy for busy, _ in idle.values()) / len(idle)
    unknown, of_captures = unknown_idle(facts), captured(facts)
    is_unknown = unknown > USELESS
    # a silent thread is mostly in Python: the device waits for the host, but the work of the host is unknown
    is_silent = 2 * unknown > mean
    # what runs then only describes work, so that no change of it makes a device busier
    is_capture = 2 * of_captures > mean and not is_unknown
    why = "capture" if is_capture else "unknown" if is_unknown else "silent" if is_silent else "host"
    values: dict[str, Value] = {"gpus": ", ".join(map(str, idle)), "devices": len(idle), "idle": mean, "why": why}
    if is_unknown or is_silent:
        values["unknown" if is_unknown else "silent"] = unknown
    if is_capture:
        values["captured"] = of_captures
    if why in ("unknown", "silent"):
        values |= _recorder(facts.model)
    if compiled(facts.model).is_used:
        values["compiled"] = True
    if why == "host":
        values |= _graphs(facts)
        if facts.model.has_stacks:
            values["inflated"] = True
    rows, spans = _next_work(facts)
    place_rows, place_ns = (NO_ROWS, None) if is_silent else _meanwhile(facts)
    yield Found(
        values=values,
        rows=rows,
        spans=spans,
        place_rows=place_rows,
        place_ns=place_ns,
        changes=() if is_capture else beside_profiler(facts, (scale("python", 0.5), scale("operator", 0.5))),
        refused=ReplayRefusal("idle_unknown", "savings", unknown) if is_unknown else None,
        severity="high" if is_capture else "low",
        confidence="low" if is_silent and not is_capture else "medium",
        evidence=tuple(
            evidence(key, value, "fraction", "overview", gpu=number)
            for number, use in idle.items()
            for key, value in zip(("busy", "computing"), use, strict=True)
        ),
        links=(link("compile_tutorial"),) if why == "host" and "compiled" not in values else (),
    )


def _idle_devices(facts: Facts) -> dict[int, tuple[float, float]]:
    """Return the shares of time, 0…1, in which idling devices are busy and compute, by number of the device."""
    # what the profiler's own work takes of it is not the program's
    least = facts.limit("device_idle", "least_idle_share") + facts.share(profiler_ns(facts))
    return {
        use.id: (use.busy, use.computing)
        for use in device_use(facts.model)
        if use.busy is not None and use.computing is not None and 1 - use.busy > least
    }


def _recorder(model: Model) -> Mapping[str, Value]:
    """Return what says how to record what the host does."""
    if model.has_stacks:
        return {"stacks": True}
    server = recording_engine(model)
    return {} if server is None else {"server": server.name, "command": server.told_to_record(["with_stack"])}


def _graphs(facts: Facts) -> Mapping[str, Value]:
    """How the program comes to CUDA graphs, and what they save of a step at most, ns; nothing where that is little."""
    calls, where = facts.graph.calls, platform(facts.model)
    if where not in ("cuda", "rocm") or not (calls.release >= 0).any():
        return {}
    if recorded_quality(facts.model).of(graphed()) is not None:
        return {}
    base = unchanged(facts.graph).settled_ns
    saved = float((base - apply_changes(facts.trace, facts.graph, [graphed()]).settled_ns).mean())
    saved = min(saved, launching_idle(facts) * facts.step_ns)
    if saved < facts.limit("device_idle", "least_of_graphs") * facts.step_ns:
        return {}
    engine = recording_engine(facts.model)
    how = "engine" if engine is not None else "training" if facts.is_training else "inference"
    return {"graphs": how, "graphed_ns": saved}


def _next_work(facts: Facts) -> tuple[Int32, Int64]:
    """Return the work that ended idle time on the host's account, and the longest piece of that time before each, the
    longest first: start and end, ns, shape (n, 2).
    """
    gaps = cause_pieces(facts.model, waterfall(facts.model), "idle.host")
    closed = np.flatnonzero(gaps.closing_work >= 0)
    longest = closed[np.sort(distinct_first(gaps.closing_work[closed])[1])]
    start = gaps.start_ns[longest]
    rows: Int32 = facts.trace.device_work.row[gaps.closing_work[longest]]
    return rows, np.stack([start, start + gaps.duration_ns[longest]], axis=1).astype(np.int64)


def _meanwhile(facts: Facts) -> tuple[Int32, Int64]:
    """Return what the host was doing in the middle of each piece of idle time on its account, and how long the piece
    is, ns.

    Nothing where most of that time is in no operator, frame or annotation: what is left would be named for it.
    """
    gaps = cause_pieces(facts.model, waterfall(facts.model), "idle.host")
    rows = running_at(facts.model, gaps.track.astype(np.int32), gaps.start_ns + gaps.duration_ns // 2)
    known = rows >= 0
    known[known] = is_known(facts.model, rows[known])
    if 2 * int(gaps.duration_ns[known].sum()) < int(gaps.duration_ns.sum()):
        known[:] = False
    return rows[known], gaps.duration_ns[known]
