"""Which entries of two sequences belong together: the most pairs of equal keys that keep the order of both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

#: a table of the sequences is kept as bits up to this many, 50 MB; longer ones are matched from left to right
MOST_BITS = 400_000_000

Pair = tuple[int, int]


def align(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Pairs of positions, ascending on both sides; among equally many those that keep the first on the left."""
    head = 0
    while head < min(len(left), len(right)) and left[head] == right[head]:
        head += 1
    tail = 0
    while tail < min(len(left), len(right)) - head and left[-1 - tail] == right[-1 - tail]:
        tail += 1
    a, b = left[head : len(left) - tail], right[head : len(right) - tail]
    middle = _longest(a, b) if len(a) * len(b) <= MOST_BITS else _greedy(a, b)
    return [
        *((i, i) for i in range(head)),
        *((i + head, j + head) for i, j in middle),
        *((len(left) - k, len(right) - k) for k in range(tail, 0, -1)),
    ]


def _longest(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Longest common subsequence, a row of the table at a time in the bits of one integer.

    Both sequences are read backwards. Bit j of row i is 0 where the entry right[j] from its end adds to the longest
    match of what follows left[i].
    """
    width = len(right)
    whole = (1 << width) - 1
    where: dict[Hashable, int] = defaultdict(int)
    for j, key in enumerate(reversed(right)):
        where[key] |= 1 << j
    rows = [whole]
    for key in reversed(left):
        row = rows[-1]
        matched = row & where.get(key, 0)
        rows.append(((row + matched) | (row - matched)) & whole)
    pairs: list[Pair] = []
    i, j = 0, 0
    # the length of the match of left[i:] and right[j:] is the number of zeros in the lower bits of row i
    while i < len(left) and j < width:
        if left[i] == right[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif rows[len(left) - i] >> (width - 1 - j) & 1:
            j += 1
        else:
            i += 1
    return pairs


def _greedy(left: Sequence[Hashable], right: Sequence[Hashable]) -> list[Pair]:
    """Each entry with the next equal one."""
    where: dict[Hashable, list[int]] = defaultdict(list)
    for j in range(len(right) - 1, -1, -1):
        where[right[j]].append(j)
    pairs: list[Pair] = []
    cursor = 0
    for i, key in enumerate(left):
        places = where.get(key, [])
        while places and places[-1] < cursor:
            places.pop()
        if places:
            cursor = places.pop() + 1
            pairs.append((i, cursor - 1))
    return pairs
