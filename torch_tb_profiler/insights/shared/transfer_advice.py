"""What to do about transfers that nothing hides: by what is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.rule import Link
from torch_tb_profiler.insights.shared.held_transfers import Held
from torch_tb_profiler.insights.shared.links import ALL_TO_ALL
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_names import KINDS

Sent = Literal["gradients", "exchanges", "others", Held]

#: by what takes most of the time
ADVICE: dict[Sent, str] = {
    "gradients": (
        "Send less, or send it while something is computed: larger buckets with "
        "`DistributedDataParallel(…, bucket_cap_mb=…, gradient_as_bucket_view=True)`, a communication hook such as "
        "`bf16_compress_hook`, or gradients accumulated under `no_sync()`."
    ),
    "exchanges": (
        "Send less in all-to-all exchanges, or send it while something is computed: a shorter type, the exchange of "
        "one half of the batch while the other half is computed (`all_to_all_single(…, async_op=True)`, and `wait()` "
        "where the result is used), and ranks that exchange most on one host."
    ),
    "others": (
        "Send it while something else is computed (`async_op=True`, and `wait()` where the result is used), or send "
        "less: a shorter type, or fewer ranks to a group."
    ),
    "overtaken": (
        "They are asynchronous already, and kernels that were launched later run first. With "
        "`CUDA_DEVICE_MAX_CONNECTIONS=1` streams share one queue of the device: set it to 8 or more, unless the "
        "framework needs that order. Kernels that fill all multiprocessors leave none for a collective: give its "
        "stream a high priority. Or its stream waits for an event of theirs (`wait_stream`): let it wait for what "
        "makes its input alone."
    ),
    "asynchronous": (
        "They are asynchronous already, and what is computed beside them is too little: start them earlier, call "
        "`wait()` later, where the result is used, or send less: a shorter type, or fewer ranks to a group."
    ),
    "queued": (
        "The host does not hold them up: it launched them long before, and on the device they come behind all kernels "
        "that were launched before them. Call them before kernels that do not make their input, give the device "
        "something to compute that does not need their result, or send less: a shorter type, or fewer ranks to a group."
    ),
}
#: what is advised without a word on who waits for whom is true of all
_OF_ALL: Mapping[Sent, frozenset[Held]] = {"gradients": frozenset(("asynchronous", "queued"))}
LINKS: dict[Sent, tuple[Link, ...]] = {
    "gradients": (
        Link(
            "ddp_hooks",
            "Communication hooks of DDP",
            "https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html",
        ),
    ),
    "exchanges": (ALL_TO_ALL,),
    "overtaken": (),
    "asynchronous": (),
    "queued": (),
    "others": (
        Link(
            "asynchronous_collectives",
            "Synchronous and asynchronous collective operations",
            "https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations",
        ),
    ),
}


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
