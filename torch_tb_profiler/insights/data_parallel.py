"""DataParallel on several devices."""

from __future__ import annotations

from torch_tb_profiler.insights.rule import Evidence, Finding, Link, Rule, has_host_range
from torch_tb_profiler.model import Model


def _apply(model: Model) -> Finding | None:
    devices = model.used_devices
    if len(devices) < 2 or not has_host_range(model, "DataParallel.forward"):
        return None
    return Finding(
        id="data_parallel",
        severity="medium",
        title="DataParallel is slower than DistributedDataParallel",
        detail=(
            f"The model runs on {len(devices)} devices through DataParallel, which drives all of them from one "
            "process and copies the model in every step. DistributedDataParallel uses one process per device and "
            "keeps the copies in place."
        ),
        values={"devices": len(devices)},
        saving_ns=None,
        evidence=(Evidence("devices_in_use", "Devices in use", len(devices), "count", "overview"),),
        links=(
            Link(
                "ddp_instead",
                "Use DistributedDataParallel instead of DataParallel",
                "https://pytorch.org/docs/stable/notes/cuda.html#cuda-nn-ddp-instead",
            ),
        ),
    )


RULE = Rule("data_parallel", "DataParallel.forward ranges and more than one device", _apply)
