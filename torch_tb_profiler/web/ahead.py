"""Where worker processes find what they answer ahead; servers need not load that."""

from __future__ import annotations

#: for `open_workspace`
QUESTIONS = "torch_tb_profiler.web.prefetch:questions"
