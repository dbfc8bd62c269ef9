"""Look-ups of tokens: what a language model begins a pass with, and how many tokens the pass has."""

from __future__ import annotations

import json

import msgspec
import numpy as np

from torch_tb_profiler.analysis.cached import cached
from torch_tb_profiler.arrays.lookup import take_known
from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.model import Model


class Lookups(msgspec.Struct, frozen=True):
    """Look-ups in the table of tokens, which has the most rows of all; parallel, by start.

    node, track     in the call tree
    batch, length   of the index: requests and new tokens of each; batch -1 where all tokens stand in one row
    """

    node: Int64
    track: Int64
    start: Int64
    batch: Int64
    length: Int64

    def within(self, track: int, start: int, end: int) -> tuple[int, int] | None:
        """The first that begins in a stretch of time of a thread."""
        low, high = np.searchsorted(self.start, [start, end])
        for at in range(int(low), int(high)):
            if self.track[at] == track:
                return int(self.batch[at]), int(self.length[at])
        return None


@cached
def lookups(model: Model) -> Lookups:
    tree, strings = model.tree, model.trace.strings
    code = strings.code("aten::embedding")
    node = np.flatnonzero((tree.name == code) & tree.is_operator) if code >= 0 else np.empty(0, np.int64)
    node = node[np.argsort(tree.start[node], kind="stable")]
    shapes = [
        _index(strings[int(dims)]) for dims in take_known(model.trace.operators.input_dims, tree.operator[node], 0)
    ]
    largest = max((shape[0] for shape in shapes if shape is not None), default=0)
    kept = [at for at, shape in enumerate(shapes) if shape is not None and shape[0] == largest]
    node = node[kept]
    told = [shape for shape in shapes if shape is not None and shape[0] == largest]
    return Lookups(
        node=node,
        track=tree.track[node].astype(np.int64),
        start=tree.start[node],
        batch=np.array([shape[1] for shape in told], np.int64),
        length=np.array([shape[2] for shape in told], np.int64),
    )


def _index(dims: str) -> tuple[int, int, int] | None:
    """Rows of the table, requests (-1: not told apart) and tokens of the index; None of what is no look-up."""
    try:
        table, index = json.loads(dims)[:2]
        sizes = [int(each) for each in (*table, *index)]
    except (ValueError, TypeError, KeyError, RecursionError, OverflowError):
        return None
    if len(table) != 2 or len(index) not in (1, 2) or not all(0 < each < 2**48 for each in sizes):
        return None
    return (sizes[0], sizes[2], sizes[3]) if len(index) == 2 else (sizes[0], -1, sizes[2])
