"""The type of a tool. Each is declared in its own file and listed in `tools`."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Generic, TypeVar

import msgspec
from msgspec import Meta

from torch_tb_profiler.analysis.answer import Count
from torch_tb_profiler.mcp.catalog import Catalog
from torch_tb_profiler.reason import ErrorWithReason

#: milliseconds in four significant digits
Ms = Annotated[float, Meta(description="milliseconds")]

TraceId = Annotated[str, Meta(description="A trace, as the tool traces lists it.")]


class Wrong(ErrorWithReason):
    """The request is invalid; the message is a sentence without names from a trace."""


class Asked(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Arguments of a tool."""


class Told(msgspec.Struct, frozen=True, kw_only=True):
    """What every answer has.

    notes  what to know about this answer
    more   how many entries were left out for want of room, by list; ask for a later offset or fewer columns
    """

    notes: Sequence[str] = ()
    more: Mapping[str, Count] = {}


class Next(msgspec.Struct, frozen=True, kw_only=True):
    """What to call next.

    tool       its name
    arguments  to call it with
    """

    tool: str
    arguments: Mapping[str, str]


class Cells(msgspec.Struct, frozen=True, kw_only=True):
    """A table: rows are lists in the order of the columns; null is not known. Units are in the names of columns.

    columns  names, with the unit at the end
    rows     a list each
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str | float | int | bool | None]]


P = TypeVar("P", bound=Asked)
A = TypeVar("A", bound=Told)


class Tool(msgspec.Struct, Generic[P, A], frozen=True, kw_only=True):
    """One tool.

    name, title  what it is called
    summary      what it answers and when to call it; our words alone
    arguments    names, types, bounds, defaults and descriptions of what it is given
    answer       type of what it tells
    compute      the answer; raises Wrong and ProfileError
    budget       characters of the answer, as compact JSON
    shrinks      lists of the answer, as `table.rows`, that lose their last entries where it would be longer
    untrusted    fields whose texts are from the trace
    """

    name: str
    title: str
    summary: str
    arguments: type[P]
    answer: type[A]
    compute: Callable[[Catalog, P], A]
    budget: int
    shrinks: Sequence[str] = ()
    untrusted: Sequence[str] = ()


AnyTool = Tool[Any, Any]
