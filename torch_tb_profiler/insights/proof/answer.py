"""The answer `prove/1.0` (docs/prove.md). Its times are milliseconds, as those for agents."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import msgspec

from torch_tb_profiler.analysis.answer import Answer, Count, Ms

FindingVerdict = Literal["gone", "reduced", "unchanged", "worse", "moved", "cannot_tell"]
Agreement = Literal["as_predicted", "more", "less", "cannot_tell", "no_prediction"]


class FindingSignature(msgspec.Struct, frozen=True):
    """What makes a finding the same in another recording: no line, row, kernel or place in a list.

    rule        its id
    operator    the innermost operator
    function    of the program
    module      with `*` for numbers
    annotation  of the program
    """

    rule: str
    operator: str | None
    function: str | None
    module: str | None
    annotation: str | None


class Predicted(msgspec.Struct, frozen=True):
    """What the finding promised of the average step.

    likely  by replay, when this alone is done
    low, high   its interval; null with fewer than two steps
    bound       the most that any remedy can save
    """

    likely: Ms
    low: Ms | None
    high: Ms | None
    bound: bool


class ChangedQuantity(msgspec.Struct, frozen=True, kw_only=True):
    """A quantity of the average step on both sides; times in ms.

    before  of the recordings before the change
    after   of those after it
    less    before − after
    low     lower end of the 95 % interval of `less`; null where too little was recorded
    high    its upper end
    """

    before: float
    after: float
    less: float
    low: float | None
    high: float | None


class ProvedMeasure(ChangedQuantity, frozen=True, kw_only=True):
    """What tells that the cause is gone.

    metrics  of `check`, added up
    unit     ms or count
    verdict  gone, reduced, unchanged, worse, moved (the step did not gain: something else took its time), cannot_tell
    """

    metrics: Sequence[str]
    unit: Literal["ms", "count"]
    verdict: FindingVerdict


class ChangedPart(msgspec.Struct, frozen=True):
    """A part of the average step, by cause.

    cause  of the waterfall
    less   before − after, ms; all parts add up to the gain of the step
    """

    cause: str
    less: Ms


class ProofAnswer(Answer, frozen=True, kw_only=True):
    """Whether a change removed the cause that a finding names.

    schema      prove/1.0: what it has may grow; what there is keeps its meaning
    answer      yes: the verdict is certain; partly: some of it is; cannot
    sentence    the whole answer in words
    why         of cannot, as a sentence
    finding     key of the finding in the first recording before the change
    signature   what makes it the same elsewhere
    still_found whether a recording after the change has a finding of this signature; null if none was looked at
    predicted   null if the finding promised nothing
    measure     null if two recordings cannot be compared by what the rule looks at
    step        the time of a step
    agreement   of the gain with the prediction
    moved       what grew in its place, the largest first, where the verdict is `moved`
    others      other parts of at least 1 % of the step and 20 % of its gain, the largest first
    unlike      what is not alike on both sides
    recordings  how many before, and after
    paired      whether they were compared in pairs, in the order given
    more        how many pairs would decide, if the change stays what it seems; null if it is decided, or unknown
    """

    schema: Literal["prove/1.0"] = "prove/1.0"
    answer: Literal["yes", "partly", "cannot"]
    sentence: str
    why: str | None
    finding: str
    signature: FindingSignature
    still_found: bool | None
    predicted: Predicted | None
    measure: ProvedMeasure | None
    step: ChangedQuantity | None
    agreement: Agreement
    moved: Sequence[ChangedPart]
    others: Sequence[ChangedPart]
    unlike: Sequence[str]
    recordings: tuple[Count, Count]
    paired: bool
    more: Count | None
