"""DataParallel on several devices."""

from __future__ import annotations

from collections.abc import Sequence

from torch_tb_profiler.insights.facts import Facts
from torch_tb_profiler.insights.needs import DEVICE, HOST
from torch_tb_profiler.insights.rule import Evidence, Found, Link, Rule, has_host_range


def _find(facts: Facts) -> Sequence[Found]:
    devices = facts.model.used_devices
    if len(devices) < 2 or not has_host_range(facts.model, "DataParallel.forward"):
        return ()
    return (
        Found(
            title="DataParallel is slower than DistributedDataParallel",
            detail=(
                f"The model runs on {len(devices)} devices through DataParallel, which drives all of them from one "
                "process and copies the model in every step."
            ),
            advice=(
                "Start one process per device with `torchrun --nproc_per_node=gpu train.py`, and wrap the model with "
                "`DistributedDataParallel(model, device_ids=[local_rank])`."
            ),
            values={"devices": len(devices)},
            severity="medium",
            evidence=(Evidence("devices_in_use", "Devices in use", len(devices), "count", "overview"),),
            links=(
                Link(
                    "ddp_instead",
                    "Use DistributedDataParallel instead of DataParallel",
                    "https://docs.pytorch.org/docs/stable/notes/cuda.html#cuda-nn-ddp-instead",
                ),
            ),
        ),
    )


RULE = Rule("data_parallel", "R49", (HOST, DEVICE), _find)
