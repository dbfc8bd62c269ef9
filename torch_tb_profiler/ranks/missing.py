"""Why an answer about several ranks is partial or empty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from torch_tb_profiler.arrays.types import Bool
from torch_tb_profiler.model.communication_names import KINDS, POINT_TO_POINT
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.rank import Rank
from torch_tb_profiler.trace import Note

_TOUCHES = ("distributed",)
#: of ranks in a sentence
MOST_NAMES = 4


def what_is_missing(
    ranks: Sequence[Rank], groups: Sequence[tuple[ProcessGroup, int]], is_known: Sequence[Bool]
) -> Iterator[Note]:
    """groups: each with the number of its ranks that are here; is_known: of each operation of each rank, as matched."""
    silent = [rank.worker for rank in ranks if not len(rank.communications)]
    if silent:
        yield Note(
            "no_communication",
            "info",
            f"No communication was found in the trace of {_list(silent)}: the program did none while it was recorded, "
            "or it uses a library whose kernels are not known.",
            count=len(silent),
            touches=_TOUCHES,
            values={"workers": ", ".join(silent[:MOST_NAMES]), "more": max(len(silent) - MOST_NAMES, 0)},
        )
    if len(silent) == len(ranks):
        return
    if all(of.size == 1 for of, _ in groups):
        # nobody to wait for
        pass
    elif len(ranks) == 1:
        yield Note(
            "one_rank",
            "info",
            "There is the trace of one rank only, so waiting cannot be told from transferring: how much of the time of "
            "an operation is waiting is not known. Record all ranks into one directory to see who waits.",
            touches=_TOUCHES,
        )
    elif missing := [(of, present) for of, present in groups if of.size > present]:
        told = "; ".join(f"group {of.description or of.name or 'of all ranks'}: {n} of {of.size}" for of, n in missing)
        yield Note(
            "missing_ranks",
            "warning",
            f"Traces of some ranks are missing ({told}). The transfer time is the shortest time among the ranks that "
            "are here, so it may be too long and the waiting too short.",
            count=len(missing),
            touches=_TOUCHES,
            values={"groups": "; ".join(f"{of.description or of.name or '*'}: {n}/{of.size}" for of, n in missing)},
        )
    yield from _about_operations(ranks, is_known)
    if any(not of.name and not of.ranks for of, _ in groups):
        yield Note(
            "unknown_groups",
            "info",
            "The traces do not say in which process group each operation ran: torch records it since 2.3. They are "
            "taken as one group of all ranks.",
            touches=_TOUCHES,
        )


def _about_operations(ranks: Sequence[Rank], is_known: Sequence[Bool]) -> Iterator[Note]:
    pairs = [KINDS.index(kind) for kind in POINT_TO_POINT]
    between_two = sum(
        int((np.isin(rank.communications.operations.kind, pairs) & ~known).sum())
        for rank, known in zip(ranks, is_known, strict=True)
    )
    if between_two:
        yield Note(
            "point_to_point",
            "info",
            "Sends and receives whose other rank the trace does not name, or whose other rank is not here, are not "
            "matched: how much of their time is waiting is not known.",
            count=between_two,
            touches=_TOUCHES,
        )
    unsized = sum(int((rank.communications.operations.in_bytes < 0).sum()) for rank in ranks)
    if unsized:
        yield Note(
            "unknown_sizes",
            "info",
            "The sizes of some operations are not in the trace, so they are missing in sums and bandwidths.",
            count=unsized,
            touches=_TOUCHES,
            remedy="profile(record_shapes=True)",
        )
    untimed = sum(int((rank.communications.duration < 0).sum()) for rank in ranks)
    if untimed:
        yield Note(
            "no_kernel",
            "info",
            "Operations that were called while the trace was recorded but whose kernels are not in it. They are "
            "counted and have no time.",
            count=untimed,
            touches=_TOUCHES,
        )


def _list(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join(names[:MOST_NAMES]) + (f" and {more} more" if more > 0 else "")
