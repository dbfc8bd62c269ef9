"""What holds of every change that is taken apart."""

from __future__ import annotations

from fractions import Fraction

from torch_tb_profiler.analysis.change.parts import KINDS, StepChange, rounded
from torch_tb_profiler.analysis.change.shares import StepShares
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.analysis.waterfall.causes import BUSY
from torch_tb_profiler.model import Model

OF_WORK = {meaning.cause for meaning in BUSY}


def check_shares(model: Model, found: StepShares) -> None:
    """Of each cause of work the shares add up to it, of host time they are a part of it; all causes are the steps."""
    assert sum(found.causes.values()) == found.step_ns * found.devices
    of: dict[str, int] = dict.fromkeys(found.causes, 0)
    for share in found.shares:
        assert 0 <= share.exposed_ns <= share.full_ns
        assert share.calls > 0
        of[share.cause] = of.get(share.cause, 0) + share.exposed_ns
    for cause, ns in of.items():
        known = found.causes.get(cause, 0)
        assert ns == known if cause in OF_WORK else ns <= known, cause
    assert found.step_ns == int(waterfall(model).step_ns.sum())


def check_change(found: StepChange) -> None:
    """Σ parts = change, in fractions of a nanosecond and in the whole ones that are shown."""
    assert sum((each.change for each in found.causes), Fraction(0)) == found.change
    assert sum((each.before for each in found.causes), Fraction(0)) == found.before
    assert sum((each.after for each in found.causes), Fraction(0)) == found.after
    assert sum(found.kinds().values(), found.without_names()) == found.change
    for each in found.work:
        assert sum(each.parts.values(), Fraction(0)) == each.change
        assert set(each.parts) <= set(KINDS)
        assert (each.how is None) == (not each.before or not each.after)
    shown = rounded([each.change for each in found.causes], found.change)
    assert sum(shown) == round(found.change)
