"""Attention over sequences behind one another: no shape says how long each is, so FLOP lie between two numbers.

Recorded are all rows together, how many sequences there are, and how long the longest may be.
"""

from __future__ import annotations

from msgspec.structs import replace

from torch_tb_profiler.analysis.flops.arguments import Arguments, Tensor
from torch_tb_profiler.analysis.flops.work import Between, NotKnown, Sure, Unknown, Work, not_known
from torch_tb_profiler.analysis.numerals import whole_number


def of_packed(
    given: Arguments, first: int, lengths: int, causal: bool | None, window: tuple[int, int] | None, backward: bool
) -> Work:
    """What is moved, and what FLOP lie between. Raises one of `arguments.ERRORS`, or NotKnown.

    first      where q stands; k and v follow
    lengths    where the cumulated lengths of q stand; those of k, and the longest of either, follow
    causal     None: not known
    window     how many keys each query sees before and behind it; negative: all
    backward   the gradient stands in front, and scores are computed again
    """
    q, k, v = (given.tensor(first + at) for at in range(3))
    if min(len(q.dims), len(k.dims), len(v.dims)) < 3 or q.kind != k.kind:
        raise NotKnown(Unknown.CONTENTS)
    out = q.elements // max(q.dims[-1], 1) * v.dims[-1] * q.size
    moved = q.bytes + k.bytes + v.bytes + out
    size = 2 * moved + out if backward else moved
    work = replace(not_known(Unknown.CONTENTS), bytes=size, data=q.data, sure=Sure.BOUND)
    pairs = _pairs(given, lengths, q, k, causal, window)
    if pairs is None or v.dims[:-1] != k.dims[:-1] or q.dims[-1] != k.dims[-1]:
        return work
    once = 2 * q.dims[-2]
    needs = once * (2 * (q.dims[-1] + v.dims[-1]) if backward else q.dims[-1] + v.dims[-1])
    does = once * (3 * q.dims[-1] + 2 * v.dims[-1]) if backward else needs
    least, most = pairs
    return replace(work, between=Between(does * least, does * most, needs * least, needs * most))


def _pairs(
    given: Arguments, lengths: int, q: Tensor, k: Tensor, causal: bool | None, window: tuple[int, int] | None
) -> tuple[int, int] | None:
    """How many pairs of a query and a key there are at least and at most; None if nothing can be said.

    Of sequences that attend to themselves the sum of squares is least where all are of one length, if no row is left
    over at the end. Where queries and keys differ there may be none.
    """
    if any(len(each.dims) > 3 and each.elements != _packed_elements(each) for each in (q, k)):
        return None
    count = given.tensor(lengths).elements - 1 if len(given.tensor(lengths).dims) == 1 else 0
    queries, keys = q.dims[-3], k.dims[-3]
    longest_q, longest = (_longest(given, lengths + 2, queries), _longest(given, lengths + 3, keys))
    alike = queries == keys and longest_q == longest
    seen = longest
    if window is not None and min(window) >= 0:
        seen = min(seen, window[0] + (0 if causal else window[1]) + 1)
    most = queries * seen
    if not alike or count < 1 or queries > count * longest:
        return 0, most
    if causal:
        most = min(most, queries * (longest + 1) // 2)
    squares = queries * queries // count
    if window is not None and max(window) >= 0:
        squares = queries  # each sees itself
    least = squares if causal is False else (squares + queries) // 2
    return min(least, most), most


def _packed_elements(tensor: Tensor) -> int:
    """Of (1, rows, heads, size)."""
    rows, heads, size = tensor.dims[-3:]
    return rows * heads * size


def _longest(given: Arguments, at: int, rows: int) -> int:
    """How long the longest sequence may be: a recorded number, or all rows."""
    text = given.concrete[at] if at < len(given.concrete) else ""
    found = whole_number(text) or 0
    return found if 0 < found < rows else rows
