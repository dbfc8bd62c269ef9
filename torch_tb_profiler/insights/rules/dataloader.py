"""Steps wait for input data."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.analysis.replay.changes import free
from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import HOST, STEPS
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule


def _find(facts: Facts) -> Sequence[Found]:
    rows = facts.longest_first(facts.in_steps(facts.model.dataloader_rows))
    waiting = int(facts.duration(rows).sum())
    share = facts.share(waiting)
    if not len(rows) or share <= facts.limit("dataloader", "least_share"):
        return ()
    on_device = facts.model.has_device_work
    return (
        Found(
            title="Steps wait for input data",
            detail=(
                f"{100 * share:.1f} % of the average step goes into waiting for the next batch of the DataLoader"
                f"{', while the device runs dry' if on_device else ''}."
            ),
            advice=(
                "Load batches in worker processes: `DataLoader(…, num_workers=4, persistent_workers=True)`, more where "
                "workers are used already. Do less for each sample, or do it once and store the result."
            ),
            values={"share": share, "on_device": on_device},
            rows=rows,
            changes=(free("data"),),
            evidence=(
                Evidence(
                    "dataloader_per_step", "DataLoader, average per step", waiting / facts.steps, "ns", "overview"
                ),
                Evidence("share_of_step", "Share of the average step", share, "fraction", "overview"),
            ),
            links=(
                Link(
                    "data_loading",
                    "Single- and multi-process data loading",
                    "https://docs.pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading",
                ),
            ),
        ),
    )


RULE = Rule("dataloader", "R1", (STEPS, HOST), _find)
