"""What is answered as soon as a trace has been read, by the process that has read it."""

from __future__ import annotations

from collections.abc import Callable

import torch_tb_profiler.insights.rules  # noqa: F401 - before a trace has to wait for them
from torch_tb_profiler.analysis.question import BUNDLES
from torch_tb_profiler.model import Model
from torch_tb_profiler.questions import QUESTIONS
from torch_tb_profiler.web.answers.trace import first_of_trace
from torch_tb_profiler.workspace import OpenTrace, StoredAnswer


def questions(trace: OpenTrace, model: Model) -> list[list[tuple[str, Callable[[Model], StoredAnswer]]]]:
    """Return the name of each answer and what computes it, together those that have much in common."""
    return [first_of_trace(QUESTIONS, trace, model, bundle) for bundle in BUNDLES]
