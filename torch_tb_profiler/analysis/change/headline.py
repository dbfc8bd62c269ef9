"""The largest contributor to the change of the step: one cause, and in it one kernel or operator."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import msgspec

from torch_tb_profiler.analysis.answer import Ns
from torch_tb_profiler.analysis.change.parts import Kind, StepChange, WorkChange, main_operator
from torch_tb_profiler.analysis.change.shares import Share
from torch_tb_profiler.model.kernel_names.short import short_name

#: a part is worth naming from this share of what it is a part of
_WORTH = Fraction(1, 10)


class Headline(msgspec.Struct, frozen=True, kw_only=True):
    """The largest change in the direction in which the step changed.

    cause         of the waterfall
    cause_ns      change of the cause, of a mean step
    kind          what happened to the work that changed most in it; null if it has no kernel or operator that did
    delta_ns      change of that work; null likewise
    operator      what launches it in the experiment, in the baseline where it is gone; null likewise
    label         what to call it in the baseline: short name of its kernel, of several that with most time; of host
                  time the operator; null if it is new
    exp_label     the same in the experiment; null if it is gone
    is_kernel     whether the labels are of kernels, copies or fills
    """

    cause: str
    cause_ns: Ns
    kind: Kind | None
    delta_ns: Ns | None
    operator: str | None
    label: str | None
    exp_label: str | None
    is_kernel: bool


def headline(parts: StepChange) -> Headline | None:
    """None if no cause moved with the step."""
    change = parts.change
    moved = [each for each in parts.causes if each.change * change > 0]
    if not moved:
        return None
    cause = moved[0]
    work = max(parts.work, key=lambda each: _toward(_in_cause(each, cause.cause), cause.change), default=None)
    if work is not None and _toward(_in_cause(work, cause.cause), cause.change) < _WORTH * abs(cause.change):
        work = None
    return Headline(
        cause=cause.cause,
        cause_ns=round(cause.change),
        kind=work.main_kind if work else None,
        delta_ns=round(work.change) if work else None,
        operator=(main_operator(work.after) or main_operator(work.before) or None) if work else None,
        label=label_of(work.before) if work else None,
        exp_label=label_of(work.after) if work else None,
        is_kernel=work is not None and any(share.kernel for share in (*work.before, *work.after)),
    )


def _toward(part: Fraction, whole: Fraction) -> Fraction:
    """How much of a change a part of it makes: 0 of one that goes the other way."""
    return abs(part) if part * whole > 0 else Fraction(0)


def _in_cause(work: WorkChange, cause: str) -> Fraction:
    """The change of work in one cause; of work that is in others as well all of it."""
    of = {share.cause for share in (*work.before, *work.after)}
    return work.change if cause in of else Fraction(0)


def label_of(shares: Sequence[Share]) -> str | None:
    """Short name of the kernel with most time, of host time the operator; of equal ones the first. None of nothing."""
    times: dict[tuple[str, str], int] = {}
    for share in shares:
        name = short_name(share.kernel) if share.kernel else share.operator
        times[name, share.kernel] = times.get((name, share.kernel), 0) + share.full_ns
    return min(times, key=lambda names: (-times[names], names))[0] if times else None
