"""Devices that idle, with no better reason found."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.device_use import device_use
from torch_tb_profiler.analysis.program.capturing import capturing
from torch_tb_profiler.analysis.program.engine_options import recording_engine
from torch_tb_profiler.analysis.replay.changes import scale
from torch_tb_profiler.analysis.replay.refusals import USELESS, Refusal
from torch_tb_profiler.analysis.shared.compiled import compiled
from torch_tb_profiler.analysis.shared.count_text import by_count
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.evidence import pieces_of
from torch_tb_profiler.arrays.distinct import distinct_first
from torch_tb_profiler.arrays.types import Int32, Int64
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, STEPS
from torch_tb_profiler.insights.places import is_known, running_at
from torch_tb_profiler.insights.rule import NO_ROWS, Evidence, Found, Rule
from torch_tb_profiler.insights.shared.launch_bound import unknown_idle
from torch_tb_profiler.insights.shared.links import COMPILE_TUTORIAL
from torch_tb_profiler.insights.shared.profiler_time import beside_profiler, profiler_ns
from torch_tb_profiler.model import Model

_UNKNOWN = "The device is idle, and the trace does not show why"
_CAPTURING = "Graphs are captured in the recorded steps"
_DO_LESS = (
    "The Critical path view shows which Python code and operators the steps wait for. Do less of it in each step, or "
    "let `torch.compile(model)` do it once."
)
_RECORD_MORE = (
    "Record more of the host: `profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], with_stack=True)`, in "
    "the process and thread that launches the work. The Trace view shows the gaps, and what ends each of them."
)
_SERVER_RECORDS_MORE = (
    "Record the Python code of the host. {server} has its own option for it: `{command}`. The Trace view shows the "
    "gaps, and what ends each of them."
)
_NOT_IN_STACKS = (
    "Stacks are recorded, but do not show why. Check that the process and thread that launches the work was recorded. "
    "The Trace view shows the gaps, and what ends each of them."
)
_COMPILED = (
    "The Critical path view shows which Python code and operators the steps wait for. Do less of it in each step."
)
_CAPTURE_FIRST = (
    "Record what comes after that: a server captures its graphs when it starts, and replays them for the requests. In "
    "a program of your own capture before the loop, and run some steps before the recording."
)


def _find(facts: Facts) -> Sequence[Found]:
    # what the profiler's own work takes of it is not the program's
    least = facts.limit("device_idle", "least_idle_share") + facts.share(profiler_ns(facts))
    idle = {
        use.id: (use.busy, use.computing)
        for use in device_use(facts.model)
        if use.busy is not None and use.computing is not None and 1 - use.busy > least
    }
    if not idle:
        return ()
    unknown = unknown_idle(facts)
    names = ["GPU " + str(number) for number in idle]
    listed = " and ".join(names) if len(names) < 3 else ", ".join(names[:-1]) + " and " + names[-1]
    mean = 1 - sum(busy for busy, _ in idle.values()) / len(idle)
    share = f"{listed} {by_count(len(names), 'is', 'are')} idle {100 * mean:.0f} % of the time"
    is_unknown = unknown > USELESS
    # a silent thread is in Python, mostly: the host is what the device waits for, but in what cannot be said
    is_silent = 2 * unknown > mean
    ending, idle_spans = _next_work(facts)
    captured = _captured(facts)
    # what runs then only describes work, so that no change of it makes a device busier
    is_capture = 2 * captured > mean and not is_unknown
    place_rows, place_ns = (NO_ROWS, None) if is_silent else _meanwhile(facts)
    is_compiled = compiled(facts.model).is_used
    record: dict[str, str | bool] = {}
    if is_capture:
        advice = _CAPTURE_FIRST
    elif is_unknown or is_silent:
        advice, record = _record_more(facts.model)
    else:
        advice = _COMPILED if is_compiled else _DO_LESS
    return (
        Found(
            title=_CAPTURING if is_capture else _UNKNOWN if is_unknown else "The device waits for the host",
            detail=(
                f"{share}. {100 * captured:.0f} % of the time of the steps graphs are captured: what is called then "
                "does not run, and becomes a part of a graph."
                if is_capture
                else f"{share}. For {100 * unknown:.0f} % of the steps the recording does not show what it waits for."
                if is_unknown or is_silent
                else f"{share}, while the host prepares the next work."
            ),
            advice=advice,
            rows=ending,
            spans=idle_spans,
            place_rows=place_rows,
            place_ns=place_ns,
            values={
                "gpus": ", ".join(str(number) for number in idle),
                "idle": mean,
                **({"unknown": unknown} if is_unknown else {"silent": unknown} if is_silent else {}),
                **record,
                **({"captured": captured} if is_capture else {}),
                **({"compiled": True} if is_compiled else {}),
            },
            changes=() if is_capture else beside_profiler(facts, (scale("python", 0.5), scale("operator", 0.5))),
            refused=(
                Refusal(
                    "idle_unknown",
                    "savings",
                    f"The devices idle {100 * unknown:.0f} % of the time, and the trace does not show why.",
                    unknown,
                )
                if is_unknown
                else None
            ),
            severity="high" if is_capture else "low",
            confidence="low" if is_silent and not is_capture else "medium",
            evidence=tuple(
                evidence
                for number, (busy, computing) in idle.items()
                for evidence in (
                    Evidence("busy", f"Device busy, GPU {number}", busy, "fraction", "overview", gpu=number),
                    Evidence("computing", f"Computing, GPU {number}", computing, "fraction", "overview", gpu=number),
                )
            ),
            links=(COMPILE_TUTORIAL,) if advice == _DO_LESS else (),
        ),
    )


def _record_more(model: Model) -> tuple[str, dict[str, str | bool]]:
    """What shows what the host does, and the values that say which it is."""
    if model.has_stacks:
        return _NOT_IN_STACKS, {"stacks": True}
    engine = recording_engine(model)
    if engine is None:
        return _RECORD_MORE, {}
    asked: dict[str, str | bool] = {"server": engine.name, "command": engine.told_to_record(["with_stack"])}
    return _SERVER_RECORDS_MORE.format(**asked), asked


def _captured(facts: Facts) -> float:
    """The share of the time of the steps in which a thread captures a stream, 0…1."""
    steps = facts.model.steps
    return facts.share(int(capturing(facts.model).during(steps.start, steps.end).sum()))


def _next_work(facts: Facts) -> tuple[Int32, Int64]:
    """The work that ended idle time on the host's account, and the longest piece of that time before each, the longest
    first: start and end, ns, shape (n, 2).
    """
    gaps = pieces_of(facts.model, waterfall(facts.model), "idle.host")
    closed = np.flatnonzero(gaps.closing_work >= 0)
    longest = closed[np.sort(distinct_first(gaps.closing_work[closed])[1])]
    start = gaps.start_ns[longest]
    rows: Int32 = facts.trace.device_work.row[gaps.closing_work[longest]]
    return rows, np.stack([start, start + gaps.duration_ns[longest]], axis=1).astype(np.int64)


def _meanwhile(facts: Facts) -> tuple[Int32, Int64]:
    """What the host was doing in the middle of each piece of idle time on its account, and how long the piece is, ns.

    Nothing where most of that time is in no operator, frame or annotation: what is left would be named for it.
    """
    gaps = pieces_of(facts.model, waterfall(facts.model), "idle.host")
    rows = running_at(facts.model, gaps.track.astype(np.int32), gaps.start_ns + gaps.duration_ns // 2)
    known = rows >= 0
    known[known] = is_known(facts.model, rows[known])
    if 2 * int(gaps.duration_ns[known].sum()) < int(gaps.duration_ns.sum()):
        known[:] = False
    return rows[known], gaps.duration_ns[known]


RULE = Rule("device_idle", "R59", (STEPS, DEVICE), _find, general=True)
