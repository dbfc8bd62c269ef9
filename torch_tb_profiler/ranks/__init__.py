"""Questions that need several ranks: which operations belong together, who waited for whom, what the job runs on.

Belongs here: what the traces of one run and span say together. From each trace only its `Rank` (this run's page of
waits) or its `RankSummary` (everything else) is kept, both small: one model at most is in memory. Does not belong here:
what one trace says alone (`analysis`).
"""

from __future__ import annotations

from torch_tb_profiler.ranks.distributed import DistributedRanks, distributed
from torch_tb_profiler.ranks.rank import Rank, RankIdentity, identity_of, is_distributed, rank_of

__all__ = ["DistributedRanks", "Rank", "RankIdentity", "distributed", "identity_of", "is_distributed", "rank_of"]
