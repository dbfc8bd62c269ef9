"""Memory snapshots in which single values are replaced by hostile ones."""

from __future__ import annotations

import pickle
import random
from typing import Any

from tests.snapshots import random_run

_SELF: list[Any] = []
_SELF.append(_SELF)

VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    2**31,
    2**53 + 1,
    2**63 - 1,
    2**63,
    -(2**63),
    2**64,
    10**400,
    1.5,
    1e308,
    float("nan"),
    float("inf"),
    "",
    "alloc",
    "\ud800",
    "a\x00b",
    "<script>alert(1)</script>",
    "x" * 100_000,
    b"\xff",
    [],
    [None],
    [[[]]],
    [1, "a", {}],
    {},
    {1: 2},
    {"frames": None},
    (),
    (1, 2),
    _SELF,
)


def hostile_snapshot(seed: int, changes: int = 4) -> bytes:
    """The pickle of a seed: always the same."""
    dice = random.Random(seed)
    run = random_run(seed % 5, steps=1, expandable=bool(seed % 2))
    root = pickle.loads(pickle.dumps(run.snapshot()))
    for _ in range(changes):
        holder, key = _place(dice, root)
        holder[key] = dice.choice(VALUES)
    return pickle.dumps(root, protocol=dice.choice((2, 4, 5)))


def _place(dice: random.Random, root: Any) -> tuple[Any, Any]:
    """A container and a key or index in it, at any depth."""
    holder, key = root, dice.choice(sorted(root, key=str))
    while isinstance(holder[key], dict | list) and holder[key] and holder[key] is not holder and dice.random() < 0.9:
        holder = holder[key]
        key = dice.choice(sorted(holder, key=str)) if isinstance(holder, dict) else dice.randrange(len(holder))
    return holder, key
