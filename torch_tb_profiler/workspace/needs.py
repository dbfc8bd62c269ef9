"""What a question about traces needs. It is opened where the traces are open, which may be another process."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import msgspec

from torch_tb_profiler.model import StepChoice
from torch_tb_profiler.model.selection import StepRange
from torch_tb_profiler.workspace.status import OpenTrace


class ModelOf(msgspec.Struct, frozen=True):
    """The model of a trace.

    choice, steps  how steps are found, and which of them are looked at
    is_kept        whether a model that was not open stays open: a run may have more traces than models fit in memory
    """

    trace: OpenTrace
    choice: StepChoice | None = None
    steps: StepRange | None = None
    is_kept: bool = True


class TimelineOf(msgspec.Struct, frozen=True):
    """The trace as it is drawn."""

    trace: OpenTrace


class ValueOf(msgspec.Struct, frozen=True):
    """A value that is kept where the trace is open, and forgotten with it.

    name              what it is known as
    make              makes it of what it needs; None: NotKept is raised where it is not there
    is_worth_keeping  whether it is asked for again; None: always
    """

    trace: OpenTrace
    name: Hashable
    make: Callable[..., Any] | None
    needs: Sequence[ModelOf] = ()
    is_worth_keeping: Callable[[Any], bool] | None = None


Needed = ModelOf | TimelineOf | ValueOf


class NotKept(Exception):
    """A value is not where the trace is open."""
