"""What commands say of all ranks of a run: `ranks` of `summary --json`."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.answer import Answer, Count
from torch_tb_profiler.ranks.run_answers import Clock, Matched, MissingCollective, SlowLink, Straggler

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
