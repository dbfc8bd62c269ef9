"""Answers about groups of ranks: layout, collectives, links, pipelines, experts and sharded parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, Ns, NsMean, Row
from torch_tb_profiler.analysis.result import column

Link = Literal["within_node", "between_nodes", "unknown"]
#: dimensions of a parallel layout: data, tensor, pipeline, expert, context; replicas and shards of hybrid sharding
Role = Literal["dp", "tp", "pp", "ep", "cp", "world", "unknown"]
Confidence = Literal["low", "medium", "high"]
Rate = Annotated[float, Meta(description="bytes/s")]


class StageSpan(Answer, frozen=True, kw_only=True):
    """An interval of a stage.

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
    reshards         whether parameters are gathered again for the backward pass; empty if unknown
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


class CollectiveRow(Answer, frozen=True, kw_only=True):
    """Collectives of one name, group, size and element type, matched across the ranks.

    name           what was called
    group          description and name
    link           whether the group stays within a node
    bytes          as nccl-tests counts it; empty where unknown or differs between ranks
    dtype          of the elements
    ranks          how many members of the group are here
    calls          how many collectives, each counted once for all its ranks
    matched        how many of them several ranks have
    wait_ns        the rest of the time: waiting for ranks that arrived later; mean over the matched calls and ranks
    transfer_ns    the shortest time that any rank needed; mean over the matched calls
    algbw          Σ sizes ÷ Σ transfers
    busbw          algorithm bandwidth × the factor of nccl-tests: comparable with the link
    peak_share     bus bandwidth ÷ the peak of the link in one direction
    culprit        number of the rank that arrives last in at least half of the calls of three and more ranks
    culprit_share  part of the calls in which that rank arrives last
    algorithm      from the name of the kernel, if it shows the algorithm
    kind           what it does
    group_number   position of the group in `groups`
    size           how many members the group has; null if the traces do not contain it
    peak           bytes/s of the link in one direction; null if unknown
    culprit_worker  name of the trace of `culprit`; null like it
    worker         trace with the call that waited longest
    row            number of the event of that call; null if unknown
    """

    name: Annotated[str, column("Name")]
    group: Annotated[str, column("Process group")]
    link: Annotated[Link, column("Link")]
    bytes: Annotated[Bytes | None, column("Size")]
    dtype: Annotated[str, column("Data type")]
    ranks: Annotated[Count, column("Ranks", "Members of the group whose traces were read.")]
    calls: Annotated[Count, column("Calls", "Each counted once for all its ranks.")]
    matched: Annotated[Count, column("Matched", "Calls that several ranks have.")]
    wait_ns: Annotated[NsMean | None, column("Wait")]
    transfer_ns: Annotated[NsMean | None, column("Transfer")]
    algbw: Annotated[Rate | None, column("Algorithm bandwidth", unit="bytes_per_second", hidden=True)]
    busbw: Annotated[Rate | None, column("Bus bandwidth", unit="bytes_per_second")]
    peak_share: Annotated[Fraction | None, column("Of peak", unit="fraction")]
    culprit: Annotated[
        int | None,
        column("Last rank", "The rank that arrives last in most calls, if that is at least half of them.", unit=None),
    ]
    culprit_share: Annotated[Fraction | None, column("Last in")]
    algorithm: Annotated[str, column("Algorithm")]
    kind: str
    group_number: Count
    size: Count | None
    peak: float | None
    culprit_worker: str | None
    worker: str
    row: Row | None


class FitPoint(Answer, frozen=True, kw_only=True):
    """Collectives of one size.

    bytes        size of each
    transfer_ns  median transfer
    busbw        bytes/s; null if the kind has no factor
    calls        how many there are
    """

    bytes: Bytes
    transfer_ns: NsMean
    busbw: float | None
    calls: Count


