"""What to do about transfers that nothing hides: by what is sent."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from torch_tb_profiler.arrays.types import Int64
from torch_tb_profiler.insights.rule import Link
from torch_tb_profiler.insights.shared.links import ALL_TO_ALL
from torch_tb_profiler.model.communication import Communications
from torch_tb_profiler.model.communication_names import KINDS

Sent = Literal["gradients", "exchanges", "others"]

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
}
LINKS: dict[Sent, tuple[Link, ...]] = {
    "gradients": (
        Link(
            "ddp_hooks",
            "Communication hooks of DDP",
            "https://docs.pytorch.org/docs/stable/ddp_comm_hooks.html",
        ),
    ),
    "exchanges": (ALL_TO_ALL,),
    "others": (
        Link(
            "asynchronous_collectives",
            "Synchronous and asynchronous collective operations",
            "https://docs.pytorch.org/docs/stable/distributed.html#synchronous-and-asynchronous-collective-operations",
        ),
    ),
}


def most_sent(ranks: Iterable[tuple[Communications, Int64]], is_training: bool) -> Sent:
    """What most of the time goes to.

    ranks   of each its communication, and the time of each operation, ns; below 0 where it is not known
    """
    spent = np.zeros(len(KINDS))
    for of, ns in ranks:
        spent += np.bincount(of.operations.kind, np.maximum(ns, 0), len(KINDS))
    kind = KINDS[int(np.argmax(spent))]
    if kind == "all_to_all":
        return "exchanges"
    return "gradients" if is_training and kind in ("all_reduce", "reduce_scatter") else "others"
