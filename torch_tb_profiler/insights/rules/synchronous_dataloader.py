"""The main process makes its batches itself, while the steps wait."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from torch_tb_profiler.arrays.order import median
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Found, Rule
from torch_tb_profiler.insights.shared.loading import (
    DATA_LOADING,
    FEWEST,
    beyond,
    fetches_of,
    launch_inside,
    loader_evidence,
    own_code_within,
)
from torch_tb_profiler.insights.shared.wording import ms

#: workers surely help if a batch takes this many times as long as its hand-over by a worker
SURE = 4


def _find(facts: Facts) -> Sequence[Found]:
    found = fetches_of(facts)
    rows = facts.longest_first(found.take(found.synchronous).row)
    took = facts.duration(rows)
    hand_over = facts.limit("synchronous_dataloader", "hand_over_ns")
    share = facts.share(float(took.sum()))
    if not len(rows) or share < facts.limit("synchronous_dataloader", "least_share"):
        return ()
    usual = median(took)
    if usual < facts.limit("synchronous_dataloader", "least_times_hand_over") * hand_over:
        return ()
    if len(rows) < FEWEST and took.max() > facts.limit("synchronous_dataloader", "most_times_fastest") * took.min():
        return ()  # what is slow once, and seldom seen, is a beginning
    on_device = 2 * int(np.count_nonzero(launch_inside(facts, rows))) > len(rows)
    own = own_code_within(facts, rows)
    return (
        Found(
            title="Batches are made while the steps wait",
            detail=(
                f"The DataLoader has no worker processes: {100 * share:.1f} % of the average step goes into making its "
                f"batches, {ms(usual)} each, while {_rest(facts)} waits."
            ),
            advice=(
                "The dataset starts work on the device, which worker processes cannot: let it return host tensors, "
                "and do that work for the whole batch after the DataLoader. Then set `num_workers`."
                if on_device
                else "Load batches in worker processes: `DataLoader(…, num_workers=4, persistent_workers=True)`. Do "
                "less for each sample, or do it once and store the result."
            ),
            values={
                "share": share,
                "batch_ns": usual,
                "device": facts.model.has_device_work,
                "on_device": on_device,
            },
            rows=rows,
            changes=(beyond(facts, rows, hand_over),),
            place_rows=own if len(own) else rows,
            evidence=loader_evidence(facts, rows),
            links=(DATA_LOADING,),
            confidence="medium" if on_device or usual < SURE * hand_over else "high",
        ),
    )


def _rest(facts: Facts) -> str:
    return "the device" if facts.model.has_device_work else "the training" if facts.is_training else "the model"


RULE = Rule("synchronous_dataloader", "R2", (STEPS, HOST), _find)