class BandwidthFit(Answer, frozen=True, kw_only=True):
    """Transfers of one kind in groups of one size, link and role: t = alpha + bytes ÷ beta, robust.

    kind         collective
    role         dimension of the layout
    link         whether the groups stay within a node
    size         how many ranks a group has
    groups       how many process groups are fitted together
    points       different sizes that the fit goes through
    alpha_ns     latency: the time of an operation of size 0; empty with fewer than two sizes
    beta         bandwidth of a very large operation, bytes/s; empty like α, and where larger ones are not slower
    half_bytes   size that reaches half of β: α × β; empty like β
    residual     median difference of measured and fitted times ÷ fitted; empty like α
    """

    kind: str
    role: Role
    link: Link
    size: Count
    groups: Annotated[Count, column("Groups")]
    points: Annotated[Sequence[FitPoint], column("Sizes")]
    alpha_ns: Annotated[NsMean | None, column("α")]
    beta: Annotated[float | None, column("β", unit="bytes_per_second")]
    half_bytes: Annotated[NsMean | None, column("Half of β at")]
    residual: Annotated[Fraction | None, column("Residual", unit="fraction")]


class SlowLink(Answer, frozen=True, kw_only=True):
    """A process group whose transfers are slower than those of groups of the same kind and size.

    group        label of the group
    ranks        the number of each of its members that are here, at most 64
    hosts        where they run
    pair         the two ranks between which it is slow; null if only the group is known
    kind         collective that is slower
    extra_ns     how much longer its transfers take than the median group's, of a step
    ratio        how many times as long as those of the median group its transfers take
    z            how many robust deviations of the groups that is
    compared     how many other groups or pairs it was compared with
    """

    group: str
    ranks: Sequence[int]
    hosts: Sequence[str]
    pair: tuple[int, int] | None
    kind: str
    extra_ns: Ns
    ratio: float
    z: float
    compared: Count


class RunGroup(Answer, frozen=True, kw_only=True):
    """A process group.

    label        description and name
    role         which dimension of the layout it is
    size         how many members it has; empty if the traces do not contain it
    present      how many members have a trace that was read
    ranks        the number of each of its members; empty if the traces do not contain them
    link         whether it stays within a node
    calls        how many collectives of it were matched
    transfer_ns  Σ transfers of these collectives
    wait_ns      Σ waits in these collectives, of all its ranks
    name         as the program numbers it
    description  what it is for, as the program says
    role_from    what says so: description, ranks, or nothing
    hosts        how many nodes it spans, of the ranks that are here
    """

    label: Annotated[str, column("Group")]
    role: Annotated[Role, column("Role")]
    size: Annotated[Count | None, column("Ranks")]
    present: Annotated[Count, column("Traces")]
    ranks: Annotated[Sequence[int], column("Which")]
    link: Annotated[Link, column("Link")]
    calls: Annotated[Count, column("Calls")]
    transfer_ns: Annotated[Ns, column("Σ transfer")]
    wait_ns: Annotated[Ns, column("Σ wait")]
    name: str
    description: str
    role_from: Literal["description", "ranks", ""]
    hosts: Count


class LayoutDimension(Answer, frozen=True, kw_only=True):
    """One dimension of the parallel layout.

    role    which one
    size    how many ranks each group has
    groups  how many groups there are here
    stride  how many ranks apart neighbouring members are; null if unknown or unequal
    """

    role: Role
    size: Count
    groups: Count
    stride: int | None


class ParallelLayout(Answer, frozen=True, kw_only=True):
    """The parallel layout, inferred from the process groups.

    world           how many ranks the job has; null if the traces do not contain it
    nodes           how many hosts the present ranks name; null if they name none
    ranks_per_node  how many present ranks the largest node has; null like nodes
    dimensions      in order of stride
    confidence      high: the sizes multiply to the world size; medium: roles are named, but the sizes do not; low: from
                    ranks only
    """

    world: Count | None
    nodes: Count | None
    ranks_per_node: Count | None
    dimensions: Sequence[LayoutDimension]
    confidence: Confidence


class MissingCollective(Answer, frozen=True, kw_only=True):
    """A collective that some present member of its group does not have: a hint that ranks diverged.

    group     label of the process group
    sequence  number of the collective in its group; null if the traces do not contain it
    name      of the call
    step      in which the others called it; null outside of steps
    ranks     the number of each rank that lacks it, at most 64
    having    how many have it
    exact     false: one of several equal neighbours is missing, not surely this one
    stops     whether the ranks have nothing more of the group after it: it may hang there
    """

    group: str
    sequence: int | None
    name: str
    step: str | None
    ranks: Sequence[int | None]
    having: Count
    exact: bool
    stops: bool
