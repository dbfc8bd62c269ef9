"""StackEntries with only the Python frames of some files."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.stacks.entries import NEVER_SEEN, EntryColumns, EntryKind, Labels, StackEntries, merged
from torch_tb_profiler.arrays.grouping import sums_at
from torch_tb_profiler.arrays.nesting import nearest
from torch_tb_profiler.arrays.types import Int64

#: time in files that the filter leaves out, where it leaves nothing around them
OTHER_FILES = "(other files)"


def only_files(found: StackEntries, files: str) -> StackEntries:
    """files: words, of which a frame's file must contain one, and none of those after a -.

    The time of other frames becomes that of what is around them.
    """
    words = files.casefold().split()
    wanted = [word for word in words if not word.startswith("-")]
    unwanted = [word[1:] for word in words if word.startswith("-") and len(word) > 1]

    def keeps(name: str, kind: EntryKind) -> bool:
        if kind not in ("frame", "builtin"):
            return True
        file = name.rpartition("): ")[0].rpartition("(")[0].casefold() if kind == "frame" else ""
        return (any(w in file for w in wanted) if wanted else bool(file)) and not any(w in file for w in unwanted)

    names, kinds = found.labels.names, found.labels.kinds
    keep = np.array([keeps(name, kind) for name, kind in zip(names, kinds, strict=True)], np.bool_)[found.label]
    kept = np.flatnonzero(keep)
    place = np.full(len(found) + 1, -1, np.int64)
    place[kept] = np.arange(len(kept))
    parent = found.parent.astype(np.int32)
    # time of what is left out belongs to what is around it, at the top to an entry of its own
    owner = place[nearest(parent, keep, np.arange(len(found), dtype=np.int32))]
    owner[owner < 0] = len(kept)
    labels = Labels(list(names), list(kinds), dict(found.labels.numbers), found.labels.roles)

    def per_owner(values: Int64) -> Int64:
        return sums_at(owner, values, len(kept) + 1)

    rest = labels.number(OTHER_FILES, "other")
    raw = EntryColumns(
        parent=np.append(place[nearest(parent, keep, parent[kept])], -1),
        label=np.append(found.label[kept], rest),
        calls=np.append(found.calls[kept], 0),
        first=np.append(found.first[kept], NEVER_SEEN),
        self_host=per_owner(found.self_host),
        self_device=per_owner(found.self_device),
    )
    return merged(raw, labels, found.no_stack_ns, found.has_frames)
