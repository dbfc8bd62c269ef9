"""Damage of files: what disks, crashes and broken copies do to bytes."""

from __future__ import annotations

import random
from collections.abc import Callable

Damage = Callable[[random.Random, bytes], bytes]


def _flip(dice: random.Random, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(dice.choice((1, 1, 2, 9))):
        changed[dice.randrange(len(changed))] ^= 1 << dice.randrange(8)
    return bytes(changed)


def _cut(dice: random.Random, content: bytes) -> bytes:
    return content[: dice.randrange(len(content))]


def _hole(dice: random.Random, content: bytes) -> bytes:
    begin = dice.randrange(len(content))
    end = min(len(content), begin + dice.choice((1, 64, 512, 4096)))
    return content[:begin] + bytes(end - begin) + content[end:]


def _lost(dice: random.Random, content: bytes) -> bytes:
    begin = dice.randrange(len(content))
    return content[:begin] + content[begin + dice.choice((1, 7, 512)) :]


def _doubled(dice: random.Random, content: bytes) -> bytes:
    begin = dice.randrange(len(content))
    return content[:begin] + content[max(0, begin - dice.choice((1, 50, 4096))) :]


def _noise(dice: random.Random, content: bytes) -> bytes:
    begin = dice.randrange(len(content))
    return content[:begin] + dice.randbytes(dice.choice((1, 16, 300))) + content[begin:]


def _behind(dice: random.Random, content: bytes) -> bytes:
    return content + dice.choice((bytes(dice.choice((1, 64, 4096))), dice.randbytes(dice.choice((1, 8, 300))), content))


def _short(dice: random.Random, content: bytes) -> bytes:
    return content[: -dice.randrange(1, 13)]


def _emptied(_: random.Random, __: bytes) -> bytes:
    return b""


DAMAGES: dict[str, Damage] = {
    "flip": _flip,
    "cut": _cut,
    "hole": _hole,
    "lost": _lost,
    "doubled": _doubled,
    "noise": _noise,
    "behind": _behind,
    "short": _short,
    "emptied": _emptied,
}


def damaged(kind: str, dice: random.Random, content: bytes) -> bytes:
    return DAMAGES[kind](dice, content) if content else b"x"
