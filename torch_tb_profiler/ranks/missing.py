"""Why an answer about several ranks is partial or empty."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model.communication_names import KINDS, POINT_TO_POINT
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.rank import Rank
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Note, note

_TOUCHES = ("distributed",)
#: of ranks in a sentence
MOST_NAMES = 4


def what_is_missing(
    ranks: Sequence[Rank], groups: Sequence[tuple[ProcessGroup, int]], is_known: Sequence[Bool]
) -> Iterator[Note]:
    """groups: each with the number of its ranks that are here; is_known: of each operation of each rank, as matched."""
    silent = [rank.worker for rank in ranks if not len(rank.communications)]
    if silent:
        yield note(
            "no_communication",
            "info",
            len(silent),
            _TOUCHES,
            values={"workers": ", ".join(silent[:MOST_NAMES]), "more": max(len(silent) - MOST_NAMES, 0)},
        )
    if len(silent) == len(ranks):
        return
    if all(of.size == 1 for of, _ in groups):
        # nobody to wait for
        pass
    elif len(ranks) == 1:
        yield note("one_rank", "info", touches=_TOUCHES)
    elif missing := [(of, here) for of, here in groups if of.size > here]:
        parts: list[Mapping[str, Value]] = [
            {"group": of.description or of.name or "", "here": here, "size": of.size} for of, here in missing
        ]
        yield note(
            "missing_ranks",
            "warning",
            len(missing),
            _TOUCHES,
            values={"groups": "; ".join(f"{each['group'] or '*'}: {each['here']}/{each['size']}" for each in parts)},
            listed={"groups": parts},
        )
    yield from _about_operations(ranks, is_known)
    if any(not of.name and not of.ranks for of, _ in groups):
        yield note("unknown_groups", "info", touches=_TOUCHES)


def _about_operations(ranks: Sequence[Rank], is_known: Sequence[Bool]) -> Iterator[Note]:
    pairs = [KINDS.index(kind) for kind in POINT_TO_POINT]
    between_two = sum(
        int((np.isin(rank.communications.operations.kind, pairs) & ~known).sum())
        for rank, known in zip(ranks, is_known, strict=True)
    )
    if between_two:
        yield note("point_to_point", "info", between_two, _TOUCHES)
    unsized = sum(int((rank.communications.operations.in_bytes < 0).sum()) for rank in ranks)
    if unsized:
        yield note("unknown_sizes", "info", unsized, _TOUCHES)
    untimed = sum(int((rank.communications.duration < 0).sum()) for rank in ranks)
    if untimed:
        yield note("no_kernel", "info", untimed, _TOUCHES)
