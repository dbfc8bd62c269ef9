"""JSON of trees of any depth, without recursion."""

from __future__ import annotations

from collections.abc import Iterable


def nested(nodes: Iterable[tuple[int, bytes]]) -> bytes:
    """The elements of a JSON array from nodes in preorder: depth, and the object to which `children` is added."""
    pieces: list[bytes] = []
    open_ = 0
    for depth, item in nodes:
        if depth < open_:
            pieces.append(b"]}" * (open_ - depth))
        if pieces and depth <= open_ and not pieces[-1].endswith(b"["):
            pieces.append(b",")
        pieces.append(item[:-1] + b',"children":[')
        open_ = depth + 1
    pieces.append(b"]}" * open_)
    return b"".join(pieces)
