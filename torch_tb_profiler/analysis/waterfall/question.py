"""The question where the time of the steps went, and which intervals one cause has."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Fraction, Ns, TraceMeta
from torch_tb_profiler.analysis.question import Question, Refused, Subject
from torch_tb_profiler.analysis.waterfall.causes import ALL
from torch_tb_profiler.analysis.waterfall.evidence import Piece, cause_pieces, with_evidence
from torch_tb_profiler.analysis.waterfall.waterfall import (
    Basis,
    Part,
    Waterfall,
    average,
    is_below,
    parts_of,
    waterfall,
)
from torch_tb_profiler.arrays.apportion import apportion

#: pieces of one answer, unless asked otherwise
PAGE = 100
LARGEST_PAGE = 1_000


class CauseParams(msgspec.Struct, frozen=True):
    """Of which cause pieces are listed."""

    cause: Annotated[
        str | None, Meta(description="A cause, or a group such as idle or idle.host: its largest pieces are listed.")
    ] = None
    limit: Annotated[int, Meta(description="Pieces of the answer.", ge=1, le=LARGEST_PAGE)] = PAGE


class CauseMeaning(Answer, frozen=True, kw_only=True):
    """A cause that occurs.

    cause  its id; the part before a dot is a group of causes
    help   its definition
    """

    cause: str
    help: str


class DeviceParts(Answer, frozen=True, kw_only=True):
    """The average step of one device.

    device  number of the device
    parts   that add up to the mean step time exactly
    """

    device: int
    parts: Sequence[Part]


class CausePieces(Answer, frozen=True, kw_only=True):
    """The pieces of a cause.

    cause     which one
    total     how many pieces it has in all steps
    total_ns  Σ of their durations, over all steps and devices
    largest   the longest of them, the longest first
    """

    cause: str
    total: Count
    total_ns: Ns
    largest: Sequence[Piece]


class WaterfallAnswer(Answer, frozen=True, kw_only=True):
    """Where the time of the steps went.

    meta                which trace
    basis               devices: the time of the devices that ran kernels; host: that of the main thread where none did
    steps               names of the steps
    step_ns             their periods
    causes              those that occur, with their definitions
    average             the average step, mean over devices: the parts add up to the mean step time exactly
    step_parts          of each step by cause, mean over devices: they add up to step_ns exactly
    devices             the average step of each device; empty for a host
    launch_bound_score  share of the idle time, 0…1, that is due to launching and in gaps below 100 µs; null without
                        idle time
    pieces              of the cause that was asked for; null without one
    """

    meta: TraceMeta
    basis: Basis
    steps: Sequence[str]
    step_ns: Sequence[Ns]
    causes: Sequence[CauseMeaning]
    average: Sequence[Part]
    step_parts: Mapping[str, Sequence[Ns]]
    devices: Sequence[DeviceParts]
    launch_bound_score: Fraction | None
    pieces: CausePieces | None


_HELP = {meaning.cause: meaning.help for meaning in ALL}


def _waterfall(subject: Subject, params: CauseParams) -> WaterfallAnswer:
    model = subject.model
    parts = waterfall(model)
    pieces = None
    if params.cause is not None:
        if not any(is_below(cause, params.cause) for cause in _HELP):
            raise Refused(f"there is no cause {params.cause!r}")
        every = cause_pieces(model, parts, params.cause)
        pieces = CausePieces(
            cause=params.cause,
            total=len(every),
            total_ns=int(every.duration_ns.sum()),
            largest=with_evidence(model, parts, every.take(np.arange(min(params.limit, len(every))))),
        )
    return WaterfallAnswer(
        meta=TraceMeta(**subject.about("overview")),
        basis=parts.basis,
        steps=model.steps.names,
        step_ns=parts.step_ns.tolist(),
        causes=[CauseMeaning(cause=cause, help=_HELP[cause]) for cause in parts.causes],
        average=average(parts),
        step_parts=_step_parts(parts),
        devices=[
            DeviceParts(device=device, parts=parts_of(parts, parts.ns[at : at + 1]))
            for at, device in enumerate(parts.devices)
        ],
        launch_bound_score=parts.launch_bound_score,
        pieces=pieces,
    )


def _step_parts(parts: Waterfall) -> dict[str, list[int]]:
    """Split each step by cause: means over devices, in whole numbers that add up to the step."""
    if len(parts.ns) == 1:
        return dict(zip(parts.causes, parts.ns[0].T.tolist(), strict=True))
    sums = parts.ns.sum(axis=0)
    whole = [
        apportion(weights, step) if step else [0] * len(weights)
        for weights, step in zip(sums, parts.step_ns.tolist(), strict=True)
    ]
    columns = zip(*whole, strict=True) if whole else ([] for _ in parts.causes)
    return {cause: list(ns) for cause, ns in zip(parts.causes, columns, strict=True)}


WATERFALL = Question(
    name="waterfall",
    summary="Where the time of the steps went, exactly",
    compute=_waterfall,
    more="Causes, and how they are found: docs/waterfall.md.",
    precompute=(CauseParams(),),
)
