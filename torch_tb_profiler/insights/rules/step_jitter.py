"""Some steps take clearly longer than the others."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.analysis.step_kinds import step_kinds
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.names import part_name
from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.arrays.types import Bool, Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Rule
from torch_tb_profiler.insights.shared.links import TUNING_GUIDE
from torch_tb_profiler.insights.shared.wording import ms
from torch_tb_profiler.model.steps.find import WITHOUT_MARKS

#: with fewer steps, what is usual is not known
FEWEST = 5

_COMPARE = "Compare one of them with a usual one: choose its step above, then the part that grew."
_EVERY_KTH = (
    "Work that comes every k-th step (logging, evaluation, checkpoints) belongs outside the loop, or in a thread."
)
_SIZES = (
    "Inputs of different sizes make steps of different length: group requests of similar length, or pad them to a few "
    "sizes. Work that comes every k-th step belongs outside the loop, or in a thread."
)


def _find(facts: Facts) -> Sequence[Found]:
    period, kind = facts.period_ns.astype(np.float64), step_kinds(facts.model).of
    # of one kind: the prefill of a loop is no slow decode
    usual = kind == np.argmax(np.bincount(kind, minlength=1))
    # it warms up, or begins with a device that has nothing to do, and waits for all that others hide
    usual[np.argmax(usual) if len(usual) else slice(0)] = False
    if int(usual.sum()) < FEWEST:
        return ()
    middle = median(period[usual])
    slow = usual & (period > facts.limit("step_jitter", "slow_ratio") * middle)
    if facts.model.steps.rule in WITHOUT_MARKS and _is_regular(slow):
        return ()  # what repeats is likely the loop inside of the one that is meant
    excess = float((period[slow] - middle).sum()) / int(usual.sum())
    if not slow.any() or excess < facts.limit("step_jitter", "least_share") * middle:
        return ()
    grown, grown_ns = _grown(facts, slow, usual & ~slow)
    ratio = facts.limit("step_jitter", "slow_ratio")
    return (
        Found(
            title="Some steps take longer than the others",
            detail=(
                f"{int(slow.sum())} of {int(usual.sum())} steps take more than {ratio:.2g} × the median of "
                f"{ms(middle)}, which makes the average step {ms(excess)} longer; what grows most in them is "
                f"“{part_name(grown)}”, by {ms(grown_ns)} a step."
            ),
            advice=f"{_COMPARE} {_EVERY_KTH if facts.is_training else _SIZES}",
            values={
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
            confidence="medium",
            evidence=(
                Evidence("slow_steps", "Slow steps", int(slow.sum()), "count", "steps"),
                Evidence("excess_per_step", "Mean step above the median", excess, "ns", "steps"),
                Evidence("grown_part", "Growth of the part that grows most", grown_ns, "ns", "overview"),
            ),
            links=(TUNING_GUIDE,),
        ),
    )


def _grown(facts: Facts, slow: Bool, others: Bool) -> tuple[str, float]:
    """The part of the waterfall that differs most between slow steps and the others, and by how much in a step, ns."""
    found = waterfall(facts.model)
    parts = found.ns.mean(axis=0)  # over devices
    growth = parts[slow].mean(axis=0) - parts[others].mean(axis=0)
    at = int(np.argmax(growth))
    return found.causes[at], float(growth[at])


def _is_regular(slow: Bool) -> bool:
    """Whether every k-th step is slow."""
    apart = np.diff(np.flatnonzero(slow))
    return len(apart) >= 2 and bool((apart == apart[0]).all())


def _marks(facts: Facts, slow: Bool) -> Int32:
    """The annotations that mark the slow steps, where there are such."""
    steps = facts.model.steps
    rows = facts.model.annotation_rows(lambda _: True)
    start, end = facts.trace.events.start[rows], facts.trace.events.end[rows]
    at = np.searchsorted(steps.host_start, start)
    at = np.minimum(at, len(steps) - 1)
    marks = slow[at] & (steps.host_start[at] == start) & (np.abs(steps.host_end[at] - end) <= 1)
    return facts.longest_first(rows[marks])


RULE = Rule("step_jitter", "R60", (STEPS,), _find)
