"""What is worth optimizing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count, Ms
from torch_tb_profiler.insights.candidates.answer import CandidateBound, CandidateKind, CandidatesAnswer
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import Tool, ToolAnswer, ToolParams, TraceId, name_of
from torch_tb_profiler.mcp.tools.explain import finding_of

_MOST = 12
_THEN = "After a change, record both programs in turn and call prove with the finding."


class WhichCandidates(ToolParams, frozen=True, kw_only=True):
    """Of which trace."""

    trace: TraceId
    kind: Annotated[CandidateKind | None, Meta(description="Those of this kind alone.")] = None
    finding: Annotated[
        Annotated[str, Meta(max_length=80)] | None, Meta(description="Those that this finding names alone.")
    ] = None


class CandidateBrief(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work. Times are ms of the average step; null is unknown.

    id         the same in another recording of the program
    kind       operator, kernel, copy, collective, fusion or host
    name       of the operator or kernel, or what a finding says
    shapes     of its inputs
    per_step   calls
    time       that it takes
    roof       the least time on this device
    saves      what a step saves beyond the candidates before it
    limited    what keeps the step from saving the whole headroom; null if nothing does
    bound      what bounds the work
    module     where it is from
    line       likewise
    finding    that names it, for the tool explain
    """

    id: str
    kind: CandidateKind
    name: str
    shapes: Sequence[Sequence[int]]
    per_step: float
    time: Ms
    roof: Ms | None
    saves: Ms | None
    limited: str | None
    bound: CandidateBound
    module: str | None
    line: str | None
    finding: str | None


class CandidatesBrief(ToolAnswer, frozen=True, kw_only=True):
    """What is worth optimizing.

    answer      yes, partly or cannot
    why         of partly and cannot
    how         what to record, of cannot
    step_ms     mean of the settled steps
    candidates  those that save most first
    left_out    how many are not listed
    """

    answer: str
    why: str | None
    how: str | None
    step_ms: Ms | None
    candidates: Sequence[CandidateBrief]
    left_out: Count


def _candidates(catalog: TraceCatalog, params: WhichCandidates) -> CandidatesBrief:
    trace = catalog.trace(params.trace)
    if params.finding is not None:
        finding_of(trace, params.finding)
    answer: CandidatesAnswer = trace.candidates(top=_MOST, kind=params.kind, finding=params.finding)
    return CandidatesBrief(
        answer=answer.answer,
        why=None if answer.why is None else answer.why.text,
        how=answer.how,
        step_ms=answer.trace.step_ms,
        candidates=[
            CandidateBrief(
                id=one.id,
                kind=one.kind,
                name=name_of(one.name) or "",
                shapes=[tensor.dims for tensor in one.inputs or () if tensor.dims],
                per_step=one.per_step,
                time=one.time_ms,
                roof=one.roof_ms,
                saves=one.saving_ms.after_others,
                limited=one.saving_ms.limited_by,
                bound=one.bound,
                module=name_of(one.module),
                line=name_of(one.line),
                finding=one.finding,
            )
            for one in answer.candidates
        ],
        left_out=answer.left_out.count,
        notes=[_THEN] if answer.candidates else [],
    )


CANDIDATES = Tool(
    name="candidates",
    title="Candidates",
    summary=(
        "What is worth optimizing: operators with shapes, kernels, copies, fusions and the host's part, each with its "
        "least time on the device and what the step saves by replay. Call before a change."
    ),
    arguments=WhichCandidates,
    answer=CandidatesBrief,
    compute=_candidates,
    budget=4_000,
    shrinks=("candidates",),
    untrusted=("candidates[].name", "candidates[].module", "candidates[].line"),
)
