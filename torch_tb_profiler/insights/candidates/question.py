"""Question for what is worth optimizing, with the saving of the step by replay."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import NS_IN_MS, digits
from torch_tb_profiler.analysis.question import Question, Subject
from torch_tb_profiler.analysis.roofline.roofs import roofs
from torch_tb_profiler.arrays.types import dumps
from torch_tb_profiler.insights.candidates.answer import (
    Candidate,
    CandidateCoverage,
    CandidateKind,
    CandidatesAnswer,
    CandidateTrace,
    OmittedCandidates,
)
from torch_tb_profiler.insights.candidates.candidates import TraceCandidates, reason_of, words_of
from torch_tb_profiler.words import section

_MOST, _LISTED = 50, 20
#: bytes of the answer as JSON, and those of all but the candidates
_MOST_BYTES, _MOST_BYTES_BESIDE = 20_000, 1_500


class CandidateFilter(msgspec.Struct, frozen=True):
    """Which candidates are listed."""

    top: Annotated[int, Meta(ge=1, le=_MOST, description="How many at most.")] = _LISTED
    kind: Annotated[CandidateKind | None, Meta(description="Those of this kind alone.")] = None
    finding: Annotated[str | None, Meta(description="Those that this finding names alone, by its key.")] = None


def _how(key: str) -> str | None:
    """Return what to record so that a trace has candidates; None where no recording helps."""
    return words_of("how", key) if key in section("candidates", "how").sentences else None


def _candidates(subject: Subject, params: CandidateFilter) -> CandidatesAnswer:
    work = TraceCandidates(subject)
    name = next((one.name for one in roofs(work.model) if one.name), None)
    count = len(work.steps)
    step_ms = digits(work.step_ns / NS_IN_MS) if count else None
    trace = CandidateTrace(f"{subject.run}~{subject.worker}~{subject.span}", count, step_ms, name)
    reason = reason_of(work)
    is_none, why = reason or (False, None)
    every = [] if is_none else work.candidates()
    if why is not None and why.id == "mostly_idle":
        every = sorted(every, key=lambda one: one.kind != "host")
    chosen = [one for one in every if params.kind in (None, one.kind) and params.finding in (None, one.finding)][
        : params.top
    ]
    chosen = _within(work.placed(one) for one in chosen)
    return CandidatesAnswer(
        answer="cannot" if is_none else "yes" if why is None else "partly",
        why=why,
        how=_how(why.id) if why is not None and is_none else None,
        trace=trace,
        coverage=_coverage(work, chosen),
        candidates=chosen,
        left_out=_left_out(work, every, chosen),
    )


def _within(candidates: Iterable[Candidate]) -> list[Candidate]:
    """Take as many as fit into the answer."""
    taken: list[Candidate] = []
    size = 0
    for one in candidates:
        size += len(dumps(one)) + 1
        if size > _MOST_BYTES - _MOST_BYTES_BESIDE:
            break
        taken.append(one)
    return taken


def _coverage(work: TraceCandidates, listed: Sequence[Candidate]) -> CandidateCoverage:
    total = sum(group.time_ns for group in work.groups)
    if not total:
        return CandidateCoverage(None, None, None, None)
    by_id = {group.id: group for group in work.groups}
    shown = [(one, by_id[one.id].time_ns) for one in listed if one.id in by_id]
    time = sum(ns for _, ns in shown)
    return CandidateCoverage(
        time=time / total,
        roof=sum(group.time_ns for group in work.groups if group.roof_ns is not None) / total,
        shapes=sum(group.time_ns for group in work.groups if group.arguments.inputs is not None) / total,
        line=sum(ns for one, ns in shown if one.line is not None) / time if time else None,
    )


def _left_out(work: TraceCandidates, every: Sequence[Candidate], listed: Sequence[Candidate]) -> OmittedCandidates:
    shown = {one.id for one in listed}
    others = [one for one in every if one.id not in shown]
    time = sum(group.time_ns for group in work.groups if group.id not in shown)
    return OmittedCandidates(len(others), work.ms(time) or 0.0, dict(Counter(one.kind for one in others)))


CANDIDATES = Question(
    name="candidates",
    summary="What is worth optimizing: work, its arguments, its roof, and what a step saves",
    compute=_candidates,
    more="The object that `torch-tb-profiler candidates --json` prints (docs/candidates.md).",
)
