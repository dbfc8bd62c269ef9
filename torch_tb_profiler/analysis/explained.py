"""Which part of the steps has a cause in the trace: one figure for all that is said about them."""

from __future__ import annotations

import msgspec

from torch_tb_profiler.analysis.answer import Fraction
from torch_tb_profiler.analysis.replay.refusals import DOUBTFUL, Confidence, Quality
from torch_tb_profiler.analysis.waterfall import waterfall
from torch_tb_profiler.model import Model


class Explained(msgspec.Struct, frozen=True):
    """How much of the steps is explained, both on the critical path and in the waterfall.

    share        of the time of the steps, 0…1; None without steps
    confidence   that of the replay, and `low` where the waterfall leaves more than 10 % unknown
    """

    share: Fraction | None
    confidence: Confidence


def explained(quality: Quality, unknown_time: float) -> Explained:
    """Put together what the replay and the waterfall (`unknown_time`) leave without a cause."""
    if quality.unexplained is None:
        return Explained(None, quality.confidence)
    is_low = quality.confidence == "normal" and unknown_time > DOUBTFUL
    return Explained(1 - max(quality.unexplained, unknown_time), "low" if is_low else quality.confidence)


def unknown_time(model: Model) -> float:
    """Share of the steps, 0…1, whose cause the trace does not show: of idle devices, mean over these, or without
    devices of a main thread that is silent.
    """
    found = waterfall(model)
    total = int(found.step_ns.sum()) * max(len(found.devices), 1)
    return int(found.of("idle.unknown" if found.devices else "host.unknown").sum()) / total if total else 0.0
