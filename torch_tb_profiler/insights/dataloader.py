"""Steps wait for input data."""

from __future__ import annotations

from torch_tb_profiler.analysis.overview.overview import average_step
from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule
from torch_tb_profiler.model import Model

#: part of the average step, as in the old plugin
THRESHOLD = 0.05
#: from here on it is the first thing to look at
SEVERE = 0.2


def _apply(model: Model) -> Finding | None:
    average = average_step(model)
    share = average.share("dataloader")
    if share <= THRESHOLD:
        return None
    waiting = average.category_ns["dataloader"]
    meanwhile = " while the device is idle" if model.has_device_work else ""
    return Finding(
        id="dataloader",
        severity="high" if share >= SEVERE else "medium",
        title="Steps wait for input data",
        detail=(
            f"{100 * share:.1f} % of the average step goes into waiting for the DataLoader{meanwhile}. Load "
            "batches in worker processes: set num_workers on the DataLoader, or raise it if it is set, and use "
            "pin_memory for copies that overlap with compute."
        ),
        values={"share": share, "on_device": model.has_device_work},
        saving_ns=waiting,
        evidence=(
            Evidence("dataloader_per_step", "DataLoader, average per step", waiting, "ns", "overview"),
            Evidence("share_of_step", "Share of the average step", share, "fraction", "overview"),
        ),
        links=(
            Link(
                "data_loading",
                "Single- and multi-process data loading",
                "https://pytorch.org/docs/stable/data.html#single-and-multi-process-data-loading",
            ),
        ),
    )


RULE = Rule("dataloader", "DataLoader ranges and steps", _apply)
