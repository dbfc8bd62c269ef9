"""Whether a change removed the cause that a finding names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Ms
from torch_tb_profiler.api.errors import profile_errors
from torch_tb_profiler.insights.proof.answer import Agreement, FindingVerdict
from torch_tb_profiler.mcp.catalog import TraceCatalog
from torch_tb_profiler.mcp.tool import Tool, ToolAnswer, ToolParams, name_of
from torch_tb_profiler.mcp.tools.compare import Recordings
from torch_tb_profiler.workspace.proofs import proof_of
from torch_tb_profiler.workspace.recordings import RecordingError
from torch_tb_profiler.workspace.status import Unavailable


class WhatToProve(ToolParams, frozen=True, kw_only=True):
    """Which recordings, and the finding of the first of them."""

    before: Recordings
    after: Recordings
    finding: Annotated[
        str, Meta(description="Its id, as summary gave it for the first recording before.", max_length=80)
    ]


class PartBrief(msgspec.Struct, frozen=True, kw_only=True):
    """A part of the step that changed beside the cause.

    cause    which one
    less_ms  before − after
    """

    cause: str
    less_ms: Ms | None


class ProofBrief(ToolAnswer, frozen=True, kw_only=True):
    """The verdict.

    answer      yes, partly or cannot
    sentence    the whole answer in words
    verdict     on the cause; null where nothing tells it
    agreement   of the gain with the prediction
    before      what tells the cause, per step, ms or calls; null where nothing does
    after       the same after the change
    gain_ms     what the step takes less
    low_ms      lower end of its 95 % interval; null with too few steps
    high_ms     upper end
    moved       what grew in its place
    others      what else changed
    unlike      what is not alike on both sides
    pairs       how many pairs would decide, where these do not; null otherwise
    """

    answer: Literal["yes", "partly", "cannot"]
    sentence: str
    verdict: FindingVerdict | None
    agreement: Agreement
    before: float | None
    after: float | None
    gain_ms: Ms | None
    low_ms: Ms | None
    high_ms: Ms | None
    moved: Sequence[PartBrief]
    others: Sequence[PartBrief]
    unlike: Sequence[str]
    pairs: int | None


def _prove(catalog: TraceCatalog, params: WhatToProve) -> ProofBrief:
    before, after = ([catalog.trace(item).source for item in side] for side in (params.before, params.after))
    with profile_errors((RecordingError, Unavailable)):
        answer = proof_of(before, after, params.finding)
    measure, step = answer.measure, answer.step
    return ProofBrief(
        answer=answer.answer,
        sentence=answer.sentence,
        verdict=None if measure is None else measure.verdict,
        agreement=answer.agreement,
        before=None if measure is None else measure.before,
        after=None if measure is None else measure.after,
        gain_ms=None if step is None else step.less,
        low_ms=None if step is None else step.low,
        high_ms=None if step is None else step.high,
        moved=[PartBrief(cause=part.cause, less_ms=part.less) for part in answer.moved],
        others=[PartBrief(cause=part.cause, less_ms=part.less) for part in answer.others],
        unlike=[name_of(text) or "" for text in answer.unlike],
        pairs=answer.more,
    )


PROVE = Tool(
    name="prove",
    title="Prove a change",
    summary=(
        "Say whether a change removed the cause that a finding names, whether the step gained what was predicted, and "
        "what else changed. Record before and after in turn, three times each. Reads only."
    ),
    arguments=WhatToProve,
    answer=ProofBrief,
    compute=_prove,
    budget=2_500,
    shrinks=("others", "moved", "unlike"),
    untrusted=("unlike",),
)
