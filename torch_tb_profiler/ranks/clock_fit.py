"""One clock for all ranks of a run: for the timeline, never for sums."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.ranks.clock_lines import LOOSE_BACKENDS, TOGETHER, GroupEnds, RankEnds, common_lines
from torch_tb_profiler.ranks.run_answers import Clock
from torch_tb_profiler.ranks.run_data import RunData

#: collectives that a line is fitted to at most
MOST_POINTS = 512


def fit_clocks(run: RunData) -> Clock:
    """The clocks of all ranks of a run beside that of its first."""
    return common_lines([_ends(run, rank) for rank in range(len(run))])


def _ends(run: RunData, rank: int) -> RankEnds:
    head = run.heads[rank]
    middle = head.origin_ns + (head.first_ns + head.last_ns) // 2
    groups = () if head.backend in LOOSE_BACKENDS else _groups(run, rank)
    return RankEnds(head.worker, head.host, head.origin_ns, middle, groups)


def _groups(run: RunData, rank: int) -> list[GroupEnds]:
    of, rows = run.summaries[rank].timed, run.rows(rank)
    chosen = np.flatnonzero((rows.number >= 0) & (of.duration >= 0) & np.isin(of.kind, TOGETHER))
    chosen = chosen[run.is_shared[rows.number[chosen]]]
    group = run.join.group_numbers(of.groups)[of.group[chosen]]
    origin = run.heads[rank].origin_ns
    found = []
    for at, of_group in each_value(group):
        mine = chosen[of_group[:: max(1, -(-len(of_group) // MOST_POINTS))]]
        ends = GroupEnds(at, rows.number[mine], of.end[mine] + origin)
        found.append((run.join.groups[at].size, len(of_group), ends))
    found.sort(key=lambda each: (-each[0], -each[1], each[2].group))
    return [ends for _, _, ends in found]
