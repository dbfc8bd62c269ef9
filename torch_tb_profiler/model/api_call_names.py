"""What calls of a device's API do, by their names."""

from __future__ import annotations

from torch_tb_profiler.lazy_pattern import lazy_pattern

#: calls that start work on a device: kernels, copies and sets
STARTS = lazy_pattern(r"Launch|emcpy|emset|[Ee]nqueue|AppendMemory")
#: calls that wait for a stream, an event or a device
SYNCHRONIZE = lazy_pattern(
    r"[Ss]ynchronize(?:Stream|Event|Device|Context)?(?:_v\d+|_ptsz)?$|^(?:ur|pi)(?:QueueFinish|Events?Wait)$"
)
#: of those that wait the ones that wait for all that a device does
WHOLE_DEVICE = lazy_pattern(r"Device|Ctx|Context")
