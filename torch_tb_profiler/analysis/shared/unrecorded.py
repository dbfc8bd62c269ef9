"""What is said of a trace that holds nothing of the device that the program used."""

from __future__ import annotations

from collections.abc import Mapping

from torch_tb_profiler.model.unrecorded_device import DeviceEvidence

#: why nothing is computed from a trace of another program
FOREIGN = "The trace is not one of torch.profiler."

UNRECORDED: Mapping[DeviceEvidence, str] = {
    "ascend": "The trace is one of torch_npu: the work of its device (Ascend Hardware) is not read.",
    "launches": "The device was not recorded, though the program launched work on it.",
    "waits": "The device was not recorded, though the program waited for its work.",
    "communication": "The device was not recorded, though the program called collectives between devices.",
    "allocations": "The device was not recorded, though the program allocated memory on it.",
    "operators": "The device was not recorded, though operators of the program ran on it.",
    "properties": "The device of this machine was not recorded: whether the program used it is not known.",
}
