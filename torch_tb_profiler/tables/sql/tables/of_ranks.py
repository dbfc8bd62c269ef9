"""What the ranks of a run say together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from torch_tb_profiler.ranks.reduction import RunResult
from torch_tb_profiler.ranks.run.answers import RunRanks
from torch_tb_profiler.ranks.run.group_answers import CollectiveRow
from torch_tb_profiler.tables.sql.columns import of_answer
from torch_tb_profiler.tables.sql.tables.table import RunTable

#: of a collective, in the order of the table
_NAMES = (
    *("name", "kind", "group", "group_number", "link", "dtype", "bytes", "ranks", "size", "calls", "matched"),
    *("transfer_ns", "wait_ns", "algbw", "busbw", "algorithm", "peak", "peak_share", "culprit", "culprit_worker"),
    *("culprit_share", "worker", "row"),
)


def _ranks(found: RunResult) -> Mapping[str, Sequence[object]]:
    return msgspec.structs.asdict(found.overview.ranks)


def _collectives(found: RunResult) -> Mapping[str, Sequence[object]]:
    return {name: [getattr(row, name) for row in found.collectives] for name in _NAMES}


RANKS = RunTable("ranks", "a rank; times are medians over its steps", of_answer(RunRanks), _ranks)

COLLECTIVES = RunTable(
    "collectives",
    "collectives of one name, group, size and element type, matched across the ranks",
    of_answer(CollectiveRow, _NAMES),
    _collectives,
)
