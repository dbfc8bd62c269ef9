"""Why a text is not read as a trace."""

from __future__ import annotations

from torch_tb_profiler.reason import Reason


class NotATraceError(ValueError):
    """The text has no list of trace events; the reason says what it has."""

    def __init__(self, reason: Reason) -> None:
        super().__init__(str(reason))
        self.reason = reason
