"""What entries of stacks are known as: numbers made of the names on the way to them, the same in every trace."""

from __future__ import annotations

import numpy as np

from torch_tb_profiler.analysis.stacks.entries import Hash
from torch_tb_profiler.arrays.rollup import Rollup
from torch_tb_profiler.arrays.types import Int64

_MULTIPLIER = 6364136223846793005
_INVERSE = pow(_MULTIPLIER, -1, 2**64)
#: ids are read by JavaScript, whose whole numbers end at 2**53
_UNUSED_BITS = np.uint64(12)


def onwards(state: Hash, hashes: Hash) -> Hash:
    """The state after one more name each; that of the top is 0."""
    return state * np.uint64(_MULTIPLIER) + hashes


def ids(state: Hash) -> Int64:
    """Never 0, which stands for everything."""
    return np.maximum((state >> _UNUSED_BITS).astype(np.int64), 1)


class TextHashes:
    """States after the names from nodes of a forest upwards, without walking there.

    hashes   shape (n,): of the name of each node
    """

    def __init__(self, walks: Rollup, hashes: Hash) -> None:
        self._walks = walks
        self._sums = np.append(walks.folded(hashes, _INVERSE), np.uint64(0))  # the last place is beyond the root
        powers = np.full(int(walks.length.max(initial=0)) + 1, _MULTIPLIER, np.uint64)
        powers[0] = 1
        self._powers: Hash = np.multiply.accumulate(powers)
        inverses = np.full(len(powers), _INVERSE, np.uint64)
        inverses[0] = 1
        self._inverses: Hash = np.multiply.accumulate(inverses)

    def of(self, node: Int64, labels: Int64, state: np.uint64) -> Hash:
        """From a state on, after so many names from each node upwards: one or more, but no more than there are.

        node, labels   shape (m,)
        Returns shape (m,): what `onwards` gives one name after the other.
        """
        beyond = self._walks.ancestor(node, labels)
        sums: Hash = self._sums[node] - self._inverses[labels] * self._sums[beyond]
        found: Hash = state * self._powers[labels] + self._powers[labels - 1] * sums
        return found
