"""Answers about the collectives of a run, and how fast they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from msgspec import Meta

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, NsMean, Row
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.ranks.words import Link, Role

Rate = Annotated[float, Meta(description="bytes/s")]


class CollectiveRow(Answer, frozen=True, kw_only=True):
    """Collectives of one name, group, size and element type, matched across the ranks.

    name           what was called
    group          description and name
    link           whether the group stays within a node
    bytes          as nccl-tests counts it; empty where it is not known or differs between ranks
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
    peak           bytes/s of the link in one direction; null if it is not known
    culprit_worker  name of the trace of `culprit`; null like it
    worker         trace with the call that waited longest
    row            number of the event of that call; null if it is not known
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
