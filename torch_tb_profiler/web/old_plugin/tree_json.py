"""JSON of trees of any depth, without recursion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator


def nested(nodes: Iterable[tuple[int, bytes]]) -> bytes:
    """The elements of a JSON array from nodes in preorder: depth, and the object to which `children` is added."""
    return b"".join(nested_pieces(nodes))


def nested_pieces(nodes: Iterable[tuple[int, bytes]]) -> Iterator[bytes]:
    """The same in pieces, one for each node and one for the end."""
    open_ = 0
    for depth, item in nodes:
        closing = b"]}" * (open_ - depth) + b"," if depth < open_ else b""
        yield b"".join((closing, item[:-1], b',"children":['))
        open_ = depth + 1
    yield b"]}" * open_
