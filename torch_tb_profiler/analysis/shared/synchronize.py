"""Calls that wait for devices."""

from __future__ import annotations

from torch_tb_profiler.late_pattern import late_pattern

#: calls that wait for a stream, an event or a device
SYNCHRONIZE = late_pattern(
    r"[Ss]ynchronize(?:Stream|Event|Device|Context)?(?:_v\d+|_ptsz)?$|^(?:ur|pi)(?:QueueFinish|Events?Wait)$"
)
