"""Answers about all ranks of a run: what the run page, the Python API, the report and `summary --json` show.

Times are ns, and never compare clocks of two ranks. A rank is its number in the job, or None if its trace does not
say; `worker` always names its trace.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Literal

import msgspec

from torch_tb_profiler.analysis.answer import Answer, Bytes, Count, Definition, Ns, NsMean
from torch_tb_profiler.analysis.result import column, columns_field
from torch_tb_profiler.analysis.tabular import Grid, Tabular, columns_of
from torch_tb_profiler.ranks.run.group_answers import (
    BandwidthFit,
    Confidence,
    FsdpGathers,
    MissingCollective,
    MoeImbalance,
    ParallelLayout,
    Pipeline,
    RunGroup,
    SlowLink,
)
from torch_tb_profiler.trace import Note

Cause = Literal[
    "input", "slow_compute", "more_work", "slow_operator", "late_launches", "allocator", "network", "unknown"
]
#: why a late rank is only listed; empty if it is named
Doubt = Literal["", "few_steps", "few_peers", "small", "loading"]
#: what a heat map can show
Metric = Literal[
    "step_ns", "compute_ns", "exposed_wait_ns", "exposed_transfer_ns", "own_ns", "input_ns", "host_ns", "memory_bytes"
]


if TYPE_CHECKING:
    import pandas as pd


class Straggler(Answer, frozen=True, kw_only=True):
    """A rank that works longer than its peers, by its own time between collectives: no waiting is in it.

    rank         number of the rank; null if its trace does not contain it
    worker       name of its trace
    host         where it ran; null if the trace does not contain it
    late_ns      how much longer than its peers, of a step: in own time of the step or before one collective, in its
                 kernels or on its host, whichever is the clearest evidence
    z            how many robust deviations of the peers that is, where it is largest; null with fewer than three peers
    cause        what takes longer
    operator     the operator, kernel or collective that takes longer; null if no single one does
    operator_ns  the part of it, of a step; null like operator
    position     collective before which the rank is late; null if it is late in many places
    saving_ns    how much shorter a step would be without it: replay over all ranks; null if unknown
    steps        in how many steps it is clearly late
    of_steps     how many steps were compared
    peers        with how many ranks it was compared
    named        whether it is surely slow; otherwise it is only listed, for `doubt`
    doubt        why it is not named: few_steps, few_peers, small, loading; empty if it is named
    """

    rank: int | None
    worker: str
    host: str | None
    late_ns: Ns
    z: float | None
    cause: Cause
    operator: str | None
    operator_ns: Ns | None
    position: str | None
    saving_ns: Ns | None
    steps: Count
    of_steps: Count
    peers: Count
    named: bool
    doubt: Doubt


class RunTiles(Answer, frozen=True, kw_only=True):
    """The run in a few numbers. Times are of a step: means over the ranks and steps that are here; null if unknown.

    present              how many ranks were read
    expected             how many ranks the job has; null if the traces do not contain it
    loading              how many traces are still being read
    failed               how many traces could not be read
    steps                how many steps all present ranks have
    step_ns              median step time
    exposed_wait_ns      waiting for other ranks while nothing was computed
    exposed_transfer_ns  moving data while nothing was computed
    hidden_ns            communication while something was computed
    slowest_worker       the rank that is late most; null if none is named
    slowest_rank         number of the rank; null if none is named or its trace does not say
    slowest_cause        why; null if none is named
    lost_ns              what a step would save without all named stragglers together, by replay; 0 if none is named;
                         null if none can be named (while ranks are being read, or with fewer than three ranks
                         or steps), or if unknown
    """

    present: Count
    expected: Count | None
    loading: Count
    failed: Count
    steps: Count
    step_ns: NsMean | None
    exposed_wait_ns: NsMean | None
    exposed_transfer_ns: NsMean | None
    hidden_ns: NsMean | None
    slowest_worker: str | None
    slowest_rank: int | None
    slowest_cause: Cause | None
    lost_ns: Ns | None


class RunRanks(Answer, Tabular, frozen=True, kw_only=True):
    """A row for each rank, as parallel lists in order of rank. Times are medians over its steps; null if unknown.

    worker               name of the trace
    rank                 number of the rank
    host                 where it ran
    node                 number of its node, from 0, by host
    device               name of its device
    peers                number of its set: ranks with the same sequence of collectives have the same
    steps                how many steps it recorded
    step_ns              step time, median over its steps
    compute_ns           computing
    exposed_wait_ns      waiting for other ranks while nothing was computed
    exposed_transfer_ns  moving data while nothing was computed
    hidden_ns            communication while something was computed
    own_ns               own time between collectives, without waiting
    late_ns              how much more own time than its peers
    z                    how many robust standard deviations of the peers that is
    input_ns             waiting for the next batch
    host_ns              time in which the host called operators
    memory_bytes         most memory in use
    collectives          how many it recorded
    unmatched            how many of them no other rank has
    named                whether it is named as slow
    """

    worker: Annotated[Sequence[str], column("Worker")]
    rank: Annotated[Sequence[int | None], column("Rank", unit=None)]
    host: Annotated[Sequence[str | None], column("Host")]
    node: Sequence[int]
    device: Annotated[Sequence[str | None], column("Device", hidden=True)]
    peers: Annotated[Sequence[int], column("Set", unit=None)]
    steps: Annotated[Sequence[Count], column("Steps")]
    step_ns: Annotated[Sequence[Ns | None], column("Step time")]
    compute_ns: Annotated[Sequence[Ns | None], column("Compute")]
    exposed_wait_ns: Annotated[Sequence[Ns | None], column("Exposed wait")]
    exposed_transfer_ns: Annotated[Sequence[Ns | None], column("Exposed transfer")]
    hidden_ns: Annotated[Sequence[Ns | None], column("Hidden")]
    own_ns: Annotated[Sequence[Ns | None], column("Own time")]
    late_ns: Annotated[Sequence[Ns | None], column("Late")]
    z: Annotated[Sequence[float | None], column("z", unit=None)]
    input_ns: Annotated[Sequence[Ns | None], column("Input")]
    host_ns: Annotated[Sequence[Ns | None], column("Host time")]
    memory_bytes: Annotated[Sequence[Bytes | None], column("Memory")]
    collectives: Annotated[Sequence[Count], column("Collectives")]
    unmatched: Annotated[Sequence[Count], column("Unmatched")]
    named: Annotated[Sequence[bool], column("Slow")]

    def __len__(self) -> int:
        return len(self.worker)

    def as_grid(self) -> Grid:
        return Grid("ranks", columns_of(type(self), found := msgspec.structs.asdict(self), {}), found, len(self))

    def to_pandas(self) -> pd.DataFrame:
        """One row per rank. Raises ModuleNotFoundError without pandas."""
        import pandas as pd

        return pd.DataFrame(msgspec.structs.asdict(self))


class Representative(Answer, frozen=True, kw_only=True):
    """A rank that represents others like it.

    worker  name of its trace
    rank    number of the rank; null if its trace does not contain it
    like    how many ranks are nearest to it, itself included
    named   whether it is a straggler
    """

    worker: str
    rank: int | None
    like: Count
    named: bool


class Clock(Answer, frozen=True, kw_only=True):
    """What to add to the times of each rank (since its own start) to have them by one clock, as parallel lists.

    workers      names of the traces
    offset_ns    by which the clock differs from that of the lowest rank at the middle of its trace, once times since
                 the epoch are compared; null if it shares no clock with it
    shift_ns     what to add to a time since the start of the trace for one since the start of the first trace: from
                 times since the epoch, with the offset where `corrected`; null likewise
    drift_ppm    how many parts in a million faster it runs; null likewise
    residual_ns  median distance of the ends of collectives from the lines; null if nothing was fitted
    corrected    whether the offsets are larger than their uncertainty; otherwise times since the epoch are used
                 unchanged
    components   how many sets of ranks there are between which clocks are known
    """

    workers: Sequence[str]
    offset_ns: Sequence[Ns | None]
    shift_ns: Sequence[Ns | None]
    drift_ppm: Sequence[float | None]
    residual_ns: NsMean | None
    corrected: bool
    components: Count


class Matched(Answer, frozen=True, kw_only=True):
    """How many collectives several ranks have.

    matched    how many are on several ranks
    unmatched  how many are on one, although its group has more here or it is point-to-point
    """

    matched: Count
    unmatched: Count


class RanksOverview(Answer, frozen=True, kw_only=True):
    """The run page: everything but tables with a row for each cell.

    tiles            a few numbers
    stragglers       named ones first, latest first; at most 20 that are only listed
    slow_links       slowest first
    representatives  ranks that represent all
    ranks            a row each, in order of rank
    steps            names of the steps of the heat maps
    metrics          what heat maps there are
    groups           process groups
    layout           inferred from them
    matched          how many collectives were matched
    missing          collectives that some rank lacks
    pipeline         null without stages
    moe              all-to-alls of unequal parts
    fsdp             all-gathers of sharded parameters
    fits             size and bandwidth
    rank_columns     what the columns of `ranks` are
    group_columns    what those of `groups` are
    moe_columns      what those of `moe` are
    fsdp_columns     what those of `fsdp` are
    fit_columns      what those of `fits` are
    confidence       how far the answer is to be trusted: high with all ranks, four steps and more
    notes            what a person should know
    """

    tiles: RunTiles
    stragglers: Sequence[Straggler]
    slow_links: Sequence[SlowLink]
    representatives: Sequence[Representative]
    ranks: RunRanks
    steps: Sequence[str]
    metrics: Sequence[Metric]
    groups: Sequence[RunGroup]
    layout: ParallelLayout
    matched: Matched
    missing: Sequence[MissingCollective]
    pipeline: Pipeline | None
    moe: Sequence[MoeImbalance]
    fsdp: Sequence[FsdpGathers]
    fits: Sequence[BandwidthFit]
    confidence: Confidence
    notes: Sequence[Note]
    rank_columns: Sequence[Definition] = columns_field("run_ranks", RunRanks)
    group_columns: Sequence[Definition] = columns_field("run_group", RunGroup)
    moe_columns: Sequence[Definition] = columns_field("moe", MoeImbalance)
    fsdp_columns: Sequence[Definition] = columns_field("fsdp", FsdpGathers)
    fit_columns: Sequence[Definition] = columns_field("bandwidth_fit", BandwidthFit)


class HeatMap(Answer, frozen=True, kw_only=True):
    """One metric of all ranks and steps.

    metric    which one
    unit      ns or bytes
    ranks     how many rows it has, in order of rank
    steps     how many columns
    values    row by row, in `unit`; null if unknown
    middle    median of the known values, in `unit`; null without any
    spread    median absolute deviation of them, in `unit`; null likewise
    outliers  the position in `values` of those more than eight deviations above the median of their step, at most 1,000
    """

    metric: Metric
    unit: Literal["ns", "bytes"]
    ranks: Count
    steps: Count
    values: Sequence[int | None]
    middle: float | None
    spread: float | None
    outliers: Sequence[Count]


#: missing collectives that are listed: the first say where ranks ran apart
MOST_MISSING = 20


class RanksSummary(Answer, frozen=True, kw_only=True):
    """`ranks` of `summary --json` and `ingest --json`.

    present      how many ranks were read
    expected     how many ranks the job has; null if the traces do not contain it
    stragglers   those that are named; where none is, the slower of two peers (`named` false, `doubt` few_peers)
    slow_links   groups or pairs whose transfers take longer
    collectives  how many were matched
    missing      collectives that a member of their group lacks, at most 20
    clock        offsets of the clocks
    """

    present: Count
    expected: Count | None
    stragglers: Sequence[Straggler]
    slow_links: Sequence[SlowLink]
    collectives: Matched
    missing: Sequence[MissingCollective]
    clock: Clock


class RunMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Which traces an answer is about.

    run    name of the run, as in `/api/status`
    span   which recording of the workers it is
    notes  what a person should know about this answer
    """

    run: str
    span: str
    notes: Sequence[Note]
