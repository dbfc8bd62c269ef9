"""What decides what to do about transfers that nothing hides: what is sent, or what holds it up."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.rule import Link, link
from torch_tb_profiler.insights.shared.held_transfers import Held
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_names import KINDS

#: what takes most of the time
Sent = Literal["gradients", "exchanges", "others", Held]

#: what is advised without a word on who waits for whom is true of all
_OF_ALL: Mapping[Sent, frozenset[Held]] = {"gradients": frozenset(("asynchronous", "queued"))}
_LINKS: Mapping[Sent, str] = {
    "gradients": "ddp_hooks",
    "exchanges": "all_to_all",
    "others": "asynchronous_collectives",
}


def transfer_links(sent: Sent) -> tuple[Link, ...]:
    """The page on what to do, where there is one."""
    return (link(_LINKS[sent]),) if sent in _LINKS else ()


def most_sent(ranks: Iterable[tuple[Communications, Int64]], is_training: bool, held: Held | None) -> Sent:
    """What most of the time goes to, or what holds it up where the advice on that would be wrong.

    ranks   of each its communication, and the time of each operation, ns; below 0 where it is not known
    held    what holds up most of it; None where that may be the host
    """
    sent = _most_time(ranks, is_training)
    return sent if held is None or held in _OF_ALL.get(sent, ()) else held


def _most_time(ranks: Iterable[tuple[Communications, Int64]], is_training: bool) -> Sent:
    spent = np.zeros(len(KINDS))
    for of, ns in ranks:
        spent += np.bincount(of.operations.kind, np.maximum(ns, 0), len(KINDS))
    kind = KINDS[int(np.argmax(spent))]
    if kind == "all_to_all":
        return "exchanges"
    return "gradients" if is_training and kind in ("all_reduce", "reduce_scatter") else "others"
