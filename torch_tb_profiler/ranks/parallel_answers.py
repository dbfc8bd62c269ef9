"""Answers about pipelines, experts and sharded parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from torch_tb_profiler.analysis.answer import Answer, Count, Fraction, Ns, NsMean, Row
from torch_tb_profiler.analysis.result import column


class StageSpan(Answer, frozen=True, kw_only=True):
    """A stretch of a stage.

    kind      work: also with others of its stage; wait: stopped until another stage comes; transfer: by
              moving data
    start_ns  from the start of the step on the rank that represents the stage
    end_ns    likewise
    row       event of the send, receive or other collective, of work of the one that follows it; null: there is none
    """

    kind: Literal["work", "wait", "transfer"]
    start_ns: Ns
    end_ns: Ns
    row: Row | None


class PipelineStage(Answer, frozen=True, kw_only=True):
    """A stage of a pipeline.

    stage      number of the stage, from 0
    ranks      how many present ranks it has
    worker     trace of the rank that represents it
    step_ns    median step of that rank
    bubble_ns  stopped until other stages come, median of its steps
    bubble     bubble_ns ÷ step_ns, 0…1
    spans      of the step that is shown
    """

    stage: Count
    ranks: Count
    worker: str
    step_ns: Ns
    bubble_ns: Ns
    bubble: Fraction
    spans: Sequence[StageSpan]


class Pipeline(Answer, frozen=True, kw_only=True):
    """Stages of a pipeline, with what each did in a step.

    step    the one that is shown
    stages  in order
    note    what is estimated; empty for nothing
    """

    step: str
    stages: Sequence[PipelineStage]
    note: str


class MoeImbalance(Answer, frozen=True, kw_only=True):
    """How unequal the parts of an all-to-all are.

    group        label of the process group
    calls        how many of them
    worst        how many times the mean part the largest is, mean over the calls; 1 is balanced
    mean_bytes   mean over ranks and calls of what a rank sends
    rank         number of the rank that has the largest part most often
    rank_share   part of the calls in which it has the largest part
    rank_bytes   mean of what it sends
    worker       trace of that rank
    row          event of its largest; null if there is none
    """

    group: Annotated[str, column("Process group")]
    calls: Annotated[Count, column("All-to-alls")]
    worst: Annotated[float, column("Largest ÷ mean", unit=None)]
    mean_bytes: Annotated[NsMean, column("Mean part")]
    rank: Annotated[int | None, column("Rank with most", unit=None)]
    rank_share: Annotated[Fraction, column("In")]
    rank_bytes: Annotated[NsMean, column("Its part")]
    worker: str
    row: Row | None


class FsdpGathers(Answer, frozen=True, kw_only=True):
    """All-gathers of sharded parameters.

    group            label of the process group
    gathers          how many all-gathers a step has, median over the ranks
    scatters         how many reduce-scatters a step has, likewise
    reshards         whether parameters are gathered again for the backward pass; empty if it is not known
    lead_ns          median time from the call to the start of its kernel: how far ahead it is issued
    late_share       part of the gathers whose kernel begins at once after the call: nothing was prefetched
    worker           trace of the rank with the most of these
    row              event of its gather that was issued latest; null if there is none
    """

    group: Annotated[str, column("Process group")]
    gathers: Annotated[Count, column("All-gathers")]
    scatters: Annotated[Count, column("Reduce-scatters")]
    reshards: Annotated[bool | None, column("Resharded")]
    lead_ns: Annotated[Ns, column("Lead")]
    late_share: Annotated[Fraction, column("Not prefetched")]
    worker: str
    row: Row | None
