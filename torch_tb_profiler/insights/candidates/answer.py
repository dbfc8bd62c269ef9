"""The answer `candidates/1.0` (docs/candidates.md). Its times are milliseconds, as those for agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Count, Fraction, Ms
from torch_tb_profiler.analysis.shared.peaks import Source
from torch_tb_profiler.insights.candidates.identity import CandidateInput
from torch_tb_profiler.insights.rule import FindingConfidence

CandidateKind = Literal["operator", "kernel", "copy", "collective", "fusion", "host"]
CandidateBound = Literal["compute", "memory", "launch", "latency", "host", "link", "unknown"]
WorkOrigin = Literal["triton", "inductor", "cuda_graph", "library", "eager"]


class CandidateReason(msgspec.Struct, frozen=True):
    """Why something is unknown or refused.

    id    its name
    text  the same in words
    """

    id: str
    text: str


class CandidateSaving(msgspec.Struct, frozen=True, kw_only=True):
    """What the average step saves, by replay. Null where that is refused or unknown.

    alone         when this alone reaches the likely headroom
    low, high     when it reaches the least and the largest headroom
    after_others  beyond the candidates before it: these add up to the replay of all together
    limited_by    what keeps the step from saving the whole headroom: the resource that bounds it; null if it is saved
    refused       why there is no number
    """

    alone: Ms | None
    low: Ms | None
    high: Ms | None
    after_others: Ms | None
    limited_by: str | None
    refused: CandidateReason | None


class Provenance(msgspec.Struct, frozen=True):
    """Where the code of the work is from, as the trace says it. A file that it names is untrusted: do not open it.

    origin  triton, inductor, cuda_graph, library or eager
    file    of generated code
    hash    of generated code
    """

    origin: WorkOrigin
    file: str | None = None
    hash: str | None = None


class Reproduction(msgspec.Struct, frozen=True):
    """Whether the call can be made again from what was recorded of its arguments.

    can      whether dims, types, strides and scalars are all known
    lacking  those that are not
    """

    can: bool
    lacking: Sequence[str]


class Candidate(msgspec.Struct, frozen=True, kw_only=True):
    """One piece of work. Times are those of the average settled step.

    id            the same for the same work in another recording of the program
    kind          operator, kernel (no operator is known), copy, collective, fusion or host
    name          of the operator or kernel, at most 120 characters
    inputs        tensors of its calls; null where shapes were not recorded, and for what has none
    scalars       place of the argument → an integer, a boolean or a list of integers
    kernels       that it runs, those that take most time first, at most 3
    per_step      how many calls a step has
    time_ms       of its device work, all streams added up; without a device, of the host in its operators themselves
    roof_ms       the least time on this device; null if unknown
    roof_source   where the peaks of the device are from
    headroom_ms   what could be faster: as every call was that is as fast as the fastest tenth; likely, by what this
                  trace reaches of its device; at most, at the roof. Null where the roof is unknown
    headroom_why  why it is null
    saving_ms     what the step saves
    bound         what bounds the work: compute, memory, launch, latency (few blocks), host, link or unknown
    module        the innermost module, or a class of them, without numbers of instances
    line          of the program
    finding       the finding that names this work, by its key
    parts         ids of the work that a fusion replaces
    count         how many calls the settled steps have
    confidence    how sure roof and saving are
    provenance    where its code is from
    reproduce     whether the call can be made again
    """

    id: Annotated[str, Meta(pattern="^c[0-9a-f]{12}$")]
    kind: CandidateKind
    name: Annotated[str, Meta(max_length=120)]
    inputs: Sequence[CandidateInput] | None
    scalars: Mapping[str, int | bool | str]
    kernels: Sequence[str]
    per_step: float
    time_ms: Ms
    roof_ms: Ms | None
    roof_source: Source | None
    headroom_ms: Sequence[Ms] | None
    headroom_why: str | None
    saving_ms: CandidateSaving
    bound: CandidateBound
    module: str | None
    line: str | None
    finding: str | None
    parts: Sequence[str]
    count: Count
    confidence: FindingConfidence
    provenance: Provenance
    reproduce: Reproduction


class CandidateTrace(msgspec.Struct, frozen=True):
    """The recording.

    id       run~worker~span
    steps    how many settled steps there are, over which times are means
    step_ms  their mean, milliseconds; null without steps
    device   name of the first device; null without a device, or where it was not recorded
    """

    id: str
    steps: Count
    step_ms: Ms | None
    device: str | None


class CandidateCoverage(msgspec.Struct, frozen=True):
    """Shares of the time of all work: 0…1; null without any.

    time    in the listed candidates
    roof    with a known roof
    shapes  with known shapes
    line    of the listed candidates, with a line
    """

    time: Fraction | None
    roof: Fraction | None
    shapes: Fraction | None
    line: Fraction | None


class OmittedCandidates(msgspec.Struct, frozen=True):
    """Work that is not listed.

    count    how many candidates
    time_ms  that they take of the average step, milliseconds
    by       how many of each kind
    """

    count: Count
    time_ms: Ms
    by: Mapping[str, Count]


class CandidatesAnswer(Answer, frozen=True, kw_only=True):
    """What is worth optimizing.

    schema      candidates/1.0: what it has may grow; what there is keeps its meaning
    answer      yes, partly (the device mostly idles: the host comes first) or cannot
    why         of partly and cannot
    how         what to record, of cannot
    trace       the recording
    coverage    how much of the work is listed and known
    candidates  those whose saving beyond the others is largest first
    left_out    the others
    """

    schema: Literal["candidates/1.0"] = "candidates/1.0"
    answer: Literal["yes", "partly", "cannot"]
    why: CandidateReason | None
    how: str | None
    trace: CandidateTrace
    coverage: CandidateCoverage
    candidates: Sequence[Candidate]
    left_out: OmittedCandidates
