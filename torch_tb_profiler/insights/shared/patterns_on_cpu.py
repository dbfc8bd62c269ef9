"""Parts of a program on the CPU that one operator could do: attention and norms that are written out."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec
import numpy as np

from torch_tb_profiler.analysis.replay.changes import ScaleHost, scale
from torch_tb_profiler.arrays.types import Int32
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.shared.operator_line import operator_line
from torch_tb_profiler.insights.shared.patterns import LEFT


class WrittenOut(msgspec.Struct, frozen=True):
    """What several operators do in the steps.

    rows    the longest operator of each, that which takes most first
    ns      what all of them take
    calls   how often
    pieces  how many operators there are
    change  what one operator takes in their place: those that stay, and `LEFT` of the others
    """

    rows: Int32
    ns: int
    calls: int
    pieces: int
    change: ScaleHost


def written_out(facts: Facts, spans: Sequence[tuple[int, int]], stays: str = "") -> WrittenOut | None:
    """Stretches of the operator line of a program on the CPU; None for none in the steps.

    stays   letters of operators that take as long as before; without any the longest of each stretch
    """
    line, tree = operator_line(facts.model), facts.model.tree
    longest: list[int] = []
    less: list[int] = []
    ns = pieces = 0
    for first, after in spans:
        rows = tree.row[line.node[first:after]]
        if int(facts.step_of(rows[:1])[0]) < 0:
            continue
        duration = facts.duration(rows)
        at = int(np.argmax(duration))
        kept = [letter in stays for letter in line.text[first:after]] if stays else np.arange(len(rows)) == at
        less += rows[~np.asarray(kept, np.bool_)].tolist()
        longest.append(int(rows[at]))
        ns, pieces = ns + int(duration.sum()), pieces + len(rows)
    if not longest:
        return None
    found = facts.longest_first(np.array(longest, np.int32))
    return WrittenOut(found, ns, len(longest), pieces, scale("operator", LEFT, rows=less))
