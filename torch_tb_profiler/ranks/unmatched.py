"""What to say about operations that belong to no other rank's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from torch_tb_profiler.arrays.grouping import each_value
from torch_tb_profiler.arrays.types import Bool, Int64
from torch_tb_profiler.model.communication_names import KINDS
from torch_tb_profiler.model.process_groups import ProcessGroup
from torch_tb_profiler.ranks.operations import Operations, Together
from torch_tb_profiler.reason import Value
from torch_tb_profiler.trace import Note, note

_TOUCHES = ("distributed",)


def notes_about(found: Together, matched: Bool) -> tuple[Note, ...]:
    """About collectives of groups of which several ranks are here."""
    of = found.operations
    chosen = np.flatnonzero(~of.is_between_two & _has_company(of, len(found.groups)))
    return (*_unequal_counts(of, found.groups, chosen), *_unmatched(of, chosen, matched))


def _has_company(of: Operations, groups: int) -> Bool:
    """Of each operation whether another rank has operations of its group."""
    pairs = np.unique(np.stack([of.group, of.rank]), axis=1)
    ranks: Bool = np.bincount(pairs[0], minlength=groups + 1)[of.group] > 1
    return ranks


def _unequal_counts(of: Operations, groups: tuple[ProcessGroup, ...], chosen: Int64) -> Iterator[Note]:
    said: list[dict[str, Value]] = []
    kinds, place = np.unique(np.stack([of.group[chosen], of.kind[chosen]]), axis=1, return_inverse=True)
    of_group = {group: np.unique(of.rank[chosen[some]]) for group, some in each_value(of.group[chosen])}
    of_kind = dict(each_value(place.ravel()))
    for number, (at, kind) in enumerate(kinds.T.tolist()):
        ranks = of_group[at]
        counts = np.bincount(of.rank[chosen[of_kind[number]]], minlength=int(ranks.max()) + 1)[ranks]
        if counts.min() == counts.max():
            continue
        label = groups[at].description or groups[at].name
        fewest, most = int(counts.min()), int(counts.max())
        said.append({"operation": KINDS[kind], "group": label, "fewest": fewest, "most": most})
    if said:
        yield note(
            "unequal_counts",
            "warning",
            len(said),
            _TOUCHES,
            listed={"operations": said},
            values={"operations": "; ".join("{operation} {group}: {fewest}–{most}".format_map(each) for each in said)},
        )


def _unmatched(of: Operations, chosen: Int64, matched: Bool) -> Iterator[Note]:
    alone = chosen[~matched[chosen]]
    if len(alone):
        kinds, counts = np.unique(of.kind[alone], return_counts=True)
        told = "; ".join(f"{KINDS[kind]}: {count}" for kind, count in zip(kinds.tolist(), counts.tolist(), strict=True))
        yield note(
            "unmatched_operations",
            "warning",
            len(alone),
            _TOUCHES,
            values={"unmatched": len(alone), "all": len(chosen), "operations": told},
        )
