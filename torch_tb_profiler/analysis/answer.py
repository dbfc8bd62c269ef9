"""Answers: the types that JSON, OpenAPI and the types of the UI are made of.

An answer is a `msgspec.Struct`. Its fields have a unit at the end of their names (`_ns`,
`_bytes`) or as their type, and are described in the docstring of the class, a line each (`name  what it is`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import msgspec
import numpy as np
from msgspec import Meta

from torch_tb_profiler.analysis.definition import Definition
from torch_tb_profiler.trace import Note

#: nanoseconds; of points in time since the start of the trace
Ns = Annotated[int, Meta(description="nanoseconds")]

MeanNs = Annotated[float, Meta(description="nanoseconds, a mean")]
#: nanoseconds of a mean or a share
NsMean = Annotated[float, Meta(description="nanoseconds")]
Bytes = Annotated[int, Meta(description="bytes")]
#: bytes of a mean
BytesMean = Annotated[float, Meta(description="bytes")]
#: number of a record of a memory snapshot, -1 before the first
Record = Annotated[int, Meta(ge=-1, description="number of a record; -1 before the first")]
Count = Annotated[int, Meta(ge=0)]
#: 0…1
Fraction = Annotated[float, Meta(description="0…1")]
FractionChange = Annotated[float, Meta(description="the difference of two numbers 0…1")]
#: number of an event in its file
Row = Annotated[int, Meta(ge=0, description="number of an event in its file")]

#: by column key: a list each, all of the same length
Rows = dict[str, list[Any]]


class Answer(msgspec.Struct, frozen=True, kw_only=True):
    """What a question is answered with."""


class TraceMeta(msgspec.Struct, frozen=True, kw_only=True):
    """Which trace an answer is about.

    run          name of the run, as in `/api/status`
    worker       name of the process that was recorded
    span         which recording of the worker it is
    device_type  GPU when a device or a call of its API was recorded
    notes        what a person should know about this answer
    """

    run: str
    worker: str
    span: str
    device_type: Literal["GPU", "CPU"]
    notes: Sequence[Note]


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """Rows as parallel lists.

    columns  what the columns are, in order
    rows     by column key: a list each, all of the same length
    """

    columns: Sequence[Definition]
    rows: Rows


def plain(values: Any) -> list[Any]:
    """A column as Python values."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values)
