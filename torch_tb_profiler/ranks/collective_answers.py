"""Answers about the collectives of a run, and how fast they were."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Fraction, NsMean, Row
from torch_tb_profiler.analysis.result import column
from torch_tb_profiler.ranks.words import Link, Role


class CollectiveRow(Answer, frozen=True, kw_only=True):
    """Collectives of one name, group, size and element type, matched across the ranks.

    name           of the call
    kind           what it does
    group          label of the process group
    group_number   its position in `groups`
    link           whether the group stays within a node
    dtype          element type; empty if the traces do not contain it
    bytes          size as nccl-tests counts it; null if it is not known or a rank sends another size
    ranks          how many members of the group are here
    size           how many members the group has; null if the traces do not contain it
    calls          how many collectives, each counted once for all its ranks
    matched        how many of them several ranks have
    transfer_ns    mean time of a matched one once all ranks are there: the shortest duration of any rank; null if
                   none is matched
    wait_ns        mean over the ranks and matched calls of the rest; null like transfer_ns
    algbw          bytes/s: Σ bytes ÷ Σ transfer; null if unknown
    busbw          bytes/s: algbw × the factor of kind and algorithm; null if unknown
    algorithm      ring, tree or nvls, where the kernel's name says it; empty otherwise
    peak           bytes/s of the link in one direction; null if it is not known
    peak_share     busbw ÷ peak, 0…1; null like these
    culprit        number of the rank that arrives last in at least half of the calls of three and more ranks
    culprit_worker  name of its trace; null like culprit
    culprit_share  part of the calls in which it arrives last, 0…1; null like culprit
    worker         trace with the call that waited longest
    row            number of the event of that call; null if it is not known
    """

    name: str
    kind: str
    group: str
    group_number: Count
    link: Link
    dtype: str
    bytes: Bytes | None
    ranks: Count
    size: Count | None
    calls: Count
    matched: Count
    transfer_ns: NsMean | None
    wait_ns: NsMean | None
    algbw: float | None
    busbw: float | None
    algorithm: str
    peak: float | None
    peak_share: float | None
    culprit: int | None
    culprit_worker: str | None
    culprit_share: Fraction | None
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
